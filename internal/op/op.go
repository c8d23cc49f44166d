// Package op makes Gorgonia ops of plain functions on slices. A [Func] is a function
// of tensors; a [ListFunc] works query by query on packed lists. Either names its inputs,
// its result and its derivative, and becomes an op with all that Gorgonia needs: types,
// shapes, hashes, memory, and gradients on both machines, as often as they are asked for.
package op

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"unsafe"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/num"
)

// funcOp is a Func as an op of Gorgonia, for inputs of given shapes. Its result lives
// in memory that it keeps from run to run. (Funcs and their ops use each other: derivatives
// of an op are Funcs.)
type funcOp struct {
	f     *Func
	types []hm.Type // of the inputs
	sizes []int     // of the inputs
	dtype tensor.Dtype
	shape tensor.Shape

	in     []Tensor
	result buffer
}

// Every op has symbolic derivatives, perhaps none: Grad gives up on a graph with an
// op that does not say.
var (
	_ G.SDOp = &funcOp{}
	_ G.ADOp = &funcOp{}
)

func (op *funcOp) Arity() int { return len(op.sizes) }

func (op *funcOp) Type() hm.Type {
	types := append([]hm.Type{}, op.types...)
	return hm.NewFnType(append(types, G.TensorType{Dims: op.shape.Dims(), Of: op.dtype})...)
}

// InferShape returns the shape of the result for inputs of these shapes.
func (op *funcOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	if len(in) != len(op.sizes) {
		return nil, fmt.Errorf("%s: %d inputs, want %d", op.f.Name, len(in), len(op.sizes))
	}
	shapes, err := G.DimSizersToShapes(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.f.Name, err)
	}
	return op.f.shape(shapes).Clone(), nil
}

func (op *funcOp) ReturnsPtr() bool     { return false }
func (op *funcOp) CallsExtern() bool    { return false }
func (op *funcOp) OverwritesInput() int { return -1 }

func (op *funcOp) WriteHash(h hash.Hash) { h.Write([]byte(op.String())) }
func (op *funcOp) Hashcode() uint32 {
	h := fnv.New32a()
	op.WriteHash(h)
	return h.Sum32()
}
func (op *funcOp) String() string { return op.f.String() }

// Do computes the result. It turns a panic into an error: it would end the process,
// since a machine runs ops outside of the caller's goroutine.
func (op *funcOp) Do(values ...G.Value) (result G.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, fmt.Errorf("%s: panic: %v", op.f.Name, r)
		}
	}()
	if len(values) != len(op.sizes) {
		return nil, fmt.Errorf("%s: %d inputs, want %d", op.f.Name, len(values), len(op.sizes))
	}
	op.in = op.in[:0]
	for i, v := range values {
		t, err := tensorOf(v)
		if err != nil {
			return nil, fmt.Errorf("%s: input %d: %w", op.f.Name, i, err)
		}
		if t.Len() != op.sizes[i] {
			return nil, fmt.Errorf("%s: input %d of shape %v does not fit: its node has %d entries", op.f.Name, i, v.Shape(), op.sizes[i])
		}
		op.in = append(op.in, t)
	}
	return op.run()
}

