package table

import (
	"fmt"

	"github.com/plrank/plrank/internal/mapped"
)

// Table is a file that has been read, in chunks with their own columns.
type Table struct {
	Options Options
	Tally
	Layout  *Layout
	Chunks  []*Chunk
	Queries []Query
	Breaks  int         // runs of rows of a query that had already ended
	Sized   bool        // queries have no ids, but sizes
	Parts   []Part      // the files, if there are several
	Spilled [][]byte    // files that chunks have their features in
	Groups  *GroupNames // of the rows; nil: they have no groups

	HasWeights, HasQueryWeights bool // of documents, of queries

	Warnings []string
}

// Query is a query and its rows.
type Query struct {
	ID     string
	Weight float32
	Rows   int
	Runs   []Span // rows of the whole file
}

// Add gives the query the next rows from the given one on.
func (q *Query) Add(row, rows int) {
	q.Rows += rows
	if n := len(q.Runs); n > 0 && q.Runs[n-1].To == row {
		q.Runs[n-1].To += rows
		return
	}
	q.Runs = append(q.Runs, Span{row, row + rows})
}

// Free gives the memory of the chunks back.
func (t *Table) Free() {
	for _, c := range t.Chunks {
		c.Values.Free()
	}
	t.Chunks = nil
	for _, b := range t.Spilled {
		mapped.Close(b)
	}
	t.Spilled = nil
}

// Warn adds a warning.
func (t *Table) Warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, t.Path+": "+fmt.Sprintf(format, args...))
}

// SourceRows is the row of the file that each row of the queries, one after another, is.
func (t *Table) SourceRows() []int {
	rows := make([]int, 0, t.Rows)
	for _, q := range t.Queries {
		for _, s := range q.Runs {
			for r := s.From; r < s.To; r++ {
				rows = append(rows, r)
			}
		}
	}
	return rows
}
