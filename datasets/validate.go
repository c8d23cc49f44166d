package datasets

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/text"
)

// Validate returns an error unless the fields of a dataset fit together: lengths agree,
// offsets and feature ids ascend, labels are 0 or more or [Unlabelled], gains and base scores are finite,
// weights are finite and not negative. Datasets by functions of this package are valid.
func (d *Dataset) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("datasets: %s: %s", d.Name, fmt.Sprintf(format, args...))
	}
	if len(d.Offsets) == 0 || d.Offsets[0] != 0 || d.Offsets[len(d.Offsets)-1] != d.Rows() || !slices.IsSorted(d.Offsets) {
		return bad("offsets must ascend from 0 to the number of labels, %d", d.Rows())
	}
	if err := text.CheckFeatureIDs(d.FeatureIDs); err != nil {
		return bad("%v", err)
	}
	if err := d.checkValues(d.Rows()); err != nil {
		return bad("%v", err)
	}
	if len(d.QueryIDs) != d.Queries() {
		return bad("%d query ids for %d queries", len(d.QueryIDs), d.Queries())
	}
	for _, c := range columns {
		if err := c.check(d); err != nil {
			return bad("%v", err)
		}
	}
	if n := len(d.Levels); d.Levels != nil && n != d.Width() {
		return bad("%d levels for %d features", n, d.Width())
	}
	if n := len(d.FeatureNames); d.FeatureNames != nil && n != d.Width() {
		return bad("%d feature names for %d features", n, d.Width())
	}
	if n := len(d.Vectors.Names); n != len(d.Vectors.Dimensions) || len(d.VectorAt) != n*d.Rows() && d.VectorAt != nil {
		return bad("%d vectors, %d dimensions, and %d places for %d rows", n, len(d.Vectors.Dimensions), len(d.VectorAt), d.Rows())
	}
	for i, at := range d.VectorAt {
		if n := d.Vectors.Dimensions[i%len(d.Vectors.Names)]; n < 0 || at != reader.NoVector && (at < 0 || at > len(d.Vectors.Values)-n) {
			return bad("row %d: a vector of %d numbers begins at %d of %d", i/len(d.Vectors.Names), n, at, len(d.Vectors.Values))
		}
	}
	if d.GroupNames != nil {
		for r, g := range d.Groups {
			if g >= len(d.GroupNames) {
				return bad("group %d of row %d has no name: there are %d", g, r, len(d.GroupNames))
			}
		}
	}
	return nil
}

// checkValues returns an error unless there are features of a number of documents.
func (d *Dataset) checkValues(rows int) error {
	w := d.Width()
	switch {
	case d.IsSparse() && (d.Features != nil || d.Levels != nil):
		return errors.New("features that are sparse, and others or texts as well: want sparse numbers alone")
	case d.IsSparse() && d.Sparse.Len() != rows:
		return fmt.Errorf("%d sparse rows for %d documents", d.Sparse.Len(), rows)
	case d.IsSparse():
		return d.Sparse.Check(w)
	case w > 0 && len(d.Features)/w != rows || len(d.Features) != rows*w:
		return fmt.Errorf("%d feature values for %d documents of %d features", len(d.Features), rows, w)
	}
	return nil
}
