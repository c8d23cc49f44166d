package datasets

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/plrank/plrank/datasets/internal/memory"
	"github.com/plrank/plrank/datasets/internal/text"
)

// Description sums up a dataset. Its JSON is for machines, its String is a table.
type Description struct {
	Name              string         `json:"name"`
	Queries           int            `json:"queries"`
	Documents         int            `json:"documents"`
	Features          int            `json:"features"`  // distinct ids
	Labels            map[string]int `json:"labels"`    // documents by label
	LabelFree         int            `json:"labelFree"` // queries without a label above 0
	DocumentsPerQuery Range          `json:"documentsPerQuery"`
	Constant          []int          `json:"constant"` // ids of features with one value in all documents
	Missing           []int          `json:"missing"`  // ids of features with missing values

	Groups []GroupDescription `json:"groups,omitempty"` // by number; none if documents have no groups

	Weights      *Range `json:"weights,omitempty"`      // of documents; nil if they have none
	QueryWeights *Range `json:"queryWeights,omitempty"` // of queries; nil if they have none

	MissingValues int      `json:"missingValues"` // of all features together
	Warnings      []string `json:"warnings,omitempty"`

	names map[int]string // of features
}

// GroupDescription describes one group of documents.
type GroupDescription struct {
	Name      string  `json:"name"`
	Documents int     `json:"documents"`
	MeanLabel float64 `json:"meanLabel"` // of those that have a label; 0 if none has
}

// Range is where some numbers lie; all 0 if there are none.
type Range struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// describeWeights sums up the weights of all datasets; those of a dataset without weights
// count as 1. It is nil if none has weights, or all are empty.
func describeWeights(datasets []*Dataset, weights func(*Dataset) (list []float32, count int)) *Range {
	r := Range{Min: math.Inf(1)}
	weighted, n := false, 0
	for _, d := range datasets {
		if d == nil {
			continue
		}
		list, count := weights(d)
		weighted = weighted || list != nil
		n += count
		for i := range count {
			w := 1.
			if list != nil {
				w = float64(list[i])
			}
			r.Min, r.Mean, r.Max = min(r.Min, w), r.Mean+w, max(r.Max, w)
		}
	}
	if !weighted || n == 0 {
		return nil
	}
	r.Mean /= float64(n)
	return &r
}

// Describe describes datasets as if they were one, such as the splits of a collection.
// They must have the same FeatureIDs; nil ones are left out.
func Describe(name string, datasets ...*Dataset) *Description {
	d := &Description{Name: name, Labels: map[string]int{}, Constant: []int{}, Missing: []int{}, names: map[int]string{}}
	counts := map[float32]int{}
	first := true
	var ids []int
	var value []float32 // by column: the first that is not missing; NaN until then
	var varies []bool
	var absent []int
	for _, s := range datasets {
		if s == nil {
			continue
		}
		d.Warnings = append(d.Warnings, s.Warnings...)
		if ids == nil {
			ids = s.FeatureIDs
			value, varies, absent = slices.Repeat([]float32{text.Missing}, len(ids)), make([]bool, len(ids)), make([]int, len(ids))
		}
		for i, name := range s.FeatureNames {
			d.names[s.FeatureIDs[i]] = name
		}
		d.Queries += s.Queries()
		d.Documents += s.Rows()
		for q := range s.Queries() {
			labels := s.Labels[s.Offsets[q]:s.Offsets[q+1]]
			n := float64(len(labels))
			if first {
				d.DocumentsPerQuery.Min, first = n, false
			}
			d.DocumentsPerQuery.Min = min(d.DocumentsPerQuery.Min, n)
			d.DocumentsPerQuery.Max = max(d.DocumentsPerQuery.Max, n)
			free := true
			for _, label := range labels {
				counts[label]++
				free = free && label <= 0
			}
			if free {
				d.LabelFree++
			}
		}
		memory.For(len(ids), func(c int) {
			for at := c; at < len(s.Features); at += len(ids) {
				switch x := s.Features[at]; {
				case x != x:
					absent[c]++
				case value[c] != value[c]:
					value[c] = x
				case x != value[c]:
					varies[c] = true
				}
			}
		})
	}
	d.Groups = describeGroups(datasets)
	d.Weights = describeWeights(datasets, func(d *Dataset) ([]float32, int) { return d.Weights, d.Rows() })
	d.QueryWeights = describeWeights(datasets, func(d *Dataset) ([]float32, int) { return d.QueryWeights, d.Queries() })
	d.Features = len(ids)
	if d.Queries > 0 {
		d.DocumentsPerQuery.Mean = float64(d.Documents) / float64(d.Queries)
	}
	for label, n := range counts {
		d.Labels[formatFloat(label)] = n
	}
	for c, id := range ids {
		if !varies[c] && (absent[c] == 0 || absent[c] == d.Documents) {
			d.Constant = append(d.Constant, id)
		}
		if absent[c] > 0 {
			d.Missing = append(d.Missing, id)
			d.MissingValues += absent[c]
		}
	}
	return d
}

