package reader

import (
	"bytes"
	"fmt"
)

// maxGroupValues bounds the values of a feature by which documents are
// grouped, in all splits: one that has more is a measurement, not a group.
const maxGroupValues = 1000

// groups finds the groups of rows: in a column, in a file that is named, or in one next to the data.
type groups struct {
	table *Table
	must  bool // the feature of groups must be in the file; in a split after the first it may be all zeros
	found bool // it is

	file *rowFile // nil: there is none
}

// newGroups finds the source of the groups, and opens it if it is a file; nil if there
// are no groups. The groups are numbered together with those before.
func newGroups(t *Table, numbers *GroupNames) (*groups, error) {
	g := &groups{table: t, must: t.Layout.GroupFeature != "" && t.Options.GroupColumn != "" && len(numbers.Names) == 0}
	if t.Layout.Roles[GroupRole] != "" {
		t.Groups = numbers
		return g, warnUnused(t, GroupFile, fmt.Sprintf("groups are in column %q", t.Options.GroupColumn))
	}
	var err error
	if t.Options.Groups != "" {
		if err = warnUnused(t, GroupFile, "groups are in "+t.Options.Groups); err == nil {
			g.file, err = openRows(t.Options.Ctx(), t.Options.Groups)
		}
	} else {
		g.file, err = openRowsBeside(t.Options.Ctx(), GroupFile, t.Path)
	}
	if g.file == nil || err != nil {
		return nil, err
	}
	t.Groups = numbers
	return g, nil
}

// set sets the groups of the next chunk.
func (g *groups) set(c *Chunk) error {
	all := g.table.Groups
	if g.file != nil {
		c.Groups = make([]int, len(c.Labels))
		for r := range c.Groups {
			line, _ := g.file.next()
			c.Groups[r] = all.Number(bytes.TrimSpace(line))
		}
		return nil // end checks the number of lines
	}
	numbers := make([]int, len(c.GroupNames.Names)) // the numbers for all chunks, by the number in this one
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
	return g.file.end(t, "the group of one document a line, an empty line for none")
}

func (g *groups) close() {
	if g != nil {
		g.file.close()
	}
}
