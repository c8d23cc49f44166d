package columns

// inputLimit bounds standardised inputs: training values beyond it are rare
// outliers, and unseen ones can be anything.
const inputLimit = 10

// Standard maps x of column i to (x − shift[i])·scale[i], within ±10, and missing values to 0.
func Standard(q Rows, shift, scale []float64) {
	dst, rows := q.To, q.From
	for len(rows) > 0 {
		for i, c := range q.Columns {
			dst[i] = standardise(float64(Finite(rows[c])), shift[i], scale[i])
		}
		rows = rows[q.Inputs:]
		dst = dst[min(q.Stride, len(dst)):]
	}
}

// LogStandard is [Standard] of sign(x)·log(1+|x|).
func LogStandard(q Rows, shift, scale []float64) {
	dst, rows, inputs, stride, columns := q.To, q.From, q.Inputs, q.Stride, q.Columns
	if wide && len(columns) > 0 {
		for r := range len(rows) / inputs {
			logStandardRow(&dst[r*stride], &rows[r*inputs], &columns[0], &shift[0], &scale[0], len(columns), &logTable[0].inverse)
		}
		return
	}
	for len(rows) > 0 {
		for i, c := range columns {
			dst[i] = standardise(SignedLog1p(Finite(rows[c])), shift[i], scale[i])
		}
		rows = rows[inputs:]
		dst = dst[min(stride, len(dst)):]
	}
}

// standardise maps x to within ±inputLimit, NaN to 0.
func standardise(x, shift, scale float64) float32 {
	y := (x - shift) * scale
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
