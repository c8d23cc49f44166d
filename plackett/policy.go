package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/num"
)

// policy is the Plackett–Luce model of one list of documents.
type policy struct {
	scores  []float64 // m_d
	weights []float64 // e_d = exp(m_d − max)
	max     float64   // max m
	mass    float64   // M_1 = Σ e_d
}

// reset makes p the policy of the log-scores m, which it keeps. It returns a [*NumberError] for a
// score that is NaN or infinite.
func (p *policy) reset(scores []float64) error {
	if err := checkFinite("score", scores); err != nil {
		return err
	}
	p.scores = scores
	p.weights = num.Sized(p.weights, len(scores))
	p.max = math.Inf(-1)
	for _, m := range scores {
		p.max = max(p.max, m)
	}
	p.mass = 0
	for d, m := range scores {
		e := num.FlushExp(m - p.max)
		p.weights[d] = e
		p.mass += e
	}
	return nil
}

const (
	// roundedFrom is the size of scores beyond which adding Gumbel noise rounds the noise to less
	// than ten digits.
	roundedFrom = 1 << 20
	// sure is a gap of scores that acts like any wider one: e^−64 is 2e-28, and the noise of a
	// double-precision uniform number spans 42.
	sure = 64
)

// Compact writes to out scores of the same policy to which noise, or a logarithm of a sum, can be
// added without being lost to rounding. Scores within ±2^20 are left as they are. Of others the
// largest becomes 0, and gaps of more than 64 between neighbours in descending order become 64.
// The scores must be finite; out has their length, and may be the same slice.
func Compact(scores, out []float64) {
	copy(out, scores)
	if largest, _ := magnitudes(scores); largest <= roundedFrom {
		return
	}
	ranking := num.DescendingOrder(nil, out)
	before, sum := out[ranking[0]], 0.0
	for _, d := range ranking {
		m := out[d]
		sum -= min(before-m, sure)
		before, out[d] = m, sum
	}
}
