package reader

import (
	"cmp"
	"slices"

	"github.com/plrank/plrank/internal/sparse"
)

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

// nonzero returns the number of values that are not 0, or of those that are there.
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
		c.Values.Free()
		c.Sparse = sparse.Rows{}
	}
	return s, nil
}

// goSparse makes the chunk sparse, the row at hand included: it has too many features for dense rows.
func (b *Builder) goSparse() {
	s, rows := &b.c.Sparse, len(b.c.Labels)
	s.Starts = []int{0}
	order := b.ascending()
	for r := range rows + 1 {
		for _, column := range order {
			v := b.values[r*b.stride+column]
			if v != 0 || r == rows && b.stamp[column] == b.mark {
				s.Columns, s.Values = append(s.Columns, int32(b.order[column])), append(s.Values, v)
			}
		}
		if r < rows {
			s.Starts = append(s.Starts, len(s.Values))
		}
	}
	b.dense, b.order, b.last = slices.Clone(b.order), b.order[:0], -1
	if n := len(s.Columns); n > s.Starts[rows] {
		b.last = int(s.Columns[n-1])
	}
}

// ascending returns the columns by ascending id.
func (b *Builder) ascending() []int {
	columns := make([]int, len(b.order))
	for i := range columns {
		columns[i] = i
	}
	slices.SortFunc(columns, func(i, j int) int { return cmp.Compare(b.order[i], b.order[j]) })
	return columns
}

// beginSparse begins a row, in place of one that was discarded.
func (b *Builder) beginSparse() {
	s := &b.c.Sparse
	n := s.Starts[len(s.Starts)-1]
	s.Columns, s.Values, b.last, b.unsorted = s.Columns[:n], s.Values[:n], -1, false
}

// setSparse adds a value to the row.
func (b *Builder) setSparse(id int, value float32) {
	if !b.wants(id) {
		b.c.Ignore(1, id, id)
		return
	}
	b.unsorted = b.unsorted || id <= b.last
	b.last = id
	b.c.Sparse.Columns, b.c.Sparse.Values = append(b.c.Sparse.Columns, int32(id)), append(b.c.Sparse.Values, value)
}

// endSparse ends a row, and sorts it. It returns false, with a fault, if the line has two values for a feature, unless the last one
// counts.
func (b *Builder) endSparse() bool {
	s := &b.c.Sparse
	first := s.Starts[len(s.Starts)-1]
	if b.unsorted {
		type value struct {
			id int32
			v  float32
		}
		row := make([]value, 0, len(s.Columns)-first)
		for i, id := range s.Columns[first:] {
			row = append(row, value{id, s.Values[first+i]})
		}
		slices.SortStableFunc(row, func(a, b value) int { return cmp.Compare(a.id, b.id) })
		s.Columns, s.Values = s.Columns[:first], s.Values[:first]
		for i, v := range row {
			if i+1 < len(row) && row[i+1].id == v.id {
				if !b.LastWins() {
					b.FailLine("feature %d: %v", v.id, errTwice(int(v.id)))
					return false
				}
				continue
			}
			s.Columns, s.Values = append(s.Columns, v.id), append(s.Values, v.v)
		}
	}
	s.Starts = append(s.Starts, len(s.Columns))
	return true
}

// finishSparse ends a chunk that is sparse, or becomes so as few of its many features are not 0, and reports whether it is.
func (b *Builder) finishSparse() bool {
	c := b.c
	if c.Sparse.Starts == nil {
		if len(b.order) < sparseFrom || !b.layout.sparse(b.options) {
			return false
		}
		values := 0
		for r := range c.Labels {
			for _, v := range b.values[r*b.stride:][:len(b.order)] {
				if v != 0 {
					values++
				}
			}
		}
		if values > len(c.Labels)*len(b.order)/sparsePart {
			return false
		}
		b.Row() // which is discarded
		b.goSparse()
	}
	b.beginSparse()
	ids := b.dense
	for _, id := range c.Sparse.Columns {
		ids = append(ids, int(id))
	}
	slices.Sort(ids)
	c.IDs = slices.Clone(slices.Compact(ids))
	for r := range c.Labels {
		columns, _ := c.Sparse.Row(r)
		at := 0
		for i, id := range columns {
			n, _ := slices.BinarySearch(c.IDs[at:], int(id))
			at += n
			columns[i] = int32(at)
		}
	}
	return true
}
