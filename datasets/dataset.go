package datasets

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/plrank/plrank/internal/mapped"
)

// Dataset is queries and their documents, packed: those of query q are rows
// Offsets[q]:Offsets[q+1].
type Dataset struct {
	Name       string    // where it came from, for messages
	Features   []float32 // rows × Width(), row-major, raw values; NaN is a missing value
	Labels     []float32 // [rows] raw grades; Unlabelled where the source has none
	Offsets    []int     // [queries+1], Offsets[0] = 0
	QueryIDs   []string  // [queries]
	FeatureIDs []int     // [columns] ascending: the id each column has in the file

	FeatureNames []string // [columns], or nil where the source does not name features
	DocumentIDs  []string // [rows], or nil where the source names no documents

	// Weights of documents and of queries, 0 or more; nil: all are 1. How they count
	// is up to the loss and the metric.
	Weights      []float32 // [rows]
	QueryWeights []float32 // [queries]

	Groups     []int    // [rows] the group of each document, for fairness; negative: none; nil: the source has no groups
	GroupNames []string // by group: what the source calls it, the same for all splits; nil: groups have no names
	SourceRows []int    // [rows]: which row of the source it was, from 0; nil where ReadFile or ByQueries left all rows in their places
	Warnings   []string // what was odd about the source but could be read, one line each

	path  string     // of the file it came from
	parts []part     // of the files, where they are several
	lines []int32    // [rows] of that file, from 1; nil: not known
	rows  *rowSource // has the features, while Features is nil; nil: Features has them
}

// Unlabelled is the label of a document whose relevance is not known. Such documents
// are scored like any other, but Open leaves them out of the splits.
const Unlabelled = -1

// Rows is the number of documents.
func (d *Dataset) Rows() int { return len(d.Labels) }

// Queries is the number of queries.
func (d *Dataset) Queries() int { return max(0, len(d.Offsets)-1) }

// Width is the number of features of a document.
func (d *Dataset) Width() int { return len(d.FeatureIDs) }

// Row is the feature vector of document i; it shares memory with d.
func (d *Dataset) Row(i int) []float32 {
	w := d.Width()
	return d.Features[i*w : (i+1)*w : (i+1)*w]
}

// Prefetch tells the system that queries are going to be read, where the features are in
// a file too large to be in memory (see Options.Cache): reading in any order is then
// as fast as the disk is with many requests at once.
func (d *Dataset) Prefetch(queries []int) {
	w := d.Width()
	for _, q := range queries {
		mapped.WillNeed(bytesOf(d.Features[d.Offsets[q]*w : d.Offsets[q+1]*w]))
	}
}

// Where says where row i comes from, as in "train.txt:812", for messages; the name
// and the row where the dataset was not read from a file.
func (d *Dataset) Where(i int) string {
	if i < len(d.lines) && d.parts != nil {
		line := int(d.lines[i])
		p := d.parts[sort.Search(len(d.parts), func(i int) bool { return d.parts[i].line >= line })-1]
		return fmt.Sprintf("%s:%d", p.path, line-p.line)
	}
	if i < len(d.lines) {
		return fmt.Sprintf("%s:%d", d.path, d.lines[i])
	}
	return fmt.Sprintf("%s: row %d", d.Name, i)
}

// Select copies the given queries, in the given order, into a new Dataset.
func (d *Dataset) Select(queries []int) *Dataset {
	rows := make([]span, len(queries)) // of d
	one := make([]span, len(queries))
	values := make([]span, len(queries))
	offsets := make([]int, 1, len(queries)+1)
	for i, q := range queries {
		from, to := d.Offsets[q], d.Offsets[q+1]
		rows[i], one[i], values[i] = span{from, to}, span{q, q + 1}, span{from * d.Width(), to * d.Width()}
		offsets = append(offsets, offsets[i]+to-from)
	}
	return &Dataset{
		Name:         d.Name,
		Features:     gather(d.Features, values),
		Labels:       gather(d.Labels, rows),
		Offsets:      offsets,
		QueryIDs:     gather(d.QueryIDs, one),
		FeatureIDs:   d.FeatureIDs,
		FeatureNames: d.FeatureNames,
		DocumentIDs:  gather(d.DocumentIDs, rows),
		Weights:      gather(d.Weights, rows),
		QueryWeights: gather(d.QueryWeights, one),
		Groups:       gather(d.Groups, rows),
		GroupNames:   d.GroupNames,
		SourceRows:   gather(d.SourceRows, rows),
		path:         d.path,
		parts:        d.parts,
		lines:        gather(d.lines, rows),
	}
}

