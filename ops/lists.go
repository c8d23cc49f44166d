package ops

import (
	"errors"
	"fmt"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/plackett"
)

// Lists are ranked lists packed row after row: the documents of query q are rows
// Offsets[q] to Offsets[q+1]−1. Rows outside of all queries are padding, and a
// query without rows is empty: neither contributes to anything.
type Lists struct {
	Scores  *G.Node // [rows], float32 or float64: log-scores m(d)
	Offsets *G.Node // [queries+1], int; nil: one query of all rows
}

// check reports what is wrong with the nodes of l.
func (l Lists) check() error {
	if l.Scores == nil {
		return errors.New("no scores: Lists.Scores is nil")
	}
	if err := checkNode("scores", l.Scores, 1, tensor.Float32, tensor.Float64); err != nil {
		return err
	}
	if l.Offsets == nil {
		return nil
	}
	if err := checkNode("offsets", l.Offsets, 1, tensor.Int); err != nil {
		return err
	}
	if l.Offsets.Shape()[0] < 2 {
		return fmt.Errorf("offsets have shape %v: want queries+1 of them, 2 at least", l.Offsets.Shape())
	}
	return nil
}

// queries is the number of queries, empty ones included.
func (l Lists) queries() int {
	if l.Offsets == nil {
		return 1
	}
	return l.Offsets.Shape()[0] - 1
}

func (l Lists) rows() int { return l.Scores.Shape()[0] }

// with returns the inputs of an op on the lists: the scores, the others, and last
// the offsets where there are any.
func (l Lists) with(others ...*G.Node) G.Nodes {
	in := append(G.Nodes{l.Scores}, others...)
	if l.Offsets != nil {
		in = append(in, l.Offsets)
	}
	return in
}

// checkNode reports a node that is missing, or of other dimensions or dtype.
func checkNode(name string, n *G.Node, dims int, dtypes ...tensor.Dtype) error {
	if n == nil {
		return fmt.Errorf("no %s: the node is nil", name)
	}
	if n.Shape().Dims() != dims {
		return fmt.Errorf("%s have shape %v: want %d dimensions", name, n.Shape(), dims)
	}
	for _, dt := range dtypes {
		if n.Dtype() == dt {
			return nil
		}
	}
	return fmt.Errorf("%s are of dtype %v: want %v", name, n.Dtype(), dtypes)
}

// checkRows reports a node, gains say, that does not have a number for every score.
func (l Lists) checkRows(name string, n *G.Node) error {
	if err := checkNode(name, n, 1, l.Scores.Dtype()); err != nil {
		return err
	}
	if n.Shape()[0] != l.rows() {
		return fmt.Errorf("%s have %d rows, scores have %d", name, n.Shape()[0], l.rows())
	}
	return nil
}

// checkRankings reports a node that cannot hold rankings of the lists.
func (l Lists) checkRankings(rankings *G.Node) error {
	if err := checkNode("rankings", rankings, 3, tensor.Int); err != nil {
		return err
	}
	if rankings.Shape()[0] != l.queries() {
		return fmt.Errorf("rankings of shape %v are of %d queries, the lists have %d", rankings.Shape(), rankings.Shape()[0], l.queries())
	}
	return nil
}

var intVector = G.TensorType{Dims: 1, Of: tensor.Int}
var intRankings = G.TensorType{Dims: 3, Of: tensor.Int}

// listOp is what all ops on lists have in common. Their inputs are the scores,
// others, and last the offsets unless the op is of one query of all rows.
type listOp struct {
	plainOp
	offsets bool
	out     outBuffer
	workers []*worker
}

func newListOp(l Lists) listOp { return listOp{offsets: l.Offsets != nil} }

// fresh is a copy for another op on the same lists, without the memory.
func (op *listOp) fresh() listOp { return listOp{offsets: op.offsets} }

// arity counts the inputs, with the given number of others.
func (op *listOp) arity(others int) int {
	if op.offsets {
		return others + 2
	}
	return others + 1
}

