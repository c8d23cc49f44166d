package variance

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Traces are estimates of the traces of the covariances of methods for one list, or their
// means over lists, with what is known of their errors, and of the biases.
type Traces struct {
	names      []string
	mean       []float64
	covariance [][]float64 // of the errors of mean
	bias       []float64   // ‖E λ − dR/dm‖²
	biasError  []float64   // its standard error where there is no bias
	gradient   float64     // ‖dR/dm‖²
}

func zeroTraces(names []string) Traces {
	n := len(names)
	t := Traces{names: names, mean: make([]float64, n), bias: make([]float64, n), biasError: make([]float64, n)}
	for range n {
		t.covariance = append(t.covariance, make([]float64, n))
	}
	return t
}

// newTraces sums up the estimates of one list, by method and repeat. Their distances from
// the mean count as independent of each other, which they are except for that mean: errors
// come out too small where there are only a few.
func newTraces(methods []Method, estimates [][][]float64, gradient []float64) Traces {
	var names []string
	var distances [][]float64 // by method and repeat, with the traces as means
	for m, method := range methods {
		names = append(names, method.Name)
		distances = append(distances, distancesOf(estimates[m]))
	}
	t := zeroTraces(names)
	for _, x := range gradient {
		t.gradient += x * x
	}
	for m, x := range distances {
		n := float64(len(x))
		for _, d := range x {
			t.mean[m] += d / n
		}
		t.bias[m] = squaredBias(estimates[m], gradient, t.mean[m])
		t.biasError[m] = biasError(estimates[m])
	}
	for a, x := range distances {
		n := float64(len(x))
		for b, y := range distances {
			for r := range x {
				t.covariance[a][b] += (x[r] - t.mean[a]) * (y[r] - t.mean[b]) / (n * (n - 1))
			}
		}
	}
	return t
}

// distancesOf are R/(R−1)·‖λ_r − λ̄‖² of every estimate, whose mean is the trace.
func distancesOf(estimates [][]float64) []float64 {
	repeats := float64(len(estimates))
	squares := make([]float64, len(estimates))
	for d, first := range estimates[0] {
		// Relative to the first one, so that estimates that are all the same have a
		// distance of exactly 0.
		mean := 0.0
		for _, lambda := range estimates {
			mean += (lambda[d] - first) / repeats
		}
		for r, lambda := range estimates {
			x := lambda[d] - first - mean
			squares[r] += x * x * repeats / (repeats - 1)
		}
	}
	return squares
}

// squaredBias is ‖λ̄ − dR/dm‖² without what the variance of λ̄ adds to it on average: unbiased
// itself, it may be negative.
func squaredBias(estimates [][]float64, gradient []float64, trace float64) float64 {
	repeats := float64(len(estimates))
	sum := -trace / repeats
	for d, g := range gradient {
		mean := 0.0
		for _, lambda := range estimates {
			mean += (lambda[d] - g) / repeats
		}
		sum += mean * mean
	}
	return sum
}

// biasError is the standard error of squaredBias where there is no bias and λ̄ is about normal:
// √(2 tr Σ²)/R with Σ the covariance of the estimates, whose own estimate makes it rather too
// large than too small.
func biasError(estimates [][]float64) float64 {
	repeats, numbers := len(estimates), len(estimates[0])
	if numbers == 0 {
		return 0
	}
	centred := mat.NewDense(repeats, numbers, nil)
	for d := range numbers {
		mean := 0.0
		for _, lambda := range estimates {
			mean += lambda[d] / float64(repeats)
		}
		for r, lambda := range estimates {
			centred.Set(r, d, lambda[d]-mean)
		}
	}
	var product mat.Dense // tr (XᵀX)² = tr (XXᵀ)²: the smaller one
	if numbers < repeats {
		product.Mul(centred.T(), centred)
	} else {
		product.Mul(centred, centred.T())
	}
	return math.Sqrt2 * mat.Norm(&product, 2) / float64(repeats-1) / float64(repeats)
}

// Mean is the mean over lists, of the same methods. Its errors are the errors of the traces of
// these lists; that the lists may be a sample of others is not in them. Without lists all is
// NaN.
func Mean(lists []Traces) Traces {
	if len(lists) == 0 {
		return Traces{}
	}
	t := zeroTraces(lists[0].names)
	n := float64(len(lists))
	for _, l := range lists {
		t.gradient += l.gradient / n
		for a := range t.mean {
			t.mean[a] += l.mean[a] / n
			t.bias[a] += l.bias[a] / n
			t.biasError[a] = math.Hypot(t.biasError[a], l.biasError[a]/n)
			for b := range t.mean {
				t.covariance[a][b] += l.covariance[a][b] / (n * n)
			}
		}
	}
	return t
}

// Trace is the trace of a method and its standard error.
func (t Traces) Trace(method string) (trace, stdErr float64) {
	if t.names == nil {
		return math.NaN(), math.NaN()
	}
	i := t.index(method)
	return t.mean[i], math.Sqrt(t.covariance[i][i])
}

// Ratio is the trace of a method divided by another method's, and its standard error to
// first order (the delta method, with the covariance of the two). Where the other one's
// trace is 0 both are NaN.
func (t Traces) Ratio(method, to string) (ratio, stdErr float64) {
	i, j := t.index(method), t.index(to)
	if t.mean[j] == 0 {
		return math.NaN(), math.NaN()
	}
	ratio = t.mean[i] / t.mean[j]
	variance := t.covariance[i][i] - 2*ratio*t.covariance[i][j] + ratio*ratio*t.covariance[j][j]
	return ratio, math.Sqrt(max(0, variance)) / t.mean[j]
}

// Bias is the squared bias of a method relative to the squared exact gradient,
// ‖E λ − dR/dm‖²/‖dR/dm‖², estimated without bias, and its standard error if it is 0. Where
// the gradient is 0 both are NaN.
func (t Traces) Bias(method string) (bias, stdErr float64) {
	i := t.index(method)
	if t.gradient == 0 {
		return math.NaN(), math.NaN()
	}
	return t.bias[i] / t.gradient, t.biasError[i] / t.gradient
}

func (t Traces) index(method string) int {
	for i, name := range t.names {
		if name == method {
			return i
		}
	}
	panic(fmt.Sprintf("variance: %s is not among the methods that were measured", method))
}
