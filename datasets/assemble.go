package datasets

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// dataset puts the chunks together with the given columns. Queries come in the
// given order; nil: that of the file. The chunks are let go on the way.
func (t *table) dataset(ids []int, order []int) (*Dataset, error) {
	if err := tooSparse(t.rows, len(ids), t.size); err != nil {
		t.free()
		return nil, fmt.Errorf("datasets: %s: %w", t.path, err)
	}
	if order == nil {
		order = make([]int, len(t.queries))
		for q := range order {
			order[q] = q
		}
	}
	d := &Dataset{
		Name:       t.path,
		path:       t.path,
		parts:      t.parts,
		Offsets:    make([]int, 1, len(order)+1),
		QueryIDs:   make([]string, 0, len(order)),
		FeatureIDs: ids,
		Warnings:   t.warnings,
	}
	var moves []move
	rows := 0
	for _, q := range order {
		for _, s := range t.queries[q].runs {
			moves = append(moves, move{s, rows})
			rows += s.to - s.from
		}
		d.Offsets = append(d.Offsets, rows)
		d.QueryIDs = append(d.QueryIDs, t.queries[q].id)
		if t.weights.queries {
			d.QueryWeights = append(d.QueryWeights, t.queries[q].weight)
		}
	}
	if t.spilled != nil {
		d.rows = &rowSource{table: t, ids: ids, moves: slices.Clone(moves)}
	} else {
		d.Features = unwritten(rows * len(ids))
	}
	slices.SortFunc(moves, func(a, b move) int { return a.rows.from - b.rows.from })
	d.Labels = make([]float32, rows)
	d.lines = make([]int32, rows)
	if slices.ContainsFunc(t.chunks, func(c *chunk) bool { return c.docs != nil }) {
		d.DocumentIDs = make([]string, rows)
	}
	if t.weights.documents {
		d.Weights = make([]float32, rows)
	}
	if t.groups != nil {
		d.Groups = make([]int, rows)
		d.GroupNames = append([]string{}, t.groups.names...)
	}
	if t.layout.names != nil {
		for _, id := range ids {
			d.FeatureNames = append(d.FeatureNames, t.layout.names[id])
		}
	}

	// The moves of each chunk, with rows counted from its first.
	byChunk := make([][]move, len(t.chunks))
	first := 0
	for i, c := range t.chunks {
		if d.rows != nil {
			d.rows.first = append(d.rows.first, first)
		}
		for len(moves) > 0 && moves[0].rows.from < first+len(c.labels) {
			m := &moves[0]
			to := min(m.rows.to, first+len(c.labels))
			byChunk[i] = append(byChunk[i], move{span{m.rows.from - first, to - first}, m.to})
			m.to += to - m.rows.from
			if m.rows.from = to; to < m.rows.to {
				break
			}
			moves = moves[1:]
		}
		first += len(c.labels)
	}
	parallel(len(t.chunks), func(i int) {
		c := t.chunks[i]
		if d.rows == nil {
			defer c.values.free()
		}
		if t.options.stopped(t.path) != nil {
			return
		}
		columns := locate(c.ids, ids)
		for _, m := range byChunk[i] {
			c.copyTo(d, columns, m)
		}
	})
	if d.rows == nil {
		t.chunks = nil
	}
	if err := t.options.stopped(t.path); err != nil {
		return nil, err
	}
	return d, nil
}

// unwritten is memory for n numbers, all of which the caller writes: anything may be in it.
// What make gives may be written with zeros beforehand, and so take memory while the chunks still
// have all of theirs. A Builder's is not.
func unwritten(n int) []float32 {
	var b strings.Builder
	b.Grow(max(4*n, 1))
	b.WriteByte(0) // an empty string may be anywhere
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}

// move is rows of a file and where they go in the dataset.
type move struct {
	rows span
	to   int
}

// copyTo copies rows to d. Column i of the chunk is column columns[i] of d.
func (c *chunk) copyTo(d *Dataset, columns []int, m move) {
	from, n := m.rows.from, m.rows.to-m.rows.from
	copy(d.Labels[m.to:m.to+n], c.labels[from:])
	for r, line := range c.at[from : from+n] {
		d.lines[m.to+r] = int32(c.line) + line
	}
	if c.docs != nil {
		copy(d.DocumentIDs[m.to:m.to+n], c.docs[from:])
	}
	if d.Weights != nil {
		copy(d.Weights[m.to:m.to+n], c.weights[from:])
	}
	if d.Groups != nil {
		copy(d.Groups[m.to:m.to+n], c.groups[from:])
	}
	if d.rows == nil {
		wide := d.Width()
		c.copyFeatures(d.Features[m.to*wide:(m.to+n)*wide], columns, m.rows)
	}
}

// copyFeatures copies the features of rows to those of as many rows of a dataset.
func (c *chunk) copyFeatures(to []float32, columns []int, rows span) {
	width, values := len(c.ids), c.values.values[rows.from*len(c.ids):rows.to*len(c.ids)]
	n := rows.to - rows.from
	if len(to) == n*width {
		copy(to, values)
		return
	}
	clear(to)
	wide := len(to) / n
	for r := range n {
		row := to[r*wide : (r+1)*wide]
		for i, v := range values[r*width : (r+1)*width] {
			row[columns[i]] = v
		}
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

// sourceRows is the row of the file that each row of the dataset is.
func (t *table) sourceRows() []int {
	rows := make([]int, 0, t.rows)
	for _, q := range t.queries {
		for _, s := range q.runs {
			for r := s.from; r < s.to; r++ {
				rows = append(rows, r)
			}
		}
	}
	return rows
}
