package datasets

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/text"
)

// Validate checks that the fields of a dataset fit together: lengths agree,
// offsets and feature ids ascend, labels, gains and base scores are finite, weights are finite
// and not negative. The functions of this package give valid datasets; check those that you make.
func (d *Dataset) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("datasets: %s: %s", d.Name, fmt.Sprintf(format, args...))
	}
	if len(d.Offsets) == 0 || d.Offsets[0] != 0 || d.Offsets[len(d.Offsets)-1] != d.Rows() || !slices.IsSorted(d.Offsets) {
		return bad("offsets must ascend from 0 to the %d rows", d.Rows())
	}
	if err := text.CheckFeatureIDs(d.FeatureIDs); err != nil {
		return bad("%v", err)
	}
	for r, label := range d.Labels {
		if math.IsNaN(float64(label)) || math.IsInf(float64(label), 0) {
			return bad("row %d: label %g is not finite", r, label)
		}
	}
	for r, s := range d.LoggedScores {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return bad("row %d: logged score %g is not finite", r, s)
		}
	}
	for r, g := range d.Gains {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return bad("row %d: gain %g is not finite", r, g)
		}
	}
	for r, s := range d.BaseScores {
		if !reader.IsFinite(s) {
			return bad("row %d: base score %g is not finite", r, s)
		}
	}
	if w := d.Width(); w > 0 && len(d.Features)/w != d.Rows() || len(d.Features) != d.Rows()*w {
		return bad("%d feature values for %d rows of %d", len(d.Features), d.Rows(), w)
	}
	for _, list := range []struct {
		is   bool
		n    int
		of   string
		want int
		each string
	}{
		{true, len(d.QueryIDs), "query ids", d.Queries(), "queries"},
		{d.DocumentIDs != nil, len(d.DocumentIDs), "document ids", d.Rows(), "rows"},
		{d.Gains != nil, len(d.Gains), "gains", d.Rows(), "rows"},
		{d.Logged != nil, len(d.Logged), "logged exposures", d.Rows(), "rows"},
		{d.LoggedScores != nil, len(d.LoggedScores), "logged scores", d.Rows(), "rows"},
		{d.BaseScores != nil, len(d.BaseScores), "base scores", d.Rows(), "rows"},
		{d.Groups != nil, len(d.Groups), "groups", d.Rows(), "rows"},
		{d.SourceRows != nil, len(d.SourceRows), "source rows", d.Rows(), "rows"},
		{d.Levels != nil, len(d.Levels), "levels", d.Width(), "features"},
		{d.FeatureNames != nil, len(d.FeatureNames), "feature names", d.Width(), "features"},
	} {
		if list.is && list.n != list.want {
			return bad("%d %s for %d %s", list.n, list.of, list.want, list.each)
		}
	}
	if err := checkWeights(d.Weights, d.Rows(), "document"); err != nil {
		return bad("%v", err)
	}
	if err := checkWeights(d.QueryWeights, d.Queries(), "query"); err != nil {
		return bad("%v", err)
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

// checkWeights checks the weights of n things; nil is no weights.
func checkWeights(weights []float32, n int, of string) error {
	if weights != nil && len(weights) != n {
		return fmt.Errorf("%d %s weights, want %d", len(weights), of, n)
	}
	for i, w := range weights {
		if !reader.IsWeight(w) {
			return fmt.Errorf("weight %g of %s %d: want a finite number of 0 or more", w, of, i)
		}
	}
	return nil
}
