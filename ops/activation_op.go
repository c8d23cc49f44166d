package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// geluOp is z → GELU(z).
type geluOp struct {
	plainOp
	out outBuffer
}

func (op *geluOp) Arity() int    { return 1 }
func (op *geluOp) Type() hm.Type { return hm.NewFnType(elem, elem) }

func (op *geluOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *geluOp) Do(values ...G.Value) (G.Value, error) {
	v, err := denseValues(op, values)
	if err != nil {
		return nil, err
	}
	z := v[0]
	y := op.out.get(z.Dtype(), z.Shape())
	if z.Dtype() == tensor.Float32 {
		return y, activateInto(GELU, z.Float32s(), y.Float32s())
	}
	return y, activateInto(GELU, z.Float64s(), y.Float64s())
}

func activateInto[T float](a Activation, z, y []T) error {
	return elementwise(len(z), func(from, to int) {
		copy(y[from:to], z[from:to])
		activate(a, y[from:to])
	})
}

func (op *geluOp) DiffWRT(int) []bool { return []bool{true} }

func (op *geluOp) SymDiff(inputs G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	dz, err := G.ApplyOp(&activationDiffOp{act: GELU}, inputs[0], grad)
	return G.Nodes{dz}, err
}

func (op *geluOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	dy, err := output.Grad()
	if err != nil {
		return err
	}
	return addGrad(inputs[0], &activationDiffOp{act: GELU}, inputs[0].Value(), dy)
}

func (op *geluOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *geluOp) Hashcode() uint32      { return hashOf(op) }
func (op *geluOp) String() string        { return "GELU" }

// activationDiffOp is y (z for GELU), dy → dz = dy·act'(z).
type activationDiffOp struct {
	plainOp
	act Activation
	out outBuffer
}

func (op *activationDiffOp) Arity() int    { return 2 }
func (op *activationDiffOp) Type() hm.Type { return hm.NewFnType(elem, elem, elem) }

func (op *activationDiffOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *activationDiffOp) Do(values ...G.Value) (G.Value, error) {
	v, err := denseValues(op, values)
	if err != nil {
		return nil, err
	}
	y, dy := v[0], v[1]
	dz := op.out.get(y.Dtype(), y.Shape())
	if y.Dtype() == tensor.Float32 {
		return dz, backActivationBlocks(op.act, y.Float32s(), dy.Float32s(), dz.Float32s())
	}
	return dz, backActivationBlocks(op.act, y.Float64s(), dy.Float64s(), dz.Float64s())
}

func backActivationBlocks[T float](a Activation, y, dy, dz []T) error {
	return elementwise(len(y), func(from, to int) {
		backActivation(a, y[from:to], dy[from:to], dz[from:to])
	})
}

func (op *activationDiffOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *activationDiffOp) Hashcode() uint32      { return hashOf(op) }
func (op *activationDiffOp) String() string        { return fmt.Sprintf("ActivationDiff{%v}", op.act) }
