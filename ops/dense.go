package ops

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// Dense returns a fused layer y = act(x·w + b), in one pass over the rows.
//
// Shapes: x [rows, in]; w [in, out] and b [out] give y [rows, out]; a vector w
// [in] with b [1] gives a vector y [rows], which is how a model ends in one
// score a row. All are float32 or all float64. SwiGLU makes half as many outputs of its columns.
//
// Gradients reach w, b, and x unless x is a leaf of the graph: a first layer
// does not pay for a gradient that nobody reads, and asking Grad for it is an
// error of Gorgonia's ("Non Differentiable WRTs"). Matrix products use
// AVX-512 or AVX2 instructions where the machine has them. Results are bit-identical for any GOMAXPROCS.
//
// Shapes or dtypes that do not fit are errors. Its value lasts until the next run.
func Dense(x, w, b *G.Node, act Activation) (*G.Node, error) {
	return denseDrop("ops: Dense", x, w, b, nil, act, nil, 0)
}

// DenseDrop returns Drop(Dense(x, w, b, act), d, layer), with the same numbers, in one pass over
// the rows, and one over their gradient. Its value lasts until the next run.
func DenseDrop(x, w, b *G.Node, act Activation, d *Dropout, layer int) (*G.Node, error) {
	const name = "ops: DenseDrop"
	if d == nil {
		return nil, fmt.Errorf("%s: no dropout: it is nil", name)
	}
	return denseDrop(name, x, w, b, nil, act, d, layer)
}

// PiecewiseLinear returns a first layer that sees features through bins: y = act(e(x)·w + b). The first
// columns of x, as many as there are numbers of bins, are positions p, for which e(x) has as many
// columns as they have bins (Gorishniy, Rubachev & Babenko 2022, "On Embeddings for Numerical
// Features in Tabular Deep Learning", section 3.1):
//
//	e_k(p) = min(max(p − k, 0), 1),   k = 0, …, bins−1.
//
// A weight is how much the units rise within a bin, and the sums of weights are a function of p that is
// linear between whole positions, where it may bend. Other columns of x stay as they are. No
// e(x) is made: a document takes two rows of a table for each feature, however many bins there are, and a
// feature of one bin what it takes in Dense (BenchmarkPiecewiseLinear measures both). Positions are rounded to multiples of 2^−16; those
// below 0 count as 0, and those above the bins as their number.
// See transforms.Transform for positions by quantiles.
//
// Shapes: x [rows, features]; w [Σ bins + features − len(bins), out] and b [out] give y [rows,
// out]; a vector w with b [1] gives a vector y [rows]. All are float32 or all float64.
//
// Gradients reach w and b, and the columns of x that are no positions, unless x is a leaf. A NaN makes
// its row NaN. Results are bit-identical for any GOMAXPROCS. Shapes or dtypes that do not fit are
// errors, and so are fewer than 1 or more than 255 bins. Its value lasts until the next run.
func PiecewiseLinear(x, w, b *G.Node, bins []int, act Activation) (*G.Node, error) {
	return denseDrop("ops: PiecewiseLinear", x, w, b, slices.Clone(bins), act, nil, 0)
}

// denseDrop is Dense where d is nil, and PiecewiseLinear where there are bins.
func denseDrop(name string, x, w, b *G.Node, bins []int, act Activation, d *Dropout, layer int) (*G.Node, error) {
	if !act.Valid() {
		return nil, fmt.Errorf("%s: no such activation: %d", name, int(act))
	}
	if err := checkDense(name, x, w, b, bins); err != nil {
		return nil, err
	}
	if err := checkProducts(act, "w", w); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f := apart[act]; f != nil {
		y, err := dense(name, bins, Identity, x.Op() == nil, nil).Apply(x, w, b)
		if err == nil {
			y, err = f.Apply(y)
		}
		if err == nil && d != nil {
			y, err = Drop(y, d, layer)
		}
		return y, err
	}
	in := []*G.Node{x, w, b}
	if d != nil {
		key, err := d.key(name, x, layer)
		if err != nil {
			return nil, err
		}
		in = append(in, key)
	}
	return dense(name, bins, act, x.Op() == nil, d).Apply(in...)
}

