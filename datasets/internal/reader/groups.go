package reader

import (
	"cmp"
	"fmt"

	"github.com/plrank/plrank/datasets/schema"
)

// addGroups finds the groups of rows: in a column, in a file that is named, or in one next to the data. They are numbered together
// with those before.
func (s *scan) addGroups() error {
	beside, err := GroupFile.Find(s.Path)
	if err != nil {
		return err
	}
	column, path := s.Layout.Roles[schema.Group] != "", cmp.Or(s.o.Groups, beside)
	switch {
	case column:
		s.warnUnused(beside, fmt.Sprintf("groups are in column %q", s.o.GroupColumn))
	case s.o.Groups != "":
		s.warnUnused(beside, "groups are in "+s.o.Groups)
	}
	if column || path != "" {
		s.Groups = &s.Names.Groups
	}
	if !column && path != "" {
		addFile(s, path, "the group of one document a line, an empty line for none",
			func(line []byte) (int, error) { return s.Groups.Number(line), nil }, func(c *Chunk, list []int) { c.Groups = list })
	}
	return nil
}
