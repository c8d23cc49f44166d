package blas

import "fmt"

// Float is what matrices are made of.
type Float interface{ float32 | float64 }

// A Matrix is a view of numbers in memory: entry (i, j) is Data[i*Row+j*Col]. One of Row
// and Col is 1: Col in a matrix that lies row after row, Row in one that lies column after
// column. The other is the distance from one row or column to the next, so that a matrix
// may be a part of another.
type Matrix[T Float] struct {
	Data       []T
	Rows, Cols int
	Row, Col   int
}

// RowMajor returns the matrix of rows one after another. It panics where data is too short.
func RowMajor[T Float](data []T, rows, cols int) Matrix[T] {
	return Matrix[T]{data[:len(data):len(data)][:rows*cols], rows, cols, cols, 1}
}

// T returns the transposed matrix, of the same numbers.
func (m Matrix[T]) T() Matrix[T] { return Matrix[T]{m.Data, m.Cols, m.Rows, m.Col, m.Row} }

// Slice returns the part of a matrix with rows from row on and columns from col on.
func (m Matrix[T]) Slice(row, rows, col, cols int) Matrix[T] {
	if row < 0 || rows < 0 || row+rows > m.Rows || col < 0 || cols < 0 || col+cols > m.Cols {
		panic(fmt.Sprintf("blas: rows %d:%d and columns %d:%d of a matrix [%d, %d]", row, row+rows, col, col+cols, m.Rows, m.Cols))
	}
	m.Rows, m.Cols = rows, cols
	if rows == 0 || cols == 0 {
		m.Data = nil
		return m
	}
	m.Data = m.Data[row*m.Row+col*m.Col:]
	return m
}

// check panics if the matrix reaches beyond its data.
func (m Matrix[T]) check() {
	if m.Rows <= 0 || m.Cols <= 0 {
		return
	}
	if m.Row < 1 || m.Col < 1 || m.Row > 1 && m.Col > 1 {
		panic(fmt.Sprintf("blas: strides %d and %d of a matrix [%d, %d]", m.Row, m.Col, m.Rows, m.Cols))
	}
	_ = m.Data[(m.Rows-1)*m.Row+(m.Cols-1)*m.Col]
}

// stride is the distance between rows, or between columns if these are together, as
// libraries want it.
func (m Matrix[T]) stride() int {
	if m.Col == 1 {
		return max(m.Row, m.Cols)
	}
	return max(m.Col, m.Rows)
}

// An End is an epilogue, applied to the rows of a product while they are in registers.
type End[T Float] struct {
	Bias []T  // added to every row; nil: none
	ReLU bool // then sets numbers below 0 to 0; NaN stays
}

// fromColumn returns the bias from column j on, nil if there is none, and whether there is a ReLU.
func (e End[T]) fromColumn(j int) (bias *T, relu int) {
	if e.Bias != nil {
		bias = &e.Bias[j]
	}
	if e.ReLU {
		relu = 1
	}
	return bias, relu
}

// apply applies e to a product that is stored already.
func (e End[T]) apply(c Matrix[T]) {
	if e.Bias == nil && !e.ReLU {
		return
	}
	for i := range c.Rows {
		row := c.Data[i*c.Row:][:c.Cols]
		for j := range row {
			if e.Bias != nil {
				row[j] += e.Bias[j]
			}
			if e.ReLU && row[j] < 0 {
				row[j] = 0
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
