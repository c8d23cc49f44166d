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
	}
	if in.shared != nil && in.shared.placed[key] != nil {
		return in.shared.placed[key]
	}
	p := &placements{rows: make([]float64, len(in.Labels)), expectation: plackett.Expectation{Tolerance: tolerance}}
	for row := range p.rows {
		p.rows[row] = math.NaN()
	}
	if in.shared != nil {
		in.shared.placed[key] = p
	}
	return p
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

// expectedRR is the expected reciprocal rank of the first relevant document. The first
// of them to be placed is like one document of all their weight, exp m: the sum of the
// rates at which they arrive (see plackett.Expectation).
func (e *evaluator) expectedRR(p *placements, q query) (float64, error) {
	p.scores = p.scores[:0]
	var relevant []float64
	for d, score := range q.scores {
		if e.values[d] > 0 {
			relevant = append(relevant, score)
		} else {
			p.scores = append(p.scores, score)
		}
	}
	p.scores = append(p.scores, floats.LogSumExp(relevant))
	e.setWeights(len(p.scores), func(rank int) float64 { return 1 / float64(rank) })
	p.out = append(p.out[:0], p.scores...)
	err := p.expectation.Exposure(p.scores, e.weights, p.out)
	return p.out[len(p.out)-1], err
}
