package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// Scale scales and shifts every column, in one pass: y = act(x ⊙ scale + bias). Networks that share
// the product x of a layer differ by it (TabM: Gorishniy, Kotelnikov & Babenko, ICLR 2025, section 3).
//
// Shapes: x [rows, width], scale and bias [width] give y [rows, width]; all are float32, or all
// float64. Gradients reach all three. Results are bit-identical for any GOMAXPROCS.
//
// Shapes or dtypes that do not fit are errors. Its value lasts until the next run.
func Scale(x, scale, bias *G.Node, act Activation) (*G.Node, error) {
	const name = "ops: Scale"
	if !act.Valid() {
		return nil, fmt.Errorf("%s: no such activation: %d", name, int(act))
	}
	if err := checkColumns(x, "scale", scale, bias); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkProducts(act, "x", x); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f := apart[act]; f != nil { // as in Dense
		z, err := Scale(x, scale, bias, Identity)
		if err != nil {
			return nil, err
		}
		return f.Apply(z)
	}
	dz := op.Incoming
	if act != Identity {
		dz = activationVJP(act, nil).Of(op.Result, op.Incoming)
	}
	f := &op.Func{
		Name: name, Settings: act.String(),
		Do:   op.ByDtype(scaleOf[float32](act), scaleOf[float64](act)),
		VJPs: []*op.Term{scaleInputVJP.Of(dz, op.Input(1)), scaleVJP.Of(op.Input(0), dz), biasVJP.Of(dz)},
	}
	return f.Apply(x, scale, bias)
}

func scaleOf[T op.Float](act Activation) op.Kernel[T] {
	return func(_ []op.Tensor, x [][]T, y []T) {
		forward.Scale(act, x[1], x[2], x[0], y)
	}
}

// scaleInputVJP is dz, scale → dz ⊙ scale.
var scaleInputVJP = op.Pure("ops: ScaleInputVJP", "", scaleInputVJPOf[float32], scaleInputVJPOf[float64])

func scaleInputVJPOf[T op.Float](_ []op.Tensor, x [][]T, dx []T) {
	forward.ScaleInputVJP(x[1], x[0], dx)
}

// scaleVJP is x, dz → dscale.
var scaleVJP = op.Pure("ops: ScaleVJP", "", scaleVJPOf[float32], scaleVJPOf[float64])

func scaleVJPOf[T op.Float](_ []op.Tensor, x [][]T, dscale []T) { forward.ScaleVJP(x[0], x[1], dscale) }
