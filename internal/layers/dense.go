package layers

import (
	"cmp"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// Dense returns act(x·w + b), a node of ops.Dense, or where there are bins of ops.PiecewiseLinear; with a dropout, what it leaves
// of that, with the same numbers as by [Drop], in one pass over the rows and one over their gradient. Of a sparse x, x has the values,
// and rows are its starts and its columns, see ops.Sparse. Errors begin with name.
func Dense(name string, x, w, b *G.Node, bins []int, act forward.Activation, d *Dropout, layer int, rows ...*G.Node) (*G.Node, error) {
	if !act.Valid() {
		return nil, fmt.Errorf("%s: no such activation: %d", name, int(act))
	}
	if err := checkDense(name, x, w, b, bins, rows); err != nil {
		return nil, err
	}
	if err := checkProducts(act, "w", w); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	leaf := x.Op() == nil
	if f := apart[act]; f != nil {
		y, err := dense(name, bins, forward.Identity, leaf, rows != nil, nil).Apply(append([]*G.Node{x, w, b}, rows...)...)
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
	return dense(name, bins, act, leaf, rows != nil, d).Apply(append(in, rows...)...)
}

// apart are the activations whose derivatives need x·w + b, which is a node for this reason, as they are.
var apart = map[forward.Activation]*op.Func{
	forward.GELU: {
		Name: "ops: forward.GELU",
		Do:   op.ByDtype(geluOf[float32], geluOf[float64]),
		VJPs: []*op.Term{activationVJP(forward.GELU, nil).Of(op.Input(0), op.Incoming)},
	},
	forward.SwiGLU: {
		Name:  "ops: forward.SwiGLU",
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

func geluOf[T op.Float](_ []op.Tensor, x [][]T, y []T) { forward.ActivateInto(forward.GELU, x[0], y) }

// checkProducts checks that an activation makes whole outputs of the columns of a node.
func checkProducts(act forward.Activation, what string, n *G.Node) error {
	if n.Dims() == 2 && n.Shape()[1]%act.Products() == 0 || act.Products() == 1 {
		return nil
	}
	return fmt.Errorf("%s has shape %v, and %v makes one output of two columns: want a matrix with an even number of them", what,
		n.Shape(), act)
}

func checkDense(name string, x, w, b *G.Node, bins []int, rows []*G.Node) error {
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
	in, out := w.Shape().TotalSize()/columns(w.Shape()), 1
	if rows == nil {
		if x.Dims() != 2 {
			return fmt.Errorf("%s: x has shape %v, want [rows, in]", name, x.Shape())
		}
		in = x.Shape()[1]
		if err := forward.CheckBins(bins, in); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		in = forward.BinRows(bins, in)
	} else if err := checkSparse(x, rows[0], rows[1]); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
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

// checkSparse checks the nodes of a sparse x.
func checkSparse(values, starts, in *G.Node) error {
	if err := op.CheckNode("values", values, 1, values.Dtype()); err != nil {
		return err
	}
	return cmp.Or(op.CheckNode("starts", starts, 1, tensor.Int), op.CheckNode("columns", in, 1, tensor.Int32))
}

// dense is x, w, b → act(x·w + b), for activations that are not apart, or x, w, b and a key → what a
// dropout leaves of that; of a sparse x, its starts and columns are the last inputs. Its derivatives are functions of their own:
// dz = mask·dy·act'(z), dx = dz·wᵀ, dw = xᵀ·dz, db = Σ_rows dz. Values of a sparse x have none.
func dense(name string, bins []int, act forward.Activation, leafX, isSparse bool, d *Dropout) *op.Func {
	dz, dropout := op.Incoming, ""
	if act != forward.Identity {
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
	do := op.ByDtype(denseOf[float32](bins, act, d), denseOf[float64](bins, act, d))
	vjps := []*op.Term{dx, dw, BiasVJP.Of(dz)}
	if leafX {
		vjps[0] = nil
	}
	rows := func(in []tensor.Shape) int { return in[0][0] }
	if isSparse {
		n := 3 // the starts
		if d != nil {
			n++
		}
		do = op.CheckedByDtype(sparseOf[float32](act, d), sparseOf[float64](act, d))
		vjps = append(make([]*op.Term, 1, n+2), sparseVJP.Of(op.Input(0), dz, op.Input(n), op.Input(n+1)), vjps[2])
		rows = func(in []tensor.Shape) int { return in[n][0] - 1 }
	}
	return &op.Func{
		Name: name, Settings: fmt.Sprintf("%v, leaf: %t%s%s", act, leafX, settings, dropout),
		Shape: func(in []tensor.Shape) tensor.Shape { // [rows], or [rows, out]
			return append(tensor.Shape{rows(in)}, in[1][1:]...)
		},
		Do: do, VJPs: vjps,
	}
}

func sparseOf[T op.Float](act forward.Activation, d *Dropout) op.Checked[T] {
	return func(in []op.Tensor, x [][]T, y []T) error {
		rows := sparseRows(in, x)
		if err := rows.Check(len(y)/len(x[2]), in[1].Shape[0]); err != nil {
			return fmt.Errorf("ops: SparseDense: %w", err)
		}
		forward.SparseDense(act, rows, x[1], x[2], y, d.masks(in, 3))
		return nil
	}
}

// sparseRows is a sparse matrix of the first and the last two inputs.
func sparseRows[T op.Float](in []op.Tensor, x [][]T) forward.Sparse[T] {
	return forward.Sparse[T]{Starts: in[len(in)-2].Int, Columns: in[len(in)-1].Int32, Values: x[0]}
}

// sparseVJP is values, dz, starts, columns → xᵀ·dz.
var sparseVJP = op.Pure("ops: SparseWeightsVJP", "", sparseVJPOf[float32], sparseVJPOf[float64])

func sparseVJPOf[T op.Float](in []op.Tensor, x [][]T, dw []T) {
	forward.SparseWeightsVJP(sparseRows(in, x), columns(in[1].Shape), x[1], dw)
}

func denseOf[T op.Float](bins []int, act forward.Activation, d *Dropout) op.Kernel[T] {
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

// BiasVJP is dz → its column sums.
var BiasVJP = op.Pure("ops: DenseBiasVJP", "", biasVJPOf[float32], biasVJPOf[float64])

func biasVJPOf[T op.Float](_ []op.Tensor, x [][]T, db []T) { forward.DenseBiasVJP(len(db), x[0], db) }

// activationVJP is y (z for forward.GELU), dy → dy·act'(z); with a dropout, y less what was dropped,
// dy and the key → mask·dy·act'(z).
func activationVJP(act forward.Activation, d *Dropout) *op.Func {
	settings := act.String()
	if d != nil {
		settings += ", " + d.settings()
	}
	return op.Pure("ops: ActivationVJP", settings, activationVJPOf[float32](act, d), activationVJPOf[float64](act, d))
}

func activationVJPOf[T op.Float](act forward.Activation, d *Dropout) op.Kernel[T] {
	return func(in []op.Tensor, x [][]T, dz []T) {
		forward.ActivationVJP(act, x[0], x[1], dz, d.masks(in, 2))
	}
}
