package table

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Data are queries and their documents: the fields of a datasets.Dataset, which says what
// they mean.
type Data struct {
	Name       string
	Features   []float32
	Labels     []float32
	Offsets    []int
	QueryIDs   []string
	FeatureIDs []int

	FeatureNames []string
	DocumentIDs  []string
	Weights      []float32
	QueryWeights []float32

	Groups     []int
	GroupNames []string
	SourceRows []int
	Warnings   []string

	Origin
	Unmap func() // gives up the file that Features are in; nil: they are in memory
}

// Rows is the number of documents.
func (d *Data) Rows() int { return len(d.Labels) }

// Origin is the files and lines of rows.
type Origin struct {
	Path  string  // of the file
	Parts []Part  // the files, if there are several
	Lines []int32 // [rows] of the file, from 1; nil: not known
}

// Part is a file of several that data come from.
type Part struct {
	Path string
	Line int // of all parts together, one after another: the line before its first
}

// Where is the file and the line of a row, as in "train.txt:812"; "" if it is not known.
func (o *Origin) Where(row int) string {
	if row >= len(o.Lines) {
		return ""
	}
	path, line := o.Path, int(o.Lines[row])
	if o.Parts != nil {
		p := o.Parts[sort.Search(len(o.Parts), func(i int) bool { return o.Parts[i].Line >= line })-1]
		path, line = p.Path, line-p.Line
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// View is the queries from:to of d; it shares memory with d.
func (d *Data) View(from, to int) *Data {
	first, last, w := d.Offsets[from], d.Offsets[to], len(d.FeatureIDs)
	v := *d
	v.Features = cut(d.Features, first*w, last*w)
	v.Labels = cut(d.Labels, first, last)
	v.QueryIDs = cut(d.QueryIDs, from, to)
	v.DocumentIDs = cut(d.DocumentIDs, first, last)
	v.Weights = cut(d.Weights, first, last)
	v.QueryWeights = cut(d.QueryWeights, from, to)
	v.Groups = cut(d.Groups, first, last)
	v.SourceRows = cut(d.SourceRows, first, last)
	v.Lines = cut(d.Lines, first, last)
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

// Validate checks that the fields fit together; see datasets.Dataset.Validate.
func (d *Data) Validate() error {
	queries := max(0, len(d.Offsets)-1)
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
	if w := len(d.FeatureIDs); w > 0 && len(d.Features)/w != d.Rows() || len(d.Features) != d.Rows()*w {
		return bad("%d feature values for %d rows of %d", len(d.Features), d.Rows(), w)
	}
	for _, list := range []struct {
		is   bool
		n    int
		of   string
		want int
		each string
	}{
		{true, len(d.QueryIDs), "query ids", queries, "queries"},
		{d.DocumentIDs != nil, len(d.DocumentIDs), "document ids", d.Rows(), "rows"},
		{d.Groups != nil, len(d.Groups), "groups", d.Rows(), "rows"},
		{d.SourceRows != nil, len(d.SourceRows), "source rows", d.Rows(), "rows"},
		{d.FeatureNames != nil, len(d.FeatureNames), "feature names", len(d.FeatureIDs), "features"},
	} {
		if list.is && list.n != list.want {
			return bad("%d %s for %d %s", list.n, list.of, list.want, list.each)
		}
	}
	if err := checkWeights(d.Weights, d.Rows(), "document"); err != nil {
		return bad("%v", err)
	}
	if err := checkWeights(d.QueryWeights, queries, "query"); err != nil {
		return bad("%v", err)
	}
	if d.GroupNames != nil {
		for r, g := range d.Groups {
			if g >= len(d.GroupNames) {
				return bad("group %d of row %d has no name: there are %d", g, r, len(d.GroupNames))
			}
		}
	}
	return nil
}

// checkWeights checks the weights of n things; nil is no weights.
func checkWeights(weights []float32, n int, of string) error {
	if weights != nil && len(weights) != n {
		return fmt.Errorf("%d %s weights, want %d", len(weights), of, n)
	}
	for i, w := range weights {
		if !IsWeight(w) {
			return fmt.Errorf("weight %g of %s %d: want a finite number of 0 or more", w, of, i)
		}
	}
	return nil
}
