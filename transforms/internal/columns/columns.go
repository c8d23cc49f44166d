// Package columns maps the columns of a query's features to inputs of a model.
package columns

import "math"

// Rows are the features of a query, and memory for their images.
type Rows struct {
	To      []float32 // the image of column Columns[i] of row r is To[r*Stride+i]
	Stride  int
	From    []float32 // rows × Inputs, row-major; NaN is missing
	Inputs  int
	Columns []int // ascending
}

// Finite is x with infinities replaced by the largest float32; NaN stays.
func Finite(x float32) float32 {
	if x > math.MaxFloat32 {
		return math.MaxFloat32
	}
	if x < -math.MaxFloat32 {
		return -math.MaxFloat32
	}
	return x
}

// each maps the finite values of column Columns[i], and NaN, to f of i and the value.
func (q Rows) each(f func(i int, x float32) float32) {
	dst, rows := q.To, q.From
	for len(rows) > 0 {
		for i, c := range q.Columns {
			dst[i] = f(i, Finite(rows[c]))
		}
		rows = rows[q.Inputs:]
		dst = dst[min(q.Stride, len(dst)):]
	}
}

// Raw maps every value to itself, missing ones too.
func Raw(q Rows) {
	q.each(func(_ int, x float32) float32 { return x })
}

// None maps every value to itself, and missing ones to 0.
func None(q Rows) {
	for r := range len(q.From) / q.Inputs {
		to, from := q.To[r*q.Stride:][:len(q.Columns)], q.From[r*q.Inputs:][:q.Inputs]
		for i, c := range q.Columns {
			x := from[c]
			if x-x != 0 {
				if x = Finite(x); x != x {
					x = 0
				}
			}
			to[i] = x
		}
	}
}

// Missing maps missing values to 1, and others to 0.
func Missing(q Rows) {
	q.each(func(_ int, x float32) float32 {
		if x != x {
			return 1
		}
		return 0
	})
}
