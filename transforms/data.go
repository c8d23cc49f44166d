package transforms

import (
	"strconv"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/sparse"
)

// Data holds the documents that a transform is fitted on. The fields are as in datasets.Dataset, from which
// datasets.FitTransform makes it.
type Data struct {
	Name        string
	Features    []float32 // rows × Width(), row-major; NaN is a missing value
	Sparse      sparse.Rows
	Offsets     []int // the documents of query q are rows Offsets[q]:Offsets[q+1]
	FeatureIDs  []int // [columns] ascending
	Levels      [][]string
	FeatureName func(column int) string // for messages
	Where       func(row int) string    // a row comes from, for messages
}

// Rows returns the number of documents.
func (d *Data) Rows() int {
	if len(d.Offsets) == 0 {
		return 0
	}
	return d.Offsets[len(d.Offsets)-1]
}

// Queries returns the number of queries.
func (d *Data) Queries() int { return max(0, len(d.Offsets)-1) }

// Width returns the number of features of a document.
func (d *Data) Width() int { return len(d.FeatureIDs) }

// Row returns the features of document i, which is not sparse; they share memory with d.
func (d *Data) Row(i int) []float32 {
	w := d.Width()
	return d.Features[i*w : (i+1)*w : (i+1)*w]
}

// varying returns the columns that vary among all documents, or within a query.
func (d *Data) varying(within bool) []int {
	if d.Sparse.Starts != nil {
		return d.Sparse.Varying(d.Width(), d.Offsets, within)
	}
	return num.Varying(d.Features, d.Width(), d.Offsets, within)
}

// hasFeature reports whether a feature has the name.
func (d *Data) hasFeature(name string) bool {
	for column := range d.FeatureIDs {
		if d.FeatureName(column) == name {
			return true
		}
	}
	return false
}

// ids returns the ids of the features as words.
func (d *Data) ids() (words []string) {
	for _, id := range d.FeatureIDs {
		words = append(words, strconv.Itoa(id))
	}
	return words
}