// fn is the type of an op: scores, others and offsets to the result.
func (op *listOp) fn(result hm.Type, others ...hm.Type) hm.Type {
	types := append([]hm.Type{tensorOf(1)}, others...)
	if op.offsets {
		types = append(types, intVector)
	}
	return hm.NewFnType(append(types, result)...)
}

// queries reads the number of queries off the shapes of the inputs.
func (op *listOp) queries(in []G.DimSizer) (int, error) {
	if !op.offsets {
		return 1, nil
	}
	n, err := in[len(in)-1].DimSize(0)
	return n - 1, err
}

// A worker has what one goroutine needs to work on a query.
type worker struct {
	sampler plackett.Sampler
	kernel  plackett.Kernel
	scores  []float64
	gains   []float64
	result  []float64
	weights []float64
	order   []int
}

// A list is one query of the inputs.
type list struct {
	*worker
	query    int
	from, to int // its rows
}

// eachList calls f for every query that has documents, on all cores, with its
// scores read. values are the inputs of the op; the name is for errors.
func (op *listOp) eachList(name string, values []G.Value, f func(list) error) error {
	scores, err := numbersOf(values[0])
	if err != nil {
		return fmt.Errorf("ops: %s: scores: %w", name, err)
	}
	offsets := []int{0, scores.len()}
	if op.offsets {
		if offsets, err = intsOf(values[len(values)-1]); err != nil {
			return fmt.Errorf("ops: %s: offsets: %w", name, err)
		}
	}
	if err := checkOffsets(offsets, scores.len()); err != nil {
		return fmt.Errorf("ops: %s: %w", name, err)
	}
	workers := parallel.Workers(len(offsets) - 1)
	for len(op.workers) < workers {
		op.workers = append(op.workers, &worker{})
	}
	return each(len(offsets)-1, workers, func(w, q int) error {
		l := list{op.workers[w], q, offsets[q], offsets[q+1]}
		if l.from == l.to {
			return nil
		}
		l.scores = scores.read(l.scores, l.from, l.to)
		if err := f(l); err != nil {
			var bad *plackett.NumberError
			if errors.As(err, &bad) && (bad.What == "score" || bad.What == "gain") {
				return fmt.Errorf("ops: %s: query %d, row %d: the %s is %v: %ss must be finite", name, q, l.from+bad.Position, bad.What, bad.Value, bad.What)
			}
			return fmt.Errorf("ops: %s: query %d: %w", name, q, err)
		}
		return nil
	})
}

func checkOffsets(offsets []int, rows int) error {
	for q, o := range offsets {
		if o < 0 || o > rows {
			return fmt.Errorf("offsets[%d] = %d is outside of the %d rows", q, o, rows)
		}
		if q > 0 && o < offsets[q-1] {
			return fmt.Errorf("offsets[%d] = %d is below offsets[%d] = %d: offsets must not descend", q, o, q-1, offsets[q-1])
		}
	}
	return nil
}

// rankingsOf gives the rankings of every query out of a node's value.
func rankingsOf(v G.Value) (func(list) plackett.Rankings, error) {
	t, ok := v.(*tensor.Dense)
	if !ok || t.Dtype() != tensor.Int || t.Dims() != 3 {
		return nil, fmt.Errorf("rankings are a %T of shape %v: want a dense int tensor [queries, samples, cutoff]", v, v.Shape())
	}
	shape := t.Shape()
	all, cutoff, size := t.Ints(), shape[2], shape[1]*shape[2]
	return func(l list) plackett.Rankings {
		return plackett.Rankings{Documents: all[l.query*size : (l.query+1)*size], Cutoff: cutoff, Base: l.from}
	}, nil
}

// checkCutoff reports rankings that end before the discounts do although there are
// documents left: they would estimate another metric than the one asked for.
func checkCutoff(discounts []float64, r plackett.Rankings, docs int) error {
	if r.Cutoff < len(discounts) && r.Cutoff < docs {
		return fmt.Errorf("rankings of %d places for %d discounts and %d documents: draw rankings with a cutoff of %d", r.Cutoff, len(discounts), docs, len(discounts))
	}
	return nil
}
