package nn

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Float64s is a copy of the numbers of a value, such as the scores that a graph has
// computed. Any value but a float32 or float64 tensor or scalar is an error.
func Float64s(v G.Value) ([]float64, error) {
	if v == nil {
		return nil, fmt.Errorf("nn: there is no value: has the graph run?")
	}
	if t, ok := v.(*tensor.Dense); ok && t.RequiresIterator() { // a view
		v = t.Materialize().(*tensor.Dense)
	}
	if values, ok := float64s(v.Data()); ok {
		return values, nil
	}
	return nil, fmt.Errorf("nn: the value is a %T of %v, want numbers of float32 or float64", v, v.Dtype())
}

// float64s is a copy of numbers, or of one.
func float64s(data any) (values []float64, ok bool) {
	switch data := data.(type) {
	case []float64:
		return slices.Clone(data), true
	case []float32:
		values = make([]float64, len(data))
		for i, v := range data {
			values[i] = float64(v)
		}
		return values, true
	case float64:
		return []float64{data}, true
	case float32:
		return []float64{float64(data)}, true
	}
	return nil, false
}
