package datasets

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/internal/mapped"
)

// Select copies the given queries, in the given order, into a new Dataset.
func (d *Dataset) Select(queries []int) *Dataset {
	rows := make([]table.Span, len(queries)) // of d
	one := make([]table.Span, len(queries))
	values := make([]table.Span, len(queries))
	offsets := make([]int, 1, len(queries)+1)
	for i, q := range queries {
		from, to := d.Offsets[q], d.Offsets[q+1]
		rows[i], one[i], values[i] = table.Span{From: from, To: to}, table.Span{From: q, To: q + 1}, table.Span{From: from * d.Width(), To: to * d.Width()}
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
		Gains:        gather(d.Gains, rows),
		Logged:       gather(d.Logged, rows),
		Weights:      gather(d.Weights, rows),
		QueryWeights: gather(d.QueryWeights, one),
		Groups:       gather(d.Groups, rows),
		GroupNames:   d.GroupNames,
		SourceRows:   gather(d.SourceRows, rows),
		origin:       table.Origin{Path: d.origin.Path, Parts: d.origin.Parts, Lines: gather(d.origin.Lines, rows)},
	}
}

// gather copies spans of a list, one after another; nil for nil.
func gather[T any](list []T, spans []table.Span) []T {
	if list == nil {
		return nil
	}
	n := 0
	for _, s := range spans {
		n += s.To - s.From
	}
	gathered := make([]T, 0, n)
	for _, s := range spans {
		gathered = append(gathered, list[s.From:s.To]...)
		mapped.Relieve() // reading a few bytes here and there maps much more of a file
	}
	return gathered
}

// InSourceOrder puts values [rows], one for each document, into the order of the file, which
// differs from that of the dataset if a query came back after another one. It panics if the
// lengths disagree.
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

// ByQueries groups the documents of d by other query ids [rows]. The Offsets and QueryIDs of
// d do not matter, unless it has QueryWeights: the documents of a new query must then come
// from queries of one weight. Queries are in the order of their first rows, and their rows
// keep their order. If the rows of each query are consecutive already, the result shares
// memory with d.
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

// regroupWeights is the weights of the queries of the given ids [rows], in the order of their
// first rows; nil if d has none.
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
