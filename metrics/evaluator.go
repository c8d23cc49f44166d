package metrics

// evaluator computes one metric of rankings of one query after another. It keeps
// its slices, so that a query costs no allocation once they have grown.
type evaluator struct {
	metric       metric
	gain         Gain
	highestGrade float64

	// Of the query that was prepared last. Most metrics are
	// base + Σ_k weights[k]·values[y_k] / norm; the others have a walk, which
	// uses the values in its own way.
	values  []float64 // what each document is worth
	weights []float64 // what each rank counts; as long as the ranks that do
	base    float64
	norm    float64

	theta   []float64 // DCG's discounts of as many ranks as were needed yet
	own     []float64 // the weights of a metric with others
	best    ranking   // by the highest values, or the lowest
	chances []float64 // scratch of a walk
}

// prepare sets the evaluator up for a query and tells whether the metric is defined
// for it.
func (e *evaluator) prepare(labels []float32) (bool, error) {
	e.values, e.weights, e.base, e.norm = e.values[:0], nil, 0, 1
	return families[e.metric.kind].prepare(e, labels)
}

// depth is the number of ranks that count in the query prepared.
func (e *evaluator) depth() int { return e.metric.depth(len(e.values)) }

// value is the metric of a ranking of the documents of the query prepared, which has
// all the ranks that count; its expectation over the orders of documents that tie.
func (e *evaluator) value(r *ranking) float64 {
	if walk := families[e.metric.kind].walk; walk != nil {
		return walk(e, r)
	}
	return e.base + e.sum(r)/e.norm
}

// sum is Σ_k weights[k]·values[y_k]. Each document of a block has the mean weight of
// the block's ranks.
func (e *evaluator) sum(r *ranking) float64 {
	sum := 0.0
	for first, block := range r.blocks() {
		if first >= len(e.weights) {
			break
		}
		weight, worth := 0.0, 0.0
		for k, d := range block {
			worth += e.values[d]
			if first+k < len(e.weights) {
				weight += e.weights[first+k]
			}
		}
		sum += weight / float64(len(block)) * worth
	}
	return sum
}

// setValues fills values from the labels; an error is a *rowError.
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
func (e *evaluator) setWeights(documents int, weight func(rank int) float64) {
	e.own = e.own[:0]
	for k := range e.metric.depth(documents) {
		e.own = append(e.own, weight(k+1))
	}
	e.weights = e.own
}

// discounts are the first n of DCG's discounts.
func (e *evaluator) discounts(n int) []float64 {
	if n > len(e.theta) {
		e.theta = Discounts(n)
	}
	return e.theta[:n]
}

// ideal is the ranking by descending values, down to the last rank that counts.
func (e *evaluator) ideal() *ranking {
	e.best.rank(e.values, e.depth(), TiesOrder)
	return &e.best
}

// bounds are the least and the largest value of any ranking: those by ascending and by
// descending values. An expectation leaves them by rounding alone.
func (e *evaluator) bounds() (low, high float64) {
	a := e.value(e.ideal())
	e.chances = e.chances[:0]
	for _, v := range e.values {
		e.chances = append(e.chances, -v)
	}
	e.best.rank(e.chances, e.depth(), TiesOrder)
	b := e.value(&e.best)
	return min(a, b), max(a, b)
}