// apart are the activations whose derivatives need x·w + b, which is a node for this reason, as they are.
var apart = map[Activation]*op.Func{
	GELU: {
		Name: "ops: GELU",
		Do:   op.ByDtype(geluOf[float32], geluOf[float64]),
		VJPs: []*op.Term{activationVJP(GELU, nil).Of(op.Input(0), op.Incoming)},
	},
	SwiGLU: {
		Name:  "ops: SwiGLU",
		Shape: func(in []tensor.Shape) tensor.Shape { return tensor.Shape{in[0][0], in[0][1] / 2} },
		Do:    op.ByDtype(swigluOf[float32], swigluOf[float64]),
		VJPs:  []*op.Term{swigluVJP.Of(op.Input(0), op.Incoming)},
	},
}

// swigluVJP is z, dy → dz.
var swigluVJP = op.Pure("ops: SwiGLUVJP", "", swigluVJPOf[float32], swigluVJPOf[float64])

func swigluOf[T op.Float](in []op.Tensor, x [][]T, y []T) {
	forward.GateInto(in[0].Shape[1]/2, x[0], y)
}

func swigluVJPOf[T op.Float](in []op.Tensor, x [][]T, dz []T) {
	forward.GateVJP(in[0].Shape[1]/2, x[0], x[1], dz)
}

func geluOf[T op.Float](_ []op.Tensor, x [][]T, y []T) { forward.ActivateInto(GELU, x[0], y) }

// checkProducts checks that an activation makes whole outputs of the columns of a node.
func checkProducts(act Activation, what string, n *G.Node) error {
	if n.Dims() == 2 && n.Shape()[1]%act.Products() == 0 || act.Products() == 1 {
		return nil
	}
	return fmt.Errorf("%s has shape %v, and %v makes one output of two columns: want a matrix with an even number of them", what, n.Shape(), act)
}

func checkDense(name string, x, w, b *G.Node, bins []int) error {
	for _, n := range []struct {
		what string
		node *G.Node
	}{{"x", x}, {"w", w}, {"b", b}} {
		if n.node == nil {
			return fmt.Errorf("%s: %s is nil", name, n.what)
		}
		if dt := n.node.Dtype(); dt != tensor.Float32 && dt != tensor.Float64 || dt != x.Dtype() {
			return fmt.Errorf("%s: %s is %v, want float32 or float64, the same for x, w and b", name, n.what, dt)
		}
	}
	if x.Dims() != 2 {
		return fmt.Errorf("%s: x has shape %v, want [rows, in]", name, x.Shape())
	}
	in := x.Shape()[1]
	if err := forward.CheckBins(bins, in); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	in = forward.BinRows(bins, in)
	out := 1
	switch {
	case w.Dims() == 1 && w.Shape()[0] == in:
	case w.Dims() == 2 && w.Shape()[0] == in:
		out = w.Shape()[1]
	default:
		return fmt.Errorf("%s: w has shape %v, want [%d, out], or [%d] for one score a row", name, w.Shape(), in, in)
	}
	if b.Dims() != 1 || b.Shape()[0] != out {
		return fmt.Errorf("%s: b has shape %v, want [%d]", name, b.Shape(), out)
	}
	return nil
}

// dense is x, w, b → act(x·w + b), for activations that are not apart, or x, w, b and a key → what a
// dropout leaves of that. Its derivatives are functions of their own: dz = mask·dy·act'(z),
// dx = dz·wᵀ, dw = xᵀ·dz, db = Σ_rows dz.
func dense(name string, bins []int, act Activation, leafX bool, d *Dropout) *op.Func {
	dz, dropout := op.Incoming, ""
	if act != Identity {
		dz = activationVJP(act, nil).Of(op.Result, op.Incoming)
	}
	if d != nil {
		dz, dropout = activationVJP(act, d).Of(op.Result, op.Incoming, op.Input(3)), ", "+d.settings()
	}
	dx, dw, settings := inputVJP.Of(dz, op.Input(1)), weightsVJP.Of(op.Input(0), dz), ""
	if bins != nil {
		dx, dw = binned(bins, op.Input(0), op.Input(1), dz)
		settings = fmt.Sprintf(", bins %v", bins)
	}
	if leafX {
		dx = nil
	}
	return &op.Func{
		Name: name, Settings: fmt.Sprintf("%v, leaf: %t%s%s", act, leafX, settings, dropout),
		Shape: func(in []tensor.Shape) tensor.Shape { // [rows], or [rows, out]
			return append(tensor.Shape{in[0][0]}, in[1][1:]...)
		},
		Do:   op.ByDtype(denseOf[float32](bins, act, d), denseOf[float64](bins, act, d)),
		VJPs: []*op.Term{dx, dw, biasVJP.Of(dz)},
	}
}

