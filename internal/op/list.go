package op

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/order"
	"github.com/plrank/plrank/plackett"
)

// A List is one query of the inputs of a ListFunc, with what one goroutine needs to
// work on it. Slices are good until the same method is called again.
type List struct {
	Query    int
	From, To int // its rows are From to To−1, one at least
	Rows     int // of the whole batch
	Present  int // queries that have documents

	Sampler     plackett.Sampler
	Kernel      plackett.Kernel
	Expectation plackett.Expectation

	input                         Tensor // the first: the scores
	scores, gains, others, result []float64
	order                         []int
}

// Len is the number of documents.
func (l *List) Len() int { return l.To - l.From }

// Scores are the scores of the documents. One that is not finite is an error.
func (l *List) Scores() ([]float64, error) {
	l.scores = l.input.Read(l.scores, l.From, l.To)
	return l.scores, l.finite("score", l.scores)
}

// Gains are the entries of t for the documents. One that is not finite is an error.
func (l *List) Gains(t Tensor) ([]float64, error) {
	l.gains = t.Read(l.gains, l.From, l.To)
	return l.gains, l.finite("gain", l.gains)
}

// Incoming is the gradient that comes in for the documents, t. A number that is not
// finite is an error.
func (l *List) Incoming(t Tensor) ([]float64, error) {
	l.gains = t.Read(l.gains, l.From, l.To)
	return l.gains, l.finite("incoming gradient", l.gains)
}

// Read gives entries from to to−1 of t.
func (l *List) Read(t Tensor, from, to int) []float64 {
	l.others = t.Read(l.others, from, to)
	return l.others
}

// Floats is room for n numbers, of any contents.
func (l *List) Floats(n int) []float64 {
	l.result = slices.Grow(l.result[:0], n)[:n]
	return l.result
}

// Zeros is a number for every document, to be summed up.
func (l *List) Zeros() []float64 {
	clear(l.Floats(l.Len()))
	return l.result
}

// Order is the positions in x in descending order, ties by position.
func (l *List) Order(x []float64) []int {
	l.order = order.Descending(l.order[:0], x)
	return l.order
}

// Rankings are those of the query, out of a node [queries, samples, cutoff].
func (l *List) Rankings(t Tensor) plackett.Rankings {
	cutoff, size := t.Shape[2], t.Shape[1]*t.Shape[2]
	return plackett.Rankings{Documents: t.Int[l.Query*size : (l.Query+1)*size], Cutoff: cutoff, Base: l.From}
}

// FullRankings are [List.Rankings] that may not end before the discounts do while
// there are documents left: they would estimate another metric than the one asked for.
func (l *List) FullRankings(t Tensor, discounts []float64) (plackett.Rankings, error) {
	r := l.Rankings(t)
	want := min(len(discounts), l.Len())
	if r.Cutoff < want {
		return r, fmt.Errorf("rankings of %d ranks for %d discounts and %d documents: draw rankings with a cutoff of %d", r.Cutoff, len(discounts), l.Len(), len(discounts))
	}
	for i := 0; i < len(r.Documents); i += r.Cutoff {
		if r.Documents[i] == -1 || r.Documents[i+want-1] != -1 {
			continue
		}
		end := slices.Index(r.Documents[i:i+want], -1)
		return r, fmt.Errorf("ranking %d ends (-1) after %d ranks, of %d documents with %d discounts: want %d ranks", i/r.Cutoff, end, l.Len(), len(discounts), want)
	}
	return r, nil
}

// finite reports a number that is NaN or infinite.
func (l *List) finite(what string, x []float64) error {
	for d, v := range x {
		if v-v != 0 {
			return &plackett.NumberError{What: what, Position: d, Value: v}
		}
	}
	return nil
}

// A RowError says what is wrong with a row.
type RowError struct {
	Row  int
	Text string
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %s", e.Row, e.Text) }
