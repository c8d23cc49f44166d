package table

import (
	"fmt"
	"slices"
	"sort"

	"github.com/plrank/plrank/datasets/internal/memory"
)

// Data puts the chunks together with the given columns. Queries come in the
// given order; nil: that of the file. The chunks are let go on the way.
func (t *Table) Data(ids []int, order []int) (*Data, error) {
	if err := tooSparse(t.Rows, len(ids), t.Size); err != nil {
		t.Free()
		return nil, fmt.Errorf("datasets: %s: %w", t.Path, err)
	}
	if order == nil {
		order = make([]int, len(t.Queries))
		for q := range order {
			order[q] = q
		}
	}
	moves, rows := t.moves(order)
	d := t.newData(ids, order, rows)
	if t.Spilled != nil {
		d.Source = &Source{table: t, ids: ids, moves: moves}
	} else {
		d.Features = memory.Unwritten(rows * len(ids))
	}
	byChunk := make([][]move, len(t.Chunks))
	for _, m := range moves {
		byChunk[m.chunk] = append(byChunk[m.chunk], m)
	}
	memory.For(len(t.Chunks), func(i int) {
		c := t.Chunks[i]
		if d.Source == nil {
			defer c.Values.Free()
		}
		if t.Options.Stopped(t.Path) != nil {
			return
		}
		columns := locate(c.IDs, ids)
		for _, m := range byChunk[i] {
			c.copyTo(d, columns, m)
		}
	})
	if d.Source == nil {
		t.Chunks = nil
	}
	if err := t.Options.Stopped(t.Path); err != nil {
		return nil, err
	}
	return d, nil
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
	chunk int
	rows  Span
	to    int
}

// moves are the rows of queries in the order of the data, cut where chunks end, and the
// number of all rows.
func (t *Table) moves(order []int) (moves []move, rows int) {
	first := make([]int, 1, len(t.Chunks)+1) // row of each chunk
	for i, c := range t.Chunks {
		first = append(first, first[i]+len(c.Labels))
	}
	for _, q := range order {
		for _, run := range t.Queries[q].Runs {
			from := run.From
			for i := sort.SearchInts(first, from+1) - 1; from < run.To; i++ {
				to := min(run.To, first[i+1])
				moves = append(moves, move{i, Span{from - first[i], to - first[i]}, rows})
				rows += to - from
				from = to
			}
		}
	}
	return moves, rows
}

// copyTo copies rows to d. Column i of the chunk is column columns[i] of d.
func (c *Chunk) copyTo(d *Data, columns []int, m move) {
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
	if d.Source == nil {
		wide := len(d.FeatureIDs)
		c.copyFeatures(d.Features[m.to*wide:(m.to+n)*wide], columns, m.rows)
	}
}

// Source has features of data while they are in the chunks of a table.
type Source struct {
	table *Table
	ids   []int
	moves []move
	start int // the row of all moves that is the first of the data
}

// Read reads the features of rows from a row on, as many as dst has.
func (s *Source) Read(dst []float32, row int) {
	wide := len(s.ids)
	row += s.start
	at := sort.Search(len(s.moves), func(i int) bool { return s.moves[i].to > row }) - 1
	for ; len(dst) > 0; at++ {
		m := s.moves[at]
		from := m.rows.From + row - m.to
		n := min(m.rows.To-from, len(dst)/wide)
		c := s.table.Chunks[m.chunk]
		c.copyFeatures(dst[:n*wide], locate(c.IDs, s.ids), Span{from, from + n})
		dst = dst[n*wide:]
		row += n
	}
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
