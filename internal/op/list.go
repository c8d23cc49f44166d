package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
)

// A List is one query of a run of a [ListFunc], with what one goroutine needs to work on it.
// Slices are good until the function returns; slices that methods return, until the next call.
type List struct {
	Query    int
	From, To int // its rows are From to To−1, one at least
	Rows     int // of the whole batch
	Present  int // queries that have documents

	In        []Tensor    // the inputs, whole
	X         [][]float64 // the query's numbers of every input that has numbers, and
	Ints      [][]int     // its ints of the others; of a layout PerSample or Whole they are empty
	Result    Tensor      // the result, whole
	Discounts []float64
	Weights   []float64 // of the documents, nil: none

	own          []any // see Own
	result       Layout
	written      bool
	out, scratch []float64
	order        []int
}

// block is the entries of the query in a tensor; none where they are not side by side.
func (l *List) block(layout Layout, t Tensor) (from, to int) {
	switch layout {
	case PerRow:
		return l.From, l.To
	case PerQuery:
		return l.Query, l.Query + 1
	case PerRanking:
		size := t.Shape[1] * t.Shape[2]
		return l.Query * size, (l.Query + 1) * size
	}
	return 0, 0
}

// read fills X and Ints.
func (l *List) read(inputs []In) error {
	for i, in := range inputs {
		from, to := l.block(in.layout, l.In[i])
		if in.many {
			each := l.In[i].Len() / l.Rows
			from, to = from*each, to*each
		}
		if l.In[i].Int != nil {
			l.X[i], l.Ints[i] = l.X[i][:0], l.In[i].Int[from:to]
			continue
		}
		l.X[i] = l.In[i].Read(l.X[i], from, to)
		if in.weights {
			l.Weights = l.X[i]
		}
		if in.finite {
			if err := l.CheckFinite(in.name[:len(in.name)-1], l.X[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// write puts what is in Out into the result. If inRange, it returns an error for a finite
// number that the result cannot hold.
func (l *List) write(inRange bool) error {
	if !l.written {
		return nil
	}
	from, _ := l.block(l.result, l.Result)
	l.Result.Write(l.out, from)
	for _, v := range l.out {
		if inRange && l.Result.F32 != nil && math.Abs(v) > math.MaxFloat32 && v-v == 0 {
			return fmt.Errorf("%v is out of the range of float32", v)
		}
	}
	return nil
}

// Len returns the number of documents.
func (l *List) Len() int { return l.To - l.From }

// Last returns the query's numbers of the last input, for a VJP the incoming gradient.
func (l *List) Last() []float64 { return l.X[len(l.In)-1] }

// Out returns room for the query's numbers in the result, to be added to: 0 before. Where it is
// not called they stay 0.
func (l *List) Out() []float64 {
	from, to := l.block(l.result, l.Result)
	l.out = slices.Grow(l.out[:0], to-from)[:to-from]
	clear(l.out)
	l.written = true
	return l.out
}

// OutInts returns the query's ints in the result.
func (l *List) OutInts() []int {
	from, to := l.block(l.result, l.Result)
	return l.Result.Int[from:to]
}

// Scratch returns room for n numbers, of any contents.
func (l *List) Scratch(n int) []float64 {
	l.scratch = slices.Grow(l.scratch[:0], n)[:n]
	return l.scratch
}

// Order returns the positions in x in descending order, ties by position.
func (l *List) Order(x []float64) []int {
	l.order = num.DescendingOrder(l.order[:0], x)
	return l.order
}

// Own returns the list's own T, the zero value at first: what the work on a query needs besides numbers. It stays with
// the list, which one goroutine works on at a time.
func Own[T any](l *List) *T {
	for _, kept := range l.own {
		if t, ok := kept.(*T); ok {
			return t
		}
	}
	t := new(T)
	l.own = append(l.own, t)
	return t
}

// Drawn are the rankings of one query: the fields of plackett.Rankings.
type Drawn struct {
	Documents []int
	Cutoff    int
	Base      int
}

// Rankings returns the query's rankings in input i.
func (l *List) Rankings(i int) Drawn {
	return Drawn{Documents: l.Ints[i], Cutoff: l.In[i].Shape[2], Base: l.From}
}

// FullRankings returns [List.Rankings], and an error if they end before the discounts do while
// there are documents left: they would estimate another metric than the one asked for.
func (l *List) FullRankings(i int) (Drawn, error) {
	r, discounts := l.Rankings(i), len(l.Discounts)
	want := min(discounts, l.Len())
	if r.Cutoff < want {
		return r, fmt.Errorf("rankings of %d ranks for %d discounts and %d documents: draw rankings with a cutoff of %d",
			r.Cutoff, discounts, l.Len(), discounts)
	}
	for i := 0; i < len(r.Documents); i += r.Cutoff {
		if r.Documents[i] == -1 || r.Documents[i+want-1] != -1 {
			continue
		}
		end := slices.Index(r.Documents[i:i+want], -1)
		return r, fmt.Errorf("ranking %d ends (-1) after %d ranks, of %d documents with %d discounts: want %d ranks",
			i/r.Cutoff, end, l.Len(), discounts, want)
	}
	return r, nil
}

// CheckFinite reports a number of the documents that is NaN or infinite, such as a "score".
func (l *List) CheckFinite(what string, x []float64) error {
	for d, v := range x {
		if v-v != 0 {
			return &RowError{l.From + d, fmt.Sprintf("the %s is %v: %ss must be finite", what, v, what)}
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
