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

// setGroups finds the group of every row, if there are any: in the column that the
// options name, in the file that they name, or in the one beside the data.
func (t *table) setGroups(o ReadOptions, all *groupNumbers) error {
	if o.GroupColumn != "" {
		if t.layout.names == nil {
			return t.groupByFeature(o.GroupColumn, all)
		}
		for _, c := range t.chunks {
			numbers := make([]int, len(c.groupNumbers.names))
			for local, name := range c.groupNumbers.names {
				numbers[local] = all.of([]byte(name))
			}
			for r, local := range c.groups {
				if local >= 0 {
					c.groups[r] = numbers[local]
				}
			}
		}
		t.groups = all
		return nil
	}
	path := o.Groups
	if path == "" {
		path = groupsPath(t.path)
	}
	f, err := openSource(o.context(), path)
	if o.Groups == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("datasets: %w", at(path, err))
	}
	defer f.close()
	return t.groupByLines(f, path, all)
}

// maxGroupValues bounds the values of a feature by which documents are grouped: one
// that has more is a measurement, not a group.
const maxGroupValues = 1000

// groupByFeature makes a group of every value of a feature of LETOR text.
func (t *table) groupByFeature(column string, all *groupNumbers) error {
	id, err := strconv.Atoi(column)
	if err != nil {
		return fmt.Errorf("datasets: %s: no group column %q: LETOR text names no columns; want the id of a feature, each value of which is a group", t.path, column)
	}
	if !slices.Contains(t.ids, id) && len(all.names) == 0 { // a split after the first may be all zeros
		ids := "there are no features"
		if n := len(t.ids); n > 0 {
			ids = fmt.Sprintf("ids go from %d to %d", t.ids[0], t.ids[n-1])
		}
		return fmt.Errorf("datasets: %s: no feature %d to group documents by: %s", t.path, id, ids)
	}
	numbers := map[float32]int{}
	for _, c := range t.chunks {
		c.groups = make([]int, len(c.labels))
		at, present := slices.BinarySearch(c.ids, id)
		for r := range c.groups {
			value := float32(0)
			if present {
				value = c.values.values[r*len(c.ids)+at]
			}
			if value != value { // missing
				c.groups[r] = -1
				continue
			}
			n, known := numbers[value]
			if !known {
				if len(numbers) == maxGroupValues {
					return fmt.Errorf("datasets: %s: feature %d has more than %d values: too many for groups of documents", t.path, id, maxGroupValues)
				}
				n = all.of([]byte(formatFloat(value)))
				numbers[value] = n
			}
			c.groups[r] = n
		}
	}
	t.groups = all
	return nil
}

// groupByLines reads a group a line, for one row after another.
func (t *table) groupByLines(r io.Reader, path string, all *groupNumbers) error {
	lines := bufio.NewScanner(r)
	row, chunk := 0, 0
	for ; lines.Scan(); row++ {
		for chunk < len(t.chunks) && len(t.chunks[chunk].groups) == len(t.chunks[chunk].labels) {
			chunk++
		}
		if chunk < len(t.chunks) {
			c := t.chunks[chunk]
			c.groups = append(c.groups, all.of([]byte(strings.TrimSpace(lines.Text()))))
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("datasets: %s:%d: %w", path, row+1, err)
	}
	if row != t.rows {
		return fmt.Errorf("datasets: %s: %d lines, but %s has %d documents: want the group of one document a line, an empty line for none", path, row, t.path, t.rows)
	}
	t.groups = all
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