// gather copies parts of a list, one after another; nil for nil.
func gather[T any](list []T, parts []span) []T {
	if list == nil {
		return nil
	}
	n := 0
	for _, p := range parts {
		n += p.to - p.from
	}
	gathered := make([]T, 0, n)
	for _, p := range parts {
		gathered = append(gathered, list[p.from:p.to]...)
		mapped.Relieve() // a few bytes here and there bring much more of a file to memory
	}
	return gathered
}

// InSourceOrder gives values [rows], one a document of a file, in the order of the
// file. The dataset has another order where a query came back after another one. It panics where the lengths disagree.
func (d *Dataset) InSourceOrder(values []float64) []float64 {
	if len(values) != d.Rows() {
		panic(fmt.Sprintf("datasets: %s: %d values for %d rows", d.Name, len(values), d.Rows()))
	}
	if d.SourceRows == nil {
		return slices.Clone(values)
	}
	ordered := make([]float64, len(values))
	for r, source := range d.SourceRows {
		ordered[source] = values[r]
	}
	return ordered
}

// ByQueries puts the documents of d into other queries: the given ids [rows].
// The Offsets and QueryIDs of d do not matter, unless it has QueryWeights: the
// documents of a new query must then come from queries of one weight.
// Queries come in the order of their first rows, and their rows keep their order.
// Where they stand together already, the result shares memory with d.
func (d *Dataset) ByQueries(queries []string) (*Dataset, error) {
	if len(queries) != d.Rows() {
		return nil, fmt.Errorf("datasets: %s: %d query ids for %d rows", d.Name, len(queries), d.Rows())
	}
	weights, err := d.regroupWeights(queries)
	if err != nil {
		return nil, err
	}
	runs := *d // a query for each run of rows with the same id
	runs.Offsets, runs.QueryIDs, runs.QueryWeights = []int{0}, nil, nil
	byID := map[string][]int{} // runs
	var ids []string
	for r, id := range queries {
		if r > 0 && id != queries[r-1] {
			runs.Offsets = append(runs.Offsets, r)
		}
		if r == 0 || id != queries[r-1] {
			if byID[id] == nil {
				ids = append(ids, id)
			}
			byID[id] = append(byID[id], len(runs.QueryIDs))
			runs.QueryIDs = append(runs.QueryIDs, id)
		}
	}
	if d.Rows() > 0 {
		runs.Offsets = append(runs.Offsets, d.Rows())
	}
	if len(ids) == len(runs.QueryIDs) {
		runs.QueryWeights = weights
		return &runs, runs.Validate()
	}
	if err := runs.Validate(); err != nil {
		return nil, err
	}
	var order []int
	for _, id := range ids {
		order = append(order, byID[id]...)
	}
	if runs.SourceRows == nil {
		for r := range d.Rows() {
			runs.SourceRows = append(runs.SourceRows, r)
		}
	}
	grouped := runs.Select(order)
	offsets, at := []int{0}, 0
	for _, id := range ids {
		at += len(byID[id])
		offsets = append(offsets, grouped.Offsets[at])
	}
	grouped.Offsets, grouped.QueryIDs, grouped.QueryWeights = offsets, ids, weights
	grouped.Warnings = append(slices.Clone(d.Warnings), fmt.Sprintf("%s: %d times a query came back after another one; its documents were put together",
		d.Name, len(order)-len(ids)))
	return grouped, nil
}

