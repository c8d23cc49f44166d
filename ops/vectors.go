package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// Gather picks numbers of a vector, y_i = x[at_i]: x is [n], float32 or float64, at
// is int [m] with numbers from 0 to n−1, repeats included, and y is [m]. It is
// differentiable in x: incoming gradients are added up where a number was picked more than once. A number
// that is out of range makes the run return an error.
//
// (Gorgonia's ByIndices has a wrong gradient for vectors unless m = n, and none
// that is right on the Lisp machine.) Its value lasts until the next run.
func Gather(x, at *G.Node) (*G.Node, error) {
	const name = "ops: Gather"
	err := op.CheckNode("x", x, 1, tensor.Float32, tensor.Float64)
	if err == nil {
		err = op.CheckNode("at", at, 1, tensor.Int)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// In order, and added up in float64: the sums are the same in every run.
	scatter := op.Func{Name: name + "VJP", Do: func(in []op.Tensor, result op.Tensor) error {
		sums, incoming := make([]float64, result.Len()), &in[2]
		for i, p := range in[1].Int {
			sums[p] += incoming.At(i)
		}
		result.Write(sums, 0)
		return nil
	}}
	f := op.Func{
		Name: name, Shape: func(in []tensor.Shape) tensor.Shape { return in[1] },
		Do: func(in []op.Tensor, result op.Tensor) error {
			n := in[0].Len()
			for i, p := range in[1].Int {
				if p < 0 || p >= n {
					return fmt.Errorf("%s: at[%d] = %d, of %d numbers", name, i, p, n)
				}
			}
			return pickInto(in, result)
		},
		VJPs: []*op.Term{scatter.Of(op.Input(0), op.Input(1), op.Incoming)},
	}
	return f.Apply(x, at)
}

var pickInto = op.ByDtype(pick[float32], pick[float64])

func pick[T op.Float](in []op.Tensor, x [][]T, y []T) {
	at := in[1].Int
	forward.Elementwise(len(at), func(from, to int) {
		for i := from; i < to; i++ {
			y[i] = x[0][at[i]]
		}
	})
}

// Constant returns x, a vector, as a constant for differentiation: what it depends on gets
// no gradient by way of it. Its value lasts until the next run.
func Constant(x *G.Node) (*G.Node, error) {
	return op.Elementwise("ops: Constant", x, func(v float64) float64 { return v }, nil)
}
