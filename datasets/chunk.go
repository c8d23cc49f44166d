package datasets

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

// chunk is a run of whole lines of a file, and the rows made of them.
type chunk struct {
	text   []byte        // the lines; handed back to the reader once parsed
	size   int64         // bytes of text
	layout *layout       // of text
	parsed chan struct{} // is closed then

	first  int       // lines of the file between the chunk before and this one (a header)
	line   int       // number of the first line in the file, from 1; set when the chunks before are parsed
	lines  int       // lines of text, the empty ones too
	labels []float32 // [rows]
	at     []int32   // [rows] line within the chunk, from 0
	ids    []int     // feature ids in use, ascending
	values offHeap   // rows × len(ids)
	runs   []run     // rows one after another with the same query id
	docs   []string  // [rows], or nil: no document ids so far

	weights      []float32    // [rows], or nil: no weights
	groups       []int        // [rows], or nil: no groups
	groupNumbers groupNumbers // of groups, of this chunk alone
	grouped      bool         // a line of LETOR text mentions the feature whose values are groups

	faults         []fault // the first maxFaults malformed lines
	faultCount     int
	ignored        int   // values of features that the reader was told to leave out,
	least          int   // whose ids go from least
	most           int   // to most
	unlabelled     int   // rows
	minusOne       int   // of these, rows with a label that reads −1
	belowOne       int   // rows with another label below 1
	commented      int   // rows with all their features in a comment,
	firstCommented int   // the first of them in this line, from 0
	err            error // what stops the whole read
}

// run is consecutive rows with the same query id.
type run struct {
	query string
	named bool // the rows have a qid; else a size file must tell the queries
	rows  int
	line  int // line of the first row, from 0 within the chunk
}

// continues tells whether r, which comes after another run, is of the same query.
func (r run) continues(before run) bool {
	return before.rows > 0 && r.named == before.named && r.query == before.query
}

// fault says why one line is malformed.
type fault struct {
	line, column int // from 0; line within the chunk
	reason       string
}

const (
	maxFaults = 10

	// A matrix may take maxGrowth times the bytes of text it comes from (and
	// small texts growthFloor bytes): beyond that the text is no learning-to-rank
	// data but a sparse matrix that must not be made dense, or an attack.
	maxGrowth   = 256
	growthFloor = 1 << 24

	maxFeatureID = math.MaxInt32
)

// tooSparse is the error for rows × columns made from the given bytes of text,
// or nil if that is within bounds.
func tooSparse(rows, columns int, text int64) error {
	limit := max(growthFloor, maxGrowth*text)
	if int64(rows)*int64(columns) <= limit/4 {
		return nil
	}
	return fmt.Errorf("%d documents × %d distinct feature ids would take %.1f GB for %.3f GB of text: too sparse for a dense matrix, please number features densely or select some",
		rows, columns, float64(rows)*float64(columns)*4/1e9, float64(text)/1e9)
}

// parser turns chunks of text into rows. One parser serves one goroutine, chunk
// after chunk, and keeps its scratch space.
type parser struct {
	known      columns // which feature ids are wanted
	layout     *layout
	lastWins   bool // of two values for a feature in a line; else they are an error
	irrelevant bool // a label of −1 is 0

	c      *chunk
	values []float32 // rows × stride, columns in order of first appearance
	stride int
	order  []int         // id of each column
	near   [4096]int32   // column+1 by id, for small ids
	far    map[int]int32 // the same for the others
	stamp  []int         // by column: the last line+1 of the chunk that has it
	last   []byte        // query id of the last row, within c.text
}

// columns are the feature ids that a reader wants; the zero value: all there are.
type columns struct {
	ids []int // ascending
}

func (k columns) want(id int) bool { return k.ids == nil || k.lists(id) }

// lists tells whether an id is wanted by itself, and not as one of all.
func (k columns) lists(id int) bool {
	_, found := slices.BinarySearch(k.ids, id)
	return found
}

// parse reads c.text into the other fields of c.
func (p *parser) parse(c *chunk) {
	p.begin(c)
	text := c.text
	for len(text) > 0 && c.err == nil {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		p.layout.line(p, line)
		c.lines++
	}
	p.finish()
}

func (p *parser) begin(c *chunk) {
	for _, id := range p.order {
		if id < len(p.near) {
			p.near[id] = 0
		}
	}
	clear(p.far)
	p.c, p.order, p.stamp, p.last = c, p.order[:0], p.stamp[:0], nil
	for _, id := range p.layout.ids {
		p.addColumn(id)
	}
}

