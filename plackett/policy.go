package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/internal/scratch"
)

// policy is the Plackett–Luce model of one list of documents.
type policy struct {
	scores  []float64 // m_d
	weights []float64 // e_d = exp(m_d − max)
	max     float64   // max m
	mass    float64   // M_1 = Σ e_d
}

// reset makes p the policy of the log-scores m, which it keeps. A score that is
// NaN or infinite is an error that names its position.
func (p *policy) reset(scores []float64) error {
	if err := checkFinite("score", scores); err != nil {
		return err
	}
	p.scores = scores
	p.weights = scratch.Sized(p.weights, len(scores))
	p.max = math.Inf(-1)
	for _, m := range scores {
		p.max = max(p.max, m)
	}
	p.mass = 0
	for d, m := range scores {
		e := normal.Exp(m - p.max)
		p.weights[d] = e
		p.mass += e
	}
	return nil
}
