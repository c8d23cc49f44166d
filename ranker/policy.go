package ranker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett"
)

// Rank appends to dst the documents in descending order of score. Documents of equal score
// keep their order.
func Rank(dst []int, scores []float64) []int { return num.DescendingOrder(dst, scores) }

// A Policy is the Plackett–Luce policy of scores: it draws one document after another, document d with a probability
// proportional to exp(score_d / Temperature). The zero value is ready for use.
type Policy struct {
	// Temperature divides the scores. It is a positive, finite number: above 1 the rankings vary more, below 1 less. 0: 1.
	Temperature float64

	// Rules are what rankings have to obey; their offsets are added to the scores before the temperature divides. nil: nothing.
	Rules *plackett.Rules
}

// Rank appends to dst the documents in descending order of score, as far as the rules allow: see [plackett.Ruled.Rank].
func (policy Policy) Rank(dst []int, scores []float64) ([]int, error) {
	p := policySpaces.Get().(*policySpace)
	defer p.free(len(scores))
	first := len(dst)
	dst = slices.Grow(dst, len(scores))[:first+len(scores)]
	err := (Policy{Rules: policy.Rules}).set(p, scores)
	if err == nil {
		err = p.ruled.Rank(dst[first:])
	}
	return dst, err
}

// TemperedRules returns the rules with offsets for scores that are divided by the temperature, as a log has them.
func (policy Policy) TemperedRules() *plackett.Rules {
	t := cmp.Or(policy.Temperature, 1)
	if t == 1 || policy.Rules == nil || policy.Rules.Offsets == nil {
		return policy.Rules
	}
	rules := *policy.Rules
	rules.Offsets = slices.Clone(rules.Offsets)
	for d := range rules.Offsets {
		rules.Offsets[d] /= t
	}
	return &rules
}

// Draw appends to dst a ranking drawn from the policy: its first cutoff documents, or all
// if there are fewer. The second result is log π(y), the logarithm of the probability of
// these documents in this order. The same seed gives the same ranking.
//
// Draw returns an error if a score, or a score divided by the temperature, is not finite, or if
// cutoff is below 1.
func (policy Policy) Draw(dst []int, scores []float64, cutoff int, seed uint64) (ranking []int, logProbability float64, err error) {
	if cutoff < 1 {
		return dst, 0, fmt.Errorf("ranker: cutoff %d, want 1 or more", cutoff)
	}
	k := min(cutoff, len(scores))
	p := policySpaces.Get().(*policySpace)
	defer p.free(len(scores) * k)
	if err := policy.set(p, scores); err != nil || k == 0 {
		return dst, 0, err
	}
	first := len(dst)
	dst = slices.Grow(dst, k)[:first+k]
	p.logs = num.Sized(p.logs, k)
	err = p.ruled.Draw(plackett.Stream{Seed: seed}, dst[first:])
	if err == nil {
		err = p.ruled.LogProbs(dst[first:], p.logs)
	}
	if err != nil {
		return dst[:first], 0, fmt.Errorf("ranker: %w", err)
	}
	for _, l := range p.logs {
		logProbability += l
	}
	return dst, logProbability, nil
}

// Exposure appends to dst the expected exposure of every document under the policy,
// E_y[θ at the rank of d], exactly: see [plackett.Expectation]. With K discounts of 1 it is
// the probability that the document is among the first K, its propensity to be shown.
//
// For hundreds of ranks and thousands of documents Exposure takes seconds, but only milliseconds if
// smooth discounts such as DCG's count at every rank. If the context ends first, it returns the error
// of the context. It returns an error if a score, a score divided by the temperature, or a discount
// is not finite.
func (policy Policy) Exposure(ctx context.Context, dst, scores, discounts []float64) ([]float64, error) {
	p := policySpaces.Get().(*policySpace)
	work := len(scores) * min(len(scores), len(discounts))
	defer func() { p.free(work) }()
	if err := policy.set(p, scores); err != nil {
		return dst, err
	}
	first := len(dst)
	dst = slices.Grow(dst, len(scores))[:first+len(scores)]
	if ctx.Done() != nil {
		p.ruled.Expectation.Check = ctx.Err
	}
	if err := p.ruled.Exposure(discounts, dst[first:]); err != nil {
		return dst[:first], fmt.Errorf("ranker: %w", err)
	}
	if p.ruled.Expectation.Terms() > 0 { // which take as much memory as some ranks
		work = 8 * len(scores)
	}
	return dst, nil
}

// ExposureTime returns about how long [Policy.Exposure] takes for a cutoff below the number of scores and discounts of 1: see
// [plackett.Expectation.ExposureTime]. It returns the errors of Exposure.
func (policy Policy) ExposureTime(scores []float64, cutoff int) (time.Duration, error) {
	p := policySpaces.Get().(*policySpace)
	defer p.free(len(scores))
	scores, err := policy.temper(p, scores)
	if err != nil {
		return 0, err
	}
	took, err := p.ruled.Expectation.ExposureTime(scores, slices.Repeat([]float64{1}, cutoff))
	if err != nil {
		return 0, fmt.Errorf("ranker: %w", err)
	}
	return took, nil
}

// set makes the space's policy the one of scores under the rules.
func (policy Policy) set(p *policySpace, scores []float64) error {
	scores, err := policy.temper(p, scores)
	if err != nil {
		return err
	}
	var rules plackett.Rules
	if policy.Rules != nil {
		rules = *policy.TemperedRules()
	}
	if err := p.ruled.Set(scores, rules); err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	return nil
}

// temper divides the scores by the temperature.
func (policy Policy) temper(p *policySpace, scores []float64) ([]float64, error) {
	t := policy.Temperature
	switch {
	case t == 0 || t == 1:
		return scores, nil
	case !(t > 0) || math.IsInf(t, 1):
		return nil, fmt.Errorf("ranker: temperature %v, want a positive, finite number", t)
	}
	p.tempered = p.tempered[:0]
	for d, s := range scores {
		v := s / t
		if math.IsInf(v, 0) && !math.IsInf(s, 0) {
			return nil, fmt.Errorf("ranker: the score %v of document %d, divided by the temperature %v, is beyond the range of float64", s, d, t)
		}
		p.tempered = append(p.tempered, v)
	}
	return p.tempered, nil
}

// policySpace is the scratch space of draws and exposures.
type policySpace struct {
	ruled    plackett.Ruled
	logs     []float64
	tempered []float64
}

var policySpaces = sync.Pool{New: func() any { return new(policySpace) }}

// keptWork is the most documents × ranks whose scratch space is kept for the next call: some
// megabytes. That for more may take a hundred.
const keptWork = 1 << 16

// free keeps the space for the next call, unless it is for more documents × ranks.
func (p *policySpace) free(work int) {
	if work <= keptWork {
		p.ruled.Expectation.Check = nil // which holds a context
		policySpaces.Put(p)
	}
}
