package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The backward pass of a dense layer is four ops, each a pure function of its
// inputs: dz = dy·act'(z), dx = dz·wᵀ, dw = xᵀ·dz, db = Σ_rows dz. They have no
// derivatives of their own.

// denseInputDiffOp is dz, w → dz·wᵀ. dims is that of both.
type denseInputDiffOp struct {
	plainOp
	dims int
	out  outBuffer
}

func (op *denseInputDiffOp) Arity() int { return 2 }
func (op *denseInputDiffOp) Type() hm.Type {
	return hm.NewFnType(tensorOf(op.dims), tensorOf(op.dims), tensorOf(2))
}

func (op *denseInputDiffOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	rows, err := in[0].DimSize(0)
	if err != nil {
		return nil, err
	}
	cols, err := in[1].DimSize(0)
	return tensor.Shape{rows, cols}, err
}

func (op *denseInputDiffOp) Do(values ...G.Value) (G.Value, error) {
	v, err := denseValues(op, values)
	if err != nil {
		return nil, err
	}
	dz, w := v[0], v[1]
	in := w.Shape()[0]
	out := w.Shape().TotalSize() / in
	if dz.Shape().TotalSize() != dz.Shape()[0]*out {
		return nil, fmt.Errorf("ops: %v: dz %v and w %v do not fit", op, dz.Shape(), w.Shape())
	}
	dx := op.out.get(w.Dtype(), tensor.Shape{dz.Shape()[0], in})
	if w.Dtype() == tensor.Float32 {
		backInput(in, out, dz.Float32s(), w.Float32s(), dx.Float32s())
	} else {
		backInput(in, out, dz.Float64s(), w.Float64s(), dx.Float64s())
	}
	return dx, nil
}

func (op *denseInputDiffOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *denseInputDiffOp) Hashcode() uint32      { return hashOf(op) }
func (op *denseInputDiffOp) String() string        { return fmt.Sprintf("DenseInputDiff{dims: %d}", op.dims) }

// denseWeightsDiffOp is x, dz → xᵀ·dz.
type denseWeightsDiffOp struct {
	plainOp
	dims int // of dz and of the result
	out  outBuffer
}

func (op *denseWeightsDiffOp) Arity() int { return 2 }
func (op *denseWeightsDiffOp) Type() hm.Type {
	return hm.NewFnType(tensorOf(2), tensorOf(op.dims), tensorOf(op.dims))
}

func (op *denseWeightsDiffOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	rows, err := in[0].DimSize(1)
	if err != nil || op.dims == 1 {
		return tensor.Shape{rows}, err
	}
	cols, err := in[1].DimSize(1)
	return tensor.Shape{rows, cols}, err
}

func (op *denseWeightsDiffOp) Do(values ...G.Value) (G.Value, error) {
	v, err := denseValues(op, values)
	if err != nil {
		return nil, err
	}
	x, dz := v[0], v[1]
	in, out := x.Shape()[1], 1
	shape := tensor.Shape{in}
	if dz.Dims() == 2 {
		out = dz.Shape()[1]
		shape = append(shape, out)
	}
	if dz.Shape().TotalSize() != x.Shape()[0]*out {
		return nil, fmt.Errorf("ops: %v: x %v and dz %v do not fit", op, x.Shape(), dz.Shape())
	}
	dw := op.out.get(x.Dtype(), shape)
	if x.Dtype() == tensor.Float32 {
		backWeights(in, out, x.Float32s(), dz.Float32s(), dw.Float32s())
	} else {
		backWeights(in, out, x.Float64s(), dz.Float64s(), dw.Float64s())
	}
	return dw, nil
}

func (op *denseWeightsDiffOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *denseWeightsDiffOp) Hashcode() uint32      { return hashOf(op) }
func (op *denseWeightsDiffOp) String() string {
	return fmt.Sprintf("DenseWeightsDiff{dims: %d}", op.dims)
}

// denseBiasDiffOp is dz → its column sums.
type denseBiasDiffOp struct {
	plainOp
	dims    int // of dz
	out     outBuffer
	scratch outBuffer
}

func (op *denseBiasDiffOp) Arity() int    { return 1 }
func (op *denseBiasDiffOp) Type() hm.Type { return hm.NewFnType(tensorOf(op.dims), tensorOf(1)) }

func (op *denseBiasDiffOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	if op.dims == 1 {
		return tensor.Shape{1}, nil
	}
	cols, err := in[0].DimSize(1)
	return tensor.Shape{cols}, err
}

func (op *denseBiasDiffOp) Do(values ...G.Value) (G.Value, error) {
	v, err := denseValues(op, values)
	if err != nil {
		return nil, err
	}
	dz := v[0]
	out := 1
	if dz.Dims() == 2 {
		out = dz.Shape()[1]
	}
	db := op.out.get(dz.Dtype(), tensor.Shape{out})
	sums := op.scratch.get(dz.Dtype(), tensor.Shape{blocks(dz.Shape()[0], sumBlock), out})
	if dz.Dtype() == tensor.Float32 {
		return db, backBias(out, dz.Float32s(), db.Float32s(), sums.Float32s())
	}
	return db, backBias(out, dz.Float64s(), db.Float64s(), sums.Float64s())
}

func (op *denseBiasDiffOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *denseBiasDiffOp) Hashcode() uint32      { return hashOf(op) }
func (op *denseBiasDiffOp) String() string        { return fmt.Sprintf("DenseBiasDiff{dims: %d}", op.dims) }
