package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
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
	if !act.valid() {
		return nil, fmt.Errorf("ops: dense: no such activation: %d", int(act))
	}
	if err := checkDense(x, w, b); err != nil {
		return nil, err
	}
	op := &denseOp{act: act, dims: w.Dims(), leafX: x.Op() == nil}
	if act == GELU {
		// Its derivative needs z, so z is a node and GELU an op of its own.
		op.act = Identity
	}
	y, err := G.ApplyOp(op, x, w, b)
	if err != nil || op.act == act {
		return y, err
	}
	return G.ApplyOp(&geluOp{}, y)
}

func checkDense(x, w, b *G.Node) error {
	for _, n := range []struct {
		name string
		node *G.Node
	}{{"x", x}, {"w", w}, {"b", b}} {
		if n.node == nil {
			return fmt.Errorf("ops: dense: %s is nil", n.name)
		}
		if dt := n.node.Dtype(); dt != tensor.Float32 && dt != tensor.Float64 || dt != x.Dtype() {
			return fmt.Errorf("ops: dense: %s is %v, want float32 or float64, the same for x, w and b", n.name, dt)
		}
	}
	if x.Dims() != 2 {
		return fmt.Errorf("ops: dense: x has shape %v, want [rows, in]", x.Shape())
	}
	in := x.Shape()[1]
	out := 1
	switch {
	case w.Dims() == 1 && w.Shape()[0] == in:
	case w.Dims() == 2 && w.Shape()[0] == in:
		out = w.Shape()[1]
	default:
		return fmt.Errorf("ops: dense: w has shape %v, want [%d, out], or [%d] for one score a row", w.Shape(), in, in)
	}
	if b.Dims() != 1 || b.Shape()[0] != out {
		return fmt.Errorf("ops: dense: b has shape %v, want [%d]", b.Shape(), out)
	}
	return nil
}

// Types of the ops below, with a the element type.
var elem = hm.TypeVariable('a')

func tensorOf(dims int) hm.Type { return G.TensorType{Dims: dims, Of: elem} }

// denseOp is x, w, b → act(x·w + b).
type denseOp struct {
	plainOp
	act   Activation // not GELU
	dims  int        // of w and of the result
	leafX bool
	out   outBuffer
}

var (
	_ G.SDOp = &denseOp{}
	_ G.ADOp = &denseOp{}
	_ G.SDOp = &geluOp{}
	_ G.ADOp = &geluOp{}
)

func (op *denseOp) Arity() int { return 3 }
func (op *denseOp) Type() hm.Type {
	return hm.NewFnType(tensorOf(2), tensorOf(op.dims), tensorOf(1), tensorOf(op.dims))
}

func (op *denseOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	rows, err := in[0].DimSize(0)
	if err != nil || op.dims == 1 {
		return tensor.Shape{rows}, err
	}
	cols, err := in[1].DimSize(1)
	return tensor.Shape{rows, cols}, err
}

func (op *denseOp) Do(values ...G.Value) (G.Value, error) {
	v, err := denseValues(op, values)
	if err != nil {
		return nil, err
	}
	x, w, b := v[0], v[1], v[2]
	in, out := x.Shape()[1], b.Shape()[0]
	if w.Dims() != op.dims || w.Shape().TotalSize() != in*out {
		return nil, fmt.Errorf("ops: %v: x %v, w %v, b %v do not fit", op, x.Shape(), w.Shape(), b.Shape())
	}
	shape := tensor.Shape{x.Shape()[0]}
	if op.dims == 2 {
		shape = append(shape, out)
	}
	y := op.out.get(x.Dtype(), shape)
	if x.Dtype() == tensor.Float32 {
		forward(op.act, in, out, x.Float32s(), w.Float32s(), b.Float32s(), y.Float32s())
	} else {
		forward(op.act, in, out, x.Float64s(), w.Float64s(), b.Float64s(), y.Float64s())
	}
	return y, nil
}

func (op *denseOp) DiffWRT(int) []bool { return []bool{!op.leafX, true, true} }

func (op *denseOp) SymDiff(inputs G.Nodes, output, grad *G.Node) (G.Nodes, error) {
	dz := grad
	if op.act != Identity {
		var err error
		if dz, err = G.ApplyOp(&activationDiffOp{act: op.act}, output, grad); err != nil {
			return nil, err
		}
	}
	dw, err := G.ApplyOp(&denseWeightsDiffOp{dims: op.dims}, inputs[0], dz)
	if err != nil {
		return nil, err
	}
	db, err := G.ApplyOp(&denseBiasDiffOp{dims: op.dims}, dz)
	if err != nil {
		return nil, err
	}
	var dx *G.Node
	if !op.leafX {
		if dx, err = G.ApplyOp(&denseInputDiffOp{dims: op.dims}, dz, inputs[1]); err != nil {
			return nil, err
		}
	}
	return G.Nodes{dx, dw, db}, nil
}

func (op *denseOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	dz, err := output.Grad()
	if err != nil {
		return err
	}
	if op.act != Identity {
		if dz, err = (&activationDiffOp{act: op.act}).Do(output.Value(), dz); err != nil {
			return err
		}
	}
	if !op.leafX {
		if err := addGrad(inputs[0], &denseInputDiffOp{dims: op.dims}, dz, inputs[1].Value()); err != nil {
			return err
		}
	}
	if err := addGrad(inputs[1], &denseWeightsDiffOp{dims: op.dims}, inputs[0].Value(), dz); err != nil {
		return err
	}
	return addGrad(inputs[2], &denseBiasDiffOp{dims: op.dims}, dz)
}

func (op *denseOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *denseOp) Hashcode() uint32      { return hashOf(op) }
func (op *denseOp) String() string {
	return fmt.Sprintf("Dense{%v, dims: %d, leafX: %t}", op.act, op.dims, op.leafX)
}