// regroupWeights is the weights of the given queries [rows], by first row; nil
// where d has none.
func (d *Dataset) regroupWeights(queries []string) ([]float32, error) {
	if d.QueryWeights == nil {
		return nil, nil
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	var weights []float32
	number := map[string]int{}
	for q, weight := range d.QueryWeights {
		for _, id := range queries[d.Offsets[q]:d.Offsets[q+1]] {
			n, seen := number[id]
			if !seen {
				number[id] = len(weights)
				weights = append(weights, weight)
			} else if weights[n] != weight {
				return nil, fmt.Errorf("datasets: %s: query %q is made of queries of weights %g and %g: want one weight", d.Name, id, weights[n], weight)
			}
		}
	}
	return weights, nil
}

// view is the queries from:to of d; it shares memory with d.
func (d *Dataset) view(from, to int) *Dataset {
	first, last, w := d.Offsets[from], d.Offsets[to], d.Width()
	v := *d
	v.Features = cut(d.Features, first*w, last*w)
	v.Labels = cut(d.Labels, first, last)
	v.QueryIDs = cut(d.QueryIDs, from, to)
	v.DocumentIDs = cut(d.DocumentIDs, first, last)
	v.Weights = cut(d.Weights, first, last)
	v.QueryWeights = cut(d.QueryWeights, from, to)
	v.Groups = cut(d.Groups, first, last)
	v.SourceRows = cut(d.SourceRows, first, last)
	v.lines = cut(d.lines, first, last)
	if d.rows != nil {
		of := *d.rows
		of.from += first
		v.rows = &of
	}
	v.Offsets = make([]int, 0, to-from+1)
	for _, o := range d.Offsets[from : to+1] {
		v.Offsets = append(v.Offsets, o-first)
	}
	return &v
}

// cut is list[from:to] without room to grow; nil for nil.
func cut[T any](list []T, from, to int) []T {
	if list == nil {
		return nil
	}
	return list[from:to:to]
}

// Validate checks that the fields of a dataset fit together: lengths agree,
// offsets and feature ids ascend, labels are finite, weights are finite and not
// negative. Datasets of this package are valid; it is for those put together by hand.
func (d *Dataset) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("datasets: %s: %s", d.Name, fmt.Sprintf(format, args...))
	}
	if len(d.Offsets) == 0 || d.Offsets[0] != 0 || d.Offsets[len(d.Offsets)-1] != d.Rows() || !slices.IsSorted(d.Offsets) {
		return bad("offsets must ascend from 0 to the %d rows", d.Rows())
	}
	for i, id := range d.FeatureIDs {
		if id < 0 || i > 0 && id <= d.FeatureIDs[i-1] {
			return bad("feature ids must ascend, but %d does not", id)
		}
	}
	for r, label := range d.Labels {
		if math.IsNaN(float64(label)) || math.IsInf(float64(label), 0) {
			return bad("row %d: label %g is not finite", r, label)
		}
	}
	if w := d.Width(); w > 0 && len(d.Features)/w != d.Rows() || len(d.Features) != d.Rows()*w {
		return bad("%d feature values for %d rows of %d", len(d.Features), d.Rows(), w)
	}
	if len(d.QueryIDs) != d.Queries() {
		return bad("%d query ids for %d queries", len(d.QueryIDs), d.Queries())
	}
	if d.DocumentIDs != nil && len(d.DocumentIDs) != d.Rows() {
		return bad("%d document ids for %d rows", len(d.DocumentIDs), d.Rows())
	}
	if err := checkWeights(d.Weights, d.Rows(), "document"); err != nil {
		return bad("%v", err)
	}
	if err := checkWeights(d.QueryWeights, d.Queries(), "query"); err != nil {
		return bad("%v", err)
	}
	if d.Groups != nil && len(d.Groups) != d.Rows() {
		return bad("%d groups for %d rows", len(d.Groups), d.Rows())
	}
	if d.GroupNames != nil {
		for r, g := range d.Groups {
			if g >= len(d.GroupNames) {
				return bad("group %d of row %d has no name: there are %d", g, r, len(d.GroupNames))
			}
		}
	}
	if d.SourceRows != nil && len(d.SourceRows) != d.Rows() {
		return bad("%d source rows for %d rows", len(d.SourceRows), d.Rows())
	}
	if d.FeatureNames != nil && len(d.FeatureNames) != d.Width() {
		return bad("%d feature names for %d features", len(d.FeatureNames), d.Width())
	}
	return nil
}

// checkWeights checks the weights of n things; nil is no weights.
func checkWeights(weights []float32, n int, of string) error {
	if weights != nil && len(weights) != n {
		return fmt.Errorf("%d %s weights, want %d", len(weights), of, n)
	}
	for i, w := range weights {
		if !isWeight(w) {
			return fmt.Errorf("weight %g of %s %d: want a finite number of 0 or more", w, of, i)
		}
	}
	return nil
}

// isWeight tells whether a number can be a weight.
func isWeight(w float32) bool { return w >= 0 && w <= math.MaxFloat32 }

// String says in one line what the dataset holds.
func (d *Dataset) String() string {
	return fmt.Sprintf("%s: %d queries, %d documents, %d features", d.Name, d.Queries(), d.Rows(), d.Width())
}
