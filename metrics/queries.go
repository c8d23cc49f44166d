package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/intents"
	"github.com/plrank/plrank/internal/parallel"
)

// Queries holds ranked lists, packed row after row, for measures and for the curvatures of package losses, and the settings of
// the measures. The comments of the fields say what their zero values mean.
type Queries struct {
	Scores  []float64 // [rows]
	Labels  []float32 // [rows] raw grades, 0 or more
	Offsets []int     // [queries+1] query q has the rows Offsets[q] up to Offsets[q+1]; nil: one query of all rows
	Groups  []int     // [rows] the group of each document, negative: none; for the measures that compare groups

	// Intents, [rows], are the intents of the query that each document satisfies: bit i is set if
	// it is relevant to intent i, up to 62. For more intents there are several ints a document, [rows × ints],
	// each with the next 63. They are the subtopics of TREC's diversity tasks. Only alpha-ndcg and err-ia go by
	// them, and ils and ild where there are no groups.
	Intents []int
	// DocumentIDs, [rows], are the ids of documents; nil: none. Where several documents could be next in the
	// best ranking of alpha-ndcg, it is the one with the last id, as in ndeval.
	DocumentIDs []string

	// Unranked, [rows], marks the documents that the ranking lacks, such as relevant ones that a
	// search did not find; nil: none. They have no rank, and their scores, any finite numbers, are
	// ignored. They still count in NDCG's best ranking and in recall.
	// Measures of a policy need the score of every document.
	Unranked []bool

	// Gains and Weights, [rows], are for losses alone, and nil for measures: the gains of the documents, which need not be those
	// of their labels, and how much each document counts, nil: 1.
	Gains, Weights []float32

	Gain         Gain    // of DCG, NDCG, graded RBP and the fairness measures; the other metrics define their own
	HighestGrade float64 // of the data set, for ERR and graded RBP; 0: the highest of Labels
	Ties         Ties    // how documents of equal scores are ranked

	QueryWeights []float32 // [queries] weights in a mean, 0 or more; nil: equal ones
	LabelFree    LabelFree // what queries without a relevant document count in a mean

	Discounts []float64 // θ of the ranks, for exposure

	// Exposure, [rows], is the expected exposure for the fairness measures. nil: it is
	// computed, see [Exposure].
	Exposure []float64
}

// query is one query of Queries.
type query struct {
	number  int
	first   int // its first row
	scores  []float64
	labels  []float32
	intents []int    // nil: none
	groups  []int    // nil: none
	ids     []string // nil: none
}

// visitQueries calls a function with every query, in blocks of queries on all cores; start makes
// the function of one worker. It returns the first error in the order of the queries, including
// a score that is not finite. The error names the query and, if it is a *rowError, the row.
func (in Queries) visitQueries(start func() func(q query) error) error {
	if len(in.Labels) != len(in.Scores) {
		return fmt.Errorf("metrics: %d scores but %d labels: want one of each per row", len(in.Scores), len(in.Labels))
	}
	const block = 16 // queries
	offsets := in.offsets()
	queries := len(offsets) - 1
	blocks := (queries + block - 1) / block
	visits := make([]func(q query) error, parallel.Workers(blocks))
	for worker := range visits {
		visits[worker] = start()
	}
	return parallel.Each(blocks, len(visits), func(worker, b int) error {
		for n := b * block; n < min((b+1)*block, queries); n++ {
			first, end := offsets[n], offsets[n+1]
			q := query{number: n, first: first, scores: in.Scores[first:end], labels: in.Labels[first:end]}
			if in.Intents != nil {
				ints := len(in.Intents) / max(1, len(in.Labels))
				q.intents = in.Intents[first*ints : end*ints]
			}
			if len(in.Groups) == len(in.Labels) && len(in.Groups) > 0 {
				q.groups = in.Groups[first:end]
			}
			if in.DocumentIDs != nil {
				q.ids = in.DocumentIDs[first:end]
			}
			err := allFinite(q.scores, "score")
			if err == nil && in.Unranked != nil {
				q.scores = withoutUnranked(q.scores, in.Unranked[first:end])
			}
			if err == nil {
				err = visits[worker](q)
			}
			if err != nil {
				return located(err, n, first)
			}
		}
		return nil
	})
}

