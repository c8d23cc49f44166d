package export

import (
	"math"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/onnx"
)

// member adds the scores [documents, 1] of a member of the model, of the inputs x.
func (e exporter) member(s model.Settings, m model.Member, x string) string {
	h := x
	for _, d := range m.Hidden {
		h = e.activation(s.Activation, e.dense(d, h))
	}
	if s.Attention != nil {
		h = e.blocks(s, m, h)
	}
	return e.dense(m.Score, h)
}

// blocks adds those of a transformer, behind the hidden layers.
func (e exporter) blocks(s model.Settings, m model.Member, hidden string) string {
	h := hidden
	for _, b := range m.Blocks {
		h = e.node("Add", h, e.dense(b.Merge, e.attention(s.Heads(), s.Width(), e.dense(b.QKV, e.norm(b.First, h)))))
		h = e.node("Add", h, e.dense(b.Down, e.activation(s.Activation, e.dense(b.Up, e.norm(b.Second, h)))))
	}
	h = e.norm(m.Last, h)
	if s.LatentCross {
		h = e.node("Add", hidden, e.node("Mul", h, hidden))
	}
	return h
}

func (e exporter) dense(l model.Dense, h string) string {
	return e.node("Add", e.node("MatMul", h, e.array(l.W, l.In, l.Out)), e.array(l.B, l.Out))
}

// array adds the array of that name.
func (e exporter) array(name string, shape ...int) string {
	return e.Constant(e.dtype, e.weights(name), shape...)
}

// number adds a number of the dtype of the model.
func (e exporter) number(v float64) string { return e.Constant(e.dtype, []float64{v}) }

func (e exporter) activation(act forward.Activation, h string) string {
	switch act {
	case forward.Sigmoid:
		return e.node("Sigmoid", h)
	case forward.Tanh:
		return e.node("Tanh", h)
	case forward.ReLU:
		return e.node("Relu", h)
	case forward.GELU: // z·(1 + erf(z/√2))/2
		part := e.node("Add", e.node("Erf", e.node("Mul", h, e.number(1/math.Sqrt2))), e.number(1))
		return e.node("Mul", e.node("Mul", h, part), e.number(0.5))
	}
	return h
}

// norm is a layer normalisation, whose default epsilon is that of package forward.
func (e exporter) norm(n model.Norm, h string) string {
	return e.node("LayerNormalization", h, e.array(n.Gain, n.Width), e.array(n.Bias, n.Width))
}

// attention is [documents, width] of q, k and v [documents, 3·width].
func (e exporter) attention(heads, width int, qkv string) string {
	shape := func(lengths ...float64) string { return e.Constant(onnx.Int64, lengths, len(lengths)) }
	size := width / heads
	split := e.node("Reshape", qkv, shape(-1, 3, float64(heads), float64(size)))
	part := func(which float64, axes ...int) string { // [heads, documents, size], or as the axes say
		one := e.Node("Gather", []string{split, e.Constant(onnx.Int64, []float64{which})}, onnx.Attr{Name: "axis", Int: 1})
		return e.Node("Transpose", []string{one}, onnx.Attr{Name: "perm", Ints: axes})
	}
	q, k, v := part(0, 1, 0, 2), part(1, 1, 2, 0), part(2, 1, 0, 2)
	logits := e.node("MatMul", e.node("Mul", q, e.number(1/math.Sqrt(float64(size)))), k)
	weights := e.Node("Softmax", []string{logits}, onnx.Attr{Name: "axis", Int: 2})
	y := e.Node("Transpose", []string{e.node("MatMul", weights, v)}, onnx.Attr{Name: "perm", Ints: []int{1, 0, 2}})
	return e.node("Reshape", y, shape(-1, float64(width)))
}
