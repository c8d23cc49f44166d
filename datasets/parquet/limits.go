package parquet

import (
	"fmt"
	"sync/atomic"
)

// allowance bounds the bytes that a file may unpack to: its pages, and the texts of its rows. Columns share it, which are
// read by several goroutines.
type allowance struct {
	left     atomic.Int64
	all, len int // bytes allowed, and of the file
}

// newAllowance allows what as many numbers take as a file of n bytes may have.
func newAllowance(n int) *allowance {
	a := &allowance{all: 4 * mostNumbers(n), len: n}
	a.left.Store(int64(a.all))
	return a
}

// mostNumbers bounds the numbers in a file of n bytes, rows times columns.
func mostNumbers(n int) int { return max(1<<24, mostRatio/4*n) }

// take takes n bytes, or returns an error if fewer are left.
func (a *allowance) take(n int) error {
	if a.left.Add(-int64(n)) < 0 {
		return fmt.Errorf("%w: its %d bytes unpack to more than %d", errDamaged, a.len, a.all)
	}
	return nil
}
