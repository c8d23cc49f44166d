package plackett

import "math"

// negligible is the part of the scale of a result, of max |ρ|·Σ|θ| for gradients and Σ|θ|
// for exposures, below which an entry of it is 0. A sum in float32 that has an entry of
// 1e-13 of the scale does not see it. Without this bound a policy that is sure gives most
// documents numbers like e^−gap, down to those below the smallest normal one, for which some
// processors take a hundred times as long as for others.
const negligible = 1e-20

// flushNegligible sets entries to 0 that are below the negligible part of scale.
func flushNegligible(x []float64, scale float64) {
	for i, v := range x {
		if math.Abs(v) < negligible*scale {
			x[i] = 0
		}
	}
}

// magnitudes returns max |x| and Σ|x|.
func magnitudes(x []float64) (largest, sum float64) {
	for _, v := range x {
		v = math.Abs(v)
		largest = max(largest, v)
		sum += v
	}
	return largest, sum
}
