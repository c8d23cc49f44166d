package columns

// inputLimit bounds standardised inputs: training values beyond it are rare
// outliers, and unseen ones can be anything.
const inputLimit = 10

// Standard maps x of column i to (x − shift[i])·scale[i], within ±10, and missing values to 0.
func Standard(q Rows, shift, scale []float64) {
	q.each(func(i int, x float32) float32 { return standardise(float64(x), shift[i], scale[i]) })
}

// LogStandard is [Standard] of sign(x)·log(1+|x|).
func LogStandard(q Rows, shift, scale []float64) {
	q.each(func(i int, x float32) float32 { return standardise(SignedLog1p(x), shift[i], scale[i]) })
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
