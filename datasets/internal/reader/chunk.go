package reader

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/sparse"
	"github.com/plrank/plrank/internal/text"
)

// Chunk holds consecutive whole lines of a file, and the rows made of them.
type Chunk struct {
	Size   int64          // bytes of text
	Line   int            // number of the first line in the file, from 1; set when the chunks before are parsed
	Lines  int            // lines of text, the empty ones too
	Labels []float32      // [rows]
	At     []int32        // [rows] line within the chunk, from 0
	IDs    []int          // feature ids in use, ascending
	Values memory.OffHeap // rows × len(IDs); none if rows are sparse
	Sparse sparse.Rows    // of columns of IDs; while a chunk is built, of ids. No Starts: rows are dense
	Runs   []Run          // rows one after another with the same query id

	DocumentIDs []string    // [rows], or nil: no document ids so far
	Numbers     [][]float32 // by optional column, see Declare: [rows], or nil: the rows have none

	Vectors   []Vectors // by Layout.Vectors, unless they are in files of their own; nil when they are in VectorAt
	VectorAt  []int     // [rows × vectors] where they begin in VectorBlock.Values; nil: no vectors
	Remaining int       // rows of the file after these; 0: not known

	Groups     []int         // [rows], or nil: no groups
	GroupNames GroupNames    // of the groups of this chunk alone
	Levels     []text.Levels // of the texts of categorical features of this chunk alone, until Names.Renumber

	Counts
	Words
	Faults     []Fault // the first maxFaults malformed lines
	FaultCount int
	Err        error // what stops the whole read
}

// Free gives the memory of the features back.
func (c *Chunk) Free() { c.Values.Free() }

// LinesInFile returns the line of each row in the file, from 1.
func (c *Chunk) LinesInFile() []int32 {
	lines := make([]int32, len(c.At))
	for r, line := range c.At {
		lines[r] = int32(c.Line) + line
	}
	return lines
}

// Counts holds counts of rows and lines for warnings.
type Counts struct {
	Ignored, Least, Most      int // values of features that are not wanted, whose ids go from Least to Most
	Unlabelled                int // rows
	MinusOne                  int // of these, rows with a label that reads −1
	BelowOne                  int // rows with another label below 1
	Commented, FirstCommented int // rows with all their features in a comment, and the line of the first; from 0 in a chunk
}

// Ignore counts values of features that are not wanted.
func (c *Counts) Ignore(n, least, most int) {
	if c.Ignored == 0 {
		c.Least, c.Most = least, most
	}
	c.Ignored, c.Least, c.Most = c.Ignored+n, min(c.Least, least), max(c.Most, most)
}

// Add adds the counts of later rows.
func (c *Counts) Add(later Counts) {
	if later.Ignored > 0 {
		c.Ignore(later.Ignored, later.Least, later.Most)
	}
	if c.Commented == 0 {
		c.FirstCommented = later.FirstCommented
	}
	c.Commented += later.Commented
	c.Unlabelled += later.Unlabelled
	c.MinusOne += later.MinusOne
	c.BelowOne += later.BelowOne
}

// Unlabelled is the label of a document whose relevance is not known.
const Unlabelled = -1

// IsGrade reports whether a number can be a label.
func IsGrade(v float32) bool { return v == Unlabelled || IsWeight(v) }

// WantGrade is what a label must be, in messages.
const WantGrade = "0 or more, or −1 if there is none"

// IsWeight reports whether a number can be a weight.
func IsWeight(w float32) bool { return w >= 0 && w <= math.MaxFloat32 }

// IsFinite reports whether a number is neither infinite nor NaN.
func IsFinite(v float32) bool { return v-v == 0 }

// Run holds consecutive rows with the same query id.
type Run struct {
	Query string // "": they have none, and a file of sizes must tell the queries
	Rows  int
	Line  int // of the first row, from 0 within the chunk
}

// Span is From, …, To−1.
type Span struct{ From, To int }

// Fault says why one line is malformed.
type Fault struct {
	line   int // from 0, within the chunk
	reason string
}

const (
	maxFaults = 10

	// A matrix may take maxGrowth times the bytes of text it comes from (and
	// small texts growthFloor bytes): beyond that the text is a sparse matrix that must not be made
	// dense, or an attack.
	maxGrowth   = 256
	growthFloor = 1 << 24
)

// tooSparse returns an error if rows × columns take too much for the number of bytes of text.
func tooSparse(rows, columns int, text int64) error {
	limit := max(growthFloor, maxGrowth*text)
	if int64(rows)*int64(columns) <= limit/4 {
		return nil
	}
	return fmt.Errorf("%d documents × %d distinct feature ids would take %.1f GB for %.3f GB of text: too sparse for a dense matrix, "+
		"which categorical features and products of vectors need: please number features densely or select some",
		rows, columns, float64(rows)*float64(columns)*4/1e9, float64(text)/1e9)
}

// Split takes the rows from n on out of the chunk, and makes another one of them.
func (c *Chunk) Split(n int) *Chunk {
	rows, width := len(c.Labels), len(c.IDs)
	tail := &Chunk{
		Size: c.Size, Line: c.Line, IDs: c.IDs,
		Labels: c.Labels[n:], At: c.At[n:],
		DocumentIDs: from(c.DocumentIDs, n), Groups: from(c.Groups, n),
	}
	if c.Sparse.Starts != nil {
		c.Sparse, tail.Sparse = c.Sparse.Cut(0, n), c.Sparse.Cut(n, rows)
	} else {
		tail.Values = memory.NewOffHeap((rows - n) * width)
		copy(tail.Values.Values, c.Values.Values[n*width:])
	}
	for _, list := range c.Numbers {
		tail.Numbers = append(tail.Numbers, from(list, n))
	}
	c.Labels = c.Labels[:n]
	return tail
}

// from is list[n:]; nil for nil.
func from[T any](list []T, n int) []T { return list[min(n, len(list)):] }

// copyFeatures copies the features of rows to as many rows in which column i is columns[i].
func (c *Chunk) copyFeatures(to []float32, columns []int, rows Span) {
	n, width := rows.To-rows.From, len(c.IDs)
	if c.Sparse.Starts != nil {
		clear(to)
		wide := len(to) / n
		for r := range n {
			c.row(rows.From+r, func(i int, v float32) { to[r*wide+columns[i]] = v })
		}
		return
	}
	values := c.Values.Values[rows.From*width : rows.To*width]
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

// replace gives the values of a feature that are there and not missing others.
func (c *Chunk) replace(id int, value func(float32) float32) {
	at, has := slices.BinarySearch(c.IDs, id)
	if !has {
		return
	}
	for ; at < len(c.Values.Values); at += len(c.IDs) {
		if v := c.Values.Values[at]; v == v {
			c.Values.Values[at] = value(v)
		}
	}
}

// NoGroup stands in files for no group, like an empty text.
const NoGroup = "-1"

// GroupNames numbers groups by their names, in the order in which they come.
type GroupNames struct {
	Names  []string
	number map[string]int
}

// Number is the number of a group, new or not; −1 for none.
func (g *GroupNames) Number(name []byte) int {
	if len(name) == 0 || string(name) == NoGroup {
		return -1
	}
	n, known := g.number[string(name)]
	if !known {
		if g.number == nil {
			g.number = map[string]int{}
		}
		n = len(g.Names)
		g.Names = append(g.Names, string(name))
		g.number[string(name)] = n
	}
	return n
}
