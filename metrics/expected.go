package metrics

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/plackett"
)

// placements has Σ_k w_k P(rank of d = k) for every row, the expected weight of its rank
// under the policy, from which the expectation of a sum follows for any values of the
// documents. Metrics of the same weights share them.
type placements struct {
	rows        []float64 // NaN where it is not known yet
	expectation plackett.Expectation
	scores      []float64 // scratch of expectedRR
	out         []float64
}

// tolerance of expectations, relative to their scale: ten digits.
const tolerance = 1e-10

// weighting tells which metrics share placements.
type weighting struct {
	kind   kind
	cutoff int
	param  float64
}

// placements for the weights of a metric.
func (in Input) placements(m metric) *placements {
	key := weighting(m)
	switch m.kind {
	case ndcg:
		key.kind = dcg
	case recall:
		key.kind = precision
	case gradedRBP:
		key.kind = rankBiasedPrecision
	}
	s := in.shared
	if s == nil {
		s = newShared()
	}
	p := s.placed[key]
	if p == nil {
		p = &placements{expectation: plackett.Expectation{Tolerance: tolerance}}
		s.placed[key] = p
	}
	for len(p.rows) < len(in.Labels) {
		p.rows = append(p.rows, math.NaN())
	}
	return p
}

// expectation computes the expectation of a metric under the policy exactly: that of a sum
// over ranks of weight times value, Σ_k w_k v(y_k), of what depends on the first relevant
// document, and of pairs. nil: it is not known.
func (m metric) expectation() func(e *evaluator, p *placements, q query) (float64, error) {
	switch {
	case m.kind == reciprocalRank:
		return (*evaluator).expectedRR
	case m.kind == hitRate:
		return (*evaluator).expectedHits
	case m.kind == pairAccuracy && m.cutoff == 0:
		return (*evaluator).expectedPairs
	case families[m.kind].walk == nil:
		return (*evaluator).expectedSum
	}
	return nil
}

// expectedSum is the expectation of base + Σ_k w_k v(y_k) / norm.
func (e *evaluator) expectedSum(p *placements, q query) (float64, error) {
	if floats.Norm(e.values, math.Inf(1)) == 0 {
		return e.base, nil
	}
	rows := p.rows[q.first : q.first+len(q.scores)]
	if math.IsNaN(rows[0]) {
		if err := p.expectation.Exposure(q.scores, e.weights, rows); err != nil {
			return 0, err
		}
	}
	return e.base + floats.Dot(e.values, rows)/e.norm, nil
}

// expectedRR is the expected reciprocal rank of the first relevant document.
func (e *evaluator) expectedRR(p *placements, q query) (float64, error) {
	return e.expectedFirst(p, q, func(rank int) float64 { return 1 / float64(rank) })
}

// expectedHits is the chance that the first relevant document is within the cutoff.
func (e *evaluator) expectedHits(p *placements, q query) (float64, error) {
	return e.expectedFirst(p, q, func(int) float64 { return 1 })
}

// expectedFirst is the expected weight of the rank of the first relevant document. The
// first of them to be placed is like one document of all their weight, exp m: the sum of
// the rates at which they arrive (see plackett.Expectation).
func (e *evaluator) expectedFirst(p *placements, q query, weight func(rank int) float64) (float64, error) {
	compact := make([]float64, len(q.scores))
	plackett.Compact(q.scores, compact)
	p.scores = p.scores[:0]
	var relevant []float64
	for d, score := range compact {
		if e.values[d] > 0 {
			relevant = append(relevant, score)
		} else {
			p.scores = append(p.scores, score)
		}
	}
	p.scores = append(p.scores, floats.LogSumExp(relevant))
	e.setWeights(len(p.scores), weight)
	p.out = append(p.out[:0], p.scores...)
	err := p.expectation.Exposure(p.scores, e.weights, p.out)
	return p.out[len(p.out)-1], err
}

// expectedPairs is the mean over pairs of the chance of the right order, the sigmoid of
// the difference of the scores.
func (e *evaluator) expectedPairs(_ *placements, q query) (float64, error) {
	sum := 0.0
	for i, score := range q.scores {
		for j, other := range q.scores {
			if e.values[i] > e.values[j] {
				sum += 1 / (1 + math.Exp(other-score))
			}
		}
	}
	return sum / e.norm, nil
}
