package metrics

import "math"

// prepared calls visit with every query in turn, and with an evaluator prepared for it.
// It says whether the metric is defined for the query.
func (in Input) prepared(m metric, visit func(e *evaluator, q query, defined bool) error) error {
	e := evaluator{metric: m, gain: in.Gain, highestGrade: in.HighestGrade}
	if m.needsGrade() && e.highestGrade == 0 {
		e.highestGrade = in.highestLabel()
	}
	return in.each(func(q query) error {
		defined, err := e.prepare(q.labels)
		if err != nil {
			return err
		}
		return visit(&e, q, defined)
	})
}

// ranked is a metric of the ranking by descending scores.
func (in Input) ranked(m metric) ([]float64, error) {
	var order ranking
	var perQuery []float64
	err := in.prepared(m, func(e *evaluator, q query, defined bool) error {
		value := math.NaN()
		if defined {
			order.rank(q.scores, e.depth(), in.Ties)
			value = e.value(&order)
		}
		perQuery = append(perQuery, value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return perQuery, nil
}
