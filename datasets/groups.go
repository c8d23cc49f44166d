package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
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

	feature int // of LETOR text, whose values are groups
	numbers map[float32]int
	must    bool // the file must have it; a split after the first may be all zeros

	lines *bufio.Scanner // of a file with the group of a row a line; nil: there is none
	file  string
	row   int  // lines so far
	ended bool // there are no more
	close func()
}

// newGroups opens what has the groups; nil, nil where nothing has.
func newGroups(path string, o ReadOptions, l *layout, all *groupNumbers) (*groups, error) {
	g := &groups{path: path, all: all, close: func() {}}
	if o.GroupColumn != "" {
		if l.names != nil {
			return g, nil
		}
		var err error
		if g.feature, err = strconv.Atoi(o.GroupColumn); err != nil {
			return nil, fmt.Errorf("datasets: %s: no group column %q: LETOR text names no columns; want the id of a feature, each value of which is a group", path, o.GroupColumn)
		}
		g.numbers, g.must = map[float32]int{}, len(all.names) == 0
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
	switch {
	case g.numbers != nil:
		return g.byFeature(c)
	case g.lines != nil:
		c.groups = make([]int, len(c.labels))
		for r := range c.groups {
			c.groups[r] = -1
			if g.scan() {
				c.groups[r] = g.all.of([]byte(strings.TrimSpace(g.lines.Text())))
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

// maxGroupValues bounds the values of a feature by which documents are grouped: one
// that has more is a measurement, not a group.
const maxGroupValues = 1000

// byFeature makes a group of every value of a feature of LETOR text.
func (g *groups) byFeature(c *chunk) error {
	c.groups = make([]int, len(c.labels))
	at, present := slices.BinarySearch(c.ids, g.feature)
	for r := range c.groups {
		value := float32(0)
		if present {
			value = c.values.values[r*len(c.ids)+at]
		}
		if value != value { // missing
			c.groups[r] = -1
			continue
		}
		n, known := g.numbers[value]
		if !known {
			if len(g.numbers) == maxGroupValues {
				return fmt.Errorf("datasets: %s: feature %d has more than %d values: too many for groups of documents", g.path, g.feature, maxGroupValues)
			}
			n = g.all.of([]byte(formatFloat(value)))
			g.numbers[value] = n
		}
		c.groups[r] = n
	}
	return nil
}

// end looks whether the groups were those of the file.
func (g *groups) end(t *tally) error {
	switch {
	case g.must && !slices.Contains(t.ids, g.feature):
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
