package table

import (
	"fmt"
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
