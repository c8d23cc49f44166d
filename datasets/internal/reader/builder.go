package reader

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/text"
)

// Builder makes rows of the lines of chunks. One builder serves one goroutine, chunk
// after chunk, and keeps its scratch space.
type Builder struct {
	layout  *Layout
	options Options
	wants   func(id int) bool

	c      *Chunk
	values []float32 // rows × stride, columns in order of first appearance
	stride int
	order  []int         // id of each column
	near   [4096]int32   // column+1 by id, for small ids; −1: not wanted
	far    map[int]int32 // the same for the others
	stamp  []int         // by column: the last line+1 of the chunk that has it

	numbers []float32 // of the row, by optional column
	told    []int     // by optional column: the last line+1 of the chunk that has it
	has     []int     // the optional columns of the layout

	dense    []int // ids of the dense rows of a chunk that has become sparse
	last     int   // the last id of a sparse row
	unsorted bool  // its ids do not ascend

	row  []float32 // being read
	next int       // the column expected: ids mostly come in the order of the line before
	mark int       // stamp of the line
}

// NewParser gives a function that reads text into the fields of a chunk, whose size is that
// of the text. It serves one goroutine, chunk after chunk, and keeps its scratch space.
func (l *Layout) NewParser(o Options) func(c *Chunk, text []byte) {
	b := l.NewBuilder(o)
	return func(c *Chunk, text []byte) {
		b.Begin(c)
		for len(text) > 0 && c.Err == nil {
			length, breaks := bytes.IndexByte(text, '\n')+1, 1
			switch {
			case l.Comma != 0:
				length, _ = row(text, l.Comma)
				breaks = max(1, bytes.Count(text[:length], []byte{'\n'}))
			case length == 0:
				length = len(text)
			}
			l.Read(b, bytes.TrimSuffix(text[:length], []byte{'\n'}))
			c.Lines += breaks
			text = text[length:]
		}
		b.Finish()
	}
}

// NewBuilder gives a builder of chunks.
func (l *Layout) NewBuilder(o Options) *Builder {
	b := &Builder{layout: l, options: o, wants: l.Wants, far: map[int]int32{}}
	b.numbers, b.told = make([]float32, len(numbers)), make([]int, len(numbers))
	for i, n := range numbers {
		if l.Roles[n.Role] != "" {
			b.has = append(b.has, i)
		}
	}
	if b.wants == nil {
		b.wants = o.Wants
	}
	return b
}

// Begin begins a chunk. Its rows all have the features Layout.IDs.
func (b *Builder) Begin(c *Chunk) {
	clear(b.near[:])
	clear(b.far)
	b.c, b.order, b.stamp, b.row, b.dense = c, b.order[:0], b.stamp[:0], nil, nil
	for _, id := range slices.Concat(b.layout.IDs, b.layout.Zero) {
		b.addColumn(id)
	}
	clear(b.told)
	c.Levels = make([]text.Levels, len(b.layout.Categorical))
	c.Numbers = make([][]float32, len(numbers))
	c.Vectors = make([]Vectors, len(b.layout.Vectors))
	c.Words = newWords()
}

// Finish ends the chunk. It copies the rows out of the scratch space, columns by ascending id.
func (b *Builder) Finish() {
	c, width := b.c, len(b.order)
	if c.Err == nil && c.FaultCount == 0 && b.finishSparse() {
		return
	}
	c.IDs = slices.Clone(b.order)
	slices.Sort(c.IDs)
	if c.Err != nil || c.FaultCount > 0 {
		return
	}
	c.Values = memory.NewOffHeap(len(c.Labels) * width)
	sorted := slices.IsSorted(b.order)
	for r := range c.Labels {
		row, from := c.Values.Values[r*width:(r+1)*width], b.values[r*b.stride:]
		if sorted {
			copy(row, from)
			continue
		}
		for i, id := range c.IDs {
			row[i] = from[b.column(id)]
		}
	}
}

// Row begins a row, and gives the features that Layout.IDs names, to be set. All features
// of the row are 0 as yet. The row is discarded unless EndRow is called.
func (b *Builder) Row() []float32 {
	if b.c.Sparse.Starts != nil {
		b.beginSparse()
		b.mark = b.c.Lines + 1
		clear(b.numbers)
		return nil
	}
	at := len(b.c.Labels) * b.stride
	b.grow(at + b.stride)
	b.row, b.next, b.mark = b.values[at:at+b.stride], 0, b.c.Lines+1
	clear(b.row)
	clear(b.numbers)
	return b.row
}

// grow makes room for as many values.
func (b *Builder) grow(values int) {
	if more := values - len(b.values); more > 0 {
		b.values = slices.Grow(b.values, more)
		b.values = b.values[:cap(b.values)]
	}
}

// SetNext sets a feature of the row if its column comes next, as it mostly does, and tells
// whether it has. Else there is Set.
func (b *Builder) SetNext(id int, value float32) bool {
	c := b.next
	if c >= len(b.order) || b.order[c] != id || b.stamp[c] == b.mark {
		return false
	}
	b.stamp[c], b.row[c], b.next = b.mark, value, c+1
	return true
}

// Set sets a feature of the row by its id, if it is wanted. It returns false if the line has a
// value for it already, unless the last one counts.
func (b *Builder) Set(id int, value float32) bool {
	c := unwanted
	if b.c.Sparse.Starts == nil {
		c = b.find(id)
	}
	if b.c.Sparse.Starts != nil { // maybe since this feature
		b.setSparse(id, value)
		return true
	}
	if c < 0 {
		return true
	}
	if b.stamp[c] == b.mark && !b.LastWins() {
		return false
	}
	b.stamp[c], b.row[c], b.next = b.mark, value, c+1
	return true
}

