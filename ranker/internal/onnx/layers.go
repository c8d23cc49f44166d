package onnx

import (
	"math"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
)

// int adds a whole number, and ints a vector of them.
func (g *graph) int(v int) string { return g.constant(int64s, []float64{float64(v)}) }

func (g *graph) ints(values ...int) string {
	numbers := make([]float64, len(values))
	for i, v := range values {
		numbers[i] = float64(v)
	}
	return g.constant(int64s, numbers, len(numbers))
}

// array adds the array of that name, once: members of an ensemble may share it.
func (g *graph) array(name string, shape ...int) string {
	if g.arrays[name] == "" {
		g.arrays[name] = g.constant(g.dtype, g.weights(name), shape...)
	}
	return g.arrays[name]
}

// Number adds a number of the dtype of the model.
func (g *graph) Number(v float64) string { return g.constant(g.dtype, []float64{v}) }

func (g *graph) Add(x, y string) string { return g.node("Add", x, y) }
func (g *graph) Mul(x, y string) string { return g.node("Mul", x, y) }

// Times adds a product with a number.
func (g *graph) Times(x string, factor float64) string { return g.Mul(x, g.Number(factor)) }

// Dense adds a layer without dropout.
func (g *graph) Dense(d model.Dense, act forward.Activation, _ int, x string) string {
	if d.Bins != nil {
		x = g.encode(d, x)
	}
	return g.activate(act, d.Out, g.Add(g.node("MatMul", x, g.array(d.W, d.Rows(), d.Out)), g.array(d.B, d.Out)))
}

func (g *graph) activate(act forward.Activation, columns int, z string) string {
	switch act {
	case forward.Sigmoid:
		return g.node("Sigmoid", z)
	case forward.Tanh:
		return g.node("Tanh", z)
	case forward.ReLU:
		return g.node("Relu", z)
	case forward.GELU: // z·(1 + erf(z/√2))/2
		part := g.Add(g.node("Erf", g.Mul(z, g.Number(1/math.Sqrt2))), g.Number(1))
		return g.Mul(g.Mul(z, part), g.Number(0.5))
	case forward.SwiGLU: // of two halves, z1·σ(z1)·z2
		half := func(from, to int) string { return g.node("Slice", z, g.ints(from), g.ints(to), g.ints(1)) }
		first := half(0, columns/2)
		return g.Mul(g.Mul(g.node("Sigmoid", first), first), half(columns/2, columns))
	}
	return z
}

// encode adds e_k(p) = min(max(p − k, 0), 1) for each bin k of the positions p, see ops.PiecewiseLinear,
// followed by the inputs that are not positions.
func (g *graph) encode(d model.Dense, x string) string {
	var column []int
	var bin []float64
	for f, n := range d.Bins {
		for k := range n {
			column, bin = append(column, f), append(bin, float64(k))
		}
	}
	e := g.node("Sub", g.nodeWith("Gather", attributes{"axis": 1}, x, g.ints(column...)), g.constant(g.dtype, bin, len(bin)))
	e = g.node("Min", g.node("Max", e, g.Number(0)), g.Number(1))
	if d.In == len(d.Bins) {
		return e
	}
	return g.sideBySide([]string{e, g.node("Slice", x, g.ints(len(d.Bins)), g.ints(d.In), g.ints(1))})
}

// vectors adds the vectors [documents, width] of categories.
func (g *graph) vectors(tables []forward.Embedding) func(i int, codes string) string {
	return func(i int, codes string) string {
		return g.node("Gather", g.array(model.Table(i), tables[i].Codes, tables[i].Width), g.node("Squeeze", codes, g.ints(1)))
	}
}

// Norm adds a layer normalisation. Its default epsilon is the same as in package forward.
func (g *graph) Norm(n model.Norm, x string) string {
	return g.node("LayerNormalization", x, g.array(n.Gain, n.Width), g.array(n.Bias, n.Width))
}

// Attention adds attention, [documents, width], over q, k and v [documents, 3·width].
func (g *graph) Attention(heads, width int, qkv string) string {
	size := width / heads
	split := g.node("Reshape", qkv, g.ints(-1, 3, heads, size))
	part := func(which int, axes ...int) string { // [heads, documents, size], or as the axes say
		one := g.nodeWith("Gather", attributes{"axis": 1}, split, g.int(which))
		return g.nodeWith("Transpose", attributes{"perm": axes}, one)
	}
	q, k, v := part(0, 1, 0, 2), part(1, 1, 2, 0), part(2, 1, 0, 2)
	logits := g.node("MatMul", g.Mul(q, g.Number(1/math.Sqrt(float64(size)))), k)
	weights := g.nodeWith("Softmax", attributes{"axis": 2}, logits)
	y := g.nodeWith("Transpose", attributes{"perm": []int{1, 0, 2}}, g.node("MatMul", weights, v))
	return g.node("Reshape", y, g.ints(-1, width))
}
