package transforms

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/transforms/internal/columns"
)

const (
	blockRows = 4096
	mostRuns  = 1024 // of blocks: it bounds the sums that are kept
)

// moments are the number of values, their sum and the sum of their squares.
type moments struct{ n, sum, square float64 }

func (m *moments) add(o moments) {
	m.n += o.n
	m.sum += o.sum
	m.square += o.square
}

// fitMoments sets Shift and Scale from the mean and the standard deviation of
// f(x) over all documents that have the feature.
//
// It sums y = f(x) − p and y², where p is the first value of the column. As p is
// one of the n values, |mean − p| is at most √n standard deviations, and the
// variance mean(y²) − mean(y)² loses no more than a factor n of its precision.
// Sums go through fixed blocks of rows, and through runs of these where there are many, so
// the result does not depend on the number of cores.
func fitMoments(p *Part, d *Data, used []int, f func(x float32) float64) {
	width := len(used)
	p.Shift, p.Scale = make([]float64, width), make([]float64, width)
	if width == 0 {
		return
	}
	pivot := make([]float64, width)
	for i, c := range used {
		for r := range d.Rows() {
			if x := d.Row(r)[c]; x == x {
				pivot[i] = f(columns.Finite(x))
				break
			}
		}
	}
	sumBlock := func(b int) []moments {
		sums := make([]moments, width)
		for r := b * blockRows; r < min((b+1)*blockRows, d.Rows()); r++ {
			row := d.Row(r)
			for i, c := range used {
				if x := row[c]; x == x {
					y := f(columns.Finite(x)) - pivot[i]
					sums[i].add(moments{1, y, y * y})
				}
			}
		}
		return sums
	}
	for i, m := range sumRuns((d.Rows()+blockRows-1)/blockRows, width, sumBlock) {
		if m.n == 0 {
			continue
		}
		mean := m.sum / m.n
		p.Shift[i] = pivot[i] + mean
		if v := m.square/m.n - mean*mean; v > 0 { // else the feature has one value and is missing elsewhere: always 0
			p.Scale[i] = 1 / math.Sqrt(v)
		}
	}
}

// sumRuns adds up the sums of the columns in all blocks. Cores share the runs of
// blocks.
func sumRuns(blocks, width int, sumBlock func(b int) []moments) []moments {
	run := max(1, (blocks+mostRuns-1)/mostRuns) // blocks
	runs := make([]moments, (blocks+run-1)/run*width)
	addTo := func(sums, more []moments) {
		for i := range sums {
			sums[i].add(more[i])
		}
	}
	memory.For(len(runs)/width, func(i int) {
		for b := i * run; b < min((i+1)*run, blocks); b++ {
			addTo(runs[i*width:][:width], sumBlock(b))
		}
	})
	total := make([]moments, width)
	for ; len(runs) > 0; runs = runs[width:] {
		addTo(total, runs)
	}
	return total
}

// checkMoments checks shifts and scales read from a file.
func checkMoments(p *Part, used int) error {
	if len(p.Shift) != used || len(p.Scale) != used {
		return fmt.Errorf("want %d shifts and scales, have %d and %d", used, len(p.Shift), len(p.Scale))
	}
	for i := range p.Shift {
		if bad := p.Shift[i] + p.Scale[i]; math.IsNaN(bad) || math.IsInf(bad, 0) {
			return fmt.Errorf("shift %g and scale %g of column %d are not finite", p.Shift[i], p.Scale[i], i)
		}
	}
	return nil
}
