package variance

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/plackett"
)

// unorderedDraws is how many rankings are drawn at most to find different ones.
const unorderedDraws = 1_000_000

// unorderedSet is the unordered-set policy gradient with its built-in baseline (Kool, van Hoof
// and Welling, "Estimating Gradients for Discrete Random Variables by Sampling without
// Replacement", ICLR 2020, eq. 15): with S the set of sampled rankings, and
// R(S, y) = P(S | y is drawn first)/P(S),
//
//	λ = Σ_{y∈S} π(y) R(S,y) ∇log π(y) (f(y) − Σ_{y'∈S} π(y') R_y(S,y') f(y')),
//
// where f is the metric and R_y that ratio where y is not there from the beginning, 1 for
// y' = y. Independent
// rankings without those that were there before are a sample without replacement. Where
// there are no more rankings than are asked for, all are in S and the gradient is exact.
func (w *worker) unorderedSet(l List, from plackett.Stream, lambda []float64) error {
	if w.options.Samples < 2 {
		return errors.New("unordered-set: want 2 samples or more")
	}
	length := min(len(w.discounts), len(l.Scores))
	if length == 0 {
		clear(lambda)
		return nil
	}
	set, err := w.different(l.Scores, length, from)
	if err != nil {
		return err
	}
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

// different draws rankings without replacement, as many as asked for or as there are.
func (w *worker) different(scores []float64, length int, from plackett.Stream) (plackett.Rankings, error) {
	want, all := w.options.Samples, 1.0
	for k := range length {
		all *= float64(len(scores) - k)
	}
	if all < float64(want) {
		want = int(all)
	}
	set := plackett.Rankings{Cutoff: length}
	seen := map[string]bool{}
	batch := plackett.NewRankings(w.options.Samples, length)
	from.Seed = ^from.Seed // not the independent rankings
	for drawn := 0; drawn < unorderedDraws; drawn += w.options.Samples {
		if err := w.sampler.Draw(scores, from, batch); err != nil {
			return set, err
		}
		for y := range slices.Chunk(batch.Documents, length) {
			if key := fmt.Sprint(y); !seen[key] && len(seen) < want {
				seen[key] = true
				set.Documents = append(set.Documents, y...)
			}
		}
		if len(seen) == want {
			return set, nil
		}
		from.Step += 1 << 32
	}
	return set, fmt.Errorf("%d different rankings did not come in %d draws: the scores are too peaked", want, unorderedDraws)
}

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
