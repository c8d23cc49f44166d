package metrics

import (
	"errors"
	"fmt"
	"math"
)

// Input is what is measured: ranked lists, packed row after row, and how. Its zero
// fields mean what is said beside them.
type Input struct {
	Scores  []float64 // [rows]
	Labels  []float32 // [rows] raw grades, 0 or more
	Offsets []int     // [queries+1] query q has the rows Offsets[q] up to Offsets[q+1]; nil: one query of all rows
	Groups  []int     // [rows] the group of each document, negative: none; for the measures that compare groups

	Gain         Gain    // of DCG, NDCG, graded RBP and the measures of fairness; the others define their own
	HighestGrade float64 // of the data set, for ERR and graded RBP; 0: the highest of these labels
	Ties         Ties    // how documents of equal scores are ranked

	QueryWeights []float32  // [queries] their parts in a mean, 0 or more; nil: equal ones
	Convention   Convention // for queries without a relevant document

	Discounts []float64 // θ of the ranks, for exposure
	Policy    Policy    // how rankings are sampled, for expectations that have no closed form

	// Rankings are given rankings to take expectations over, for the measures of a
	// policy. nil: those of the Plackett–Luce policy of the scores.
	Rankings *Rankings
	// Exposure, [rows], is a given expected exposure, for the measures of fairness.
	// nil: that over the rankings, see [Exposure].
	Exposure []float64

	shared *shared // nil: nothing is
}

// shared is what several measures of one Input need.
type shared struct {
	exposure []float64
	placed   map[weighting]*placements
}

func newShared() *shared { return &shared{placed: map[weighting]*placements{}} }

// reset makes s ready for another Input, with the memory of the one before.
func (s *shared) reset() {
	s.exposure = nil
	for _, p := range s.placed {
		p.rows = p.rows[:0]
	}
}

// ranked is a metric of the ranking by descending scores.
func (in Input) ranked(m metric) ([]float64, error) {
	var order ranking
	var perQuery []float64
	err := in.prepared(m, func(e *evaluator, q query) error {
		value := math.NaN()
		if q.defined {
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

// query is one query of an Input.
type query struct {
	number  int
	first   int // its first row
	scores  []float64
	labels  []float32
	defined bool // whether the metric that is computed is
}

// prepared calls visit with an evaluator prepared for every query in turn.
func (in Input) prepared(m metric, visit func(e *evaluator, q query) error) error {
	e := evaluator{metric: m, gain: in.Gain, highestGrade: in.HighestGrade}
	if families[m.kind].graded && e.highestGrade == 0 {
		e.highestGrade = in.highestLabel()
	}
	return in.each(func(q query) (err error) {
		if q.defined, err = e.prepare(q.labels); err != nil {
			return err
		}
		return visit(&e, q)
	})
}

// highestLabel of the queries; what is no label is found elsewhere.
func (in Input) highestLabel() float64 {
	offsets, err := in.offsets()
	if err != nil {
		return 0
	}
	highest := 0.0
	for _, label := range in.Labels[offsets[0]:offsets[len(offsets)-1]] {
		highest = max(highest, float64(label))
	}
	return highest
}

// each calls visit with every query in turn, after a check that its scores are
// finite. An error says the query and, where it is a *rowError, the row.
func (in Input) each(visit func(q query) error) error {
	if len(in.Labels) != len(in.Scores) {
		return fmt.Errorf("metrics: %d scores but %d labels: one of each a row", len(in.Scores), len(in.Labels))
	}
	offsets, err := in.offsets()
	if err != nil {
		return err
	}
	for n, first := range offsets[:len(offsets)-1] {
		end := offsets[n+1]
		q := query{number: n, first: first, scores: in.Scores[first:end], labels: in.Labels[first:end]}
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

// check reports settings that are none.
func (in Input) check() error {
	known := func(setting, count int) bool { return 0 <= setting && setting < count }
	switch highest := in.HighestGrade; {
	case !known(int(in.Gain), len(gainNames)):
		return fmt.Errorf("metrics: no such gain: %v", in.Gain)
	case !known(int(in.Ties), len(tiesNames)):
		return fmt.Errorf("metrics: no such way to rank ties: %v", in.Ties)
	case !known(int(in.Convention), len(conventionNames)):
		return fmt.Errorf("metrics: no such convention for label-free queries: %v", in.Convention)
	case !(highest >= 0) || math.IsInf(highest, 1):
		return fmt.Errorf("metrics: the highest grade is %v: it must be finite and not negative, or 0 for the highest label", highest)
	case in.Groups != nil && len(in.Groups) != len(in.Labels):
		return fmt.Errorf("metrics: %d groups but %d labels: one of each a row", len(in.Groups), len(in.Labels))
	}
	return nil
}

// offsets are Offsets that fit the rows.
func (in Input) offsets() ([]int, error) {
	rows := len(in.Labels)
	if in.Offsets == nil {
		return []int{0, rows}, nil
	}
	if len(in.Offsets) == 0 {
		return nil, errors.New("metrics: offsets are empty: they have one entry more than there are queries")
	}
	last := 0
	for i, o := range in.Offsets {
		if o < last || o > rows {
			return nil, fmt.Errorf("metrics: offset %d is %d: offsets must not fall, and stay within the %d rows", i, o, rows)
		}
		last = o
	}
	return in.Offsets, nil
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

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
