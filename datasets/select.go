package datasets

import (
	"cmp"
	"fmt"
	"slices"
)

// Select copies the given queries, in the given order, into a new Dataset.
func (d *Dataset) Select(queries []int) *Dataset {
	from := *d
	if d.SourceRows == nil && !slices.IsSorted(queries) { // rows leave the order of the source
		from.SourceRows = d.bySource()
	}
	selected := from.pick(queries)
	selected.Warnings = nil
	selected.Features = gather(nil, d.Features, d.Offsets, queries, d.Width())
	if d.IsSparse() {
		selected.Sparse = Sparse{Starts: []int{0}}
		for _, q := range queries {
			for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
				selected.Sparse.Append(d.Sparse.Row(r))
			}
		}
	}
	return selected
}

// view returns the queries from:to of d, whose features it shares.
func (d *Dataset) view(from, to int) *Dataset {
	queries := make([]int, to-from)
	for i := range queries {
		queries[i] = from + i
	}
	v, first, end := d.pick(queries), d.Offsets[from], d.Offsets[to]
	if d.IsSparse() {
		v.Sparse = d.Sparse.Cut(first, end)
	} else {
		v.Features = d.Dense(nil, first, end)
	}
	return v
}

// pick returns d with these queries, but all features.
func (d *Dataset) pick(queries []int) *Dataset {
	picked := *d
	picked.Offsets = make([]int, 1, len(queries)+1)
	for i, q := range queries {
		picked.Offsets = append(picked.Offsets, picked.Offsets[i]+d.Offsets[q+1]-d.Offsets[q])
	}
	for _, c := range columns {
		c.gather(&picked, d, queries)
	}
	return &picked
}

// InSourceOrder returns values [rows], one for each document, in the order of the file that
// [ReadFile] read, which differs from the order of the dataset if a query came back after another
// one, or if [Dataset.Select] changed it. It panics if the lengths disagree.
func (d *Dataset) InSourceOrder(values []float64) []float64 {
	if len(values) != d.Rows() {
		panic(fmt.Sprintf("datasets: %s: %d values for %d rows", d.Name, len(values), d.Rows()))
	}
	ordered := make([]float64, 0, len(values))
	for _, r := range d.bySource() {
		ordered = append(ordered, values[r])
	}
	return ordered
}

// bySource returns the rows in the order of the source.
func (d *Dataset) bySource() []int {
	rows := make([]int, d.Rows())
	for r := range rows {
		rows[r] = r
	}
	if d.SourceRows != nil {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(d.SourceRows[a], d.SourceRows[b]) })
	}
	return rows
}

// ByQueries puts the documents of each query together, given a dataset in which each document is a query. Queries are in the order of
// their first documents. A warning says if documents were moved.
func (d *Dataset) ByQueries() *Dataset {
	rows, ids, moved := map[string][]int{}, []string(nil), 0
	for r, id := range d.QueryIDs {
		if rows[id] == nil {
			ids = append(ids, id)
		} else if d.QueryIDs[r-1] != id {
			moved++
		}
		rows[id] = append(rows[id], r)
	}
	order, offsets := make([]int, 0, d.Rows()), []int{0}
	for _, id := range ids {
		order = append(order, rows[id]...)
		offsets = append(offsets, len(order))
	}
	grouped := *d
	if moved > 0 {
		grouped = *d.Select(order)
		grouped.Warnings = []string{fmt.Sprintf(
			"%s: queries are not contiguous: documents were moved to earlier ones of their query %d times", d.Name, moved)}
	}
	grouped.QueryIDs, grouped.Offsets = ids, offsets
	return &grouped
}
