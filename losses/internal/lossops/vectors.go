package lossops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
)

// Reciprocal is 1/x of a vector, and 0 where x is 0: dividing by it leaves out what
// has nothing to be divided by, such as a query without gains. It is
// differentiable in x, with slope 0 at 0.
func Reciprocal(x *G.Node) (*G.Node, error) {
	const name = "losses: Reciprocal"
	slope := op.Func{Name: name + "Slope", Do: func(in []op.Tensor, result op.Tensor) error {
		for i := range result.Len() {
			v := in[0].At(i)
			result.Set(i, 0)
			if v != 0 {
				result.Set(i, -in[1].At(i)/v/v)
			}
		}
		return nil
	}}
	return elementwise(x, &op.Func{
		Name: name, Do: func(in []op.Tensor, result op.Tensor) error {
			for i := range result.Len() {
				v := in[0].At(i)
				if v != 0 {
					v = 1 / v
				}
				result.Set(i, v)
			}
			return nil
		},
		Slopes: []*op.Term{slope.Of(op.Input(0), op.Incoming)},
	})
}

// Nonzero is 1 where x, a vector, is not 0, and 0 where it is. It is not
// differentiable.
func Nonzero(x *G.Node) (*G.Node, error) {
	return elementwise(x, &op.Func{Name: "losses: Nonzero", Do: func(in []op.Tensor, result op.Tensor) error {
		for i := range result.Len() {
			result.Set(i, 0)
			if in[0].At(i) != 0 {
				result.Set(i, 1)
			}
		}
		return nil
	}})
}

func elementwise(x *G.Node, f *op.Func) (*G.Node, error) {
	if err := op.CheckNode("x", x, 1, tensor.Float32, tensor.Float64); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return f.Apply(x)
}
