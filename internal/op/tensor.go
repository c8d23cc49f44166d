package op

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/num"
)

// A Tensor is the entries of a tensor in row-major order, of one of the four types.
type Tensor struct {
	F32   []float32
	F64   []float64
	Int   []int
	Int32 []int32
	Shape tensor.Shape
}

// tensorOf reads a value: a dense tensor, or a scalar, which a vector of one number
// may have become on its way through the graph.
func tensorOf(v G.Value) (Tensor, error) {
	switch v := v.(type) {
	case *tensor.Dense:
		v = RowMajor(v)
		t := Tensor{Shape: v.Shape()}
		switch v.Dtype() {
		case tensor.Float32:
			t.F32 = v.Float32s()
			return t, nil
		case tensor.Float64:
			t.F64 = v.Float64s()
			return t, nil
		case tensor.Int:
			t.Int = v.Ints()
			return t, nil
		case tensor.Int32:
			t.Int32 = v.Int32s()
			return t, nil
		}
	case *G.F32:
		return Tensor{F32: unsafe.Slice((*float32)(v), 1)}, nil
	case *G.F64:
		return Tensor{F64: unsafe.Slice((*float64)(v), 1)}, nil
	}
	return Tensor{}, fmt.Errorf("a %T of dtype %v: want a dense tensor of float32, float64, int or int32", v, v.Dtype())
}

// RowMajor returns a tensor whose entries stand in memory in the order of their indices: v itself, or
// a copy of a view, such as a transposed matrix or a slice of columns, or of a column-major tensor.
func RowMajor(v *tensor.Dense) *tensor.Dense {
	if v.RequiresIterator() {
		v = v.Materialize().(*tensor.Dense)
	}
	shape, strides := v.Shape(), v.Strides()
	if len(strides) < 2 || slices.Equal(strides, shape.CalcStrides()) { // a vector, or a scalar, has no order
		return v
	}
	ordered := tensor.New(tensor.Of(v.Dtype()), tensor.WithShape(shape...))
	from, to := reflect.ValueOf(v.Data()), reflect.ValueOf(ordered.Data())
	for i := range size(shape) {
		at, rest := 0, i
		for axis := len(shape) - 1; axis >= 0; axis-- {
			at += rest % shape[axis] * strides[axis]
			rest /= shape[axis]
		}
		to.Index(i).Set(from.Index(at))
	}
	return ordered
}

// Numbers returns a copy of the floats of a value.
func Numbers(v G.Value) ([]float64, error) {
	t, err := tensorOf(v)
	if err == nil && t.Int != nil {
		err = fmt.Errorf("a %T of ints: want floats", v)
	}
	if err != nil {
		return nil, err
	}
	return t.Read(nil, 0, t.Len()), nil
}

// Len returns the number of entries.
func (t *Tensor) Len() int { return len(t.F32) + len(t.F64) + len(t.Int) + len(t.Int32) }

// At returns number i of floats.
func (t *Tensor) At(i int) float64 {
	if t.F32 != nil {
		return float64(t.F32[i])
	}
	return t.F64[i]
}

// Set sets number i of floats, to 0 where v is below the smallest normal number.
func (t *Tensor) Set(i int, v float64) {
	if t.F32 != nil {
		t.F32[i] = num.FlushFloat32(v)
	} else {
		t.F64[i] = num.FlushFloat64(v)
	}
}

// Read gives the floats from from to to−1, in the memory of into where that is enough.
func (t *Tensor) Read(into []float64, from, to int) []float64 {
	if t.F32 == nil {
		return append(into[:0], t.F64[from:to]...)
	}
	into = slices.Grow(into[:0], to-from)[:to-from]
	for i, v := range t.F32[from:to] {
		into[i] = float64(v)
	}
	return into
}

// Write puts values at from, as Set does.
func (t *Tensor) Write(values []float64, from int) {
	if t.F32 == nil {
		for i, v := range values {
			t.F64[from+i] = num.FlushFloat64(v)
		}
		return
	}
	for i, v := range values {
		t.F32[from+i] = num.FlushFloat32(v)
	}
}

// fill gives all entries one value.
func (t *Tensor) fill(v int) {
	clear(t.F32)
	clear(t.F64)
	for i := range t.Int {
		t.Int[i] = v
	}
}
