package datasets

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/datasets/internal/columns"
	"github.com/plrank/plrank/datasets/internal/memory"
)

func fitStandard(p *TransformPart, train *Dataset, used []int, s Sharing) {
	fitMoments(p, train, used, s, func(x float32) float64 { return float64(columns.Finite(x)) })
}

func fitLogStandard(p *TransformPart, train *Dataset, used []int, s Sharing) {
	fitMoments(p, train, used, s, func(x float32) float64 { return columns.SignedLog1p(columns.Finite(x)) })
}

// mostRuns bounds the sums that processes exchange.
const mostRuns = 1024

// fitMoments sets Shift and Scale from the mean and the standard deviation of
// f(x) over all documents that have the feature.
//
// It sums y = f(x) − p and y², where p is the first value of the column. As p is
// one of the n values, |mean − p| is at most √n standard deviations, and the
// variance mean(y²) − mean(y)² loses no more than a factor n of its precision.
// Sums go through fixed blocks of rows, and through runs of these where there are many, so
// the result depends neither on the number of cores nor on the number of processes.
func fitMoments(p *TransformPart, d *Dataset, used []int, s Sharing, f func(x float32) float64) {
	p.Shift = make([]float64, len(used))
	p.Scale = make([]float64, len(used))
	if len(used) == 0 {
		return
	}
	const block = 4096
	pivot := make([]float64, len(used))
	for i, c := range used {
		for r := range d.Rows() {
			if x := d.Row(r)[c]; x == x {
				pivot[i] = f(x)
				break
			}
		}
	}
	blocks := (d.Rows() + block - 1) / block
	run := max(1, (blocks+mostRuns-1)/mostRuns) // blocks
	runs := make([]moments, (blocks+run-1)/run*len(used))
	from, to := s.share(len(runs) / len(used))
	memory.For(to-from, func(i int) {
		sums := runs[(from+i)*len(used):][:len(used)]
		for b := (from + i) * run; b < min((from+i+1)*run, blocks); b++ {
			all := make([]moments, len(used))
			for r := b * block; r < min((b+1)*block, d.Rows()); r++ {
				row := d.Row(r)
				for i, c := range used {
					if x := row[c]; x == x {
						y := f(x) - pivot[i]
						all[i].add(moments{1, y, y * y})
					}
				}
			}
			for i := range sums {
				sums[i].add(all[i])
			}
		}
	})
	s.gather(runs, len(used))
	for i := range used {
		var m moments
		for at := i; at < len(runs); at += len(used) {
			m.add(runs[at])
		}
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

// checkMoments checks shifts and scales read from a file.
func checkMoments(p *TransformPart, used int) error {
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
