package reader

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/sparse"
	"github.com/plrank/plrank/internal/text"
)

// Builder makes rows of the lines of chunks. One builder serves one goroutine, chunk after chunk, and keeps its scratch space.
// Rows of a table have all features of its layout, in values. LETOR text has any features in a line, which are kept as they come,
// in lines; the end of the chunk tells which there are.
type Builder struct {
	layout  *Layout
	options Options

	c      *Chunk
	values []float32   // rows × features of the layout
	lines  sparse.Rows // of LETOR text, with ids for columns

	near [4096]int32   // column+1 by id, for small ids; −1: not wanted
	far  map[int]int32 // the same for the others

	last  int  // the id before, in the line
	mixed bool // the ids of the line do not ascend

	rowHead             // of the row at hand
	hasGroups bool      // rows have groups
	numbers   []float32 // of the row, by optional column
	has       []int     // the optional columns of the layout
}

// A rowHead is what a row says besides numbers of optional columns.
type rowHead struct {
	features               []float32 // of a table
	label                  float32   // NaN: it is absent
	query, document, group []byte    // empty: it is absent
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
	b := &Builder{layout: l, options: o, far: map[int]int32{}}
	b.numbers = make([]float32, len(numbers))
	for i, n := range numbers {
		if l.Roles[n.Role] != "" {
			b.has = append(b.has, i)
		}
	}
	b.hasGroups = l.Roles[schema.Group] != ""
	return b
}

// Begin begins a chunk.
func (b *Builder) Begin(c *Chunk) {
	b.c, b.values = c, b.values[:0]
	b.lines = sparse.Rows{Starts: append(b.lines.Starts[:0], 0), Columns: b.lines.Columns[:0], Values: b.lines.Values[:0]}
	c.Levels = make([]text.Levels, len(b.layout.Categorical))
	c.Numbers = make([][]float32, len(numbers))
	c.Vectors = make([]Vectors, len(b.layout.Vectors))
	c.Words = newWords()
}

// Finish ends the chunk. It copies the rows out of the scratch space.
func (b *Builder) Finish() {
	c, ofTable := b.c, b.layout.IDs != nil
	if c.IDs = b.layout.IDs; !ofTable {
		c.IDs = b.idsOfLines()
	}
	if c.Err != nil || c.FaultCount > 0 {
		return
	}
	rows, width := len(c.Labels), len(c.IDs)
	fits := tooSparse(rows, width, c.Size)
	switch may := b.layout.sparse(b.options); {
	case may && (fits != nil || width >= sparseFrom && b.nonzero() <= rows*width/sparsePart):
		if ofTable {
			b.valuesToLines()
		}
		c.Sparse = sparse.Rows{Starts: slices.Clone(b.lines.Starts), Columns: slices.Clone(b.lines.Columns), Values: slices.Clone(b.lines.Values)}
	case fits != nil:
		c.Err = fits
	case ofTable:
		c.Values = memory.NewOffHeap(rows * width)
		copy(c.Values.Values, b.values)
	default:
		c.Values = memory.NewOffHeap(rows * width)
		b.lines.Dense(c.Values.Values, width, nil)
	}
}

// Row begins a row, and gives the features that Layout.IDs names, to be set. All features
// of the row are 0 as yet. The row is discarded unless EndRow is called.
func (b *Builder) Row() []float32 {
	n, width := len(b.c.Labels), len(b.layout.IDs)
	clear(b.numbers)
	start := b.lines.Starts[len(b.lines.Starts)-1]
	b.lines.Columns, b.lines.Values, b.last, b.mixed = b.lines.Columns[:start], b.lines.Values[:start], -1, false
	b.values = slices.Grow(b.values[:n*width], width)[:(n+1)*width]
	clear(b.values[n*width:])
	b.rowHead = rowHead{features: b.values[n*width:], label: text.Missing}
	return b.features
}

// Set adds a feature to the row of LETOR text.
func (b *Builder) Set(id int, value float32) {
	b.mixed = b.mixed || id <= b.last
	b.last = id
	b.lines.Columns, b.lines.Values = append(b.lines.Columns, int32(id)), append(b.lines.Values, value)
}

// sortFeatures sorts the features of a row of LETOR text by id. It returns an id that the row has twice, unless the last one
// counts; −1 if there is none.
func (b *Builder) sortFeatures() int {
	if !b.mixed {
		return -1
	}
	type feature struct {
		id    int32
		value float32
	}
	start := b.lines.Starts[len(b.lines.Starts)-1]
	var row []feature
	for i, id := range b.lines.Columns[start:] {
		row = append(row, feature{id, b.lines.Values[start+i]})
	}
	slices.SortStableFunc(row, func(a, b feature) int { return cmp.Compare(a.id, b.id) })
	b.lines.Columns, b.lines.Values = b.lines.Columns[:start], b.lines.Values[:start]
	for i, f := range row {
		if i+1 < len(row) && row[i+1].id == f.id {
			if !b.LastWins() {
				return int(f.id)
			}
			continue
		}
		b.lines.Columns, b.lines.Values = append(b.lines.Columns, f.id), append(b.lines.Values, f.value)
	}
	return -1
}

// LastWins reports whether the last of several values for a feature counts.
func (b *Builder) LastWins() bool { return b.options.Duplicates == "last" }

// idsOfLines returns the ids of the features that lines have and that are wanted, ascending, and counts the others, which it
// takes out. Lines then have columns among these ids.
func (b *Builder) idsOfLines() []int {
	clear(b.near[:])
	clear(b.far)
	ids := slices.Clone(b.layout.Zero)
	for _, id := range ids {
		b.setColumn(id, 0)
	}
	for _, id := range b.lines.Columns {
		column := b.column(int(id))
		if column == unseen {
			if column = unwanted; b.layout.Wants(int(id)) {
				column, ids = 0, append(ids, int(id))
			}
			b.setColumn(int(id), column)
		}
		if column == unwanted {
			b.c.Ignore(1, int(id), int(id))
		}
	}
	slices.Sort(ids)
	for i, id := range ids {
		b.setColumn(id, i)
	}
	from, n := 0, 0
	for r := range b.lines.Len() {
		to := b.lines.Starts[r+1]
		for ; from < to; from++ {
			if column := b.column(int(b.lines.Columns[from])); column >= 0 {
				b.lines.Columns[n], b.lines.Values[n] = int32(column), b.lines.Values[from]
				n++
			}
		}
		b.lines.Starts[r+1] = n
	}
	b.lines.Columns, b.lines.Values = b.lines.Columns[:n], b.lines.Values[:n]
	return ids
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

// EndRow adds the row to the chunk.
func (b *Builder) EndRow() {
	c, label := b.c, b.label
	b.lines.Starts = append(b.lines.Starts, len(b.lines.Values))
	if n := len(c.Runs); n > 0 && c.Runs[n-1].Query == string(b.query) {
		c.Runs[n-1].Rows++
	} else {
		c.Runs = append(c.Runs, Run{Query: string(b.query), Rows: 1, Line: c.Lines})
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
	if b.document != nil && c.DocumentIDs == nil {
		c.DocumentIDs = make([]string, len(c.Labels)-1, cap(c.Labels))
	}
	if c.DocumentIDs != nil {
		c.DocumentIDs = append(c.DocumentIDs, string(b.document))
	}
	if b.hasGroups {
		c.Groups = append(c.Groups, c.GroupNames.Number(b.group))
	}
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
