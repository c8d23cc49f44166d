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
	selected.Warnings, selected.unmap, selected.Offsets = nil, nil, make([]int, 1, len(queries)+1)
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

// ByQueries returns the documents of d grouped by other query ids [rows]. Queries are in the order of their first rows, and
// rows keep their order. It returns an error if the documents of a new query come from queries of different QueryWeights.
func (d *Dataset) ByQueries(queries []string) (*Dataset, error) {
	if len(queries) != d.Rows() {
		return nil, fmt.Errorf("datasets: %s: %d query ids for %d rows", d.Name, len(queries), d.Rows())
	}
	if d.QueryWeights != nil {
		if err := d.Validate(); err != nil {
			return nil, err
		}
	}
	each := *d // with a query for each row
	each.QueryIDs, each.Offsets, each.QueryWeights = queries, []int{0}, nil
	rowsOf, ids, moved := map[string][]int{}, []string(nil), 0
	for r, id := range queries {
		each.Offsets = append(each.Offsets, r+1)
		if rowsOf[id] == nil {
			ids = append(ids, id)
		} else if queries[r-1] != id {
			moved++
		}
		rowsOf[id] = append(rowsOf[id], r)
	}
	for q, weight := range d.QueryWeights {
		each.QueryWeights = append(each.QueryWeights, slices.Repeat([]float32{weight}, d.Offsets[q+1]-d.Offsets[q])...)
	}
	if moved > 0 && d.SourceRows == nil {
		each.SourceRows = each.Offsets[:d.Rows()]
	}
	if err := each.Validate(); err != nil {
		return nil, err
	}
	var order []int
	for _, id := range ids {
		order = append(order, rowsOf[id]...)
	}
	grouped := each.Select(order)
	weights := grouped.QueryWeights
	grouped.Offsets, grouped.QueryIDs, grouped.QueryWeights, grouped.Warnings = []int{0}, ids, nil, slices.Clone(d.Warnings)
	for q, id := range ids {
		from := grouped.Offsets[q]
		to := from + len(rowsOf[id])
		grouped.Offsets = append(grouped.Offsets, to)
		if weights == nil {
			continue
		}
		grouped.QueryWeights = append(grouped.QueryWeights, weights[from])
		for _, w := range weights[from:to] {
			if w != weights[from] {
				return nil, fmt.Errorf("datasets: %s: query %q has rows of weights %g and %g: want one weight", d.Name, id, weights[from], w)
			}
		}
	}
	if moved > 0 {
		grouped.Warnings = append(grouped.Warnings, fmt.Sprintf(
			"%s: queries are not contiguous: documents were moved to earlier ones of their query %d times", d.Name, moved))
	}
	return grouped, nil
}
