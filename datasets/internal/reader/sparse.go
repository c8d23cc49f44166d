package reader

import "github.com/plrank/plrank/internal/sparse"

// Documents stay sparse from sparseFrom features on if at most one value of sparsePart is not 0, and a dense matrix would have more
// than sparseSize values. A value then takes 8 bytes instead of 4, so that a quarter of the memory is left; what is smaller takes few
// seconds as a dense matrix, by which all models can be trained. They stay sparse as well if a dense matrix is out of proportion to
// the text.
const (
	sparseFrom = 1000
	sparsePart = 8
	sparseSize = 1 << 24
)

// sparse reports whether rows may be sparse: not those with categorical features, which have texts for what is not there, or with
// products of vectors.
func (l *Layout) sparse(o Options) bool {
	return len(l.Categorical)+len(l.Zero)+len(l.Products) == 0 && o.Levels == nil
}

// IsSparse reports whether the documents of tables, with the given columns, are to be sparse.
func IsSparse(ids []int, tables ...*Table) bool {
	rows, values := 0, 0
	for _, t := range tables {
		if t == nil {
			continue
		}
		if !t.Layout.sparse(t.Options) {
			return false
		}
		if tooSparse(t.Rows, len(ids), t.Size) != nil {
			return true
		}
		rows += t.Rows
		if len(ids) < sparseFrom {
			continue
		}
		for _, c := range t.Chunks {
			values += c.nonzero()
		}
	}
	cells := rows * len(ids)
	return len(ids) >= sparseFrom && cells > sparseSize && values <= cells/sparsePart
}

// nonzero returns the number of values that are not 0, in sparse rows of all that are there.
func (c *Chunk) nonzero() (n int) {
	if c.Sparse.Starts != nil {
		return len(c.Sparse.Values)
	}
	for _, v := range c.Values.Values {
		if v != 0 {
			n++
		}
	}
	return n
}

// row calls do with the index in IDs and the value of each feature of a row that is not 0, by ascending id.
func (c *Chunk) row(r int, do func(i int, v float32)) {
	if c.Sparse.Starts == nil {
		for i, v := range c.Values.Values[r*len(c.IDs) : (r+1)*len(c.IDs)] {
			if v != 0 {
				do(i, v)
			}
		}
		return
	}
	columns, values := c.Sparse.Row(r)
	for i, column := range columns {
		if values[i] != 0 {
			do(int(column), values[i])
		}
	}
}

// Sparse returns the features of the rows, with the given columns. Chunks are freed on the way.
func (a *Arrangement) Sparse(ids []int) (s sparse.Rows, err error) {
	t := a.table
	s.Starts = make([]int, a.rows+1)
	for i, c := range t.Chunks {
		for _, m := range a.moves[i] {
			for r := m.rows.From; r < m.rows.To; r++ {
				c.row(r, func(int, float32) { s.Starts[m.to+r-m.rows.From+1]++ })
			}
		}
	}
	for r := range a.rows {
		s.Starts[r+1] += s.Starts[r]
	}
	s.Columns, s.Values = make([]int32, s.Starts[a.rows]), make([]float32, s.Starts[a.rows])
	for i, c := range t.Chunks {
		if err := t.Options.Stopped(t.Path); err != nil {
			return s, err
		}
		columns := locate(c.IDs, ids)
		for _, m := range a.moves[i] {
			at := s.Starts[m.to]
			for r := m.rows.From; r < m.rows.To; r++ {
				c.row(r, func(i int, v float32) {
					s.Columns[at], s.Values[at] = int32(columns[i]), v
					at++
				})
			}
		}
		c.Free()
		c.Sparse = sparse.Rows{}
	}
	return s, nil
}

// nonzero returns the number of values of the chunk that are not 0.
func (b *Builder) nonzero() (n int) {
	for _, list := range [][]float32{b.values, b.lines.Values} {
		for _, v := range list {
			if v != 0 {
				n++
			}
		}
	}
	return n
}

// valuesToLines makes lines of the values of a table.
func (b *Builder) valuesToLines() {
	width := len(b.layout.IDs)
	for r := range b.c.Labels {
		for i, v := range b.values[r*width : (r+1)*width] {
			if v != 0 {
				b.lines.Columns, b.lines.Values = append(b.lines.Columns, int32(i)), append(b.lines.Values, v)
			}
		}
		b.lines.Starts[r+1] = len(b.lines.Values)
	}
}
