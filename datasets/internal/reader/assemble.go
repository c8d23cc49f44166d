package reader

import (
	"fmt"
	"sort"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/parallel"
)

// An Arrangement is the rows of a table's queries, one query after another.
type Arrangement struct {
	table *Table
	rows  int
	moves [][]move // by chunk
}

// move is rows of a chunk, and the first row that they become.
type move struct {
	rows Span
	to   int
}

// Arrange finds the rows of all queries.
func (t *Table) Arrange() *Arrangement {
	a := &Arrangement{table: t, moves: make([][]move, len(t.Chunks))}
	first := make([]int, 1, len(t.Chunks)+1) // row of each chunk
	for i, c := range t.Chunks {
		first = append(first, first[i]+len(c.Labels))
	}
	for _, q := range t.Queries {
		for _, run := range q.Runs {
			from := run.From
			for i := sort.SearchInts(first, from+1) - 1; from < run.To; i++ {
				to := min(run.To, first[i+1])
				a.moves[i] = append(a.moves[i], move{Span{from - first[i], to - first[i]}, a.rows})
				a.rows += to - from
				from = to
			}
		}
	}
	return a
}

// Gather returns the values of a list of chunks, width of them for each row; nil if no chunk has the list.
func Gather[T any](a *Arrangement, width int, listOf func(*Chunk) []T) (all []T) {
	for i, c := range a.table.Chunks {
		list := listOf(c)
		if list == nil {
			continue
		}
		if all == nil {
			all = make([]T, a.rows*width)
		}
		for _, m := range a.moves[i] {
			copy(all[m.to*width:], list[m.rows.From*width:m.rows.To*width])
		}
	}
	return all
}

// Features returns the features of the rows, with the given columns. Chunks are freed on the way.
func (a *Arrangement) Features(ids []int) ([]float32, error) {
	t, wide := a.table, len(ids)
	if err := tooSparse(t.Rows, wide, t.Size); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", t.Path, err)
	}
	values := memory.Unwritten(a.rows * wide)
	err := parallel.Each(len(t.Chunks), parallel.Workers(len(t.Chunks)), func(_, i int) error {
		c := t.Chunks[i]
		defer c.Free()
		if err := t.Options.Stopped(t.Path); err != nil {
			return err
		}
		columns := locate(c.IDs, ids)
		for _, m := range a.moves[i] {
			n := m.rows.To - m.rows.From
			c.copyFeatures(values[m.to*wide:(m.to+n)*wide], columns, m.rows)
		}
		return nil
	})
	return values, err
}

// locate is the position in all of each of ids; both ascend, and all holds ids.
func locate(ids, all []int) []int {
	at := make([]int, len(ids))
	j := 0
	for i, id := range ids {
		for all[j] != id {
			j++
		}
		at[i] = j
	}
	return at
}
