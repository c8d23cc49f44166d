package datasets

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// Select copies the given queries, in the given order, into a new Dataset.
func (d *Dataset) Select(queries []int) *Dataset {
	from, selected := *d, *d
	if d.SourceRows == nil && !slices.IsSorted(queries) { // rows leave the order of the source
		from.SourceRows = d.bySource()
	}
	selected.Warnings, selected.Offsets = nil, make([]int, 1, len(queries)+1)
	for i, q := range queries {
		selected.Offsets = append(selected.Offsets, selected.Offsets[i]+d.Offsets[q+1]-d.Offsets[q])
	}
	selected.Features = gather(nil, d.Features, d.Offsets, queries, d.Width())
	if d.IsSparse() {
		selected.Sparse = Sparse{Starts: []int{0}}
		for _, q := range queries {
			for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
				selected.Sparse.Append(d.Sparse.Row(r))
			}
		}
	}
	for _, c := range columns {
		c.gather(&selected, &from, queries)
	}
	return &selected
}

// view returns the queries from:to of d; it shares memory with d.
func (d *Dataset) view(from, to int) *Dataset {
	rows, w := reader.Span{From: d.Offsets[from], To: d.Offsets[to]}, d.Width()
	v := *d
	if d.IsSparse() {
		v.Sparse = d.Sparse.Cut(rows.From, rows.To)
	} else {
		v.Features = d.Features[rows.From*w : rows.To*w : rows.To*w]
	}
	for _, c := range columns {
		c.cut(&v, d, rows, reader.Span{From: from, To: to})
	}
	v.Offsets = nil
	for _, o := range d.Offsets[from : to+1] {
		v.Offsets = append(v.Offsets, o-rows.From)
	}
	return &v
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