// run computes the result from the inputs of the last call of Do.
func (op *funcOp) run() (G.Value, error) {
	out := op.result.get(op.dtype, op.shape)
	t, err := tensorOf(out)
	if err == nil {
		err = op.f.Do(op.in, t)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// partial is the op of a node whose result is not computed whole so far, or nil.
func partial(n *G.Node) *funcOp {
	if op, ok := n.Op().(*funcOp); ok && op.f.Whole != nil && !*op.f.Whole {
		return op
	}
	return nil
}

func (op *funcOp) DiffWRT(inputs int) []bool {
	wrt := make([]bool, inputs)
	for i, t := range op.f.VJPs {
		wrt[i] = t != nil
	}
	return wrt
}

// SymDiff returns the derivatives as nodes, for the tape machine.
func (op *funcOp) SymDiff(inputs G.Nodes, result, grad *G.Node) (G.Nodes, error) {
	slopes := make(G.Nodes, len(inputs))
	for _, n := range inputs {
		if in := partial(n); in != nil {
			*in.f.Whole = true
		}
	}
	for i, t := range op.f.VJPs {
		if t == nil {
			continue
		}
		var err error
		if slopes[i], err = evaluate(t.by(inputs[i]), inputs, result, grad, (*Func).Apply); err != nil {
			return nil, err
		}
	}
	return slopes, nil
}

// DoDiff adds the derivatives to the gradients of the inputs, for the Lisp machine.
func (op *funcOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, result *G.Node) error {
	var values []G.Value
	for _, n := range inputs {
		value := n.Value()
		if in := partial(n); in != nil { // now that it has run
			*in.f.Whole = true
			var err error
			if value, err = in.run(); err != nil {
				return err
			}
		}
		values = append(values, value)
	}
	for i, t := range op.f.VJPs {
		if t == nil {
			continue
		}
		incoming, err := result.Grad()
		if err != nil {
			return err
		}
		slope, err := evaluate(t.by(inputs[i]), values, result.Value(), incoming, (*Func).value)
		if err != nil {
			return err
		}
		sum, err := inputs[i].Grad()
		if err != nil {
			return err
		}
		if err := add(sum, slope); err != nil {
			return fmt.Errorf("%s: %w", op.f.Name, err)
		}
	}
	return nil
}

// add adds the numbers of one value to another.
func add(to, from G.Value) error {
	sum, err := tensorOf(to)
	if err != nil {
		return err
	}
	terms, err := tensorOf(from)
	if err != nil {
		return err
	}
	if sum.Len() != terms.Len() {
		return fmt.Errorf("gradient of %d numbers for a value of %d", terms.Len(), sum.Len())
	}
	if d, ok := to.(*tensor.Dense); ok && RowMajor(d) != d {
		return errors.New("the gradient is of a view or a column-major tensor: want row-major")
	}
	for i := range terms.Len() {
		sum.Set(i, sum.At(i)+terms.At(i))
	}
	return nil
}

// A buffer keeps the memory of a result from run to run.
type buffer struct {
	t    *tensor.Dense
	raw  []byte   // its memory
	room *room    // for results of float32; nil: the op has memory of its own
	at   *float32 // where t is in the room; nil: it is not there
}

// A room is memory that ops of several graphs have in common.
type room struct{ numbers []float32 }

// get is a tensor of that dtype and shape, with whatever was in it before.
func (b *buffer) get(dt tensor.Dtype, shape tensor.Shape) *tensor.Dense {
	// Gorgonia's UnbindAll hands headers back to a pool, from where anybody may
	// take them: the header is only ours while it still points at our memory.
	if b.t == nil || len(b.raw) == 0 || b.t.Uintptr() != uintptr(unsafe.Pointer(&b.raw[0])) ||
		b.t.Dtype() != dt || !b.t.Shape().Eq(shape) || b.moved() {
		b.t = b.tensor(dt, shape.Clone())
		b.raw = b.t.Raw
	}
	return b.t
}

// moved reports whether another op has made the room larger, which is then elsewhere.
func (b *buffer) moved() bool { return b.at != nil && b.at != unsafe.SliceData(b.room.numbers) }

// tensor is a new one, of float32 in the room, which is made as large as need be.
func (b *buffer) tensor(dt tensor.Dtype, shape tensor.Shape) *tensor.Dense {
	b.at = nil
	if b.room == nil || dt != tensor.Float32 || shape.IsScalar() || size(shape) == 0 {
		return tensor.New(tensor.Of(dt), tensor.WithShape(shape...))
	}
	b.room.numbers = num.Sized(b.room.numbers, size(shape))
	b.at = unsafe.SliceData(b.room.numbers)
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(b.room.numbers))
}

// Rooms hold the results of several graphs that run one at a time and differ only in the shapes of their ops. The zero value is ready for
// use.
type Rooms struct{ list []*room }

// Give lets a graph have its results there. They last until another one runs.
func (r *Rooms) Give(g *G.ExprGraph) {
	i := 0
	for _, n := range g.AllNodes() {
		op, ok := n.Op().(*funcOp)
		if !ok {
			continue
		}
		if i == len(r.list) {
			r.list = append(r.list, new(room))
		}
		op.result.room = r.list[i]
		i++
	}
}
