package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// numbers are the numbers of a float32 or a float64 value.
type numbers struct {
	f32 []float32
	f64 []float64
}

// numbersOf reads a value: a dense tensor, or a scalar, which a vector of one
// number may have become on its way through the graph.
func numbersOf(v G.Value) (numbers, error) {
	switch v := v.(type) {
	case *tensor.Dense:
		switch v.Dtype() {
		case tensor.Float32:
			return numbers{f32: v.Float32s()}, nil
		case tensor.Float64:
			return numbers{f64: v.Float64s()}, nil
		}
	case *G.F32:
		return numbers{f32: []float32{float32(*v)}}, nil
	case *G.F64:
		return numbers{f64: []float64{float64(*v)}}, nil
	}
	return numbers{}, fmt.Errorf("a %T of dtype %v: want float32 or float64", v, v.Dtype())
}

func (x numbers) len() int { return len(x.f32) + len(x.f64) }

// at is number i.
func (x numbers) at(i int) float64 {
	if x.f32 != nil {
		return float64(x.f32[i])
	}
	return x.f64[i]
}

func (x numbers) set(i int, v float64) {
	if x.f32 != nil {
		x.f32[i] = float32(v)
	} else {
		x.f64[i] = v
	}
}

// read returns numbers from to to−1, in the memory of into where that is enough.
func (x numbers) read(into []float64, from, to int) []float64 {
	if x.f32 == nil {
		return append(into[:0], x.f64[from:to]...)
	}
	into = into[:0]
	for _, v := range x.f32[from:to] {
		into = append(into, float64(v))
	}
	return into
}

// write puts values at from.
func (x numbers) write(values []float64, from int) {
	if x.f32 == nil {
		copy(x.f64[from:], values)
		return
	}
	for i, v := range values {
		x.f32[from+i] = float32(v)
	}
}

func (x numbers) clear() {
	clear(x.f32)
	clear(x.f64)
}

// output is the op's result, all zero, of the dtype of like.
func (op *listOp) output(like G.Value, shape ...int) (*tensor.Dense, numbers, error) {
	t := op.out.get(like.Dtype(), shape)
	x, err := numbersOf(t)
	if err != nil {
		return nil, numbers{}, err
	}
	x.clear()
	return t, x, nil
}

func intsOf(v G.Value) ([]int, error) {
	if t, ok := v.(*tensor.Dense); ok && t.Dtype() == tensor.Int {
		return t.Ints(), nil
	}
	return nil, fmt.Errorf("a %T of dtype %v: want ints", v, v.Dtype())
}

// sized returns s with length n, of any contents.
func sized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
