package clicks

import (
	"fmt"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett"
)

// leastPropensity is the numerical error of a placement's probability. A smaller probability
// cannot be told from 0, and is not seen by chance in a log of any size.
const leastPropensity = 1e-13

// needs says which propensities to compute.
type needs struct {
	placements, exposures bool
}

// propensities computes the probabilities of a policy for one situation after another.
type propensities struct {
	ruled      plackett.Ruled // the policy
	scores     []float64
	placements []float64 // [documents × ranks shown] P(d@k)
	exposures  []float64 // [documents] Σ_k α_k P(d@k)
	logs       []float64 // by rank, of the last ranking
}

// set returns the propensities of a policy in a situation. They are other if that has the same scores, and else p; other
// may be nil.
func (p *propensities) set(policy PolicyFunc, other *propensities, im *Impression, b Bias, n needs) (*propensities, error) {
	if im.Scores == nil && im.Interleaving != nil && reflect.ValueOf(policy).Pointer() == reflect.ValueOf(Logged).Pointer() {
		return p, p.interleaved(im, b, n)
	}
	scores, err := policy(im)
	switch {
	case err != nil:
		return nil, err
	case len(scores) != len(im.Documents):
		return nil, fmt.Errorf("the policy gives %d scores for %d documents", len(scores), len(im.Documents))
	case other != nil && slices.Equal(scores, other.scores):
		return other, nil
	}
	p.scores = scores
	p.ruled.Expectation.Tolerance = leastPropensity
	if err := setPolicy(&p.ruled, scores, im); err != nil {
		return nil, err
	}
	ranks := len(im.Shown)
	if n.placements {
		p.placements = num.Sized(p.placements, len(scores)*ranks)
		if err := p.ruled.Placements(ranks, p.placements); err != nil {
			return nil, err
		}
	}
	if !n.exposures {
		return p, nil
	}
	if !n.placements {
		p.exposures = num.Sized(p.exposures, len(scores))
		return p, p.ruled.Exposure(b.Alpha[:ranks], p.exposures)
	}
	p.setExposures(len(scores), b.Alpha[:ranks])
	return p, nil
}

// setPolicy sets the policy of scores under the rules of an impression.
func setPolicy(p *plackett.Ruled, scores []float64, im *Impression) error {
	var rules plackett.Rules
	if im.Rules != nil {
		rules = *im.Rules
	}
	if err := p.Set(scores, rules); err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	return nil
}

// interleaved sets the propensities of an interleaved ranking.
func (p *propensities) interleaved(im *Impression, b Bias, n needs) error {
	ranks := len(im.Shown)
	p.scores, p.ruled.Expectation.Tolerance = nil, leastPropensity
	p.placements = num.Sized(p.placements, len(im.Documents)*ranks)
	if err := im.Interleaving.placements(&p.ruled.Expectation, im, ranks, p.placements); err != nil || !n.exposures {
		return err
	}
	p.setExposures(len(im.Documents), b.Alpha[:ranks])
	return nil
}

// setExposures sets the exposures by the placements.
func (p *propensities) setExposures(documents int, alpha []float64) {
	p.exposures = num.Sized(p.exposures, documents)
	for d := range p.exposures {
		p.exposures[d] = floats.Dot(alpha, p.placements[d*len(alpha):(d+1)*len(alpha)])
	}
}

// logProbs returns log P(y_k | y_<k) for the ranks of a ranking of the situation.
func (p *propensities) logProbs(im *Impression) ([]float64, error) {
	if p.scores == nil {
		return nil, errInterleaved
	}
	p.logs = num.Sized(p.logs, len(im.Shown))
	return p.logs, p.ruled.LogProbs(im.Shown, p.logs)
}
