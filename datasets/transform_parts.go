package datasets

import "math"

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

// applyMinMax goes through the columns in blocks, whose minima and maxima fit
// the stack.
func applyMinMax(_ *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	const block = 16
	n := len(rows) / inputs
	for first := 0; first < len(columns); first += block {
		var low, high [block]float32
		var scale [block]float64
		here := columns[first:min(first+block, len(columns))]
		for i := range here {
			low[i], high[i] = math.MaxFloat32, -math.MaxFloat32
		}
		for r := range n {
			row := rows[r*inputs : (r+1)*inputs]
			for i, c := range here {
				x := row[c]
				if x < low[i] {
					low[i] = x
				}
				if x > high[i] {
					high[i] = x
				}
			}
		}
		for i := range here {
			low[i], high[i] = finite(low[i]), finite(high[i])
			if high[i] > low[i] {
				scale[i] = 1 / (float64(high[i]) - float64(low[i]))
			}
		}
		for r := range n {
			row := rows[r*inputs : (r+1)*inputs]
			out := dst[r*stride+first:]
			for i, c := range here {
				x := row[c]
				if x != x {
					out[i] = 0
					continue
				}
				out[i] = float32(min(1, (float64(finite(x))-float64(low[i]))*scale[i]))
			}
		}
	}
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
