package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Gather picks numbers of a vector, y_i = x[at_i]: x is [n], float32 or float64, at
// is int [m] with numbers from 0 to n−1, repeats included, and y is [m]. It is
// differentiable in x: what comes in is summed up where it was picked. A number
// that is out of range is an error of the run.
//
// (Gorgonia's ByIndices has a wrong gradient for vectors unless m = n, and none
// that is right on the Lisp machine.)
func Gather(x, at *G.Node) (*G.Node, error) {
	err := checkNode("x", x, 1, tensor.Float32, tensor.Float64)
	if err == nil {
		err = checkNode("at", at, 1, tensor.Int)
	}
	if err != nil {
		return nil, fmt.Errorf("ops: Gather: %w", err)
	}
	return G.ApplyOp(&gatherOp{}, x, at)
}

// gatherOp is x, at → x[at].
type gatherOp struct {
	plainOp
	out outBuffer
}

var (
	_ G.SDOp = &gatherOp{}
	_ G.ADOp = &gatherOp{}
)

func (op *gatherOp) Arity() int    { return 2 }
func (op *gatherOp) Type() hm.Type { return hm.NewFnType(tensorOf(1), intVector, tensorOf(1)) }

func (op *gatherOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[1].(tensor.Shape).Clone(), nil
}

func (op *gatherOp) Do(values ...G.Value) (G.Value, error) {
	x, at, err := gatherInputs(values[0], values[1], values[0].Shape()[0])
	if err != nil {
		return nil, err
	}
	out := op.out.get(values[0].Dtype(), tensor.Shape{len(at)})
	if x.f32 != nil {
		return out, pick(x.f32, at, out.Float32s())
	}
	return out, pick(x.f64, at, out.Float64s())
}

func pick[T float](x []T, at []int, out []T) error {
	return elementwise(len(at), func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = x[at[i]]
		}
	})
}

// gatherInputs reads numbers and places, which must be below n.
func gatherInputs(picked, places G.Value, n int) (numbers, []int, error) {
	x, err := numbersOf(picked)
	if err != nil {
		return x, nil, fmt.Errorf("ops: Gather: %w", err)
	}
	at, err := intsOf(places)
	if err != nil {
		return x, nil, fmt.Errorf("ops: Gather: %w", err)
	}
	for i, p := range at {
		if p < 0 || p >= n {
			return x, nil, fmt.Errorf("ops: Gather: at[%d] = %d, of %d numbers", i, p, n)
		}
	}
	return x, at, nil
}

func (op *gatherOp) DiffWRT(int) []bool { return []bool{true, false} }

func (op *gatherOp) SymDiff(inputs G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	dx, err := G.ApplyOp(&scatterOp{}, inputs[0], inputs[1], grad)
	return G.Nodes{dx, nil}, err
}

func (op *gatherOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	grad, err := output.Grad()
	if err != nil {
		return err
	}
	return addGrad(inputs[0], &scatterOp{}, inputs[0].Value(), inputs[1].Value(), grad)
}

func (op *gatherOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *gatherOp) Hashcode() uint32      { return hashOf(op) }
func (op *gatherOp) String() string        { return "Gather" }

// scatterOp is x, at, dy → dx: zeros of x's shape, dy added up at the places.
type scatterOp struct {
	plainOp
	out outBuffer
}

func (op *scatterOp) Arity() int { return 3 }
func (op *scatterOp) Type() hm.Type {
	return hm.NewFnType(tensorOf(1), intVector, tensorOf(1), tensorOf(1))
}

func (op *scatterOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *scatterOp) Do(values ...G.Value) (G.Value, error) {
	n := values[0].Shape()[0]
	dy, at, err := gatherInputs(values[2], values[1], n)
	if err != nil {
		return nil, err
	}
	out := op.out.get(values[0].Dtype(), tensor.Shape{n})
	if dy.f32 != nil {
		scatter(dy.f32, at, out.Float32s())
	} else {
		scatter(dy.f64, at, out.Float64s())
	}
	return out, nil
}

// scatter adds up in float64, in order: the sums are the same in every run.
func scatter[T float](dy []T, at []int, out []T) {
	sums := make([]float64, len(out))
	for i, p := range at {
		sums[p] += float64(dy[i])
	}
	for i, s := range sums {
		out[i] = T(s)
	}
}

func (op *scatterOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *scatterOp) Hashcode() uint32      { return hashOf(op) }
func (op *scatterOp) String() string        { return "Scatter" }
