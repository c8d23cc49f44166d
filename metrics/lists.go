package metrics

import (
	"errors"
	"fmt"
	"math"
)

// Lists are the ranked lists to be judged, packed row after row.
type Lists struct {
	Scores  []float64 // [rows]
	Labels  []float32 // [rows] raw grades, 0 or more
	Offsets []int     // [queries+1] query q has the rows Offsets[q] up to Offsets[q+1]; nil: one query of all rows
}

// PerQuery computes the metric of every query for the ranking by descending
// scores, ties by row. It is NaN for queries for which the metric is not defined
// (see the package comment); Mean takes care of them. The gain is that of DCG
// and NDCG; the other metrics define their own. A score that is not finite and
// a label that the metric cannot use are errors that name the row.
func PerQuery(m Metric, l Lists, gain Gain) ([]float64, error) {
	var scratch []int
	var perQuery []float64
	err := l.each(m, gain, func(j *judge, q query) error {
		value := math.NaN()
		if q.defined {
			scratch = top(scratch, q.scores, m.depth(len(q.scores)))
			value = j.value(scratch)
		}
		perQuery = append(perQuery, value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return perQuery, nil
}

// query is one query of Lists.
type query struct {
	number  int
	first   int // its first row
	scores  []float64
	defined bool // whether the metric is
}

// each calls visit with a judge prepared for every query in turn. Errors say
// the row.
func (l Lists) each(m Metric, gain Gain, visit func(j *judge, q query) error) error {
	if m.kind == noMetric {
		return errors.New("metrics: no metric given: make one with Parse")
	}
	offsets, err := l.offsets()
	if err != nil {
		return err
	}
	j := judge{metric: m, gain: gain}
	for n, first := range offsets[:len(offsets)-1] {
		end := offsets[n+1]
		q := query{number: n, first: first, scores: l.Scores[first:end]}
		for i, s := range q.scores {
			if math.IsNaN(s) || math.IsInf(s, 0) {
				return fmt.Errorf("metrics: query %d, row %d: score %v: scores must be finite", n, first+i, s)
			}
		}
		if q.defined, err = j.prepare(l.Labels[first:end]); err != nil {
			var bad *labelError
			if errors.As(err, &bad) {
				return fmt.Errorf("metrics: query %d, row %d: %w", n, first+bad.row, err)
			}
			return fmt.Errorf("metrics: query %d: %w", n, err)
		}
		if err := visit(&j, q); err != nil {
			return fmt.Errorf("metrics: query %d: %w", n, err)
		}
	}
	return nil
}

// offsets are the checked Offsets.
func (l Lists) offsets() ([]int, error) {
	rows := len(l.Scores)
	if len(l.Labels) != rows {
		return nil, fmt.Errorf("metrics: %d scores but %d labels: one of each a row", rows, len(l.Labels))
	}
	if l.Offsets == nil {
		return []int{0, rows}, nil
	}
	if len(l.Offsets) == 0 {
		return nil, errors.New("metrics: offsets are empty: they have one entry more than there are queries")
	}
	last := 0
	for i, o := range l.Offsets {
		if o < last || o > rows {
			return nil, fmt.Errorf("metrics: offset %d is %d: offsets must not fall, and stay within the %d rows", i, o, rows)
		}
		last = o
	}
	return l.Offsets, nil
}

func grow(s []int, n int) []int {
	if cap(s) < n {
		return make([]int, n)
	}
	return s[:n]
}
