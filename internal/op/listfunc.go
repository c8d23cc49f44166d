package op

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

// A ListFunc is a function of packed lists that works query by query. What belongs to no
// document, padding and empty queries, stays 0 in the result.
type ListFunc struct {
	Name     string // as in Func
	Settings string
	Dtype    tensor.Dtype
	Layout   Layout                                                  // of the result
	Shape    func(rows, queries int, in []tensor.Shape) tensor.Shape // of the result, if not PerRow, PerQuery, or as the rankings
	Absent   int                                                     // instead of 0 in a result of ints
	InRange  bool                                                    // the run returns an error for a number out of the range of the dtype

	Whole  *bool  // as in Func
	Source any    // as in Func
	Begin  func() // where not nil, is called before the queries of every run
	Do     func(l *List) error

	// VJP is the derivative by input Of, a function of all inputs and, last, of the
	// incoming gradient. Where it is nil there is none.
	Of  int
	VJP func(l *List) error
}

// Apply makes a node of a function of lists, after a check of its inputs. The first has the
// dtype of the scores.
func (f ListFunc) Apply(l Lists, inputs ...In) (*G.Node, error) {
	if err := Check(l, inputs...); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	run := listRun{f: f}
	var nodes G.Nodes
	for _, in := range inputs {
		if in.setting {
			run.discounts = in.discounts
		} else if in.node != nil {
			run.inputs, nodes = append(run.inputs, in), append(nodes, in.node)
		}
	}
	if l.Offsets != nil {
		nodes = append(nodes, l.Offsets)
	}
	return run.function(l).Apply(nodes...)
}

// listRun runs a ListFunc on all cores.
type listRun struct {
	f         ListFunc
	inputs    []In
	discounts []float64

	// Of the run at hand:
	workers []*List
	offsets []int
	whole   [2]int // the offsets where there are none
}

// function is the Func of the inputs and, where there are any, the offsets.
func (r *listRun) function(l Lists) *Func {
	f := r.f
	fn := &Func{Name: f.Name, Settings: fmt.Sprint(f.Settings, r.discounts), Dtype: f.Dtype, Whole: f.Whole, Source: f.Source, Do: r.do}
	fn.Shape = r.shape
	if f.VJP == nil {
		return fn
	}
	vjp := listRun{
		f: ListFunc{
			Name: f.Name + "VJP", Settings: f.Settings, InRange: f.InRange,
			Layout: r.inputs[f.Of].layout, Do: f.VJP,
		},
		inputs:    append(r.inputs[:len(r.inputs):len(r.inputs)], In{layout: f.Layout}),
		discounts: r.discounts,
	}
	var terms []*Term
	for i := range r.inputs {
		terms = append(terms, Input(i))
	}
	terms = append(terms, Incoming)
	if l.Offsets != nil {
		terms = append(terms, Input(len(r.inputs)))
	}
	fn.VJPs = make([]*Term, f.Of+1)
	fn.VJPs[f.Of] = vjp.function(l).Of(terms...)
	return fn
}

// shape returns the shape of the result: the first input has a number for every row, and the offsets come last.
func (r *listRun) shape(in []tensor.Shape) tensor.Shape {
	rows, queries := size(in[0]), 1
	if len(in) > len(r.inputs) {
		queries = size(in[len(r.inputs)]) - 1
	}
	switch {
	case r.f.Shape != nil:
		return r.f.Shape(rows, queries, in)
	case r.f.Layout == PerQuery:
		return tensor.Shape{queries}
	case r.f.Layout == PerRanking:
		return in[slices.IndexFunc(r.inputs, func(i In) bool { return i.layout == PerRanking })]
	}
	return tensor.Shape{rows}
}

func (r *listRun) do(in []Tensor, result Tensor) error {
	n := len(r.inputs)
	rows := in[0].Len() // of the scores, or of another vector of all rows
	r.whole[1] = rows
	r.offsets = r.whole[:]
	if len(in) > n {
		r.offsets = in[n].Int
	}
	present, err := CheckOffsets(r.offsets, rows)
	if err != nil {
		return fmt.Errorf("%s: %w", r.f.Name, err)
	}
	result.fill(r.f.Absent)
	if r.f.Begin != nil {
		r.f.Begin()
	}
	queries := len(r.offsets) - 1
	workers := parallel.Workers(queries)
	r.workers = r.workers[:0]
	for range workers {
		l := lists.Get().(*List)
		l.X, l.Ints = num.Sized(l.X, n), num.Sized(l.Ints, n)
		l.In, l.Result, l.Rows, l.Present, l.Discounts, l.result = in[:n], result, rows, present, r.discounts, r.f.Layout
		r.workers = append(r.workers, l)
	}
	err = r.runQueries(queries)
	r.release()
	return err
}

// runQueries works on the first queries, on as many cores as there are lists for.
func (r *listRun) runQueries(queries int) error {
	if workers := len(r.workers); workers > 1 {
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

// lists are those that no run works with. All ops share them: the scratch space of an expectation is large, and a
// training has a graph for each number of rows.
var lists = sync.Pool{New: func() any { return new(List) }}

// release gives the lists of a run back. After a panic they are left to the garbage collector.
func (r *listRun) release() {
	for _, l := range r.workers {
		l.In, l.Result, l.Discounts, l.Weights = nil, Tensor{}, nil, nil
		clear(l.Ints)
		lists.Put(l)
	}
}

func (r *listRun) query(l *List, q int) error {
	l.Query, l.From, l.To, l.written = q, r.offsets[q], r.offsets[q+1], false
	if l.From == l.To {
		return nil
	}
	err := l.read(r.inputs)
	if err == nil {
		err = r.f.Do(l)
	}
	if err == nil {
		err = l.write(r.f.InRange)
	}
	if err == nil {
		return nil
	}
	var bad interface { // as plackett.NumberError
		Document() (position int, text string, ok bool)
	}
	if errors.As(err, &bad) {
		if position, text, ok := bad.Document(); ok {
			err = &RowError{l.From + position, text}
		}
	}
	var row *RowError
	if errors.As(err, &row) {
		return fmt.Errorf("%s: query %d, row %d: %s", r.f.Name, q, row.Row, row.Text)
	}
	return fmt.Errorf("%s: query %d: %w", r.f.Name, q, err)
}

// CheckOffsets reports offsets that descend, or lead out of the rows, and counts the queries that
// have documents.
func CheckOffsets(offsets []int, rows int) (present int, err error) {
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