// describeGroups counts the documents of every group, and adds up their labels.
func describeGroups(datasets []*Dataset) []GroupDescription {
	type sums struct {
		GroupDescription
		labelled int
	}
	byNumber := map[int]*sums{}
	for _, s := range datasets {
		if s == nil {
			continue
		}
		for r, g := range s.Groups {
			if g < 0 {
				continue
			}
			of := byNumber[g]
			if of == nil {
				of = &sums{GroupDescription: GroupDescription{Name: s.GroupName(g)}}
				byNumber[g] = of
			}
			of.Documents++
			if s.Labels[r] != Unlabelled {
				of.MeanLabel += float64(s.Labels[r])
				of.labelled++
			}
		}
	}
	var groups []GroupDescription
	for _, g := range slices.Sorted(maps.Keys(byNumber)) {
		of := byNumber[g]
		of.MeanLabel /= math.Max(1, float64(of.labelled))
		groups = append(groups, of.GroupDescription)
	}
	return groups
}

// String is a table for people.
func (d *Description) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", what, fmt.Sprintf(format, args...))
	}
	if d.Name != "" {
		line("data", "%s", d.Name)
	}
	line("queries", "%d", d.Queries)
	line("documents", "%d", d.Documents)
	line("documents per query", "%.0f to %.0f, mean %.1f", d.DocumentsPerQuery.Min, d.DocumentsPerQuery.Max, d.DocumentsPerQuery.Mean)
	line("features", "%d", d.Features)
	line("constant features", "%s", d.list(d.Constant))
	line("features with missing values", "%s", d.list(d.Missing))
	line("missing values", "%d (%.2f %%)", d.MissingValues, 100*float64(d.MissingValues)/math.Max(1, float64(d.Documents)*float64(d.Features)))
	for _, weights := range []struct {
		of string
		*Range
	}{{"documents", d.Weights}, {"queries", d.QueryWeights}} {
		if w := weights.Range; w != nil {
			line("weights of "+weights.of, "%g to %g, mean %.3g", w.Min, w.Max, w.Mean)
		}
	}
	line("label-free queries", "%d", d.LabelFree)
	labels := make([]float64, 0, len(d.Labels))
	for label := range d.Labels {
		v, _ := strconv.ParseFloat(label, 32)
		labels = append(labels, v)
	}
	slices.Sort(labels)
	const most = 20
	for i, v := range labels {
		if i == most {
			line("…", "%d more labels", len(labels)-most)
			break
		}
		name := formatFloat(float32(v))
		what := "label " + name
		if v == Unlabelled {
			what = "unlabelled (" + name + ")"
		}
		line(what, "%d (%.1f %%)", d.Labels[name], 100*float64(d.Labels[name])/float64(d.Documents))
	}
	if d.Groups != nil {
		grouped := 0
		for i, g := range d.Groups {
			if grouped += g.Documents; i < most {
				line("group "+g.Name, "%d (%.1f %%), mean label %.3f", g.Documents, 100*float64(g.Documents)/float64(d.Documents), g.MeanLabel)
			}
		}
		if more := len(d.Groups) - most; more > 0 {
			line("…", "%d more groups", more)
		}
		line("documents of no group", "%d", d.Documents-grouped)
	}
	w.Flush()
	return b.String()
}

// list is the number of features and the names of the first ones.
func (d *Description) list(ids []int) string {
	if len(ids) == 0 {
		return "0"
	}
	var names []string
	for _, id := range ids {
		if name := d.names[id]; name != "" {
			names = append(names, name)
		} else {
			names = append(names, strconv.Itoa(id))
		}
	}
	return fmt.Sprintf("%d: %s", len(ids), text.List(names))
}

// formatFloat is the shortest text that reads back as the same float32.
func formatFloat(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }
