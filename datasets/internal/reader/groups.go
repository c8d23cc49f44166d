package reader

import (
	"fmt"

	"github.com/plrank/plrank/datasets/schema"
)

// maxGroupValues bounds the values of a feature by which documents are
// grouped, in all splits: one that has more is a measurement, not a group.
const maxGroupValues = 1000

// openGroups finds the groups of rows: in a column, in a file that is named, or in one next to the data, which it opens.
// They are numbered together with those before.
func (s *scan) openGroups() (err error) {
	var f *rowFile
	o, column := s.Options, s.Layout.Roles[schema.Group] != ""
	switch {
	case column:
		// In a split after the first the feature may be all zeros.
		s.lacksGroups = s.Layout.GroupFeature != "" && o.GroupColumn != "" && len(s.Names.Groups.Names) == 0
		err = warnUnused(s.Table, GroupFile, fmt.Sprintf("groups are in column %q", o.GroupColumn))
	case o.Groups != "":
		if err = warnUnused(s.Table, GroupFile, "groups are in "+o.Groups); err == nil {
			f, err = openRows(o.Ctx(), o.Groups)
		}
	default:
		f, err = openRowsBeside(o.Ctx(), GroupFile, s.Path)
	}
	if column || f != nil {
		s.Groups = &s.Names.Groups
	}
	s.addFile(f, "the group of one document a line, an empty line for none", func(c *Chunk) {
		c.Groups = nextRows(f, len(c.Labels), func(line []byte) (int, error) { return s.Groups.Number(line), nil })
	})
	return err
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
