package metrics

import (
	"errors"
	"fmt"
	"math"
)

// Input is what is measured, ranked lists packed row after row, and the settings. The
// fields say what their zero values mean.
type Input struct {
	Scores  []float64 // [rows]
	Labels  []float32 // [rows] raw grades, 0 or more
	Offsets []int     // [queries+1] query q has the rows Offsets[q] up to Offsets[q+1]; nil: one query of all rows
	Groups  []int     // [rows] the group of each document, negative: none; for the measures that compare groups

	Gain         Gain    // of DCG, NDCG, graded RBP and the fairness measures; the other metrics define their own
	HighestGrade float64 // of the data set, for ERR and graded RBP; 0: the highest of Labels
	Ties         Ties    // how documents of equal scores are ranked

	QueryWeights []float32 // [queries] weights in a mean, 0 or more; nil: equal ones
	LabelFree    LabelFree // what queries without a relevant document count in a mean

	Discounts []float64 // θ of the ranks, for exposure
	Policy    Policy    // how rankings are sampled, for expectations that have no closed form

	// Rankings are given rankings to take expectations over, for the measures of a
	// policy. nil: those of the Plackett–Luce policy of the scores.
	Rankings *Rankings
	// Exposure, [rows], is a given expected exposure, for the fairness measures. nil: that
	// of the rankings, see [Exposure].
	Exposure []float64
}

// Policy says how the Plackett–Luce policy of the scores is sampled.
type Policy struct {
	Samples int    // rankings drawn for every query; 0: 100
	Seed    uint64 // of the random numbers: the same seed and step, the same rankings
	Step    uint64 // tells apart draws of one seed, such as those of the epochs
}

// Rankings are given rankings of the queries of an Input in the layout of ops.Rankings:
// [queries, Samples, Cutoff] row numbers, −1 after the end of a list. A sample whose first
// entry is −1 is absent, such as all samples of a query without documents.
type Rankings struct {
	Rows    []int
	Samples int
	Cutoff  int
}

// query is one query of an Input.
type query struct {
	number int
	first  int // its first row
	scores []float64
	labels []float32
}

// each calls visit with every query in turn, after a check that its scores are finite. An
// error names the query and, if visit returns a *rowError, the row.
func (in Input) each(visit func(q query) error) error {
	if len(in.Labels) != len(in.Scores) {
		return fmt.Errorf("metrics: %d scores but %d labels: want one of each per row", len(in.Scores), len(in.Labels))
	}
	offsets, err := in.offsets()
	if err != nil {
		return err
	}
	for n, first := range offsets[:len(offsets)-1] {
		end := offsets[n+1]
		q := query{n, first, in.Scores[first:end], in.Labels[first:end]}
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

// highestLabel is the highest label of the queries. Invalid labels are reported elsewhere.
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

// check reports invalid settings.
func (in Input) check() error {
	known := func(setting, count int) bool { return 0 <= setting && setting < count }
	switch highest := in.HighestGrade; {
	case !known(int(in.Gain), len(gainNames)):
		return fmt.Errorf("metrics: invalid Input.Gain: %v", in.Gain)
	case !known(int(in.Ties), len(tiesNames)):
		return fmt.Errorf("metrics: invalid Input.Ties: %v", in.Ties)
	case !known(int(in.LabelFree), len(labelFreeNames)):
		return fmt.Errorf("metrics: invalid Input.LabelFree: %v", in.LabelFree)
	case !(highest >= 0) || math.IsInf(highest, 1):
		return fmt.Errorf("metrics: the highest grade is %v: it must be finite and not negative, or 0 for the highest label", highest)
	case in.Groups != nil && len(in.Groups) != len(in.Labels):
		return fmt.Errorf("metrics: %d groups but %d labels: want one of each per row", len(in.Groups), len(in.Labels))
	}
	return nil
}

// offsets are Offsets, checked against the rows.
func (in Input) offsets() ([]int, error) {
	rows := len(in.Labels)
	if in.Offsets == nil {
		return []int{0, rows}, nil
	}
	if len(in.Offsets) == 0 {
		return nil, errors.New("metrics: offsets are empty: want one more than there are queries")
	}
	last := 0
	for i, o := range in.Offsets {
		if o < last || o > rows {
			return nil, fmt.Errorf("metrics: offset %d is %d: offsets must not fall, and must stay within the %d rows", i, o, rows)
		}
		last = o
	}
	return in.Offsets, nil
}

// part is the Input of the queries of those offsets, which are neighbours.
func (in Input) part(offsets []int) Input {
	first, end := offsets[0], offsets[len(offsets)-1]
	in.Scores, in.Labels = in.Scores[first:end], in.Labels[first:end]
	if in.Groups != nil {
		in.Groups = in.Groups[first:end]
	}
	in.Offsets = make([]int, len(offsets))
	for i, o := range offsets {
		in.Offsets[i] = o - first
	}
	return in
}
