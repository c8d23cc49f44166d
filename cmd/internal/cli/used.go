package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// UsedFeatures are the features that a model uses, and which of them have had a value other than 0.
type UsedFeatures struct {
	ids   []int
	names map[int]string // if the model has any
	seen  []bool
}

// NewUsedFeatures is the features of a model, before any document was seen.
func NewUsedFeatures(model *ranker.Model) UsedFeatures {
	ids, names := model.UsedFeatures(), map[int]string{}
	for column, name := range model.FeatureNames() {
		names[model.FeatureIDs()[column]] = name
	}
	return UsedFeatures{ids, names, make([]bool, len(ids))}
}

// Add looks at documents.
func (u UsedFeatures) Add(d *datasets.Dataset) {
	for i, id := range u.ids {
		column, ok := slices.BinarySearch(d.FeatureIDs, id)
		for row := 0; row < d.Rows() && ok && !u.seen[i]; row++ {
			u.seen[i] = d.Row(row)[column] != 0
		}
	}
}

// Lacking is a warning of the features that are 0 in all documents, as those are that a
// file does not mention; none if there are none.
func (u UsedFeatures) Lacking(name string) (warnings []string) {
	var lacking []string
	for i, id := range u.ids {
		if !u.seen[i] {
			lacking = append(lacking, cmp.Or(u.names[id], strconv.Itoa(id)))
		}
	}
	const most = 10
	n := len(lacking)
	switch {
	case n == 0:
		return nil
	case n > most:
		lacking = append(lacking[:most], "…")
	}
	return []string{fmt.Sprintf("%s: %d of the %d features that the model uses are missing, or 0 everywhere: %s", name, n, len(u.ids), strings.Join(lacking, ", "))}
}
