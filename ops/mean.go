package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// MeanOverQueries is the scalar mean of values, [queries], over the queries that
// have documents: Σ_q v_q / max(1, number of queries with documents). It is
// differentiable in values.
func MeanOverQueries(l Lists, values *G.Node) (*G.Node, error) {
	err := l.check()
	if err == nil {
		err = checkNode("values", values, 1, l.Scores.Dtype())
	}
	if err == nil && values.Shape()[0] != l.queries() {
		err = fmt.Errorf("values of shape %v for %d queries", values.Shape(), l.queries())
	}
	if err != nil {
		return nil, fmt.Errorf("ops: MeanOverQueries: %w", err)
	}
	weights, err := G.ApplyOp(&queryWeightsOp{listOp: newListOp(l)}, l.with()...)
	if err != nil {
		return nil, err
	}
	weighted, err := G.HadamardProd(values, weights)
	if err != nil {
		return nil, err
	}
	return G.Sum(weighted)
}

// queryWeightsOp is scores[, offsets] → 1/(number of queries with documents), 0 for
// those without.
type queryWeightsOp struct {
	listOp
	notDifferentiable
}

var (
	_ G.SDOp = &queryWeightsOp{}
	_ G.ADOp = &queryWeightsOp{}
)

func (op *queryWeightsOp) Arity() int    { return op.arity(0) }
func (op *queryWeightsOp) Type() hm.Type { return op.fn(tensorOf(1)) }

func (op *queryWeightsOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	q, err := op.queries(in)
	return tensor.Shape{q}, err
}

func (op *queryWeightsOp) Do(values ...G.Value) (G.Value, error) {
	offsets, weight, err := op.queryWeight(values)
	if err != nil {
		return nil, err
	}
	out, weights, err := op.output(values[0], len(offsets)-1)
	if err != nil {
		return nil, err
	}
	for q := range len(offsets) - 1 {
		if offsets[q] < offsets[q+1] {
			weights.set(q, weight)
		}
	}
	return out, nil
}

// queryWeight reads the offsets, and gives the weight of a query in the mean over
// those with documents.
func (op *listOp) queryWeight(values []G.Value) (offsets []int, weight float64, err error) {
	offsets = []int{0, values[0].Shape()[0]}
	if op.offsets {
		if offsets, err = intsOf(values[len(values)-1]); err != nil {
			return nil, 0, fmt.Errorf("ops: offsets: %w", err)
		}
	}
	present := 0
	for q := range len(offsets) - 1 {
		if offsets[q] < offsets[q+1] {
			present++
		}
	}
	return offsets, 1 / float64(max(1, present)), nil
}

func (op *queryWeightsOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *queryWeightsOp) Hashcode() uint32      { return hashOf(op) }
func (op *queryWeightsOp) String() string {
	return fmt.Sprintf("QueryWeights{offsets: %t}", op.offsets)
}
