package clicks

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// A Target is a policy to evaluate. Its value is the mean number of clicks that an impression
// would have if the policy drew the rankings.
type Target struct {
	Policy PolicyFunc

	// Baseline is a policy to compare with on the same impressions, such as Logged. nil: none.
	Baseline PolicyFunc

	// Bias is needed by policy-aware and dr.
	Bias Bias

	// Unit returns the name of what the intervals resample as a whole, such as the client or the
	// text of the query. nil: each impression by itself.
	Unit func(im *Impression) string

	// Bootstrap has the resamples, the level and the seed of the intervals.
	Bootstrap metrics.Bootstrap
}

// An Estimate is an estimate of the value of a policy from a log.
type Estimate struct {
	Estimator Estimator
	Value     float64 // clicks per impression
	Low, High float64 // the ends of the confidence interval of Value
	// EffectiveSize is the effective sample size, (Σw)²/Σw² over the weights of all placements shown, divided by the mean
	// number of ranks: that many impressions of the policy itself would say as much.
	EffectiveSize float64
	LargestWeight float64
	Impressions   int
	Units         int // resampled for the intervals, which are unreliable if there are few

	// Caution explains why the intervals may contain the true value less often than their level says;
	// "": they do not.
	Caution string

	// BaselineSize is the effective sample size for the baseline; 0 without one.
	BaselineSize float64
	// Difference is the value minus the value of the baseline, with an interval from paired
	// resamples; all are 0 without a baseline.
	Difference metrics.Interval
}

// Evaluate estimates the value of a policy from a log that other policies drew, one estimate for
// each estimator. Without estimators it uses IIPS, and PolicyAware and DR if there is a bias.
//
// With w_ik the weight of the document d at rank k of impression i, n impressions, c clicks,
// and E(d) = Σ_k α_k P(d@k) under the target (π) or the logging policy (0), the value is the mean of
//
//	iips                   Σ_k w_ik c_ik                                   w = P_π(d@k) / P_0(d@k)
//	policy-aware           Σ_k w_ik (c_ik − β_k) + β_k                     w = E_π(d) / E_0(d)
//	dr                     Σ_k w_ik (c_ik − β_k − α_k r̂_d) + β_k + Σ_d r̂_d E_π(d)   with the same w
//	rips                   Σ_k w_ik c_ik                                   w = Π_{j≤k} π(y_j | y_<j) / π_0(y_j | y_<j)
//	whole-ranking          Σ_k w_iK c_ik
//
// A clip is a lower bound on the denominators P_0(d@k) and E_0(d), where they differ from the
// numerators. It applies to the target alone, so that it can lower a difference from the baseline
// but not raise it.
//
// r̂ is a ridge regression of clicks on the logged scores and features, unless these are sparse or more than 1,000, fitted without
// the queries that it is used for. A policy is assumed to show as many documents as were shown.
//
// Intervals are bootstraps over units. More than 10,000 units are merged into 10,000. If few large
// weights decide, a log may lack the largest weights, and intervals end too low. For rips and whole-ranking it is known how large
// weights are: E_0[w²] = E_π[w], which a ranking for each impression, drawn from the target policy, estimates. If that exceeds the
// mean square of the weights in the log, their intervals are wider by the root of the ratio. For others, Caution warns below an
// effective sample size of 100.
//
// Evaluate returns an error if an impression has no scores, or if its ranking is impossible
// under them: if P_0(d@k) or E_0(d) is below 1e-13, unless the estimator has a clip.
func Evaluate(l *Log, t Target, estimators ...Estimator) ([]Estimate, error) {
	e, err := NewEvaluation(t, estimators...)
	if err == nil {
		err = e.Add(l)
	}
	if err != nil {
		return nil, err
	}
	return e.Estimates()
}

// An Evaluation is [Evaluate] for a log that comes in parts, see [Scan]. Its memory does not grow
// with the log. The regression of dr is fitted to the first part alone.
type Evaluation struct {
	Target
	policies    []PolicyFunc // Logged, the target, and the baseline, if there is one
	terms       []term
	needs       needs       // of all terms
	regression  *regression // nil until it is fitted, or if no estimator is dr
	units       map[string]int
	counts      []float64 // impressions by unit
	impressions int
	ranks       int // shown in all impressions
	width       int // of features; 0: not known yet
}

// A term is an estimator for one policy, with its sums.
type term struct {
	estimatorEntry
	given   Estimator
	clip    float64 // negative: none
	policy  int     // of Evaluation.policies
	total   float64
	byUnit  []float64
	weights weightSums
}

// weightSums adds up the weights of the placements shown. drawn is the sum of the weights of rankings that the policy itself draws in
// their place, which expects as much as squares: E_0[w²] = E_π[w].
type weightSums struct{ sum, squares, largest, drawn float64 }