// finish copies the rows out of the scratch space, columns by ascending id.
func (p *parser) finish() {
	c, width := p.c, len(p.order)
	c.ids = slices.Clone(p.order)
	slices.Sort(c.ids)
	if c.err != nil || c.faultCount > 0 {
		return
	}
	c.values = newOffHeap(len(c.labels) * width)
	sorted := slices.IsSorted(p.order)
	for r := range c.labels {
		row, from := c.values.values[r*width:(r+1)*width], p.values[r*p.stride:]
		if sorted {
			copy(row, from)
			continue
		}
		for i, id := range c.ids {
			row[i] = from[p.column(id)]
		}
	}
}

// row is the scratch space of the row being read, zeroed.
func (p *parser) row() []float32 {
	at := len(p.c.labels) * p.stride
	if need := at + p.stride; need > len(p.values) {
		p.values = append(p.values, make([]float32, need-len(p.values))...)
		p.values = p.values[:cap(p.values)]
	}
	row := p.values[at : at+p.stride]
	clear(row)
	return row
}

// column is the column of a feature id that has one, else negative.
func (p *parser) column(id int) int {
	if id < len(p.near) {
		return int(p.near[id]) - 1
	}
	return int(p.far[id]) - 1
}

// addColumn makes a column for a feature id seen for the first time in this
// chunk. The scratch rows move apart when there is no room for it.
func (p *parser) addColumn(id int) int {
	column := len(p.order)
	p.order = append(p.order, id)
	p.stamp = append(p.stamp, 0)
	if id < len(p.near) {
		p.near[id] = int32(column + 1)
	} else {
		if p.far == nil {
			p.far = map[int]int32{}
		}
		p.far[id] = int32(column + 1)
	}
	if column < p.stride {
		return column
	}
	rows, old := len(p.c.labels)+1, p.stride
	if p.c.err = tooSparse(rows, column+1, int64(len(p.c.text))); p.c.err != nil {
		return column
	}
	p.stride = max(16, 2*old)
	if need := rows * p.stride; need > len(p.values) {
		p.values = append(p.values, make([]float32, need-len(p.values))...)
	}
	for r := rows - 1; r >= 0; r-- {
		to := p.values[r*p.stride : (r+1)*p.stride]
		copy(to, p.values[r*old:(r+1)*old])
		clear(to[old:])
	}
	return column
}

// endRow adds the row that was read to the chunk. A label that is NaN is absent.
func (p *parser) endRow(label float32, query []byte, named bool, doc []byte) {
	c := p.c
	if n := len(c.runs); n > 0 && c.runs[n-1].named == named && bytes.Equal(query, p.last) {
		c.runs[n-1].rows++
	} else {
		c.runs = append(c.runs, run{query: string(query), named: named, rows: 1, line: c.lines})
		p.last = query
	}
	switch {
	case label == Unlabelled && p.irrelevant:
		label = 0
	case label == Unlabelled:
		c.minusOne++
		c.unlabelled++
	case label != label:
		label = Unlabelled
		c.unlabelled++
	case label < 1:
		c.belowOne++
	}
	c.labels = append(c.labels, label)
	c.at = append(c.at, int32(c.lines))
	if doc != nil && c.docs == nil {
		c.docs = make([]string, len(c.labels)-1, cap(c.labels))
	}
	if c.docs != nil {
		c.docs = append(c.docs, string(doc))
	}
}

// cut takes the rows from n on out of the chunk, and makes another one of them.
func (c *chunk) cut(n int) *chunk {
	rows, width := len(c.labels), len(c.ids)
	tail := &chunk{
		size: c.size, line: c.line, ids: c.ids,
		labels: c.labels[n:], at: c.at[n:], docs: cut(c.docs, n, rows), weights: cut(c.weights, n, rows), groups: cut(c.groups, n, rows),
		values: newOffHeap((rows - n) * width),
	}
	copy(tail.values.values, c.values.values[n*width:])
	c.labels = c.labels[:n]
	return tail
}

// fail notes that the current line is malformed, from byte column on.
func (p *parser) fail(column int, format string, args ...any) {
	p.c.faultCount++
	if len(p.c.faults) < maxFaults {
		p.c.faults = append(p.c.faults, fault{line: p.c.lines, column: column, reason: fmt.Sprintf(format, args...)})
	}
}

// quote quotes what was found in a file for a message, cut to a readable length.
func quote(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%q…", b[:most])
	}
	return fmt.Sprintf("%q", b)
}

// orNumber is err, or errNumber where a number was followed by something else.
func orNumber(err error) error {
	if err == nil {
		return errNumber
	}
	return err
}
