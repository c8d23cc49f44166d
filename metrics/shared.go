package metrics

import (
	"math"

	"github.com/plrank/plrank/plackett"
)

// tolerance of expectations, relative to their scale: ten digits.
const tolerance = 1e-10

// expectedWeights has Σ_k w_k P(rank of d = k) for every row, the expected weight of its rank
// under the policy. The expectation of a sum follows from it for any values of the
// documents, so that metrics of the same weights share it.
type expectedWeights struct {
	rows        []float64 // NaN where it is not known yet
	expectation plackett.Expectation
	scores      []float64 // scratch
	out         []float64 // scratch
}

// weighting says which metrics share expectedWeights.
type weighting struct {
	name   string // the metric that the weights are named after
	cutoff int
	param  float64
}

// shared is what several measures of one Input need, each part computed once.
type shared struct {
	exposure []float64
	weights  map[weighting]*expectedWeights
}

// reset makes s ready for another Input, with the memory of the one before.
func (s *shared) reset() {
	s.exposure = nil
	for _, p := range s.weights {
		p.rows = p.rows[:0]
	}
}

// expectedWeights are those of a weighting, for that many rows.
func (s *shared) expectedWeights(w weighting, rows int) *expectedWeights {
	p := s.weights[w]
	if p == nil {
		p = &expectedWeights{expectation: plackett.Expectation{Tolerance: tolerance}}
		if s.weights == nil {
			s.weights = map[weighting]*expectedWeights{}
		}
		s.weights[w] = p
	}
	for len(p.rows) < rows {
		p.rows = append(p.rows, math.NaN())
	}
	return p
}