// widening returns the factor by which deviations from the mean are larger than the weights of a log say, which may lack the largest
// ones.
func (s *weightSums) widening() float64 {
	if s.squares == 0 {
		return 1
	}
	return math.Sqrt(max(1, s.drawn/s.squares))
}

// effectiveSize returns the effective sample size, see [Estimate]. ranks is the mean number of ranks shown.
func (s *weightSums) effectiveSize(ranks float64) float64 {
	if s.squares == 0 {
		return 0
	}
	return s.sum / s.squares * s.sum / ranks
}

func (s *weightSums) add(other weightSums) {
	*s = weightSums{s.sum + other.sum, s.squares + other.squares, max(s.largest, other.largest), s.drawn + other.drawn}
}

// NewEvaluation returns an evaluation without impressions. It returns an error if [Evaluate]
// would with these arguments, whatever the log.
func NewEvaluation(t Target, estimators ...Estimator) (*Evaluation, error) {
	e := &Evaluation{Target: t, policies: []PolicyFunc{Logged, t.Policy}, units: map[string]int{}}
	if t.Policy == nil {
		return nil, errors.New("clicks: no policy to evaluate: set Target.Policy")
	}
	if t.Baseline != nil {
		e.policies = append(e.policies, t.Baseline)
	}
	if len(estimators) == 0 {
		estimators = []Estimator{IIPS}
		if t.Bias.Alpha != nil {
			estimators = append(estimators, PolicyAware, DR)
		}
	}
	for _, name := range estimators {
		entry, clip, err := name.parse(func(e estimatorEntry) bool { return e.evaluate })
		if err != nil {
			return nil, err
		}
		e.needs.placements = e.needs.placements || entry.name == IIPS
		e.needs.exposures = e.needs.exposures || entry.bias
		for policy := 1; policy < len(e.policies); policy++ {
			if policy == baseline && clip > 0 {
				// A clip lowers a value. If it lowered the value of the baseline too, it could raise the difference.
				// The denominators are only bounded where they would otherwise be errors.
				clip = leastPropensity
			}
			e.terms = append(e.terms, term{estimatorEntry: entry, given: name, clip: clip, policy: policy})
		}
	}
	if e.needs.exposures {
		if err := t.Bias.check(); err != nil {
			return nil, fmt.Errorf("clicks: %w", err)
		}
	}
	return e, nil
}

// baseline is the index of the baseline in Evaluation.policies.
const baseline = 2

// Add adds the impressions of a log. It returns the same errors as [Evaluate], and an error if a
// document has another number of features than before.
func (e *Evaluation) Add(l *Log) error {
	if err := l.Validate(); err != nil || len(l.Impressions) == 0 {
		return err
	}
	situations := l.situations()
	for i := range situations {
		s := &situations[i]
		err := s.checkWidth(&e.width)
		if s.Scores == nil && s.Interleaving == nil && len(s.Documents) > 0 {
			err = errScores
		}
		if err == nil && e.needs.exposures {
			err = e.Bias.covers(s.Impression)
		}
		if err != nil {
			return l.impressionError(s.impressions[0], err)
		}
	}
	if e.regression == nil && slices.ContainsFunc(e.terms, func(m term) bool { return m.name == DR }) {
		var err error
		if e.regression, err = fitRelevance(situations, func(i int, weight, clicked []float64) {
			for _, j := range situations[i].impressions {
				im := &l.Impressions[j]
				for k, d := range im.Shown {
					weight[d] += e.Bias.Alpha[k] * e.Bias.Alpha[k]
					clicked[d] += e.Bias.Alpha[k] * (im.Clicks[k] - e.Bias.beta(k))
				}
			}
		}); err != nil {
			return err
		}
	}
	n := len(e.terms)
	values := make([]float64, len(l.Impressions)*n)
	weights := make([]weightSums, len(situations)*n)
	workers := parallel.Workers(len(situations))
	scratch := make([]evaluator, workers)
	err := parallel.Each(len(situations), workers, func(w, i int) error {
		s := &situations[i]
		return l.impressionError(s.impressions[0], scratch[w].evaluate(e, l, s, values, weights[i*n:(i+1)*n]))
	})
	if err != nil {
		return err
	}
	for i := range l.Impressions {
		e.addImpression(&l.Impressions[i], values[i*n:(i+1)*n])
	}
	for i, w := range weights {
		e.terms[i%n].weights.add(w)
	}
	return nil
}

// An evaluator is the scratch space of a worker, which evaluates one situation after another.
type evaluator struct {
	scratch   [3]propensities  // by policy
	policies  [3]*propensities // by policy; the first ones, if it gives the logged scores
	relevance []float64        // r̂ by document
	weights   []float64        // by rank
}

