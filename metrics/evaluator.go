package metrics

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// family describes how to read and compute the measures of one name. The tables are in
// names.go, the formulas and sources in the comment of ParseMeasure.
type family struct {
	name, alias   string
	lowerIsBetter bool
	param         param

	// A metric has a value for each label, and most have weights of the ranks from 1: they
	// are base + Σ_k weight(k)·value(y_k) / norm. finish completes the evaluator of a query
	// after its values and weights are set, and reports whether the metric is defined for the
	// query; nil: it always is.
	value  func(e *evaluator, label float32) (float64, error)
	weight func(rank, param float64) float64
	finish func(e *evaluator) (defined bool, err error)
	// walk returns the value of a ranking; nil for the metrics that are a weighted sum.
	walk func(e *evaluator, r *ranking) float64

	// expected computes the exact expectation under the policy of the scores; nil: a weighted sum has
	// expectedSum.
	expected  expectation
	deviation expectation // the same for the standard deviation; nil: it is not known
	// weightsOf names the family that has the same weights, so that their expectations share
	// the expectedWeights; "": this one.
	weightsOf string

	// graded reports whether the metric with that parameter depends on the highest grade of
	// the data set; nil: no.
	graded func(param float64) bool
	// letor4 is what LETOR 4.0's tools compute under the name; nil: this family.
	letor4 *family
	// slope writes the derivatives of the norm in the values of the documents; nil: the norm does not depend on them, or the metric
	// is not for Linearize.
	slope func(e *evaluator, out []float64)
	// theta returns the discount of rank k for ParseDiscounts; nil: there are none by this
	// name. With bySum, normalized gains are divided by their sum.
	theta func(k, cutoff, param float64) float64
	bySum bool

	// fairness returns the value of a fairness measure; nil for a metric.
	fairness  func(q exposed) float64
	ofGroups  bool // it compares groups of documents
	ofIntents bool // it is a metric that goes by intents, not labels
	ofVectors bool // it is a metric that goes by groups or intents
	ofTarget  bool // it compares the exposure with the target, which takes discounts
}

// expectation computes the expectation of the prepared metric under the policy of the query's
// scores.
type expectation func(e *evaluator, w *worker, q query) (float64, error)

// metric is one metric with its parameter and cutoff.
type metric struct {
	family *family
	cutoff int     // ranks that count; 0: all
	param  float64 // of the metrics that have one
}

// String returns the name that ParseMeasure reads.
func (m metric) String() string { return m.family.param.format(m.family.name, m.param, m.cutoff) }

// evaluator computes one metric of rankings of one query after another. It keeps its
// slices, so that a query costs no allocation once they have grown.
type evaluator struct {
	metric
	gain         Gain
	highestGrade float64
	weighting    string // names the expectedWeights
	unranked     bool   // there are documents without a rank

	// Of the query that was prepared last, see family.
	intents []int     // of the documents, see Queries.Intents
	groups  []int     // of the documents; nil: none
	ids     []string  // of the documents; nil: none
	values  []float64 // of the documents
	weights []float64 // of the ranks that count
	base    float64
	norm    float64

	allWeights []float64 // of as many ranks as were needed yet
	best       ranking   // by the highest values, or the lowest
	scratch    []float64
	vectors    []float64 // [documents, dimension]
	dimension  int
}

func newEvaluator(m metric, in Queries) *evaluator {
	e := &evaluator{metric: m, gain: in.Gain, highestGrade: in.HighestGrade, unranked: in.Unranked != nil}
	if in.LabelFree == LETOR4 && m.family.letor4 != nil {
		e.family = m.family.letor4
	}
	e.weighting = e.family.param.format(cmp.Or(e.family.weightsOf, e.family.name), e.param, e.cutoff)
	if offsets := in.offsets(); e.highestGrade == 0 && m.family.graded != nil {
		for _, label := range in.Labels[offsets[0]:offsets[len(offsets)-1]] { // prepare finds invalid ones
			e.highestGrade = max(e.highestGrade, float64(label))
		}
	}
	return e
}

// prepare sets the evaluator up for a query and reports whether the metric is defined for it.
// An error in a label is a *rowError.
func (e *evaluator) prepare(q query) (defined bool, err error) {
	f := e.family
	e.intents, e.groups, e.ids, e.weights, e.base, e.norm = q.intents, q.groups, q.ids, e.weights[:0], 0, 1
	e.values, err = appendValues(e.values[:0], q.labels, func(label float32) (float64, error) { return f.value(e, label) })
	if err != nil {
		return false, err
	}
	if f.weight != nil {
		e.weights = append(e.weights, e.rankWeights(e.depth())...)
	}
	if f.finish == nil {
		return true, nil
	}
	return f.finish(e)
}

// rankWeights returns the weights of the first ranks, which all queries share.
func (e *evaluator) rankWeights(ranks int) []float64 {
	for len(e.allWeights) < ranks {
		e.allWeights = append(e.allWeights, e.family.weight(float64(len(e.allWeights)+1), e.param))
	}
	return e.allWeights[:ranks]
}

// discounts returns the weights for an expectation. Unless they depend on the query, they are
// extended beyond its documents, which changes no value. Queries of similar length then share
// them, and a plackett.Expectation analyzes them once.
func (e *evaluator) discounts() []float64 {
	if !slices.Equal(e.weights, e.allWeights[:len(e.weights)]) {
		return e.weights
	}
	ranks := 1
	for ranks < len(e.values) {
		ranks *= 2
	}
	if e.cutoff > 0 {
		ranks = min(ranks, e.cutoff)
	}
	return e.rankWeights(ranks)
}

// ranks returns the cutoff, or the number of the query's documents if there is no cutoff.
func (e *evaluator) ranks() int {
	if e.cutoff == 0 {
		return len(e.values)
	}
	return e.cutoff
}

// depth returns the number of ranks that both count and have a document.
func (e *evaluator) depth() int { return min(e.ranks(), len(e.values)) }

// evaluate returns the metric of a ranking of the prepared query's documents, which must have
// all ranks that count. Documents that tie count by the expectation over their orders.
func (e *evaluator) evaluate(r *ranking) float64 {
	if walk := e.family.walk; walk != nil {
		return walk(e, r)
	}
	return e.base + e.sum(r)/e.norm
}

// sum returns Σ_k weights[k]·values[y_k]. Each document of a block has the mean weight of the
// block's ranks.
func (e *evaluator) sum(r *ranking) float64 {
	sum := 0.0
	for first, block := range r.blocks() {
		if first >= len(e.weights) {
			break
		}
		weight, value := 0.0, 0.0
		for k, d := range block {
			value += e.values[d]
			if first+k < len(e.weights) {
				weight += e.weights[first+k]
			}
		}
		sum += weight / float64(len(block)) * value
	}
	return sum
}

// ideal returns the ranking by descending values, down to the last rank that counts.
func (e *evaluator) ideal() *ranking {
	e.best.rank(e.values, e.depth(), TiesOrder)
	return &e.best
}

// bounds returns the lowest and the highest value of any ranking, which the rankings by
// ascending and by descending values have. By intents or vectors, others may have more.
func (e *evaluator) bounds() (low, high float64) {
	if e.family.ofIntents || e.family.ofVectors {
		return 0, math.Inf(1)
	}
	a := e.evaluate(e.ideal())
	e.scratch = append(e.scratch[:0], e.values...)
	floats.Scale(-1, e.scratch)
	e.best.rank(e.scratch, e.depth(), TiesOrder)
	b := e.evaluate(&e.best)
	return min(a, b), max(a, b)
}
