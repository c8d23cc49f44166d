package table

import (
	"fmt"
	"slices"

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
	d := &Data{
		Name:       t.Path,
		Origin:     Origin{Path: t.Path, Parts: t.Parts},
		Offsets:    make([]int, 1, len(order)+1),
		QueryIDs:   make([]string, 0, len(order)),
		FeatureIDs: ids,
		Warnings:   t.Warnings,
	}
	var source *rowSource // where the features are spilled
	var moves []move
	rows := 0
	for _, q := range order {
		for _, s := range t.Queries[q].Runs {
			moves = append(moves, move{s, rows})
			rows += s.To - s.From
		}
		d.Offsets = append(d.Offsets, rows)
		d.QueryIDs = append(d.QueryIDs, t.Queries[q].ID)
		if t.HasQueryWeights {
			d.QueryWeights = append(d.QueryWeights, t.Queries[q].Weight)
		}
	}
	if t.Spilled != nil {
		source = &rowSource{table: t, ids: ids, moves: slices.Clone(moves)}
		d.Source = source
	} else {
		d.Features = memory.Unwritten(rows * len(ids))
	}
	slices.SortFunc(moves, func(a, b move) int { return a.rows.From - b.rows.From })
	d.Labels = make([]float32, rows)
	d.Lines = make([]int32, rows)
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

	byChunk, first := t.movesByChunk(moves)
	if source != nil {
		source.first = first
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

// movesByChunk gives the moves, which ascend by the rows of the table, to the chunks that have the
// rows, and the first row of each chunk. The rows of its moves count from there.
func (t *Table) movesByChunk(moves []move) (byChunk [][]move, first []int) {
	byChunk = make([][]move, len(t.Chunks))
	row := 0
	for i, c := range t.Chunks {
		first = append(first, row)
		end := row + len(c.Labels)
		for len(moves) > 0 && moves[0].rows.From < end {
			m := &moves[0]
			to := min(m.rows.To, end)
			byChunk[i] = append(byChunk[i], move{Span{m.rows.From - row, to - row}, m.to})
			m.to += to - m.rows.From
			if m.rows.From = to; to < m.rows.To {
				break
			}
			moves = moves[1:]
		}
		row = end
	}
	return byChunk, first
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