// SetNumber sets an optional column of the row. It returns false if the line has a value for it already, unless the last one counts.
func (b *Builder) SetNumber(i int, value float32) bool {
	if b.told[i] == b.mark && !b.LastWins() {
		return false
	}
	b.told[i], b.numbers[i] = b.mark, value
	return true
}

// LastWins reports whether the last of several values for a feature counts.
func (b *Builder) LastWins() bool { return b.options.Duplicates == "last" }

// find is the column of a feature, which is made if need be; −1 for one that is not wanted,
// and one that would make the matrix too sparse.
func (b *Builder) find(id int) int {
	column := b.column(id)
	switch {
	case column >= 0:
		return column
	case column == unseen && b.wants(id):
		return b.addColumn(id)
	case column == unseen:
		b.setColumn(id, unwanted)
	}
	b.c.Ignore(1, id, id)
	return -1
}

// What a feature without a column has instead.
const (
	unseen   = -1
	unwanted = -2
)

// column is the column of a feature id that has one, else unseen or unwanted.
func (b *Builder) column(id int) int {
	if id < len(b.near) {
		return int(b.near[id]) - 1
	}
	return int(b.far[id]) - 1
}

// addColumn makes a column for a feature id seen for the first time in this chunk. The
// scratch rows move apart if there is no room for it. It returns −1 if the matrix would be too sparse: the chunk is
// sparse then, or has an error.
func (b *Builder) addColumn(id int) int {
	column := len(b.order)
	if column >= b.stride {
		rows, old := len(b.c.Labels)+1, b.stride
		err := tooSparse(rows, column+1, b.c.Size)
		if b.layout.IDs == nil && b.layout.sparse(b.options) && (err != nil || column >= sparseFrom) {
			b.goSparse()
			return -1
		}
		if b.c.Err = err; err != nil {
			return -1
		}
		b.stride = max(16, 2*old)
		b.grow(rows * b.stride)
		for r := rows - 1; r >= 0; r-- {
			to := b.values[r*b.stride : (r+1)*b.stride]
			copy(to, b.values[r*old:(r+1)*old])
			clear(to[old:])
		}
		b.row = b.values[(rows-1)*b.stride : rows*b.stride]
	}
	b.order = append(b.order, id)
	b.stamp = append(b.stamp, 0)
	b.setColumn(id, column)
	return column
}

func (b *Builder) setColumn(id, column int) {
	if id < len(b.near) {
		b.near[id] = int32(column + 1)
	} else {
		b.far[id] = int32(column + 1)
	}
}

// Level is the value of the k-th of Layout.Categorical for a text, as it is within the chunk.
func (b *Builder) Level(k int, word []byte) float32 { return b.c.Levels[k].Value(word, text.String) }

// isLabel reports whether a number can be a label. Any can if labels are not used.
func (b *Builder) isLabel(v float32) bool { return IsGrade(v) || b.options.Labels == UnusedLabels }

// EndRow adds the row to the chunk. A label that is NaN is absent; so are ids that are empty.
func (b *Builder) EndRow(label float32, query, document []byte) {
	c := b.c
	if c.Sparse.Starts != nil && !b.endSparse() {
		return
	}
	if n := len(c.Runs); n > 0 && c.Runs[n-1].Query == string(query) {
		c.Runs[n-1].Rows++
	} else {
		c.Runs = append(c.Runs, Run{Query: string(query), Rows: 1, Line: c.Lines})
	}
	switch {
	case label == Unlabelled && b.options.MinusOne == "irrelevant":
		label = 0
	case label == Unlabelled:
		c.MinusOne++
		c.Unlabelled++
	case !IsGrade(label):
		label = Unlabelled
		c.Unlabelled++
	case label < 1:
		c.BelowOne++
	}
	c.Labels = append(c.Labels, label)
	c.At = append(c.At, int32(c.Lines))
	for _, i := range b.has {
		c.Numbers[i] = append(c.Numbers[i], b.numbers[i])
	}
	if document != nil && c.DocumentIDs == nil {
		c.DocumentIDs = make([]string, len(c.Labels)-1, cap(c.Labels))
	}
	if c.DocumentIDs != nil {
		c.DocumentIDs = append(c.DocumentIDs, string(document))
	}
}

// Group is the group of the row that EndRow has added; all rows have one, or none. It is
// given if the line tells it, and not if it is what the format assumes.
func (b *Builder) Group(name []byte, given bool) {
	b.c.HasGroups = b.c.HasGroups || given
	b.c.Groups = append(b.c.Groups, b.c.GroupNames.Number(name))
}

// Commented counts the current row as one with all its features in a comment.
func (b *Builder) Commented() {
	if b.c.Commented == 0 {
		b.c.FirstCommented = b.c.Lines
	}
	b.c.Commented++
}

// Fail notes that the current line is malformed, from byte column on.
func (b *Builder) Fail(column int, format string, args ...any) {
	b.FailLine("column %d: %s", column+1, fmt.Sprintf(format, args...))
}

// FailLine notes that the current line is malformed.
func (b *Builder) FailLine(format string, args ...any) {
	b.c.FaultCount++
	if len(b.c.Faults) < maxFaults {
		b.c.Faults = append(b.c.Faults, Fault{line: b.c.Lines, reason: fmt.Sprintf(format, args...)})
	}
}
