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

// maxGroupValues bounds the values of a feature by which documents are
// grouped, in all splits: one that has more is a measurement, not a group.
const maxGroupValues = 1000

// groups finds the groups of rows: in a column, in a file that is named, or in one beside the data.
type groups struct {
	table *table.Table
	must  bool // the feature of groups must be in the file; in a split after the first it may be all zeros
	found bool // it is

	path  string         // of a file with the group of a row a line,
	file  *textfile.File // nil: there is none
	lines *bufio.Scanner
	row   int  // lines so far
	ended bool // there are no more
}

// newGroups finds the source of the groups, and opens it if it is a file; nil if there
// are no groups. The groups are numbered together with those before.
func newGroups(t *table.Table, numbers *table.GroupNames) (*groups, error) {
	g := &groups{table: t, must: t.Layout.GroupFeature != "" && len(numbers.Names) == 0}
	if t.Options.GroupColumn != "" {
		t.Groups = numbers
		return g, nil
	}
	if g.path = t.Options.Groups; g.path == "" {
		g.path = files.Groups(t.Path)
	}
	var err error
	g.file, err = textfile.Open(t.Options.Ctx(), g.path)
	if t.Options.Groups == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(g.path, err))
	}
	t.Groups, g.lines = numbers, bufio.NewScanner(g.file)
	return g, nil
}

// set sets the groups of the next chunk.
func (g *groups) set(c *table.Chunk) error {
	all := g.table.Groups
	if g.file != nil {
		c.Groups = make([]int, len(c.Labels))
		for r := range c.Groups {
			c.Groups[r] = g.next()
		}
		return nil // end tells whether there were so many lines
	}
	numbers := make([]int, len(c.GroupNames.Names)) // those of the chunk alone, as they are for all
	for local, name := range c.GroupNames.Names {
		numbers[local] = all.Number([]byte(name))
	}
	for r, local := range c.Groups {
		if local >= 0 {
			c.Groups[r] = numbers[local]
		}
	}
	g.found = g.found || c.HasGroups
	if feature := g.table.Layout.GroupFeature; feature != "" && len(all.Names) > maxGroupValues {
		return fmt.Errorf("datasets: %s: feature %s has more than %d values: too many for groups of documents", g.table.Path, feature, maxGroupValues)
	}
	return nil
}

// next is the group in the next line; −1 if there is none, or no line.
func (g *groups) next() int {
	if g.ended = g.ended || !g.lines.Scan(); g.ended {
		return -1
	}
	g.row++
	line := g.lines.Bytes()
	if g.row == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return g.table.Groups.Number(bytes.TrimSpace(line))
}

// end checks the groups against the whole file.
func (g *groups) end() error {
	if g == nil {
		return nil
	}
	t := g.table
	if g.must && !g.found {
		ids := "there are no features"
		if n := len(t.IDs); n > 0 {
			ids = fmt.Sprintf("ids go from %d to %d", t.IDs[0], t.IDs[n-1])
		}
		return fmt.Errorf("datasets: %s: no feature %s to group documents by: %s", t.Path, t.Layout.GroupFeature, ids)
	}
	if g.file == nil {
		return nil
	}
	for !g.ended {
		g.next()
	}
	if err := g.lines.Err(); err != nil {
		return fmt.Errorf("datasets: %s:%d: %w", g.path, g.row+1, err)
	}
	if g.row != t.Rows {
		return fmt.Errorf("datasets: %s: %d lines, but %s has %d documents: want the group of one document a line, an empty line for none",
			g.path, g.row, t.Path, t.Rows)
	}
	return nil
}

func (g *groups) close() {
	if g != nil && g.file != nil {
		g.file.Close()
	}
}
