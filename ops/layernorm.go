package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/layers"
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
// It returns an error if shapes or dtypes do not fit. Its value lasts until the next run.
func LayerNorm(x, gain, bias *G.Node) (*G.Node, error) {
	if err := op.CheckNode("x", x, 2, tensor.Float32, tensor.Float64); err != nil {
		return nil, fmt.Errorf("ops: LayerNorm: %w", err)
	}
	for name, n := range map[string]*G.Node{"gain": gain, "bias": bias} {
		err := op.CheckNode(name, n, 1, x.Dtype())
		if err == nil && n.Shape()[0] != x.Shape()[1] {
			err = fmt.Errorf("%s has shape %v: want the width of x, [%d]", name, n.Shape(), x.Shape()[1])
		}
		if err != nil {
			return nil, fmt.Errorf("ops: LayerNorm: %w", err)
		}
	}
	norm := &op.Func{
		Name: "ops: LayerNorm",
		Do:   op.ByDtype(layerNorm[float32], layerNorm[float64]),
		VJPs: []*op.Term{
			layerNormInputVJP.Of(op.Input(0), op.Input(1), op.Incoming),
			layerNormGainVJP.Of(op.Input(0), op.Incoming),
			layers.BiasVJP.Of(op.Incoming),
		},
	}
	return norm.Apply(x, gain, bias)
}

func layerNorm[T op.Float](_ []op.Tensor, x [][]T, y []T) { forward.LayerNorm(x[1], x[2], x[0], y) }

// layerNormInputVJP is x, gain, dy → dx.
var layerNormInputVJP = op.Pure("ops: LayerNormInputVJP", "",
	layerNormInputVJPOf[float32], layerNormInputVJPOf[float64])

func layerNormInputVJPOf[T op.Float](_ []op.Tensor, x [][]T, dx []T) {
	forward.LayerNormInputVJP(x[1], x[0], x[2], dx)
}

// layerNormGainVJP is x, dy → dgain.
var layerNormGainVJP = op.Pure("ops: LayerNormGainVJP", "", layerNormGainVJPOf[float32], layerNormGainVJPOf[float64])

func layerNormGainVJPOf[T op.Float](_ []op.Tensor, x [][]T, dgain []T) {
	forward.LayerNormGainVJP(x[0], x[1], dgain)
}
