package num

import (
	"cmp"
	"slices"
)

// DescendingOrder appends to dst the positions in x by descending value, equal values by
// position. NaN comes last.
func DescendingOrder(dst []int, x []float64) []int {
	first := len(dst)
	dst = slices.Grow(dst, len(x))
	for i := range x {
		dst = append(dst, i)
	}
	slices.SortFunc(dst[first:], func(a, b int) int {
		if c := cmp.Compare(x[b], x[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return dst
}
