package table

import (
	"fmt"
	"slices"
	"sort"

	"github.com/plrank/plrank/datasets/internal/memory"
	"github.com/plrank/plrank/internal/mapped"
	"github.com/plrank/plrank/internal/parallel"
)

// Data puts the chunks together with the given columns. Queries come in the
// given order; nil: that of the file. The chunks are let go on the way.
func (t *Table) Data(ids []int, order []int) (d *Data, err error) {
	defer t.Free()
	if err := tooSparse(t.Rows, len(ids), t.Size); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", t.Path, err)
	}
	if order == nil {
		order = make([]int, len(t.Queries))
		for q := range order {
			order[q] = q
		}
	}
	moves, rows := t.moves(order)
	d = t.newData(ids, order, rows)
	var spill *Spill // nil: the features go to memory
	if n := rows * len(ids); t.Scratch == "" || n == 0 {
		d.Features = memory.Unwritten(n)
	} else if spill, err = NewSpill(t.Path, t.Scratch); err != nil {
		return nil, err
	} else {
		defer spill.Close()
	}
	err = parallel.Each(len(t.Chunks), parallel.Workers(len(t.Chunks)), func(_, i int) error {
		defer mapped.Relieve()
		defer t.Chunks[i].Values.Free()
		if err := t.Options.Stopped(t.Path); err != nil {
			return err
		}
		return t.Chunks[i].copyTo(d, spill, moves[i])
	})
	if err == nil && spill != nil {
		d.Features, d.Unmap, err = spill.mapped()
	}
	return d, err
}

// newData has all of the queries, and room for what rows have, except for their features.
func (t *Table) newData(ids, order []int, rows int) *Data {
	d := &Data{
		Name:       t.Path,
		Origin:     Origin{Path: t.Path, Parts: t.Parts, Lines: make([]int32, rows)},
		Labels:     make([]float32, rows),
		Offsets:    make([]int, 1, len(order)+1),
		QueryIDs:   make([]string, 0, len(order)),
		FeatureIDs: ids,
		Warnings:   t.Warnings,
	}
	for i, q := range order {
		query := t.Queries[q]
		end := d.Offsets[i]
		for _, run := range query.Runs {
			end += run.To - run.From
		}
		d.Offsets = append(d.Offsets, end)
		d.QueryIDs = append(d.QueryIDs, query.ID)
		if t.HasQueryWeights {
			d.QueryWeights = append(d.QueryWeights, query.Weight)
		}
	}
	if slices.ContainsFunc(t.Chunks, func(c *Chunk) bool { return c.DocumentIDs != nil }) {
		d.DocumentIDs = make([]string, rows)
	}
	if t.HasWeights {
		d.Weights = make([]float32, rows)
	}
	if t.Groups != nil {
		d.Groups = make([]int, rows)
		d.GroupNames = append([]string{}, t.Groups.Names...)
	}
	if t.Layout.Names != nil {
		for _, id := range ids {
			d.FeatureNames = append(d.FeatureNames, t.Layout.Names[id])
		}
	}
	return d
}

// move is rows of a chunk and their first row in the data.
type move struct {
	rows Span
	to   int
}

// moves are those that bring the rows of queries together, by chunk, and the number of rows.
func (t *Table) moves(order []int) (moves [][]move, rows int) {
	moves = make([][]move, len(t.Chunks))
	first := make([]int, 1, len(t.Chunks)+1) // row of each chunk
	for i, c := range t.Chunks {
		first = append(first, first[i]+len(c.Labels))
	}
	for _, q := range order {
		for _, run := range t.Queries[q].Runs {
			from := run.From
			for i := sort.SearchInts(first, from+1) - 1; from < run.To; i++ {
				to := min(run.To, first[i+1])
				moves[i] = append(moves[i], move{Span{from - first[i], to - first[i]}, rows})
				rows += to - from
				from = to
			}
		}
	}
	return moves, rows
}

// copyTo copies rows to d. Their features go to the spill, if there is one.
func (c *Chunk) copyTo(d *Data, spill *Spill, moves []move) error {
	columns, wide := locate(c.IDs, d.FeatureIDs), len(d.FeatureIDs)
	for _, m := range moves {
		from, n := m.rows.From, m.rows.To-m.rows.From
		copy(d.Labels[m.to:m.to+n], c.Labels[from:])
		for r, line := range c.At[from : from+n] {
			d.Lines[m.to+r] = int32(c.Line) + line
		}
		if c.DocumentIDs != nil {
			copy(d.DocumentIDs[m.to:m.to+n], c.DocumentIDs[from:])
		}
		if d.Weights != nil {
			copy(d.Weights[m.to:m.to+n], c.Weights[from:])
		}
		if d.Groups != nil {
			copy(d.Groups[m.to:m.to+n], c.Groups[from:])
		}
		if spill == nil {
			c.copyFeatures(d.Features[m.to*wide:(m.to+n)*wide], columns, m.rows)
			continue
		}
		features := make([]float32, n*wide)
		c.copyFeatures(features, columns, m.rows)
		if err := spill.write(features, m.to*wide); err != nil {
			return err
		}
	}
	return nil
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