// withoutUnranked returns the scores with −Inf for unranked documents.
func withoutUnranked(scores []float64, unranked []bool) []float64 {
	scores = slices.Clone(scores)
	for d, is := range unranked {
		if is {
			scores[d] = math.Inf(-1)
		}
	}
	return scores
}

// check returns an error if a setting or the shape of a slice is invalid for any measure.
func (in Queries) check() error {
	known := func(setting, count int) bool { return 0 <= setting && setting < count }
	rows := len(in.Labels)
	switch highest := in.HighestGrade; {
	case !known(int(in.Gain), len(gainNames)):
		return fmt.Errorf("metrics: invalid Queries.Gain: %v", in.Gain)
	case !known(int(in.Ties), len(tiesNames)):
		return fmt.Errorf("metrics: invalid Queries.Ties: %v", in.Ties)
	case !known(int(in.LabelFree), len(labelFreeNames)):
		return fmt.Errorf("metrics: invalid Queries.LabelFree: %v", in.LabelFree)
	case !(highest >= 0) || math.IsInf(highest, 1):
		return fmt.Errorf("metrics: the highest grade is %v: it must be finite and not negative, or 0 for the highest label", highest)
	case in.Groups != nil && len(in.Groups) != rows:
		return fmt.Errorf("metrics: %d groups but %d labels: want one of each per row", len(in.Groups), rows)
	case in.DocumentIDs != nil && len(in.DocumentIDs) != rows:
		return fmt.Errorf("metrics: %d document ids but %d labels: want one of each per row", len(in.DocumentIDs), rows)
	case in.Unranked != nil && len(in.Unranked) != rows:
		return fmt.Errorf("metrics: %d entries of Unranked but %d labels: want one of each per row", len(in.Unranked), rows)
	case in.Exposure != nil && len(in.Exposure) != rows:
		return fmt.Errorf("metrics: %d exposures but %d labels: want one of each per row", len(in.Exposure), rows)
	case in.Offsets != nil && len(in.Offsets) == 0:
		return errors.New("metrics: offsets are empty: want one more than there are queries")
	}
	if in.Intents != nil {
		if err := intents.Check(in.Intents, rows); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	for k, v := range in.Discounts {
		if v-v != 0 {
			return fmt.Errorf("metrics: discount %d is %v: discounts must be finite", k+1, v)
		}
	}
	last := 0
	for i, o := range in.Offsets {
		if o < last || o > rows {
			return fmt.Errorf("metrics: offset %d is %d: offsets must not fall, and must stay within the %d rows", i, o, rows)
		}
		last = o
	}
	return nil
}

// offsets returns Offsets, which are 0 and the number of rows by default.
func (in Queries) offsets() []int {
	if in.Offsets == nil {
		return []int{0, len(in.Labels)}
	}
	return in.Offsets
}

// A RowError is returned if a row has a score or a label that a measure does not take.
type RowError struct {
	Query, Row int
	Err        error // what is wrong
}

func (e *RowError) Error() string {
	return fmt.Sprintf("metrics: query %d, row %d: %v", e.Query, e.Row, e.Err)
}

// Unwrap returns the error in the row.
func (e *RowError) Unwrap() error { return e.Err }

// rowError reports an error in one row of a query, counted from the query's first row.
type rowError struct {
	row int
	err error
}

func (e *rowError) Error() string { return fmt.Sprintf("document %d: %v", e.row, e.err) }

// located adds the number of the query to err, and the row if err is a *rowError. first is
// the query's first row.
func located(err error, query, first int) error {
	if bad := (*rowError)(nil); errors.As(err, &bad) {
		return &RowError{query, first + bad.row, bad.err}
	}
	return fmt.Errorf("metrics: query %d: %w", query, err)
}

// allFinite returns a *rowError for the first value that is NaN or infinite.
func allFinite(values []float64, what string) error {
	if row := slices.IndexFunc(values, notFinite); row >= 0 {
		return &rowError{row, fmt.Errorf("%s %v: it must be finite", what, values[row])}
	}
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
