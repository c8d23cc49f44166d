package reader

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/text"
)

// Table is a file that has been read, in chunks with their own columns.
type Table struct {
	Origin  // without Lines, which are in the chunks
	Options Options
	Layout  *Layout
	Chunks  []*Chunk
	Queries []Query
	Breaks  int         // runs of rows of a query that had already ended
	Sized   bool        // queries have no ids, but sizes
	Names   *Names      // of groups and of categorical texts
	Unknown text.Tally  // texts that a model does not know
	Words               // of all chunks
	Groups  *GroupNames // of the rows; nil: they have no groups

	Has             []bool // by optional column of numbers: documents have it
	HasQueryWeights bool

	Rows int
	Size int64 // bytes of text, decompressed
	IDs  []int // feature ids in use, ascending
	Counts
	Warnings []string

	faults     []string // the first maxFaults malformed lines
	faultCount int
	err        error // of the first chunk that stops the read
}

// ErrEmpty is returned for a file without a row.
var ErrEmpty = errors.New("no documents in the file")

// Query is a query and its rows.
type Query struct {
	ID     string
	Weight float32
	Runs   []Span // rows of the whole file
}

// Add gives the query the next rows from the given one on.
func (q *Query) Add(row, rows int) {
	if n := len(q.Runs); n > 0 && q.Runs[n-1].To == row {
		q.Runs[n-1].To += rows
		return
	}
	q.Runs = append(q.Runs, Span{row, row + rows})
}

// Rows is the number of rows.
func (q *Query) Rows() (n int) {
	for _, run := range q.Runs {
		n += run.To - run.From
	}
	return n
}

// Add adds the next chunk, whose features may be taken from it afterwards.
func (t *Table) Add(c *Chunk) {
	for _, f := range c.Faults[:min(len(c.Faults), maxFaults-len(t.faults))] {
		t.faults = append(t.faults, fmt.Sprintf("datasets: %s:%d: %s", t.Path, c.Line+f.line, f.reason))
	}
	t.faultCount += c.FaultCount
	t.Chunks = append(t.Chunks, c)
	t.Rows += len(c.Labels)
	t.Size += c.Size
	if len(c.Labels) > 0 {
		t.IDs = Union(t.IDs, c.IDs)
	}
	t.Words.merge(c.Words)
	counts := c.Counts
	counts.FirstCommented += c.Line
	t.Counts.Add(counts)
	if t.err == nil {
		t.err = c.Err
	}
}

// Lines returns the number of lines of all files so far.
func (t *Table) Lines() int {
	if len(t.Chunks) == 0 {
		return 0
	}
	last := t.Chunks[len(t.Chunks)-1]
	return last.Line + last.Lines - 1
}

// Failed reports whether Check will fail, whatever comes.
func (t *Table) Failed() bool { return t.faultCount > 0 || t.err != nil }

// Check returns the error of all chunks: a line for each of the first maxFaults malformed ones,
// then their number; or the error of a chunk.
func (t *Table) Check() error {
	switch {
	case t.faultCount > 0:
		lines := t.faults
		if t.faultCount > len(lines) {
			lines = append(lines, fmt.Sprintf("datasets: %s: %d malformed lines in all", t.Path, t.faultCount))
		}
		return errors.New(strings.Join(append(lines, t.adviceOnWords()...), "\n"))
	case t.err != nil:
		return fmt.Errorf("datasets: %s: %w", t.Path, t.err)
	}
	return nil
}

