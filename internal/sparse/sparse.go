// Package sparse has rows of numbers that are mostly 0.
package sparse

import (
	"errors"
	"slices"
)

// Rows holds the values of rows that are not 0. All values that are not there are 0. Without Starts there are no rows.
type Rows struct {
	Starts  []int     // [rows+1]: row r has the values from Starts[r] to Starts[r+1]-1; Starts[0] = 0
	Columns []int32   // of the values, ascending within a row
	Values  []float32 // NaN is missing
}

// Len returns the number of rows.
func (s *Rows) Len() int { return max(0, len(s.Starts)-1) }

// Row returns the columns and the values of a row, which share memory with s.
func (s *Rows) Row(r int) ([]int32, []float32) {
	from, to := s.Starts[r], s.Starts[r+1]
	return s.Columns[from:to:to], s.Values[from:to:to]
}

// Append adds a row.
func (s *Rows) Append(columns []int32, values []float32) {
	if s.Starts == nil {
		s.Starts = []int{0}
	}
	s.Columns, s.Values = append(s.Columns, columns...), append(s.Values, values...)
	s.Starts = append(s.Starts, len(s.Values))
}

// Cut returns rows from to to-1. The values share memory with s.
func (s *Rows) Cut(from, to int) (cut Rows) {
	first, end := s.Starts[from], s.Starts[to]
	cut = Rows{make([]int, 0, to-from+1), s.Columns[first:end:end], s.Values[first:end:end]}
	for _, start := range s.Starts[from : to+1] {
		cut.Starts = append(cut.Starts, start-first)
	}
	return cut
}

// Dense sets dst to rows of width values: a column c of s becomes places[c], or none if that is negative. Nil places: all columns
// keep their number.
func (s *Rows) Dense(dst []float32, width int, places []int32) {
	clear(dst)
	for r := range s.Len() {
		row := dst[r*width : (r+1)*width]
		columns, values := s.Row(r)
		for i, c := range columns {
			if places != nil {
				c = places[c]
			}
			if c >= 0 {
				row[c] = values[i]
			}
		}
	}
}

// Places returns for each of width columns its index in a list of columns, -1 if it is not there.
func Places(columns []int, width int) []int32 {
	places := slices.Repeat([]int32{-1}, width)
	for i, c := range columns {
		places[c] = int32(i)
	}
	return places
}

// Columns holds the values of sparse rows column by column: column c has the values Starts[c] to Starts[c+1]-1, by ascending row.
type Columns struct {
	Starts []int
	Rows   []int32
	Values []float32
}

// ByColumn returns the values by column.
func (s *Rows) ByColumn(width int) Columns {
	by := Columns{make([]int, width+1), make([]int32, len(s.Values)), make([]float32, len(s.Values))}
	for _, c := range s.Columns {
		by.Starts[c+1]++
	}
	for c := range width {
		by.Starts[c+1] += by.Starts[c]
	}
	next := slices.Clone(by.Starts)
	for r := range s.Len() {
		columns, values := s.Row(r)
		for i, c := range columns {
			by.Rows[next[c]], by.Values[next[c]] = int32(r), values[i]
			next[c]++
		}
	}
	return by
}

// Column returns the rows and the values of a column, which share memory with by.
func (by *Columns) Column(c int) ([]int32, []float32) {
	from, to := by.Starts[c], by.Starts[c+1]
	return by.Rows[from:to:to], by.Values[from:to:to]
}

// At returns the value of a row in a column.
func (s *Rows) At(r int, column int) float32 {
	columns, values := s.Row(r)
	if i, found := slices.BinarySearch(columns, int32(column)); found {
		return values[i]
	}
	return 0
}

// Check returns an error unless the rows fit together and have columns below width.
func (s *Rows) Check(width int) error {
	n := len(s.Starts)
	if n == 0 || s.Starts[0] != 0 || !slices.IsSorted(s.Starts) || s.Starts[n-1] != len(s.Values) || len(s.Columns) != len(s.Values) {
		return errors.New("the starts of sparse rows must ascend from 0 to the number of columns, and of values")
	}
	for r := range n - 1 {
		last := int32(-1)
		columns, _ := s.Row(r)
		for _, c := range columns {
			if c <= last || int(c) >= width {
				return errors.New("the columns of a sparse row must ascend, below the number of features")
			}
			last = c
		}
	}
	return nil
}

// Varying is num.Varying for sparse rows: it returns the columns that take two values, or are present and missing, among all rows
// or, with within, in the rows offsets[q] to offsets[q+1]-1 of a query.
func (s *Rows) Varying(width int, offsets []int, within bool) []int {
	if !within {
		offsets = []int{0, offsets[len(offsets)-1]}
	}
	varies, first, count := make([]bool, width), make([]float32, width), make([]int, width)
	for q := range len(offsets) - 1 {
		from, to := offsets[q], offsets[q+1]
		values := s.Starts[from]
		for i, c := range s.Columns[values:s.Starts[to]] {
			v := s.Values[values+i]
			if count[c] == 0 {
				first[c] = v
			}
			count[c]++
			varies[c] = varies[c] || v != first[c] && (v == v || first[c] == first[c])
		}
		for _, c := range s.Columns[values:s.Starts[to]] {
			varies[c] = varies[c] || count[c] > 0 && count[c] < to-from && first[c] != 0 // others are 0
			count[c] = 0
		}
	}
	columns := make([]int, 0, width)
	for c, v := range varies {
		if v {
			columns = append(columns, c)
		}
	}
	return columns
}
