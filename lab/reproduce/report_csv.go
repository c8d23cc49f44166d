package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/lab/internal/csvfile"
)

// A csvTable is a CSV file with a header. All tables and plots are made of CSV tables.
type csvTable struct {
	path    string // for messages
	columns []string
	rows    [][]string
}

func newTable(columns ...string) *csvTable { return &csvTable{columns: columns} }

// add adds a row of strings and numbers; of a number, all digits.
func (t *csvTable) add(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		if f, ok := v.(float64); ok {
			row[i] = strconv.FormatFloat(f, 'g', -1, 64)
		} else {
			row[i] = fmt.Sprint(v)
		}
	}
	t.rows = append(t.rows, row)
}

func (t *csvTable) write(path string) error {
	if err := csvfile.Write(path, append([][]string{t.columns}, t.rows...)); err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	return nil
}

// readTable reads a CSV table with these columns.
func readTable(path string, columns ...string) (*csvTable, error) {
	all, rows, err := csvfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	t := &csvTable{path, all, rows}
	for _, c := range columns {
		if !slices.Contains(t.columns, c) {
			return nil, fmt.Errorf("reproduce: %s has no column %q", path, c)
		}
	}
	return t, nil
}

// texts is a column.
func (t *csvTable) texts(column string) []string {
	i := slices.Index(t.columns, column)
	values := make([]string, len(t.rows))
	for r, row := range t.rows {
		values[r] = row[i]
	}
	return values
}

// floats is a column of numbers.
func (t *csvTable) floats(column string) ([]float64, error) {
	values := make([]float64, len(t.rows))
	for r, text := range t.texts(column) {
		var err error
		if values[r], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("reproduce: %s: column %s: %w", t.path, column, err)
		}
	}
	return values, nil
}

// numbers are several columns of numbers.
func (t *csvTable) numbers(columns ...string) ([][]float64, error) {
	values := make([][]float64, len(columns))
	for i, name := range columns {
		var err error
		if values[i], err = t.floats(name); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// distinct is the values of a column in the order of their first appearance.
func (t *csvTable) distinct(column string) []string {
	var list []string
	for _, v := range t.texts(column) {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// where is the rows with that value in a column.
func (t *csvTable) where(column, value string) *csvTable {
	part := &csvTable{path: t.path, columns: t.columns}
	i := slices.Index(t.columns, column)
	for _, row := range t.rows {
		if row[i] == value {
			part.rows = append(part.rows, row)
		}
	}
	return part
}
