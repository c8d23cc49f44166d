package datasets

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/sparse"
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

// Sparse holds the features of documents that are mostly 0, document by document: of document i, Columns[j] has the value Values[j]
// for j from Starts[i] to Starts[i+1]-1. Columns ascend within a document, and features that are not there are 0.
type Sparse = sparse.Rows

// IsSparse reports whether d has its features in Sparse, as ReadFile and Open choose for data with many features that are mostly 0.
func (d *Dataset) IsSparse() bool { return d.Sparse.Starts != nil }

// Row returns the features of document i; they share memory with d unless it is sparse.
func (d *Dataset) Row(i int) []float32 { return d.Dense(nil, i, i+1) }

// Value returns the feature of document i in a column.
func (d *Dataset) Value(i, column int) float32 {
	if d.IsSparse() {
		return d.Sparse.At(i, column)
	}
	return d.Features[i*d.Width()+column]
}

// Varying returns the columns that take two values, or are present and missing, among all documents or, with within, among the
// documents of a query.
func (d *Dataset) Varying(within bool) []int {
	if d.IsSparse() {
		return d.Sparse.Varying(d.Width(), d.Offsets, within)
	}
	return num.Varying(d.Features, d.Width(), d.Offsets, within)
}

// Dense returns the features of documents from to to-1, Width() each. They share memory with d or, if d is sparse, use room if there
// is enough.
func (d *Dataset) Dense(room []float32, from, to int) []float32 {
	w := d.Width()
	if !d.IsSparse() {
		return d.Features[from*w : to*w : to*w]
	}
	room = num.Sized(room, (to-from)*w)
	rows := d.Sparse.Cut(from, to)
	rows.Dense(room, w, nil)
	return room
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
