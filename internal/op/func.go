package op

import (
	"fmt"
	"sync/atomic"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Func is a pure function of tensors.
type Func struct {
	Name string // for errors, with the package: "ops: Dense"
	// Settings are all that the result depends on besides the name and the inputs:
	// Gorgonia merges nodes of equal name, settings and inputs.
	Settings string
	Dtype    tensor.Dtype                           // of the result; zero: as the first input
	Shape    func(in []tensor.Shape) tensor.Shape   // of the result; nil: as the first input
	Do       func(in []Tensor, result Tensor) error // the result holds anything before
	// VJPs are the vector-Jacobian products, the derivatives by the inputs times the
	// incoming gradient, of the shape of the input; nil for one that is a constant for differentiation.
	VJPs []*Term
	// Whole, where not nil, is set when a derivative of what is made of the result is asked for:
	// parts that only derivatives need may be left out before.
	Whole  *bool
	Source any // of random numbers, where there is one, comparable: see Ordinal
}

// Float is a type of the numbers of a graph.
type Float interface{ float32 | float64 }

// A Kernel is what a [Func] does on numbers of one type: x are the numbers of the inputs, nil for
// ints, y the numbers of the result.
type Kernel[T Float] func(in []Tensor, x [][]T, y []T)

// A Checked is a Kernel that can meet numbers that it does not take.
type Checked[T Float] func(in []Tensor, x [][]T, y []T) error

// Pure returns the function of a kernel, whose result has the shape of the first input. As a derivative
// it has the shape of what it is by.
func Pure(name, settings string, f32 Kernel[float32], f64 Kernel[float64]) *Func {
	return &Func{Name: name, Settings: settings, Do: ByDtype(f32, f64)}
}

// ByDtype runs the kernel for the dtype of the result.
func ByDtype(f32 Kernel[float32], f64 Kernel[float64]) func(in []Tensor, result Tensor) error {
	return CheckedByDtype(f32.checked, f64.checked)
}

func (k Kernel[T]) checked(in []Tensor, x [][]T, y []T) error {
	k(in, x, y)
	return nil
}

// CheckedByDtype is ByDtype for kernels that can fail.
func CheckedByDtype(f32 Checked[float32], f64 Checked[float64]) func(in []Tensor, result Tensor) error {
	return func(in []Tensor, result Tensor) error {
		if result.F32 != nil {
			return f32(in, numbers(in, func(t Tensor) []float32 { return t.F32 }), result.F32)
		}
		return f64(in, numbers(in, func(t Tensor) []float64 { return t.F64 }), result.F64)
	}
}

func numbers[T Float](in []Tensor, slice func(Tensor) []T) [][]T {
	x := make([][]T, len(in))
	for i, t := range in {
		x[i] = slice(t)
	}
	return x
}

// Elementwise returns f(x) of every number of a vector, a node with the derivative vjp(x, incoming);
// if that is nil, it is a constant for differentiation.
func Elementwise(name string, x *G.Node, f func(x float64) float64, vjp func(x, incoming float64) float64) (*G.Node, error) {
	if err := CheckNode("x", x, 1, tensor.Float32, tensor.Float64); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	each := func(f func(in []Tensor, i int) float64) func([]Tensor, Tensor) error {
		return func(in []Tensor, result Tensor) error {
			for i := range result.Len() {
				result.Set(i, f(in, i))
			}
			return nil
		}
	}
	fn := Func{Name: name, Do: each(func(in []Tensor, i int) float64 { return f(in[0].At(i)) })}
	if vjp != nil {
		slope := Func{Name: name + "VJP", Do: each(func(in []Tensor, i int) float64 { return vjp(in[0].At(i), in[1].At(i)) })}
		fn.VJPs = []*Term{slope.Of(Input(0), Incoming)}
	}
	return fn.Apply(x)
}

// Ordinal returns the number of nodes of a graph whose random numbers are from that source.
func Ordinal(g *G.ExprGraph, source any) (ordinal int) {
	for _, n := range g.AllNodes() {
		if op, ok := n.Op().(*funcOp); ok && op.f.Source == source {
			ordinal++
		}
	}
	return ordinal
}

// Apply makes a node of a function of nodes.
func (f *Func) Apply(in ...*G.Node) (*G.Node, error) {
	shapes := make([]tensor.Shape, len(in))
	for i, n := range in {
		shapes[i] = n.Shape()
	}
	op := f.on(shapes, in[0].Dtype())
	for _, n := range in {
		op.types = append(op.types, n.Type())
	}
	return G.ApplyOp(op, in...)
}

// on is the op of a function of inputs of those shapes, the first of that dtype.
func (f *Func) on(shapes []tensor.Shape, dt tensor.Dtype) *funcOp {
	op := &funcOp{f: f, dtype: f.Dtype, shape: f.shape(shapes)}
	if f.Dtype.Type == nil {
		op.dtype = dt
	}
	for _, s := range shapes {
		op.sizes = append(op.sizes, size(s))
	}
	return op
}

// shape returns the shape of the result for inputs of the given shapes.
func (f *Func) shape(in []tensor.Shape) tensor.Shape {
	if f.Shape == nil {
		return in[0]
	}
	return f.Shape(in)
}

// size is the number of entries of a tensor, or of a scalar.
func size(s tensor.Shape) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// A Term is what a derivative is computed from: an input of the op, its result, the
// incoming gradient, or a function of terms.
type Term struct {
	f     *Func
	terms []*Term
	input int
}

var (
	Result   = &Term{}
	Incoming = &Term{}
)

// Input returns input i of the op.
func Input(i int) *Term { return &Term{input: i} }

// Of returns the function of terms.
func (f *Func) Of(terms ...*Term) *Term { return &Term{f: f, terms: terms} }

// by is the term of a derivative by a node, whose shape it has.
func (t *Term) by(n *G.Node) *Term {
	if t.f == nil {
		return t
	}
	f := *t.f
	f.Shape = func([]tensor.Shape) tensor.Shape { return n.Shape() }
	return f.Of(t.terms...)
}

// evaluate gives a term its value, a node or numbers.
func evaluate[T any](t *Term, inputs []T, result, incoming T, apply func(*Func, ...T) (T, error)) (T, error) {
	switch {
	case t == Result:
		return result, nil
	case t == Incoming:
		return incoming, nil
	case t.f == nil:
		return inputs[t.input], nil
	}
	values := make([]T, len(t.terms))
	for i, arg := range t.terms {
		var err error
		if values[i], err = evaluate(arg, inputs, result, incoming, apply); err != nil {
			return values[i], err
		}
	}
	return apply(t.f, values...)
}

// value applies a function to values.
func (f *Func) value(in ...G.Value) (G.Value, error) {
	shapes := make([]tensor.Shape, len(in))
	for i, v := range in {
		shapes[i] = v.Shape()
	}
	return f.on(shapes, in[0].Dtype()).Do(in...)
}

var ids atomic.Uint64

// NewID returns a number for settings that cannot be compared, such as a function: Gorgonia merges
// nodes of equal settings.
func NewID() uint64 { return ids.Add(1) }

func (f *Func) String() string {
	if f.Settings == "" {
		return f.Name
	}
	return fmt.Sprintf("%s{%s}", f.Name, f.Settings)
}
