package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// noGroup stands in files for no group, as nothing does.
const noGroup = "-1"

// groupNumbers numbers groups by their names, in the order in which they come.
type groupNumbers struct {
	names  []string
	number map[string]int
}

// of is the number of a group, new or not; −1 for none.
func (g *groupNumbers) of(name []byte) int {
	if len(name) == 0 || string(name) == noGroup {
		return -1
	}
	n, known := g.number[string(name)]
	if !known {
		if g.number == nil {
			g.number = map[string]int{}
		}
		n = len(g.names)
		g.names = append(g.names, string(name))
		g.number[string(name)] = n
	}
	return n
}

// groupsPath is the name under which the groups of a data file may lie.
func groupsPath(path string) string { return withoutCompression(path) + ".groups" }

// setGroups finds the group of every row, if there are any.
func (t *table) setGroups(all *groupNumbers) error {
	g, err := newGroups(t.path, t.options, t.layout, all)
	if g == nil || err != nil {
		return err
	}
	defer g.close()
	for _, c := range t.chunks {
		if err := g.set(c); err != nil {
			return err
		}
	}
	t.groups = all
	return g.end(&t.tally)
}

// groups finds the groups of rows: in the column that the options name, in the file that
// they name, or in the one beside the data.
type groups struct {
	path string // of the data
	all  *groupNumbers

	feature int  // of LETOR text, whose values are groups; −1: none
	must    bool // the file must have it; a split after the first may be all zeros
	found   bool // it has

	lines *bufio.Scanner // of a file with the group of a row a line; nil: there is none
	file  string
	row   int  // lines so far
	ended bool // there are no more
	close func()
}

// newGroups opens what has the groups; nil, nil where nothing has.
func newGroups(path string, o ReadOptions, l *layout, all *groupNumbers) (*groups, error) {
	g := &groups{path: path, all: all, feature: l.group, must: l.group >= 0 && len(all.names) == 0, close: func() {}}
	if o.GroupColumn != "" {
		return g, nil
	}
	if g.file = o.Groups; g.file == "" {
		g.file = groupsPath(path)
	}
	f, err := openSource(o.context(), g.file)
	if o.Groups == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", at(g.file, err))
	}
	g.lines, g.close = bufio.NewScanner(f), f.close
	return g, nil
}

// set sets the groups of the next chunk.
func (g *groups) set(c *chunk) error {
	if g.lines != nil {
		c.groups = make([]int, len(c.labels))
		for r := range c.groups {
			c.groups[r] = -1
			if g.scan() {
				c.groups[r] = g.group()
			}
		}
		return nil // end tells whether there were so many lines
	}
	numbers := make([]int, len(c.groupNumbers.names)) // those of the chunk alone, as they are for all
	for local, name := range c.groupNumbers.names {
		numbers[local] = g.all.of([]byte(name))
	}
	for r, local := range c.groups {
		if local >= 0 {
			c.groups[r] = numbers[local]
		}
	}
	g.found = g.found || c.grouped
	if g.feature >= 0 && len(g.all.names) > maxGroupValues {
		return fmt.Errorf("datasets: %s: feature %d has more than %d values: too many for groups of documents", g.path, g.feature, maxGroupValues)
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
	text := g.lines.Bytes()
	if g.row == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	return g.all.of(bytes.TrimSpace(text))
}

// maxGroupValues bounds the values of a feature of LETOR text by which documents are
// grouped, in all splits: one that has more is a measurement, not a group.
const maxGroupValues = 1000

// end looks whether the groups were those of the file.
func (g *groups) end(t *tally) error {
	switch {
	case g.must && !g.found:
		ids := "there are no features"
		if n := len(t.ids); n > 0 {
			ids = fmt.Sprintf("ids go from %d to %d", t.ids[0], t.ids[n-1])
		}
		return fmt.Errorf("datasets: %s: no feature %d to group documents by: %s", g.path, g.feature, ids)
	case g.lines == nil:
		return nil
	}
	for g.scan() {
	}
	if err := g.lines.Err(); err != nil {
		return fmt.Errorf("datasets: %s:%d: %w", g.file, g.row+1, err)
	}
	if g.row != t.rows {
		return fmt.Errorf("datasets: %s: %d lines, but %s has %d documents: want the group of one document a line, an empty line for none", g.file, g.row, g.path, t.rows)
	}
	return nil
}

// WriteGroups writes the groups of a dataset as the file that ReadFile reads
// beside the one that WriteLETOR writes, FILE.groups: the group of one row a line,
// an empty line for none. A dataset without groups is an error, and so are names
// that a line cannot hold.
func WriteGroups(w io.Writer, d *Dataset) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if d.Groups == nil {
		return fmt.Errorf("datasets: %s: there are no groups to write", d.Name)
	}
	for _, name := range d.GroupNames {
		if name == "" || name == noGroup || strings.TrimSpace(name) != name || strings.ContainsAny(name, "\r\n") {
			return fmt.Errorf("datasets: %s: group %q cannot be written: want a name on one line without blanks around it, and other than %s", d.Name, name, noGroup)
		}
	}
	out := bufio.NewWriter(w)
	for _, g := range d.Groups {
		if g >= 0 {
			out.WriteString(d.GroupName(g))
		}
		out.WriteByte('\n') // a failed write stays failed
	}
	return flush(out, d)
}

// GroupName is the name of a group: its number where groups have no names.
func (d *Dataset) GroupName(group int) string {
	if d.GroupNames == nil {
		return strconv.Itoa(group)
	}
	return d.GroupNames[group]
}
