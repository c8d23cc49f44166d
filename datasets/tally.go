package datasets

import (
	"errors"
	"fmt"
	"strings"
)

// tally is what is counted of the chunks of a file as they come.
type tally struct {
	path string
	rows int
	size int64 // bytes of text, decompressed
	ids  []int // feature ids in use, ascending

	faults     []string // the first maxFaults malformed lines
	faultCount int
	err        error // of the first chunk that stops the read

	ignored, least, most int // values of features that are not wanted, whose ids go from least to most

	commented, firstCommented int // rows with all their features in a comment, and the line of the first
}

// add counts a chunk.
func (t *tally) add(c *chunk) {
	for _, f := range c.faults[:min(len(c.faults), maxFaults-len(t.faults))] {
		t.faults = append(t.faults, fmt.Sprintf("datasets: %s:%d: column %d: %s", t.path, c.line+f.line, f.column+1, f.reason))
	}
	t.faultCount += c.faultCount
	t.rows += len(c.labels)
	t.size += c.size
	t.ids = union(t.ids, c.ids)
	if c.ignored > 0 {
		if t.ignored == 0 {
			t.least = c.least
		}
		t.ignored, t.least, t.most = t.ignored+c.ignored, min(t.least, c.least), max(t.most, c.most)
	}
	if t.commented == 0 {
		t.firstCommented = c.line + c.firstCommented
	}
	t.commented += c.commented
	if t.err == nil {
		t.err = c.err
	}
	if t.err == nil {
		t.err = tooSparse(t.rows, len(t.ids), t.size)
	}
}

// check is the error of all chunks: a line for each of the first maxFaults malformed ones,
// then their number; or that of a chunk, or of having no rows at all.
func (t *tally) check() error {
	switch {
	case t.faultCount > len(t.faults):
		return fmt.Errorf("%s\ndatasets: %s: %d malformed lines in all", strings.Join(t.faults, "\n"), t.path, t.faultCount)
	case t.faultCount > 0:
		return errors.New(strings.Join(t.faults, "\n"))
	case t.err != nil:
		return fmt.Errorf("datasets: %s: %w", t.path, t.err)
	case t.rows == 0:
		return fmt.Errorf("datasets: %s: no documents in the file; want lines such as %q", t.path, "2 qid:1 1:0.5 2:0.1")
	}
	return nil
}

// leftOut are warnings of values and columns that are not wanted, or in comments. A file
// that has none that is wanted is an error.
func (t *tally) leftOut(l *layout) (warnings []string, err error) {
	if t.commented > 0 {
		warnings = append(warnings, fmt.Sprintf("%s:%d: documents from this line on that have all their features in a comment: %d. A comment begins with #, also within a query id",
			t.path, t.firstCommented, t.commented))
	}
	if t.ignored > 0 {
		ids := fmt.Sprintf("ids %d to %d", t.least, t.most)
		if len(t.ids) == 0 {
			return nil, fmt.Errorf("datasets: %s has %s, and none of the features that are wanted", t.path, ids)
		}
		warnings = append(warnings, fmt.Sprintf("%s: %d values of features that are not wanted were left out (%s)", t.path, t.ignored, ids))
	}
	if len(l.ignored) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: columns that are not wanted were left out: %s", t.path, listNames(l.ignored)))
	}
	return warnings, nil
}