// WarnOfColumns adds warnings of values and columns that are not wanted, or in comments, and of
// a label that may be a feature. It returns an error if the file has nothing that is wanted.
func (t *Table) WarnOfColumns() error {
	if t.Commented > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%s:%d: documents from this line on that have all their features in a comment: %d. "+
			"A comment begins with #, also within a query id", t.Path, t.FirstCommented, t.Commented))
	}
	if t.Ignored > 0 {
		ids := fmt.Sprintf("ids %d to %d", t.Least, t.Most)
		if len(t.IDs) == 0 {
			return fmt.Errorf("datasets: %s has %s, and none of the features that are wanted", t.Path, ids)
		}
		if t.Options.FeatureIDs != nil {
			t.Warn("%d values of features that are not wanted were left out (%s)", t.Ignored, ids)
		}
	}
	for _, warning := range t.Layout.Warnings {
		t.Warn("%s", warning)
	}
	for _, out := range t.Layout.Out { // a model names the columns that it wants
		if other := out.Warning == outNameless || out.Warning == outUnwanted; !other || !t.Options.OfModel || t.Options.FeatureNames == nil {
			t.Warn(out.Warning, text.List(out.Columns))
		}
	}
	if t.Options.FeatureIDs != nil && t.Options.FeatureNames == nil {
		t.WarnOfPositions()
	}
	return nil
}

// WarnOfPositions adds a warning if features without names are read from columns that have some.
func (t *Table) WarnOfPositions() {
	if t.Layout.ByPosition && len(t.IDs) > 0 {
		t.Warn("features without names were taken from columns by their position: column %s is feature %d",
			text.List([]string{t.Layout.Names[t.IDs[0]]}), t.IDs[0])
	}
}

// WarnOfAbsent adds a warning if the options ask for features that no document of LETOR text has, whose columns are given.
func (t *Table) WarnOfAbsent(ids []int) {
	if t.Layout.IDs != nil || t.Options.FeatureIDs != nil {
		return
	}
	var called, absent []string
	for _, id := range ids {
		called = append(called, t.Layout.Names[id])
	}
	for _, word := range t.Options.Features {
		if _, err := Choose(word, ids, called); err != nil {
			absent = append(absent, word)
		}
	}
	if absent != nil {
		t.Warn("no document has these of the features that are wanted: %s", text.List(absent))
	}
}

// Warn adds a warning.
func (t *Table) Warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, t.Path+": "+fmt.Sprintf(format, args...))
}

// Free gives the memory of the chunks back.
func (t *Table) Free() {
	for _, c := range t.Chunks {
		c.Free()
	}
	t.Chunks = nil
}

// SourceRows returns the row in the file of each row of the queries, one after another.
func (t *Table) SourceRows() []int {
	rows := make([]int, 0, t.Rows)
	for _, q := range t.Queries {
		for _, s := range q.Runs {
			for r := s.From; r < s.To; r++ {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// Union merges two ascending lists.
func Union(a, b []int) []int {
	if slices.Equal(a, b) {
		return a
	}
	u := slices.Concat(a, b)
	slices.Sort(u)
	return slices.Compact(u)
}

// DropUnlabelled takes rows without a label out of the queries, and queries without others.
func DropUnlabelled(t *Table) error {
	switch t.Unlabelled {
	case 0:
		return nil
	case t.Rows:
		missing := "all are"
		if t.LabelColumns != nil {
			missing = fmt.Sprintf("all values of the column %s are missing, or", text.Quote([]byte(t.LabelColumns[0])))
		}
		return fmt.Errorf("datasets: %s: no document has a label: %s %d", t.Path, missing, Unlabelled)
	}
	labels := make([]float32, 0, t.Rows)
	for _, c := range t.Chunks {
		labels = append(labels, c.Labels...)
	}
	queries := t.Queries[:0]
	for _, old := range t.Queries {
		q := Query{ID: old.ID, Weight: old.Weight}
		for _, s := range old.Runs {
			for r := s.From; r < s.To; r++ {
				if labels[r] != Unlabelled {
					q.Add(r, 1)
				}
			}
		}
		if q.Runs != nil {
			queries = append(queries, q)
		}
	}
	t.Queries = queries
	t.Warn("%d documents without a label (%d) were left out", t.Unlabelled, Unlabelled)
	return nil
}
