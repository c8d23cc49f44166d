package blas

import (
	"fmt"

	"github.com/viterin/vek/vek32"
)

// An End is what is done with the rows of a product while they are in registers.
type End[T Float] struct {
	Bias []T  // is added to every row; nil: none
	ReLU bool // and then numbers below 0 become 0; NaN stays
}

// at is the bias from column j on, nil if there is none, and whether there is a ReLU.
func (e End[T]) at(j int) (bias *T, relu int) {
	if e.Bias != nil {
		bias = &e.Bias[j]
	}
	if e.ReLU {
		relu = 1
	}
	return bias, relu
}

// apply is for products that are stored already.
func (e End[T]) apply(c Matrix[T]) {
	if c.Cols == 1 && c.Row == 1 { // as one row, whose bias is one number
		e.toRow(c.Data[:c.Rows])
		return
	}
	for i := range c.Rows {
		e.toRow(c.Data[i*c.Row:][:c.Cols])
	}
}

func (e End[T]) toRow(row []T) {
	switch row := any(row).(type) {
	case []float32:
		switch bias := any(e.Bias).([]float32); {
		case bias == nil:
		case len(bias) == 1:
			vek32.AddNumber_Inplace(row, bias[0])
		default:
			vek32.Add_Inplace(row, bias)
		}
		if e.ReLU {
			vek32.MaximumNumber_Inplace(row, 0) // NaN stays
		}
	case []float64:
		bias := any(e.Bias).([]float64)
		for i := range row {
			if bias != nil {
				row[i] += bias[i%len(bias)]
			}
			if e.ReLU {
				row[i] = max(row[i], 0)
			}
		}
	}
}

// check panics if there is not a bias for every column.
func (e End[T]) check(cols int) {
	if e.Bias != nil && len(e.Bias) != cols {
		panic(fmt.Sprintf("blas: %d biases of %d columns", len(e.Bias), cols))
	}
}
