package op

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/plackett"
)

// A ListFunc is a function of packed lists that works query by query. Its inputs are
// the scores, or another vector of all rows instead, and the other inputs in
// the order in which they are given to Apply. What belongs to no document, padding
// and empty queries, stays 0 in the result.
type ListFunc struct {
	Name     string // as in Func
	Settings string
	Dtype    tensor.Dtype
	Shape    func(rows, queries int, in []tensor.Shape) tensor.Shape // of the result; nil: PerRow
	Absent   int                                                     // instead of 0 in a result of ints

	Source any    // as in Func
	Begin  func() // where not nil, is called before the queries of every run
	Do     func(l *List, in []Tensor, result Tensor) error

	// VJP is the derivative by input Of, a function of all inputs and, last, of the
	// incoming gradient. Where it is nil there is none.
	Of  int
	VJP *ListFunc
}

// PerRow is the shape of a number for every row.
func PerRow(rows, _ int, _ []tensor.Shape) tensor.Shape { return tensor.Shape{rows} }

// PerQuery is the shape of a number for every query.
func PerQuery(_, queries int, _ []tensor.Shape) tensor.Shape { return tensor.Shape{queries} }

// Like is the shape of an input.
func Like(i int) func(rows, queries int, in []tensor.Shape) tensor.Shape {
	return func(_, _ int, in []tensor.Shape) tensor.Shape { return in[i].Clone() }
}

// Apply makes a node of a function of lists, after a check of its inputs.
func (f *ListFunc) Apply(l Lists, others ...In) (*G.Node, error) {
	return f.ApplyTo(Rows("scores", l.Scores), l, others...)
}

// ApplyTo is Apply with another vector of all rows instead of the scores.
func (f *ListFunc) ApplyTo(x In, l Lists, others ...In) (*G.Node, error) {
	inputs := append([]In{x}, others...)
	if err := Check(l, inputs...); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	var nodes G.Nodes
	for _, in := range inputs {
		nodes = append(nodes, in.node)
	}
	if l.Offsets != nil {
		nodes = append(nodes, l.Offsets)
	}
	return f.over(len(inputs), l.Offsets != nil).Apply(nodes...)
}

// over is the Func of so many inputs and, where there are any, the offsets.
func (f *ListFunc) over(inputs int, offsets bool) *Func {
	run := &listRun{f: f, inputs: inputs}
	fn := &Func{Name: f.Name, Settings: f.Settings, Dtype: f.Dtype, Source: f.Source, Do: run.do}
	fn.Shape = func(in []tensor.Shape) tensor.Shape {
		queries := 1
		if offsets {
			queries = in[inputs][0] - 1
		}
		shape := f.Shape
		if shape == nil {
			shape = PerRow
		}
		return shape(size(in[0]), queries, in)
	}
	if f.VJP == nil {
		return fn
	}
	var terms []*Term
	for i := range inputs {
		terms = append(terms, Input(i))
	}
	terms = append(terms, Incoming)
	if offsets {
		terms = append(terms, Input(inputs))
	}
	fn.VJPs = make([]*Term, f.Of+1)
	fn.VJPs[f.Of] = f.VJP.over(inputs+1, offsets).Of(terms...)
	return fn
}

// listRun runs a ListFunc on all cores.
type listRun struct {
	f       *ListFunc
	inputs  int // without the offsets
	workers []*List

	// Of the run at hand:
	in            []Tensor
	result        Tensor
	whole         [2]int // the offsets where there are none
	offsets       []int
	rows, present int
}

func (r *listRun) do(in []Tensor, result Tensor) (err error) {
	r.in, r.result, r.rows = in[:r.inputs], result, in[0].Len()
	r.whole[1] = r.rows
	r.offsets = r.whole[:]
	if len(in) > r.inputs {
		r.offsets = in[r.inputs].Int
	}
	if r.present, err = checkOffsets(r.offsets, r.rows); err != nil {
		return fmt.Errorf("%s: %w", r.f.Name, err)
	}
	result.fill(r.f.Absent)
	if r.f.Begin != nil {
		r.f.Begin()
	}
	queries := len(r.offsets) - 1
	workers := parallel.Workers(queries)
	for len(r.workers) < workers {
		r.workers = append(r.workers, &List{})
	}
	if workers > 1 {
		return parallel.Each(queries, workers, func(w, q int) error { return r.query(r.workers[w], q) })
	}
	// Without a closure, which would ask for memory.
	for q := range queries {
		if err := r.query(r.workers[0], q); err != nil {
			return err
		}
	}
	return nil
}

func (r *listRun) query(l *List, q int) error {
	l.Query, l.From, l.To, l.Rows, l.Present = q, r.offsets[q], r.offsets[q+1], r.rows, r.present
	if l.From == l.To {
		return nil
	}
	l.input = r.in[0]
	err := r.f.Do(l, r.in, r.result)
	if err == nil {
		return nil
	}
	var bad *plackett.NumberError
	if errors.As(err, &bad) && bad.What != "discount" && bad.What != "weight" { // a document's
		err = &RowError{l.From + bad.Position, fmt.Sprintf("the %s is %v: %ss must be finite", bad.What, bad.Value, bad.What)}
	}
	var row *RowError
	if errors.As(err, &row) {
		return fmt.Errorf("%s: query %d, row %d: %s", r.f.Name, q, row.Row, row.Text)
	}
	return fmt.Errorf("%s: query %d: %w", r.f.Name, q, err)
}

// CheckOffsets reports offsets that descend, or lead out of the rows.
func CheckOffsets(offsets []int, rows int) error {
	_, err := checkOffsets(offsets, rows)
	return err
}

// checkOffsets counts the queries that have documents.
func checkOffsets(offsets []int, rows int) (present int, err error) {
	for q, o := range offsets {
		if o < 0 || o > rows {
			return 0, fmt.Errorf("offsets[%d] = %d is outside of the %d rows", q, o, rows)
		}
		if q > 0 && o < offsets[q-1] {
			return 0, fmt.Errorf("offsets[%d] = %d is below offsets[%d] = %d: offsets must not descend", q, o, q-1, offsets[q-1])
		}
		if q > 0 && o > offsets[q-1] {
			present++
		}
	}
	return present, nil
}
