package reader

import (
	"fmt"
	"sort"

	"github.com/plrank/plrank/internal/file"
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

// Features returns the features of the rows, with the given columns. Chunks are freed on the way. If the
// features are in a file, unmap gives it up.
func (a *Arrangement) Features(ids []int) (values []float32, unmap func(), err error) {
	t, wide := a.table, len(ids)
	if err := tooSparse(t.Rows, wide, t.Size); err != nil {
		return nil, nil, fmt.Errorf("datasets: %s: %w", t.Path, err)
	}
	var spill *spill // nil: they go to memory
	if n := a.rows * wide; t.Scratch == "" || n == 0 {
		values = memory.Unwritten(n)
	} else if spill, err = t.newSpill(); err != nil {
		return nil, nil, err
	} else {
		defer spill.close()
	}
	err = parallel.Each(len(t.Chunks), parallel.Workers(len(t.Chunks)), func(_, i int) error {
		c := t.Chunks[i]
		defer file.Relieve()
		defer c.Free()
		if err := t.Options.Stopped(t.Path); err != nil {
			return err
		}
		columns := locate(c.IDs, ids)
		for _, m := range a.moves[i] {
			n := m.rows.To - m.rows.From
			if spill == nil {
				c.copyFeatures(values[m.to*wide:(m.to+n)*wide], columns, m.rows)
				continue
			}
			features := make([]float32, n*wide)
			c.copyFeatures(features, columns, m.rows)
			if err := spill.write(features, m.to*wide); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && spill != nil {
		return spill.mapped()
	}
	return values, nil, err
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
