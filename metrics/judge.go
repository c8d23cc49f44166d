package metrics

// judge computes one metric of rankings of one query after another. It keeps
// its slices, so that a query costs no allocation once they have grown.
type judge struct {
	metric Metric
	gain   Gain

	// Of the query that was prepared last. Most metrics are
	// base + Σ_k weights[k]·values[y_k] / norm; the others have a walk, which
	// uses the values in its own way.
	values  []float64 // what each document is worth
	weights []float64 // what each rank counts; as long as the ranks that do
	base    float64
	norm    float64

	theta []float64 // DCG's discounts of as many ranks as were needed yet
	own   []float64 // the weights of a metric with others
	best  []int     // a ranking of the highest values
}

// prepare sets the judge up for a query and tells whether the metric is defined
// for it.
func (j *judge) prepare(labels []float32) (bool, error) {
	j.values, j.weights, j.base, j.norm = j.values[:0], nil, 0, 1
	return families[j.metric.kind].prepare(j, labels)
}

// value is the metric of a ranking of the documents of the query prepared,
// numbered from 0; the ranking has all the ranks that count.
func (j *judge) value(ranking []int) float64 {
	ranking = ranking[:j.metric.depth(len(j.values))]
	if walk := families[j.metric.kind].walk; walk != nil {
		return walk(j, ranking)
	}
	return j.base + j.sum(ranking)/j.norm
}

func (j *judge) sum(ranking []int) float64 {
	sum := 0.0
	for k, d := range ranking {
		sum += j.weights[k] * j.values[d]
	}
	return sum
}

// setValues fills values from the labels; an error is a *rowError.
func (j *judge) setValues(labels []float32, value func(label float32) (float64, error)) error {
	for row, label := range labels {
		v, err := value(label)
		if err != nil {
			return &rowError{row, err}
		}
		j.values = append(j.values, v)
	}
	return nil
}

// setWeights fills weights for the ranks that count in a list of that length.
func (j *judge) setWeights(documents int, weight func(rank int) float64) {
	j.own = j.own[:0]
	for k := range j.metric.depth(documents) {
		j.own = append(j.own, weight(k+1))
	}
	j.weights = j.own
}

// discounts are the first n of DCG's discounts.
func (j *judge) discounts(n int) []float64 {
	if n > len(j.theta) {
		j.theta = Discounts(n)
	}
	return j.theta[:n]
}

// ideal is the ranking by descending values, down to the last rank that counts.
func (j *judge) ideal() []int {
	j.best = top(j.best, j.values, j.metric.depth(len(j.values)))
	return j.best
}