func denseOf[T op.Float](bins []int, act Activation, d *Dropout) op.Kernel[T] {
	return func(in []op.Tensor, x [][]T, y []T) {
		if bins != nil {
			forward.Piecewise(act, bins, in[0].Shape[1], len(x[2]), x[0], x[1], x[2], y, d.masks(in, 3))
		} else {
			forward.Dense(act, in[1].Shape[0], len(x[2]), x[0], x[1], x[2], y, d.masks(in, 3))
		}
	}
}

// columns is the width of a matrix, and 1 for a vector.
func columns(s tensor.Shape) int {
	if s.Dims() < 2 {
		return 1
	}
	return s[1]
}

// inputVJP is dz, w → dz·wᵀ.
var inputVJP = op.Pure("ops: DenseInputVJP", "", inputVJPOf[float32], inputVJPOf[float64])

func inputVJPOf[T op.Float](in []op.Tensor, x [][]T, dx []T) {
	w := in[1].Shape
	forward.DenseInputVJP(w[0], columns(w), x[0], x[1], dx)
}

// weightsVJP is x, dz → xᵀ·dz.
var weightsVJP = op.Pure("ops: DenseWeightsVJP", "", weightsVJPOf[float32], weightsVJPOf[float64])

func weightsVJPOf[T op.Float](in []op.Tensor, x [][]T, dw []T) {
	width := in[0].Shape[1]
	forward.DenseWeightsVJP(width, len(dw)/width, x[0], x[1], dw)
}

// binned is the derivatives of a layer with bins by x and by w.
func binned(bins []int, x, w, dz *op.Term) (dx, dw *op.Term) {
	settings := fmt.Sprint(bins)
	input := op.Pure("ops: PiecewiseLinearInputVJP", settings,
		binnedInputVJP[float32](bins), binnedInputVJP[float64](bins))
	weights := op.Pure("ops: PiecewiseLinearWeightsVJP", settings,
		binnedWeightsVJP[float32](bins), binnedWeightsVJP[float64](bins))
	return input.Of(dz, w, x), weights.Of(x, dz)
}

func binnedInputVJP[T op.Float](bins []int) op.Kernel[T] {
	return func(in []op.Tensor, x [][]T, dx []T) {
		forward.PiecewiseInputVJP(bins, in[2].Shape[1], columns(in[1].Shape), x[0], x[1], dx)
	}
}

func binnedWeightsVJP[T op.Float](bins []int) op.Kernel[T] {
	return func(in []op.Tensor, x [][]T, dw []T) {
		forward.PiecewiseWeightsVJP(bins, in[0].Shape[1], columns(in[1].Shape), x[0], x[1], dw)
	}
}

// biasVJP is dz → its column sums.
var biasVJP = op.Pure("ops: DenseBiasVJP", "", biasVJPOf[float32], biasVJPOf[float64])

func biasVJPOf[T op.Float](_ []op.Tensor, x [][]T, db []T) { forward.DenseBiasVJP(len(db), x[0], db) }

// activationVJP is y (z for GELU), dy → dy·act'(z); with a dropout, y less what was dropped,
// dy and the key → mask·dy·act'(z).
func activationVJP(act Activation, d *Dropout) *op.Func {
	settings := act.String()
	if d != nil {
		settings += ", " + d.settings()
	}
	return op.Pure("ops: ActivationVJP", settings, activationVJPOf[float32](act, d), activationVJPOf[float64](act, d))
}

func activationVJPOf[T op.Float](act Activation, d *Dropout) op.Kernel[T] {
	return func(in []op.Tensor, x [][]T, dz []T) {
		forward.ActivationVJP(act, x[0], x[1], dz, d.masks(in, 2))
	}
}
