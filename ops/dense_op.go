package ops

import (
	"fmt"
	"hash"
	"hash/fnv"
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// plainOp holds the answers that all dense-layer ops give to Gorgonia's
// questions about memory: results live in buffers of the op's own.
type plainOp struct{}

func (plainOp) ReturnsPtr() bool     { return false }
func (plainOp) CallsExtern() bool    { return false }
func (plainOp) OverwritesInput() int { return -1 }

// hashOf hashes an op by its description, which holds every setting.
func hashOf(op G.Op) uint32 {
	h := fnv.New32a()
	op.WriteHash(h)
	return h.Sum32()
}

func hashText(h hash.Hash, op fmt.Stringer) { h.Write([]byte(op.String())) }

// An outBuffer keeps the memory of an op's result from run to run.
type outBuffer struct {
	t   *tensor.Dense
	raw []byte // its memory
}

// get is a tensor of that dtype and shape, with whatever was in it before.
func (b *outBuffer) get(dt tensor.Dtype, shape tensor.Shape) *tensor.Dense {
	// Gorgonia's UnbindAll hands headers back to a pool, from where anybody may
	// take them: the header is only ours while it still points at our memory.
	if b.t == nil || len(b.raw) == 0 || b.t.Uintptr() != uintptr(unsafe.Pointer(&b.raw[0])) ||
		b.t.Dtype() != dt || !b.t.Shape().Eq(shape) {
		b.t = tensor.New(tensor.Of(dt), tensor.WithShape(shape.Clone()...))
		b.raw = b.t.Raw
	}
	return b.t
}

// denseValues are the tensors behind an op's inputs, contiguous and of one
// float dtype.
func denseValues(op G.Op, values []G.Value) ([]*tensor.Dense, error) {
	if len(values) != op.Arity() {
		return nil, fmt.Errorf("ops: %v: %d inputs, want %d", op, len(values), op.Arity())
	}
	out := make([]*tensor.Dense, len(values))
	for i, v := range values {
		t, ok := v.(*tensor.Dense)
		if !ok {
			return nil, fmt.Errorf("ops: %v: input %d is a %T, want a dense tensor", op, i, v)
		}
		if dt := t.Dtype(); dt != tensor.Float32 && dt != tensor.Float64 || i > 0 && dt != out[0].Dtype() {
			return nil, fmt.Errorf("ops: %v: input %d has dtype %v, want float32 or float64, the same for all", op, i, dt)
		}
		if t.RequiresIterator() { // a view: a transposed matrix, a slice of columns
			t = t.Materialize().(*tensor.Dense)
		}
		out[i] = t
	}
	return out, nil
}

// addGrad adds the value of op over inputs to the gradient of node: what the
// Lisp machine wants of DoDiff.
func addGrad(node *G.Node, op G.Op, inputs ...G.Value) error {
	grad, err := node.Grad()
	if err != nil {
		return err
	}
	v, err := op.Do(inputs...)
	if err != nil {
		return err
	}
	to, from := grad.(*tensor.Dense), v.(*tensor.Dense)
	if to.Dtype() == tensor.Float32 {
		return addTo(to.Float32s(), from.Float32s())
	}
	return addTo(to.Float64s(), from.Float64s())
}

func addTo[T float](to, from []T) error {
	if len(to) != len(from) {
		return fmt.Errorf("ops: gradient of %d numbers for a value of %d", len(from), len(to))
	}
	for i, v := range from {
		to[i] += v
	}
	return nil
}
