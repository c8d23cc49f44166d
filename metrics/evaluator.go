package metrics

// metric is one metric with its cutoff.
type metric struct {
	family *family
	cutoff int     // ranks that count; 0: those of the whole list
	param  float64 // of the metrics that have one
}

// family is all metrics of one name: how to read them and how to compute them. The table
// is in names.go, the formulas and sources in the comment of ParseMeasure.
type family struct {
	name, alias   string
	param         param
	lowerIsBetter bool
	// graded tells whether the metric with that parameter goes by the highest grade of the
	// data set; nil: none does.
	graded func(param float64) bool
	// letor4 is the family that LETOR 4.0's tools mean by the name; nil: this one.
	letor4 *family

	// prepare sets up the evaluator for one query with the given labels and tells whether
	// the metric is defined for it.
	prepare func(e *evaluator, labels []float32) (bool, error)
	// walk is the value of a ranking; nil for the metrics that are a weighted sum over
	// ranks.
	walk func(e *evaluator, r *ranking) float64

	// expected is the exact expectation under the policy of the scores. nil: that of a
	// weighted sum, or with a walk an estimate from sampled rankings.
	expected expectation
	// expectedUncut limits expected to the metric without a cutoff.
	expectedUncut bool
	// weightsOf names the family that has the same weights of ranks, so that their
	// expectations share the expectedWeights; "": this one.
	weightsOf string
}

// expectation computes the expectation of the metric prepared under the policy of the
// query's scores.
type expectation func(e *evaluator, p *expectedWeights, q query) (float64, error)

// String gives the name that ParseMeasure reads.
func (m metric) String() string { return m.family.param.format(m.family.name, m.param, m.cutoff) }

// depth is the number of ranks that count in a list of that length.
func (m metric) depth(documents int) int {
	if m.cutoff == 0 {
		return documents
	}
	return min(m.cutoff, documents)
}

// needsGrade tells whether the metric goes by the highest grade of the data set.
func (m metric) needsGrade() bool { return m.family.graded != nil && m.family.graded(m.param) }

// weighting tells which metrics share expectedWeights.
func (m metric) weighting() weighting {
	w := weighting{m.family.name, m.cutoff, m.param}
	if m.family.weightsOf != "" {
		w.name = m.family.weightsOf
	}
	return w
}

// evaluator computes one metric of rankings of one query after another. It keeps its
// slices, so that a query costs no allocation once they have grown.
type evaluator struct {
	metric       metric
	gain         Gain
	highestGrade float64

	// Of the query that was prepared last. Most metrics are
	// base + Σ_k weights[k]·values[y_k] / norm; the others have a walk, which uses the
	// values in its own way.
	values  []float64 // of the documents
	weights []float64 // of the ranks that count
	base    float64
	norm    float64

	theta   []float64 // DCG's discounts of as many ranks as were needed yet
	buffer  []float64 // the weights of a metric with other discounts
	best    ranking   // by the highest values, or the lowest
	scratch []float64
}

// prepare sets the evaluator up for a query and tells whether the metric is defined
// for it.
func (e *evaluator) prepare(labels []float32) (bool, error) {
	e.values, e.weights, e.base, e.norm = e.values[:0], nil, 0, 1
	return e.metric.family.prepare(e, labels)
}

// depth is the number of ranks that count in the query prepared.
func (e *evaluator) depth() int { return e.metric.depth(len(e.values)) }

// value is the metric of a ranking of the documents of the query prepared, which has all
// the ranks that count: its expectation over the orders of documents that tie.
func (e *evaluator) value(r *ranking) float64 {
	if walk := e.metric.family.walk; walk != nil {
		return walk(e, r)
	}
	return e.base + e.sum(r)/e.norm
}

// sum is Σ_k weights[k]·values[y_k]. Each document of a block has the mean weight of the
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

// setValues fills values from the labels. Its error is a *rowError.
func (e *evaluator) setValues(labels []float32, value func(label float32) (float64, error)) error {
	for row, label := range labels {
		v, err := value(label)
		if err != nil {
			return &rowError{row, err}
		}
		e.values = append(e.values, v)
	}
	return nil
}

// setWeights fills weights for the ranks that count in a list of that length.
func (e *evaluator) setWeights(documents int, weight func(rank float64) float64) {
	e.buffer = e.buffer[:0]
	for k := range e.metric.depth(documents) {
		e.buffer = append(e.buffer, weight(float64(k+1)))
	}
	e.weights = e.buffer
}

// ideal is the ranking by descending values, down to the last rank that counts.
func (e *evaluator) ideal() *ranking {
	e.best.rank(e.values, e.depth(), TiesOrder)
	return &e.best
}

// bounds are the lowest and the highest value of any ranking: those of the rankings by
// ascending and by descending values.
func (e *evaluator) bounds() (low, high float64) {
	a := e.value(e.ideal())
	e.scratch = e.scratch[:0]
	for _, v := range e.values {
		e.scratch = append(e.scratch, -v)
	}
	e.best.rank(e.scratch, e.depth(), TiesOrder)
	b := e.value(&e.best)
	return min(a, b), max(a, b)
}