// evaluate computes the values of the impressions of a situation [impressions of the log × terms], and its sums of
// weights [terms].
func (v *evaluator) evaluate(e *Evaluation, l *Log, s *situation, values []float64, weights []weightSums) (err error) {
	if len(s.Shown) == 0 {
		return nil
	}
	var logged *propensities
	for i, policy := range e.policies {
		if v.policies[i], err = v.scratch[i].set(policy, logged, s.Impression, e.Bias, e.needs); err != nil {
			return err
		}
		logged = v.policies[0]
	}
	if e.regression != nil {
		v.relevance = e.regression.predict(v.relevance, s.Impression)
	}
	for _, i := range s.impressions {
		for j := range e.terms {
			im, m := &l.Impressions[i], &e.terms[j]
			if values[i*len(e.terms)+j], err = v.value(m, e.Bias, im, &weights[j]); err != nil {
				return err
			}
			if m.name == RIPS || m.name == WholeRanking {
				if err := v.drawWeights(m, im, plackett.Stream{Seed: e.Bootstrap.Seed, Step: uint64(e.impressions + i)}, &weights[j]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// value returns the value of one impression for a policy by an estimator, and adds its weights to
// sums.
func (v *evaluator) value(m *term, b Bias, im *Impression, sums *weightSums) (float64, error) {
	p := v.policies[m.policy]
	w, err := v.weigh(m, im, p)
	if err != nil {
		return 0, err
	}
	value := 0.0
	if m.name == DR {
		for d, r := range v.relevance {
			value += r * p.exposures[d]
		}
	}
	for k, c := range im.Clicks {
		switch m.name {
		case PolicyAware:
			value += w[k]*(c-b.beta(k)) + b.beta(k)
		case DR:
			value += w[k]*(c-b.beta(k)-b.Alpha[k]*v.relevance[im.Shown[k]]) + b.beta(k)
		default:
			value += w[k] * c
		}
	}
	if notFinite(value) {
		return 0, fmt.Errorf("%s: a weight is beyond the range of float64", m.given)
	}
	for _, x := range w {
		sums.add(weightSums{x, x * x, x, 0})
	}
	return value, nil
}

// drawWeights adds the weights of a ranking that the policy draws for an impression.
func (v *evaluator) drawWeights(m *term, im *Impression, from plackett.Stream, sums *weightSums) error {
	p, own := v.policies[m.policy], *im
	own.Shown = make([]int, len(im.Shown))
	if err := p.ruled.Draw(from, own.Shown); err != nil {
		return err
	}
	w, err := v.weigh(m, &own, p)
	for _, x := range w {
		sums.drawn += min(x, 1e100) // what it widens stays finite
	}
	return err
}

// weigh returns the weight of every rank of an impression.
func (v *evaluator) weigh(m *term, im *Impression, p *propensities) ([]float64, error) {
	v.weights = v.weights[:0]
	if m.name == RIPS || m.name == WholeRanking {
		return v.weighRanking(im, p, m.name == WholeRanking)
	}
	logging := v.policies[0]
	ranks := len(im.Shown)
	for k, d := range im.Shown {
		var target, logged float64
		if m.name == IIPS {
			target, logged = p.placements[d*ranks+k], logging.placements[d*ranks+k]
		} else {
			target, logged = p.exposures[d], logging.exposures[d]
		}
		if target == logged { // also where both are 0, and before the clip: the value of the logged policy is known
			v.weights = append(v.weights, 1)
			continue
		}
		if m.clip >= 0 {
			logged = max(logged, m.clip)
		}
		if logged < leastPropensity && m.clip <= 0 {
			return nil, fmt.Errorf("%s: document %q at rank %d has the probability %.3g by the logged scores, so these cannot have drawn it; "+
				"%s(0.001) bounds its weight", m.name, im.Documents[d], k+1, logged, m.name)
		}
		v.weights = append(v.weights, target/logged)
	}
	return v.weights, nil
}

// weighRanking returns the ratio of the probabilities of the ranking down to each rank. If whole
// is true, every rank has the ratio of the whole ranking.
func (v *evaluator) weighRanking(im *Impression, p *propensities, whole bool) ([]float64, error) {
	target, err := p.logProbs(im)
	if err != nil {
		return nil, err
	}
	logged, err := v.policies[0].logProbs(im)
	if err != nil {
		return nil, err
	}
	ratio := 0.0
	for k := range im.Shown {
		ratio += target[k] - logged[k]
		v.weights = append(v.weights, math.Exp(ratio))
	}
	if whole {
		for k := range v.weights {
			v.weights[k] = math.Exp(ratio)
		}
	}
	return v.weights, nil
}
