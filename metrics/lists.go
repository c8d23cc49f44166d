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
	err := l.judged(m, gain, func(j *judge, q query) error {
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
	labels  []float32
	defined bool // whether the metric that is computed is
}

// judged calls visit with a judge prepared for every query in turn.
func (l Lists) judged(m Metric, gain Gain, visit func(j *judge, q query) error) error {
	if m.kind == noMetric {
		return errors.New("metrics: no metric given: make one with Parse")
	}
	j := judge{metric: m, gain: gain}
	return l.each(func(q query) (err error) {
		if q.defined, err = j.prepare(q.labels); err != nil {
			return err
		}
		return visit(&j, q)
	})
}

// each calls visit with every query in turn, after a check that its scores are
// finite. An error says the query and, where it is a *rowError, the row.
func (l Lists) each(visit func(q query) error) error {
	if len(l.Labels) != len(l.Scores) {
		return fmt.Errorf("metrics: %d scores but %d labels: one of each a row", len(l.Scores), len(l.Labels))
	}
	offsets, err := checked(l.Offsets, len(l.Scores))
	if err != nil {
		return err
	}
	for n, first := range offsets[:len(offsets)-1] {
		end := offsets[n+1]
		q := query{number: n, first: first, scores: l.Scores[first:end], labels: l.Labels[first:end]}
		err := allFinite(q.scores, "score")
		if err == nil {
			err = visit(q)
		}
		if err != nil {
			return located(err, n, first)
		}
	}
	return nil
}

// rowError is about one row of a query, counted from the query's first.
type rowError struct {
	row int
	err error
}

func (e *rowError) Error() string { return fmt.Sprintf("document %d: %v", e.row, e.err) }
func (e *rowError) Unwrap() error { return e.err }

// located says in which query err came up, and in which row.
func located(err error, number, first int) error {
	if bad := (*rowError)(nil); errors.As(err, &bad) {
		return fmt.Errorf("metrics: query %d, row %d: %w", number, first+bad.row, bad.err)
	}
	return fmt.Errorf("metrics: query %d: %w", number, err)
}

func allFinite(values []float64, what string) error {
	for row, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &rowError{row, fmt.Errorf("%s %v: it must be finite", what, v)}
		}
	}
	return nil
}

// checked are offsets that fit the rows.
func checked(offsets []int, rows int) ([]int, error) {
	if offsets == nil {
		return []int{0, rows}, nil
	}
	if len(offsets) == 0 {
		return nil, errors.New("metrics: offsets are empty: they have one entry more than there are queries")
	}
	last := 0
	for i, o := range offsets {
		if o < last || o > rows {
			return nil, fmt.Errorf("metrics: offset %d is %d: offsets must not fall, and stay within the %d rows", i, o, rows)
		}
		last = o
	}
	return offsets, nil
}

func grow(s []int, n int) []int {
	if cap(s) < n {
		return make([]int, n)
	}
	return s[:n]
}
