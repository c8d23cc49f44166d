package variance

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/plackett"
)

// unorderedSet is the unordered-set policy gradient with its built-in baseline (Kool, van Hoof
// and Welling, "Estimating Gradients for Discrete Random Variables by Sampling without
// Replacement", ICLR 2020, eq. 15): with S the set of sampled rankings, and
// R(S, y) = P(S | y is drawn first)/P(S),
//
//	λ = Σ_{y∈S} π(y) R(S,y) ∇log π(y) (f(y) − Σ_{y'∈S} π(y') R_y(S,y') f(y')),
//
// where f is the metric and R_y that ratio where y is not there from the beginning, 1 for
// y' = y. Where there are no more rankings than are asked for, all are in S and the gradient
// is exact.
func (w *worker) unorderedSet(l List, from plackett.Stream, lambda []float64) error {
	if w.options.Samples < 2 {
		return errors.New("unordered-set: want 2 samples or more")
	}
	length := min(len(w.discounts), len(l.Scores))
	if length == 0 {
		clear(lambda)
		return nil
	}
	set := withoutReplacement(random(from, 2), l.Scores, length, w.options.Samples)
	n := len(set.Documents) / length
	logs := make([]float64, n*length)
	if err := w.kernel.LogProbs(l.Scores, set, logs); err != nil {
		return err
	}
	chances, values := make([]float64, n), make([]float64, n)
	for i := range n {
		log := 0.0
		for k := range length {
			log += logs[i*length+k]
			values[i] += w.discounts[k] * l.Gains[set.Documents[i*length+k]]
		}
		chances[i] = math.Exp(log)
	}
	ratio, ratioWithout := leaveOneOut(chances)
	weights := make([]float64, n*length)
	for i := range n {
		baseline := 0.0
		for j := range n {
			baseline += chances[j] * ratioWithout[i][j] * values[j]
		}
		for k := range length {
			weights[i*length+k] = chances[i] * ratio[i] * (values[i] - baseline)
		}
	}
	return w.kernel.LogProbsGradient(l.Scores, set, weights, lambda)
}

// withoutReplacement draws n rankings without replacement, or all if there are no more: by
// stochastic beam search (Kool, van Hoof and Welling, "Stochastic Beams and Where to Find
// Them", ICML 2019). The rankings of largest log π(y) plus Gumbel noise are such a sample;
// they are found rank by rank, since the largest sum among the rankings that begin alike has
// a Gumbel distribution too.
func withoutReplacement(random *rand.Rand, scores []float64, length, n int) plackett.Rankings {
	type prefix struct {
		documents []int
		log       float64 // of its probability
		largest   float64 // sum of log π(y) and noise of the rankings that begin so
	}
	beam := []prefix{{largest: gumbel(random)}}
	logs, sums := make([]float64, len(scores)), make([]float64, len(scores))
	for range length {
		var next []prefix // at most n, in descending order of their largest
		for _, parent := range beam {
			copy(logs, scores)
			for _, d := range parent.documents {
				logs[d] = math.Inf(-1)
			}
			mass := floats.LogSumExp(logs)
			largest := math.Inf(-1)
			for d := range logs {
				logs[d] += parent.log - mass
				sums[d] = logs[d] + gumbel(random)
				largest = max(largest, sums[d])
			}
			enough := math.Inf(-1) // what a child needs at least, roughly: it saves time
			if len(next) == n {
				last := next[n-1].largest
				enough = last - math.Log(1-math.Exp(last-parent.largest)+math.Exp(last-largest)) - 1e-6
			}
			for d, g := range sums {
				if math.IsInf(g, -1) || g < enough {
					continue // placed, or sure not to be kept
				}
				// Under the condition that the largest of them is the parent's.
				v := parent.largest - g + math.Log(-math.Expm1(g-largest))
				g = parent.largest - max(0, v) - math.Log1p(math.Exp(-math.Abs(v)))
				if len(next) == n && g <= next[n-1].largest {
					continue
				}
				at, _ := slices.BinarySearchFunc(next, g, func(p prefix, g float64) int { return cmp.Compare(g, p.largest) })
				next = slices.Insert(next, at, prefix{append(slices.Clone(parent.documents), d), logs[d], g})
				next = next[:min(n, len(next))]
			}
		}
		beam = next
	}
	set := plackett.Rankings{Cutoff: length}
	for _, y := range beam {
		set.Documents = append(set.Documents, y.documents...)
	}
	return set
}

// gumbel is standard Gumbel noise.
func gumbel(random *rand.Rand) float64 { return -math.Log(random.ExpFloat64()) }

// leaveOneOut returns R(S,y) of every element of a set that was sampled without replacement,
// given the probabilities of its elements, and R_y(S,y'). With rates p_y, all elements of
// the set arrive before the rest, whose rate is q = 1 − Σ p, with the probability
//
//	P(S) = ∫ q e^{−qt} Π_{y∈S} (1 − e^{−p_y t}) dt,
//
// and without the elements of C, P_C(S) is the integral without their factors, whatever
// their rates. In x = log t it is computed by the trapezoidal rule, the product of
// all factors relative to its largest value.
func leaveOneOut(chances []float64) (ratio []float64, without [][]float64) {
	n := len(chances)
	rest := 1.0
	for _, p := range chances {
		rest -= p
	}
	ratio, without = make([]float64, n), make([][]float64, n)
	for i := range without {
		without[i] = make([]float64, n)
		without[i][i] = 1
	}
	if rest < 1e-12 { // S is everything: it is drawn whatever comes first
		for i := range n {
			ratio[i] = 1
			for j := range n {
				without[i][j] = 1
			}
		}
		return ratio, without
	}
	const nodes, width = 200, 80.0
	logs, factors := make([]float64, nodes), make([][]float64, nodes)
	for m := range nodes {
		// From t = e^{−width} / q to beyond the arrival of the rest.
		t := math.Exp(4-width*float64(m)/nodes) / rest
		logs[m] = math.Log(rest*t) - rest*t
		factors[m] = make([]float64, n)
		for i, p := range chances {
			factors[m][i] = -math.Expm1(-p * t)
			logs[m] += math.Log(factors[m][i])
		}
	}
	most := slices.Max(logs)
	whole, one := 0.0, make([]float64, n) // P(S) and P_i(S)
	for m, log := range logs {
		weight := math.Exp(log - most)
		whole += weight
		for i, f := range factors[m] {
			if weight > 0 {
				one[i] += weight / f
			}
			for j, g := range factors[m] {
				if j != i && weight > 0 {
					without[i][j] += weight / f / g
				}
			}
		}
	}
	for i := range n {
		ratio[i] = one[i] / whole
		for j := range n {
			if j != i {
				without[i][j] /= one[i]
			}
		}
	}
	return ratio, without
}
