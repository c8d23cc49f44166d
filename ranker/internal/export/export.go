// Package export writes models as ONNX graphs, with their transforms of features inside.
package export

import (
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/onnx"
)

// Scores adds the scores [documents] of a model to a graph whose input "features" is [documents,
// features], and gives their name. The dtype is that of the model, and weights has the arrays by
// their names.
func Scores(g *onnx.Graph, t *datasets.Transform, s model.Settings, dtype onnx.Type, weights func(name string) []float64) string {
	e := exporter{g, dtype, weights}
	scores := model.Mean(e, model.Build(s, e, e.inputs(t, s.Embeddings)))
	return e.node("Squeeze", scores, e.ints(1))
}

// An exporter adds the parts of a model to a graph, see [model.Builder].
type exporter struct {
	*onnx.Graph
	dtype   onnx.Type                   // of the model
	weights func(name string) []float64 // the array of that name
}

func (e exporter) node(op string, inputs ...string) string { return e.Node(op, nil, inputs...) }

// int adds a whole number, and ints a vector of them.
func (e exporter) int(v int) string { return e.Constant(onnx.Int64, []float64{float64(v)}) }

func (e exporter) ints(values ...int) string {
	numbers := make([]float64, len(values))
	for i, v := range values {
		numbers[i] = float64(v)
	}
	return e.Constant(onnx.Int64, numbers, len(numbers))
}

// array adds the array of that name.
func (e exporter) array(name string, shape ...int) string {
	return e.Constant(e.dtype, e.weights(name), shape...)
}

// Number adds a number of the dtype of the model.
func (e exporter) Number(v float64) string { return e.Constant(e.dtype, []float64{v}) }

func (e exporter) Add(x, y string) string { return e.node("Add", x, y) }
func (e exporter) Mul(x, y string) string { return e.node("Mul", x, y) }

// Dense adds a layer without dropout.
func (e exporter) Dense(d model.Dense, act forward.Activation, _ int, x string) string {
	z := e.Add(e.node("MatMul", x, e.array(d.W, d.In, d.Out)), e.array(d.B, d.Out))
	switch act {
	case forward.Sigmoid:
		return e.node("Sigmoid", z)
	case forward.Tanh:
		return e.node("Tanh", z)
	case forward.ReLU:
		return e.node("Relu", z)
	case forward.GELU: // z·(1 + erf(z/√2))/2
		part := e.Add(e.node("Erf", e.Mul(z, e.Number(1/math.Sqrt2))), e.Number(1))
		return e.Mul(e.Mul(z, part), e.Number(0.5))
	}
	return z
}

// Norm adds a layer normalisation, whose default epsilon is that of package forward.
func (e exporter) Norm(n model.Norm, x string) string {
	return e.node("LayerNormalization", x, e.array(n.Gain, n.Width), e.array(n.Bias, n.Width))
}

// Attention is [documents, width] of q, k and v [documents, 3·width].
func (e exporter) Attention(heads, width int, qkv string) string {
	size := width / heads
	split := e.node("Reshape", qkv, e.ints(-1, 3, heads, size))
	part := func(which int, axes ...int) string { // [heads, documents, size], or as the axes say
		one := e.Node("Gather", onnx.Attributes{"axis": 1}, split, e.int(which))
		return e.Node("Transpose", onnx.Attributes{"perm": axes}, one)
	}
	q, k, v := part(0, 1, 0, 2), part(1, 1, 2, 0), part(2, 1, 0, 2)
	logits := e.node("MatMul", e.Mul(q, e.Number(1/math.Sqrt(float64(size)))), k)
	weights := e.Node("Softmax", onnx.Attributes{"axis": 2}, logits)
	y := e.Node("Transpose", onnx.Attributes{"perm": []int{1, 0, 2}}, e.node("MatMul", weights, v))
	return e.node("Reshape", y, e.ints(-1, width))
}
