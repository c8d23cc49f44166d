package reading

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/internal/textfile"
)

// setGroups finds the group of every row, if there are groups.
func setGroups(t *table.Table, all *table.GroupNames) error {
	g, err := newGroups(t.Path, t.Options, t.Layout, all)
	if g == nil || err != nil {
		return err
	}
	defer g.close()
	for _, c := range t.Chunks {
		if err := g.set(c); err != nil {
			return err
		}
	}
	t.Groups = all
	return g.end(&t.Tally)
}

// groups finds the groups of rows: in the column that the options name, in the file that
// they name, or in the one beside the data.
type groups struct {
	path string // of the data
	all  *table.GroupNames

	feature string // whose values are groups; "": none
	must    bool   // the file must have it; a split after the first may be all zeros
	found   bool   // it has

	lines *bufio.Scanner // of a file with the group of a row a line; nil: there is none
	file  string
	row   int  // lines so far
	ended bool // there are no more
	close func()
}

// newGroups finds the source of the groups, and opens it if it is a file; nil, nil if there
// are no groups.
func newGroups(path string, o table.Options, l *table.Layout, all *table.GroupNames) (*groups, error) {
	g := &groups{path: path, all: all, feature: l.GroupFeature, must: l.GroupFeature != "" && len(all.Names) == 0, close: func() {}}
	if o.GroupColumn != "" {
		return g, nil
	}
	if g.file = o.Groups; g.file == "" {
		g.file = files.Groups(path)
	}
	f, err := textfile.Open(o.Ctx(), g.file)
	if o.Groups == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(g.file, err))
	}
	g.lines, g.close = bufio.NewScanner(f), f.Close
	return g, nil
}

// set sets the groups of the next chunk.
func (g *groups) set(c *table.Chunk) error {
	if g.lines != nil {
		c.Groups = make([]int, len(c.Labels))
		for r := range c.Groups {
			c.Groups[r] = -1
			if g.scan() {
				c.Groups[r] = g.group()
			}
		}
		return nil // end tells whether there were so many lines
	}
	numbers := make([]int, len(c.GroupNames.Names)) // those of the chunk alone, as they are for all
	for local, name := range c.GroupNames.Names {
		numbers[local] = g.all.Number([]byte(name))
	}
	for r, local := range c.Groups {
		if local >= 0 {
			c.Groups[r] = numbers[local]
		}
	}
	g.found = g.found || c.HasGroups
	if g.feature != "" && len(g.all.Names) > maxGroupValues {
		return fmt.Errorf("datasets: %s: feature %s has more than %d values: too many for groups of documents", g.path, g.feature, maxGroupValues)
	}
	return nil
}

// scan goes to the next line.
func (g *groups) scan() bool {
	if g.ended = g.ended || !g.lines.Scan(); g.ended {
		return false
	}
	g.row++
	return true
}

// group is the group in the line.
func (g *groups) group() int {
	line := g.lines.Bytes()
	if g.row == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return g.all.Number(bytes.TrimSpace(line))
}

// maxGroupValues bounds the values of a feature by which documents are
// grouped, in all splits: one that has more is a measurement, not a group.
const maxGroupValues = 1000

// end checks the groups against the whole file.
func (g *groups) end(t *table.Tally) error {
	switch {
	case g.must && !g.found:
		ids := "there are no features"
		if n := len(t.IDs); n > 0 {
			ids = fmt.Sprintf("ids go from %d to %d", t.IDs[0], t.IDs[n-1])
		}
		return fmt.Errorf("datasets: %s: no feature %s to group documents by: %s", g.path, g.feature, ids)
	case g.lines == nil:
		return nil
	}
	for g.scan() {
	}
	if err := g.lines.Err(); err != nil {
		return fmt.Errorf("datasets: %s:%d: %w", g.file, g.row+1, err)
	}
	if g.row != t.Rows {
		return fmt.Errorf("datasets: %s: %d lines, but %s has %d documents: want the group of one document a line, an empty line for none", g.file, g.row, g.path, t.Rows)
	}
	return nil
}
