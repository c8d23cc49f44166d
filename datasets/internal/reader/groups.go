package reader

import (
	"cmp"
	"fmt"

	"github.com/plrank/plrank/datasets/schema"
)

// maxGroupValues bounds the values of a feature by which documents are
// grouped, in all splits: one that has more is a measurement, not a group.
const maxGroupValues = 1000

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
		// In a split after the first the feature may be all zeros.
		s.lacksGroups = s.Layout.GroupFeature != "" && s.o.GroupColumn != "" && len(s.Names.Groups.Names) == 0
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

// checkGroups checks the feature of groups in the next chunk.
func (s *scan) checkGroups(c *Chunk) error {
	s.lacksGroups = s.lacksGroups && !c.HasGroups
	if feature := s.Layout.GroupFeature; feature != "" && len(s.Groups.Names) > maxGroupValues {
		return fmt.Errorf("datasets: %s: feature %s has more than %d values: too many for groups of documents", s.Path, feature, maxGroupValues)
	}
	return nil
}

// errorOfGroups returns an error if the feature of groups is not in the file, but must be.
func (s *scan) errorOfGroups() error {
	if !s.lacksGroups {
		return nil
	}
	ids := "there are no features"
	if n := len(s.IDs); n > 0 {
		ids = fmt.Sprintf("ids go from %d to %d", s.IDs[0], s.IDs[n-1])
	}
	return fmt.Errorf("datasets: %s: no feature %s to group documents by: %s", s.Path, s.Layout.GroupFeature, ids)
}
