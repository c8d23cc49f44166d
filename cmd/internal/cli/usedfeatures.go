package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/ranker"
)

// UsedFeatures holds the features that a model uses, and which of them have had no value other than 0.
type UsedFeatures struct {
	model   *ranker.Model
	n       int
	missing []int      // ids
	plain   bool       // some data have no names, as LETOR text
	unknown text.Tally // categories that are numbers
}

// NewUsedFeatures returns the features of a model, before any document was seen.
func NewUsedFeatures(model *ranker.Model) *UsedFeatures {
	used := model.UsedFeatures()
	return &UsedFeatures{model: model, n: len(used), missing: used, unknown: text.Tally{}}
}

// Add looks at documents.
func (u *UsedFeatures) Add(d *datasets.Dataset) {
	u.plain = u.plain || d.FeatureNames == nil
	has := make([]bool, d.Width()) // a value other than 0
	for _, column := range d.Sparse.Columns {
		has[column] = true
	}
	u.missing = slices.DeleteFunc(u.missing, func(id int) bool {
		column, ok := slices.BinarySearch(d.FeatureIDs, id)
		for row := 0; ok && row < d.Rows() && !has[column] && !d.IsSparse(); row++ {
			has[column] = d.Value(row, column) != 0
		}
		return ok && has[column]
	})
	if f := u.model.Foreign(); f != nil {
		for column, known := range f.Categories {
			for row := range d.Rows() {
				if v := d.Value(row, column); v == v && !known[float32(math.Trunc(float64(v)))] {
					u.unknown.Add(d.FeatureIDs[column], strconv.FormatFloat(float64(v), 'f', -1, 32), 1)
				}
			}
		}
	}
}

// Missing returns a warning that names the features that are 0 in all documents of a file, as those are that it does
// not mention; none if there are no such features. What is to be known of a forest of another library comes before.
func (u *UsedFeatures) Missing(file string) (warnings []string) {
	ids, named := u.model.FeatureIDs(), u.model.FeatureNames()
	name := func(id int) string {
		if column, ok := slices.BinarySearch(ids, id); ok && named != nil {
			return cmp.Or(named[column], strconv.Itoa(id))
		}
		return strconv.Itoa(id)
	}
	if f := u.model.Foreign(); f != nil {
		warnings = slices.Clone(f.Warnings)
		if f.Numbering != "" && (u.plain || f.Names == nil) {
			warnings = append(warnings, fmt.Sprintf("%s: features are found by id, which the %s model does not name: %s", file, f.Library,
				f.Numbering))
		}
		for _, warning := range u.unknown.Unknown(name) {
			warnings = append(warnings, file+": "+warning)
		}
		words := func(levels []string) bool { return levels != nil && !text.FixedLevels(levels, false).HasNumbers() }
		if u.plain && slices.ContainsFunc(f.Levels, words) {
			warnings = append(warnings, file+": the model has categories of text, and the data numbers: these are taken for positions in the "+
				"lists of its texts, from 1")
		}
	}
	if len(u.missing) == 0 {
		return warnings
	}
	var names []string
	for _, id := range u.missing {
		names = append(names, name(id))
	}
	return append(warnings, fmt.Sprintf("%s: %d of the %d features that the model uses are missing, or 0 everywhere: %s", file, len(names),
		u.n, text.List(names)))
}

// FeatureValue returns a value of a feature as the file has it: a number or a text, nil if it is missing.
func FeatureValue(d *datasets.Dataset, value float32, column int) any {
	switch {
	case value != value:
		return nil
	case d.Levels == nil || d.Levels[column] == nil:
		return value
	case value == 0:
		return "(not in the training data)"
	}
	return d.Levels[column][int(value)-1]
}
