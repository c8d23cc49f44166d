package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets/internal/text"
)

// Tally counts the chunks of a file as they come.
type Tally struct {
	Path string
	Rows int
	Size int64 // bytes of text, decompressed
	IDs  []int // feature ids in use, ascending

	faults     []string // the first maxFaults malformed lines
	FaultCount int
	Err        error // of the first chunk that stops the read

	ignored, least, most int // values of features that are not wanted, whose ids go from least to most

	commented, firstCommented int // rows with all their features in a comment, and the line of the first
}

// Add counts a chunk.
func (t *Tally) Add(c *Chunk) {
	for _, f := range c.Faults[:min(len(c.Faults), maxFaults-len(t.faults))] {
		t.faults = append(t.faults, fmt.Sprintf("datasets: %s:%d: column %d: %s", t.Path, c.Line+f.line, f.column+1, f.reason))
	}
	t.FaultCount += c.FaultCount
	t.Rows += len(c.Labels)
	t.Size += c.Size
	t.IDs = Union(t.IDs, c.IDs)
	if c.Ignored > 0 {
		if t.ignored == 0 {
			t.least = c.Least
		}
		t.ignored, t.least, t.most = t.ignored+c.Ignored, min(t.least, c.Least), max(t.most, c.Most)
	}
	if t.commented == 0 {
		t.firstCommented = c.Line + c.FirstCommented
	}
	t.commented += c.Commented
	if t.Err == nil {
		t.Err = c.Err
	}
	if t.Err == nil {
		t.Err = tooSparse(t.Rows, len(t.IDs), t.Size)
	}
}

// Check is the error of all chunks: a line for each of the first maxFaults malformed ones,
// then their number; or that of a chunk, or of having no rows at all.
func (t *Tally) Check() error {
	switch {
	case t.FaultCount > len(t.faults):
		return fmt.Errorf("%s\ndatasets: %s: %d malformed lines in all", strings.Join(t.faults, "\n"), t.Path, t.FaultCount)
	case t.FaultCount > 0:
		return errors.New(strings.Join(t.faults, "\n"))
	case t.Err != nil:
		return fmt.Errorf("datasets: %s: %w", t.Path, t.Err)
	case t.Rows == 0:
		return fmt.Errorf("datasets: %s: no documents in the file; want lines such as %q", t.Path, "2 qid:1 1:0.5 2:0.1")
	}
	return nil
}

// LeftOut are warnings of values and columns that are not wanted, or in comments. A file
// with nothing that is wanted is an error.
func (t *Tally) LeftOut(l *Layout) (warnings []string, err error) {
	if t.commented > 0 {
		warnings = append(warnings, fmt.Sprintf("%s:%d: documents from this line on that have all their features in a comment: %d. A comment begins with #, also within a query id",
			t.Path, t.firstCommented, t.commented))
	}
	if t.ignored > 0 {
		ids := fmt.Sprintf("ids %d to %d", t.least, t.most)
		if len(t.IDs) == 0 {
			return nil, fmt.Errorf("datasets: %s has %s, and none of the features that are wanted", t.Path, ids)
		}
		warnings = append(warnings, fmt.Sprintf("%s: %d values of features that are not wanted were left out (%s)", t.Path, t.ignored, ids))
	}
	if len(l.Ignored) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: columns that are not wanted were left out: %s", t.Path, text.List(l.Ignored)))
	}
	return warnings, nil
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
