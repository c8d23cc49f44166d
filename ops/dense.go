package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// Dense is a fused layer y = act(x·w + b), in one pass over the rows.
//
// Shapes: x [rows, in]; w [in, out] and b [out] give y [rows, out]; a vector w
// [in] with b [1] gives a vector y [rows], which is how a model ends in one
// score a row. All are float32 or all float64.
//
// Gradients reach w, b, and x unless x is a leaf of the graph: a first layer
// does not pay for a gradient that nobody reads, and asking Grad for it is an
// error of Gorgonia's ("Non Differentiable WRTs"). Matrix products use
// AVX-512 or AVX2 instructions where the machine has them, and OpenBLAS in programs built
// with -tags openblas. Results are bit-identical for any GOMAXPROCS.
//
// Shapes or dtypes that do not fit are errors.
func Dense(x, w, b *G.Node, act Activation) (*G.Node, error) {
	if !forward.Activation(act).Valid() {
		return nil, fmt.Errorf("ops: Dense: no such activation: %d", int(act))
	}
	if err := checkDense(x, w, b); err != nil {
		return nil, err
	}
	if act != GELU {
		return dense(forward.Activation(act), x.Op() == nil).Apply(x, w, b)
	}
	// Its derivative needs x·w + b, which so is a node, and GELU a function of its own.
	z, err := dense(forward.Identity, x.Op() == nil).Apply(x, w, b)
	if err != nil {
		return nil, err
	}
	gelu := op.Func{
		Name: "ops: GELU", Do: func(in []op.Tensor, y op.Tensor) error {
			if y.F32 != nil {
				forward.ActivateInto(forward.GELU, in[0].F32, y.F32)
			} else {
				forward.ActivateInto(forward.GELU, in[0].F64, y.F64)
			}
			return nil
		},
		Slopes: []*op.Term{activationSlope(forward.GELU).Of(op.Input(0), op.Incoming)},
	}
	return gelu.Apply(z)
}

func checkDense(x, w, b *G.Node) error {
	for _, n := range []struct {
		name string
		node *G.Node
	}{{"x", x}, {"w", w}, {"b", b}} {
		if n.node == nil {
			return fmt.Errorf("ops: Dense: %s is nil", n.name)
		}
		if dt := n.node.Dtype(); dt != tensor.Float32 && dt != tensor.Float64 || dt != x.Dtype() {
			return fmt.Errorf("ops: Dense: %s is %v, want float32 or float64, the same for x, w and b", n.name, dt)
		}
	}
	if x.Dims() != 2 {
		return fmt.Errorf("ops: Dense: x has shape %v, want [rows, in]", x.Shape())
	}
	in := x.Shape()[1]
	out := 1
	switch {
	case w.Dims() == 1 && w.Shape()[0] == in:
	case w.Dims() == 2 && w.Shape()[0] == in:
		out = w.Shape()[1]
	default:
		return fmt.Errorf("ops: Dense: w has shape %v, want [%d, out], or [%d] for one score a row", w.Shape(), in, in)
	}
	if b.Dims() != 1 || b.Shape()[0] != out {
		return fmt.Errorf("ops: Dense: b has shape %v, want [%d]", b.Shape(), out)
	}
	return nil
}

// dense is x, w, b → act(x·w + b), for any activation but GELU. Its derivatives are
// functions of their own: dz = dy·act'(z), dx = dz·wᵀ, dw = xᵀ·dz, db = Σ_rows dz.
func dense(act forward.Activation, leafX bool) *op.Func {
	dz := op.Incoming
	if act != forward.Identity {
		dz = activationSlope(act).Of(op.Result, op.Incoming)
	}
	dx := inputSlope.Of(dz, op.Input(1))
	if leafX {
		dx = nil
	}
	return &op.Func{
		Name: "ops: Dense", Settings: fmt.Sprintf("%v, leaf: %t", act, leafX),
		Shape: func(in []tensor.Shape) tensor.Shape { // [rows], or [rows, out]
			return append(tensor.Shape{in[0][0]}, in[1][1:]...)
		},
		Do: func(in []op.Tensor, y op.Tensor) error {
			x, w, b := in[0], in[1], in[2]
			width, out := w.Shape[0], b.Len()
			if y.F32 != nil {
				forward.Dense(act, width, out, x.F32, w.F32, b.F32, y.F32)
			} else {
				forward.Dense(act, width, out, x.F64, w.F64, b.F64, y.F64)
			}
			return nil
		},
		Slopes: []*op.Term{dx, weightsSlope.Of(op.Input(0), dz), biasSlope.Of(dz)},
	}
}

// columns is the width of a matrix, and 1 for a vector.
func columns(s tensor.Shape) int {
	if s.Dims() < 2 {
		return 1
	}
	return s[1]
}

// inputSlope is dz, w → dz·wᵀ.
var inputSlope = &op.Func{
	Name:  "ops: DenseInputSlope",
	Shape: func(in []tensor.Shape) tensor.Shape { return tensor.Shape{in[0][0], in[1][0]} },
	Do: func(in []op.Tensor, dx op.Tensor) error {
		dz, w := in[0], in[1]
		if dx.F32 != nil {
			forward.DenseInputSlope(w.Shape[0], columns(w.Shape), dz.F32, w.F32, dx.F32)
		} else {
			forward.DenseInputSlope(w.Shape[0], columns(w.Shape), dz.F64, w.F64, dx.F64)
		}
		return nil
	},
}

// weightsSlope is x, dz → xᵀ·dz.
var weightsSlope = &op.Func{
	Name: "ops: DenseWeightsSlope",
	Shape: func(in []tensor.Shape) tensor.Shape {
		return append(tensor.Shape{in[0][1]}, in[1][1:]...)
	},
	Do: func(in []op.Tensor, dw op.Tensor) error {
		x, dz := in[0], in[1]
		if dw.F32 != nil {
			forward.DenseWeightsSlope(x.Shape[1], columns(dw.Shape), x.F32, dz.F32, dw.F32)
		} else {
			forward.DenseWeightsSlope(x.Shape[1], columns(dw.Shape), x.F64, dz.F64, dw.F64)
		}
		return nil
	},
}

// biasSlope is dz → its column sums.
var biasSlope = &op.Func{
	Name:  "ops: DenseBiasSlope",
	Shape: func(in []tensor.Shape) tensor.Shape { return tensor.Shape{columns(in[0])} },
	Do: func(in []op.Tensor, db op.Tensor) error {
		if db.F32 != nil {
			forward.DenseBiasSlope(db.Len(), in[0].F32, db.F32)
		} else {
			forward.DenseBiasSlope(db.Len(), in[0].F64, db.F64)
		}
		return nil
	},
}

// activationSlope is y (z for GELU), dy → dy·act'(z).
func activationSlope(act forward.Activation) *op.Func {
	return &op.Func{
		Name: "ops: ActivationSlope", Settings: act.String(),
		Do: func(in []op.Tensor, dz op.Tensor) error {
			if dz.F32 != nil {
				forward.ActivationSlope(act, in[0].F32, in[1].F32, dz.F32)
			} else {
				forward.ActivationSlope(act, in[0].F64, in[1].F64, dz.F64)
			}
			return nil
		},
	}
}
