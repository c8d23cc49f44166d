package datasets

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/memory"
)

// Unlabelled is the label of a document whose relevance is not known. Such documents
// are scored like any other, but Open leaves them out of the splits.
const Unlabelled = -1

// Rows returns the number of documents.
func (d *Dataset) Rows() int { return len(d.Labels) }

// HighestLabel returns the highest label, 0 if d is nil or has none above it.
func (d *Dataset) HighestLabel() float64 {
	if d == nil || len(d.Labels) == 0 {
		return 0
	}
	return float64(max(0, slices.Max(d.Labels)))
}

// Queries returns the number of queries.
func (d *Dataset) Queries() int { return max(0, len(d.Offsets)-1) }

// Width returns the number of features of a document.
func (d *Dataset) Width() int { return len(d.FeatureIDs) }

// Row returns the features of document i; they share memory with d.
func (d *Dataset) Row(i int) []float32 {
	w := d.Width()
	return d.Features[i*w : (i+1)*w : (i+1)*w]
}

// Prefetch tells the system which queries will be read soon. It speeds up reading in any order if the features are in a file
// larger than memory, see Options.Cache.
func (d *Dataset) Prefetch(queries []int) {
	w := d.Width()
	for _, q := range queries {
		file.WillNeed(memory.Bytes(d.Features[d.Offsets[q]*w : d.Offsets[q+1]*w]))
	}
}

// Where returns the file and line of row i for messages, as in "train.txt:812", or the name of the dataset and the row if
// these are not known.
func (d *Dataset) Where(i int) string {
	if where := d.origin.Where(i); where != "" {
		return where
	}
	return fmt.Sprintf("%s: row %d", d.Name, i)
}

// FeatureName returns the name of the feature in a column: its id if features have no names.
func (d *Dataset) FeatureName(column int) string {
	if d.FeatureNames == nil || d.FeatureNames[column] == "" {
		return strconv.Itoa(d.FeatureIDs[column])
	}
	return d.FeatureNames[column]
}

// Choose returns the columns of the features that a word stands for: a name, else an id, else a
// pattern of names, see ReadOptions.Features. It returns an error if there are none.
func (d *Dataset) Choose(word string) ([]int, error) {
	columns, err := reader.Choose(word, d.FeatureIDs, d.FeatureNames)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", d.Name, err)
	}
	return columns, nil
}

// GroupName returns the name of a group: its number if groups have no names.
func (d *Dataset) GroupName(group int) string {
	if d.GroupNames == nil {
		return strconv.Itoa(group)
	}
	return d.GroupNames[group]
}

// String returns one line with the name and the numbers of queries, documents and features.
func (d *Dataset) String() string {
	return fmt.Sprintf("%s: %d queries, %d documents, %d features", d.Name, d.Queries(), d.Rows(), d.Width())
}
