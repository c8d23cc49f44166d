package datasets

import (
	"math"
	"slices"

	"github.com/viterin/vek/vek32"
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

func fitNothing(*TransformPart, *Dataset, []int) {}

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

// applyMinMax goes through the inputs in blocks, whose minima and maxima fit the
// stack.
func applyMinMax(_ *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	if sum := vek32.Sum(rows); sum-sum != 0 { // missing or infinite values, or very large ones
		applyMinMaxWithMissing(dst, stride, rows, inputs, columns)
		return
	}
	const block = 256
	for first := 0; first < inputs && len(rows) > 0; first += block {
		end := min(first+block, inputs)
		var low, scale [block]float64
		var lows, highs [block]float32
		copy(lows[:], rows[first:end])
		copy(highs[:], rows[first:end])
		for at := inputs; at < len(rows); at += inputs {
			vek32.Minimum_Inplace(lows[:end-first], rows[at+first:at+end])
			vek32.Maximum_Inplace(highs[:end-first], rows[at+first:at+end])
		}
		here, _ := slices.BinarySearch(columns, end)
		for i, c := range columns[:here] {
			low[i], scale[i] = minMaxScale(lows[c-first], highs[c-first])
		}
		for r := range len(rows) / inputs {
			row, out := rows[r*inputs:(r+1)*inputs], dst[r*stride:][:here]
			for i, c := range columns[:here] {
				y := (float64(row[c]) - low[i]) * scale[i]
				if y > 1 { // by rounding
					y = 1
				}
				out[i] = float32(y)
			}
		}
		columns, dst = columns[here:], dst[here:]
	}
}

func applyMinMaxWithMissing(dst []float32, stride int, rows []float32, inputs int, columns []int) {
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

func fitStandard(p *TransformPart, train *Dataset, columns []int) {
	p.fitMoments(train, columns, func(x float32) float64 { return float64(finite(x)) })
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

func fitLogStandard(p *TransformPart, train *Dataset, columns []int) {
	p.fitMoments(train, columns, func(x float32) float64 { return signedLog1p(finite(x)) })
}

func applyLogStandard(p *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	if wide && len(columns) > 0 {
		for r := range len(rows) / inputs {
			logStandardRow(&dst[r*stride], &rows[r*inputs], &columns[0], &p.Shift[0], &p.Scale[0], len(columns), &logTable[0])
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

// fitMoments sets Shift and Scale from the mean and the standard deviation of
// f(x) over all documents that have the feature.
//
// It sums y = f(x) − p and y², where p is the first value of the column. As p is
// one of the n values, |mean − p| is at most √n standard deviations, and the
// variance mean(y²) − mean(y)² loses no more than a factor n of its precision.
// Sums go through fixed blocks of rows, so the result does not depend on the
// number of cores.
func (p *TransformPart) fitMoments(d *Dataset, columns []int, f func(x float32) float64) {
	type moments struct{ n, sum, square float64 }
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
	blocks := make([][]moments, (d.Rows()+block-1)/block)
	parallel(len(blocks), func(b int) {
		all := make([]moments, len(columns))
		for r := b * block; r < min((b+1)*block, d.Rows()); r++ {
			row := d.Row(r)
			for i, c := range columns {
				if x := row[c]; x == x {
					y := f(x) - pivot[i]
					m := &all[i]
					m.n++
					m.sum += y
					m.square += y * y
				}
			}
		}
		blocks[b] = all
	})
	p.Shift = make([]float64, len(columns))
	p.Scale = make([]float64, len(columns))
	for i := range columns {
		var m moments
		for _, all := range blocks {
			m.n += all[i].n
			m.sum += all[i].sum
			m.square += all[i].square
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
