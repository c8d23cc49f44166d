package clicks

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/metrics"
)

// A Target is a policy to evaluate. Its value is the mean number of clicks that an impression
// would have if the policy drew the rankings.
type Target struct {
	Policy   PolicyFunc
	Baseline PolicyFunc // to compare with, on the same impressions, such as Logged; nil: none
	Bias     Bias       // for policy-aware, affine and dr

	// Unit names what is resampled as a whole for the intervals, such as the client or the
	// text of the query. nil: each impression by itself.
	Unit      func(im *Impression) string
	Bootstrap metrics.Bootstrap // resamples, level and seed of the intervals
}

// An Estimate is an estimate of the value of a policy from a log.
type Estimate struct {
	Estimator     Estimator
	Value         float64 // clicks an impression
	Low, High     float64 // the ends of the confidence interval of Value
	EffectiveSize float64 // effective sample size, (Σw)²/Σw² over the weights of all placements shown, divided by the mean number of ranks: as many impressions of the policy itself would say as much
	LargestWeight float64
	Impressions   int
	Units         int // resampled for the intervals, which are unreliable if there are few

	// Caution says why the intervals may contain the true value less often than their level; "" if there
	// is no reason.
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
//	policy-aware, affine   Σ_k w_ik (c_ik − β_k) + β_k                     w = E_π(d) / E_0(d)
//	dr                     Σ_k w_ik (c_ik − β_k − α_k r̂_d) + β_k + Σ_d r̂_d E_π(d)   with the same w
//	rips                   Σ_k w_ik c_ik                                   w = Π_{j≤k} π(y_j | y_<j) / π_0(y_j | y_<j)
//	whole-ranking          Σ_k w_iK c_ik
//
// A clip is a lower bound on the denominators P_0(d@k) and E_0(d), where they differ from the
// numerators. It applies to the target alone, so that it can lower a difference from the baseline
// but not raise it.
//
// r̂ is a ridge regression of clicks on the logged features and scores, fitted without the
// queries that it is used for. A policy is assumed to show as many documents as were shown.
//
// Intervals are bootstraps over units. More than 10,000 units are merged into 10,000. If few large
// weights decide, as often for rips and whole-ranking, a log may lack the largest weights, and
// intervals end too low. Caution says so below an effective sample size of 1000 for rips and
// whole-ranking, and of 100 for others.
//
// Evaluate returns an error if an impression has no scores, or if its ranking is impossible
// under them: if P_0(d@k) or E_0(d) is below 1e-13, unless the estimator has a clip.
func Evaluate(l *Log, t Target, estimators ...Estimator) ([]Estimate, error) {
	e, err := NewEvaluation(t, estimators...)
	if err != nil {
		return nil, err
	}
	if err := e.Add(l); err != nil {
		return nil, err
	}
	return e.Estimates()
}

// An Evaluation is [Evaluate] for a log that comes in parts, see [Scan]. Its memory does not grow
// with the log. The regression of dr is fitted to the first part alone.
type Evaluation struct {
	Target
	terms       []term
	regression  *regression // nil until it is fitted, or if no estimator is dr
	units       map[string]int
	counts      []float64 // impressions by unit
	impressions int
	ranks       int // shown in all impressions
	width       int // of features; 0: not known yet
}

// A term holds an estimator and its sums.
type term struct {
	estimatorEntry
	given            Estimator
	clip             float64 // negative: none
	value, reference sums    // of the target, and of the baseline

	weights, referenceWeights weightSums
}

// sums adds up the values of impressions.
type sums struct {
	total  float64
	byUnit []float64
}

func (s *sums) add(unit int, value float64) {
	s.total += value
	if unit == len(s.byUnit) {
		s.byUnit = append(s.byUnit, 0)
	}
	s.byUnit[unit] += value
}

// weightSums adds up the weights of the placements shown.
type weightSums struct{ sum, squares, largest float64 }

// effectiveSize returns the effective sample size, see [Estimate]. ranks is the mean number of ranks shown.
func (s *weightSums) effectiveSize(ranks float64) float64 {
	if s.squares == 0 {
		return 0
	}
	return s.sum / s.squares * s.sum / ranks
}

func (s *weightSums) add(other weightSums) {
	*s = weightSums{s.sum + other.sum, s.squares + other.squares, max(s.largest, other.largest)}
}

// NewEvaluation returns an evaluation without impressions. It returns an error if [Evaluate]
// would with these arguments, whatever the log.
func NewEvaluation(t Target, estimators ...Estimator) (*Evaluation, error) {
	e := &Evaluation{Target: t, units: map[string]int{}}
	if t.Policy == nil {
		return nil, errors.New("clicks: no policy to evaluate: set Target.Policy")
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
		e.terms = append(e.terms, term{estimatorEntry: entry, given: name, clip: clip})
	}
	if e.needsBias() {
		if err := t.Bias.check(); err != nil {
			return nil, fmt.Errorf("clicks: %w", err)
		}
	}
	return e, nil
}

func (e *Evaluation) needsBias() bool {
	return slices.ContainsFunc(e.terms, func(m term) bool { return m.bias })
}

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
		if s.Scores == nil && len(s.Documents) > 0 {
			err = errScores
		}
		if err == nil && e.needsBias() {
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
	part := newPart(len(e.terms), len(l.Impressions), len(situations))
	workers := parallel.Workers(len(situations))
	scratch := make([]evaluator, workers)
	err := parallel.Each(len(situations), workers, func(w, i int) error {
		if err := scratch[w].evaluate(e, l, &situations[i], part, i); err != nil {
			return l.impressionError(situations[i].impressions[0], err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range l.Impressions {
		e.addImpression(&l.Impressions[i], part, i)
	}
	for j := range e.terms {
		for i, w := range part.weights[j] {
			e.terms[j].weights.add(w)
			e.terms[j].referenceWeights.add(part.referenceWeights[j][i])
		}
	}
	return nil
}

// A part holds the values of the impressions of a log before they are added up.
type part struct {
	values, references        [][]float64    // [terms][impressions]
	weights, referenceWeights [][]weightSums // [terms][situations]
}

func newPart(terms, impressions, situations int) *part {
	p := &part{}
	for range terms {
		p.values, p.references = append(p.values, make([]float64, impressions)), append(p.references, make([]float64, impressions))
		p.weights, p.referenceWeights = append(p.weights, make([]weightSums, situations)), append(p.referenceWeights, make([]weightSums, situations))
	}
	return p
}

// An evaluator is the scratch space of a worker, which evaluates one situation after another.
type evaluator struct {
	logged, target, baseline propensities
	relevance                []float64 // r̂ by document
	weights                  []float64 // by rank
	shown                    []int     // in any impression of the situation
}

// evaluate computes the values of the impressions of a situation, and their sums of weights.
func (v *evaluator) evaluate(e *Evaluation, l *Log, s *situation, p *part, number int) error {
	if len(s.Shown) == 0 {
		return nil
	}
	needs := needsOf(e.terms)
	v.shown = s.documentsShown(l, v.shown[:0])
	needs.shown = v.shown
	if err := v.logged.set(Logged, s.Impression, e.Bias, needs); err != nil {
		return err
	}
	if err := v.target.setLike(&v.logged, e.Policy, s.Impression, e.Bias, needs); err != nil {
		return err
	}
	if e.Baseline != nil {
		if err := v.baseline.setLike(&v.logged, e.Baseline, s.Impression, e.Bias, needs); err != nil {
			return err
		}
	}
	if e.regression != nil {
		v.relevance = e.regression.predict(v.relevance, s.Impression)
	}
	for _, i := range s.impressions {
		im := &l.Impressions[i]
		for j := range e.terms {
			m := &e.terms[j]
			var err error
			if p.values[j][i], err = v.value(m, e.Bias, im, &v.target, &p.weights[j][number]); err != nil {
				return err
			}
			if e.Baseline == nil {
				continue
			}
			if p.references[j][i], err = v.value(m.unclipped(), e.Bias, im, &v.baseline, &p.referenceWeights[j][number]); err != nil {
				return err
			}
		}
	}
	return nil
}

// needsOf returns the propensities that the estimators need.
func needsOf(terms []term) (n needs) {
	for _, m := range terms {
		switch m.name {
		case IIPS:
			n.placements = true
		case RIPS, WholeRanking: // rankings alone
		default:
			n.exposures = true
		}
	}
	return n
}

// unclipped returns the term for the baseline. A clip lowers a value. If it lowered the value of the
// baseline too, it could raise the difference. The denominators are only bounded where they would
// otherwise be errors.
func (m *term) unclipped() *term {
	if m.clip <= 0 {
		return m
	}
	own := *m
	own.clip = leastPropensity
	return &own
}

// value returns the value of one impression for a policy by an estimator, and adds its weights to
// sums.
func (v *evaluator) value(m *term, b Bias, im *Impression, p *propensities, sums *weightSums) (float64, error) {
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
		case PolicyAware, Affine:
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
		sums.sum += x
		sums.squares += x * x
		sums.largest = max(sums.largest, x)
	}
	return value, nil
}

// weigh returns the weight of every rank of an impression.
func (v *evaluator) weigh(m *term, im *Impression, p *propensities) ([]float64, error) {
	v.weights = v.weights[:0]
	if m.name == RIPS || m.name == WholeRanking {
		var err error
		v.weights, err = v.weighRanking(v.weights, im, p, m.name == WholeRanking)
		return v.weights, err
	}
	ranks := len(im.Shown)
	for k, d := range im.Shown {
		var target, logged float64
		if m.name == IIPS {
			target, logged = p.placements[d*ranks+k], v.logged.placements[d*ranks+k]
		} else {
			target, logged = p.exposures[d], v.logged.exposures[d]
		}
		if target == logged { // also where both are 0, and before the clip: the value of the logged policy is known
			v.weights = append(v.weights, 1)
			continue
		}
		if m.clip >= 0 {
			logged = max(logged, m.clip)
		}
		if logged < leastPropensity && m.clip <= 0 {
			return nil, fmt.Errorf("%s: document %q at rank %d has the probability %.3g by the logged scores, so these cannot have drawn it; %s(0.001) bounds its weight", m.name, im.Documents[d], k+1, logged, m.name)
		}
		v.weights = append(v.weights, target/logged)
	}
	return v.weights, nil
}

// weighRanking appends the ratio of the probabilities of the ranking down to each rank. If whole
// is true, every rank has the ratio of the whole ranking.
func (v *evaluator) weighRanking(w []float64, im *Impression, p *propensities, whole bool) ([]float64, error) {
	target, err := p.logProbs(im)
	if err != nil {
		return w, err
	}
	logged, err := v.logged.logProbs(im)
	if err != nil {
		return w, err
	}
	ratio := 0.0
	for k := range im.Shown {
		ratio += target[k] - logged[k]
		w = append(w, math.Exp(ratio))
	}
	if whole {
		for k := range w {
			w[k] = w[len(w)-1]
		}
	}
	return w, nil
}
