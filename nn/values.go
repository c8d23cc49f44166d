package nn

import (
	"fmt"

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
	switch data := v.Data().(type) {
	case []float64:
		return append([]float64(nil), data...), nil
	case []float32:
		return widen(data), nil
	case float64:
		return []float64{data}, nil
	case float32:
		return []float64{float64(data)}, nil
	}
	return nil, fmt.Errorf("nn: the value is a %T of %v, want numbers of float32 or float64", v, v.Dtype())
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}
