package datasets

import (
	"math"
	"slices"
)

// finite is x with infinities replaced by the largest float32; NaN stays.
func finite(x float32) float32 {
	if x > math.MaxFloat32 {
		return math.MaxFloat32
	}
	if x < -math.MaxFloat32 {
		return -math.MaxFloat32
	}
	return x
}

func fitNothing(*TransformPart, *Dataset, []int, Sharing) {}

func applyNone(_ *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	for len(rows) > 0 {
		for i, c := range columns {
			dst[i] = 0
			if x := rows[c]; x == x {
				dst[i] = finite(x)
			}
		}
		rows = rows[inputs:]
		dst = dst[min(stride, len(dst)):]
	}
}

func applyMinMax(_ *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	switch {
	case len(rows) == inputs: // a document alone
		clear(dst[:len(columns)])
	case wide:
		applyMinMaxWide(dst, stride, rows, inputs, columns)
	default:
		applyMinMaxNarrow(dst, stride, rows, inputs, columns)
	}
}

// applyMinMaxWide goes through the inputs in blocks, whose minima and maxima fit the
// stack.
func applyMinMaxWide(dst []float32, stride int, rows []float32, inputs int, columns []int) {
	const block = 256
	n := len(rows) / inputs
	for first := 0; first < inputs && len(columns) > 0; first += block {
		end := min(first+block, inputs)
		var lows, highs [block]float32
		var low, scale [block]float64
		columnLimits(&lows[0], &highs[0], &rows[first], inputs, n, end-first)
		here, _ := slices.BinarySearch(columns, end)
		for i, c := range columns[:here] {
			low[i], scale[i] = minMaxScale(lows[c-first], highs[c-first])
		}
		for r := 0; r < n && here > 0; r++ {
			minMaxRow(&dst[r*stride], &rows[r*inputs], &columns[0], &low[0], &scale[0], here)
		}
		columns, dst = columns[here:], dst[here:]
	}
}

func applyMinMaxNarrow(dst []float32, stride int, rows []float32, inputs int, columns []int) {
	for i, c := range columns {
		least, most := float32(math.MaxFloat32), float32(-math.MaxFloat32)
		for at := c; at < len(rows); at += inputs {
			if x := finite(rows[at]); x == x {
				least, most = min(least, x), max(most, x)
			}
		}
		low, scale := minMaxScale(least, most)
		for r := range len(rows) / inputs {
			y := float32(0)
			if x := finite(rows[r*inputs+c]); x == x {
				y = float32(min(1, (float64(x)-low)*scale))
			}
			dst[r*stride+i] = y
		}
	}
}

// minMaxScale is what to subtract and to multiply by to map [low, high] to [0, 1],
// and a single value to 0.
func minMaxScale(low, high float32) (shift, scale float64) {
	if high > low {
		scale = 1 / (float64(high) - float64(low))
	}
	return float64(low), scale
}

func fitStandard(p *TransformPart, train *Dataset, columns []int, s Sharing) {
	p.fitMoments(train, columns, s, func(x float32) float64 { return float64(finite(x)) })
}

func applyStandard(p *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	for len(rows) > 0 {
		for i, c := range columns {
			dst[i] = p.standardise(i, float64(finite(rows[c])))
		}
		rows = rows[inputs:]
		dst = dst[min(stride, len(dst)):]
	}
}

func fitLogStandard(p *TransformPart, train *Dataset, columns []int, s Sharing) {
	p.fitMoments(train, columns, s, func(x float32) float64 { return signedLog1p(finite(x)) })
}

func applyLogStandard(p *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	if wide && len(columns) > 0 {
		for r := range len(rows) / inputs {
			logStandardRow(&dst[r*stride], &rows[r*inputs], &columns[0], &p.Shift[0], &p.Scale[0], len(columns), &logTable[0].inverse)
		}
		return
	}
	for len(rows) > 0 {
		for i, c := range columns {
			dst[i] = p.standardise(i, signedLog1p(finite(rows[c])))
		}
		rows = rows[inputs:]
		dst = dst[min(stride, len(dst)):]
	}
}

// standardise maps value x of used column i to within ±inputLimit, NaN to 0.
func (p *TransformPart) standardise(i int, x float64) float32 {
	y := (x - p.Shift[i]) * p.Scale[i]
	switch {
	case y > inputLimit:
		return inputLimit
	case y < -inputLimit:
		return -inputLimit
	case y != y:
		return 0
	}
	return float32(y)
}

// moments are a number of values, their sum and that of their squares.
type moments struct{ n, sum, square float64 }

func (m *moments) add(o moments) {
	m.n += o.n
	m.sum += o.sum
	m.square += o.square
}

// mostRuns bounds what processes tell each other of their sums.
const mostRuns = 1024

// fitMoments sets Shift and Scale from the mean and the standard deviation of
// f(x) over all documents that have the feature.
//
// It sums y = f(x) − p and y², where p is the first value of the column. As p is
// one of the n values, |mean − p| is at most √n standard deviations, and the
// variance mean(y²) − mean(y)² loses no more than a factor n of its precision.
// Sums go through fixed blocks of rows, and through runs of these where there are many, so
// the result depends neither on the number of cores nor on that of the processes.
func (p *TransformPart) fitMoments(d *Dataset, columns []int, share Sharing, f func(x float32) float64) {
	p.Shift = make([]float64, len(columns))
	p.Scale = make([]float64, len(columns))
	if len(columns) == 0 {
		return
	}
	const block = 4096
	pivot := make([]float64, len(columns))
	for i, c := range columns {
		for r := range d.Rows() {
			if x := d.Row(r)[c]; x == x {
				pivot[i] = f(x)
				break
			}
		}
	}
	blocks := (d.Rows() + block - 1) / block
	run := max(1, (blocks+mostRuns-1)/mostRuns) // blocks
	runs := make([]moments, (blocks+run-1)/run*len(columns))
	from, to := share.part(len(runs) / len(columns))
	parallel(to-from, func(i int) {
		sums := runs[(from+i)*len(columns):][:len(columns)]
		for b := (from + i) * run; b < min((from+i+1)*run, blocks); b++ {
			all := make([]moments, len(columns))
			for r := b * block; r < min((b+1)*block, d.Rows()); r++ {
				row := d.Row(r)
				for i, c := range columns {
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
	share.gather(runs, len(columns))
	for i := range columns {
		var m moments
		for at := i; at < len(runs); at += len(columns) {
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
