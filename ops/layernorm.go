package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// LayerNorm brings every row to mean 0 and variance 1, and then to a gain and a bias of
// each column (Ba, Kiros & Hinton 2016), in one pass:
//
//	y = gain·(x − mean)/√(variance + 1e-5) + bias.
//
// Shapes: x [rows, width], gain and bias [width] give y [rows, width]; all are float32, or
// all float64. Gradients reach all three. Results are bit-identical for any GOMAXPROCS.
//
// Shapes or dtypes that do not fit are errors.
func LayerNorm(x, gain, bias *G.Node) (*G.Node, error) {
	if err := checkLayerNorm(x, gain, bias); err != nil {
		return nil, fmt.Errorf("ops: LayerNorm: %w", err)
	}
	norm := &op.Func{
		Name: "ops: LayerNorm",
		Do: func(in []op.Tensor, y op.Tensor) error {
			if y.F32 != nil {
				forward.LayerNorm(in[1].F32, in[2].F32, in[0].F32, y.F32)
			} else {
				forward.LayerNorm(in[1].F64, in[2].F64, in[0].F64, y.F64)
			}
			return nil
		},
		VJPs: []*op.Term{
			layerNormInputVJP.Of(op.Input(0), op.Input(1), op.Incoming),
			layerNormGainVJP.Of(op.Input(0), op.Incoming),
			biasVJP.Of(op.Incoming),
		},
	}
	return norm.Apply(x, gain, bias)
}

func checkLayerNorm(x, gain, bias *G.Node) error {
	if err := op.CheckNode("x", x, 2, tensor.Float32, tensor.Float64); err != nil {
		return err
	}
	for _, n := range []struct {
		name string
		node *G.Node
	}{{"gain", gain}, {"bias", bias}} {
		if err := op.CheckNode(n.name, n.node, 1, x.Dtype()); err != nil {
			return err
		}
		if n.node.Shape()[0] != x.Shape()[1] {
			return fmt.Errorf("%s has shape %v: want the width of x, [%d]", n.name, n.node.Shape(), x.Shape()[1])
		}
	}
	return nil
}

// layerNormInputVJP is x, gain, dy → dx.
var layerNormInputVJP = &op.Func{
	Name: "ops: LayerNormInputVJP",
	Do: func(in []op.Tensor, dx op.Tensor) error {
		if dx.F32 != nil {
			forward.LayerNormInputVJP(in[1].F32, in[0].F32, in[2].F32, dx.F32)
		} else {
			forward.LayerNormInputVJP(in[1].F64, in[0].F64, in[2].F64, dx.F64)
		}
		return nil
	},
}

// layerNormGainVJP is x, dy → dgain.
var layerNormGainVJP = &op.Func{
	Name:  "ops: LayerNormGainVJP",
	Shape: func(in []tensor.Shape) tensor.Shape { return tensor.Shape{in[0][1]} },
	Do: func(in []op.Tensor, dgain op.Tensor) error {
		if dgain.F32 != nil {
			forward.LayerNormGainVJP(in[0].F32, in[1].F32, dgain.F32)
		} else {
			forward.LayerNormGainVJP(in[0].F64, in[1].F64, dgain.F64)
		}
		return nil
	},
}
