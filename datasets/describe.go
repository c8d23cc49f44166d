package datasets

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/plrank/plrank/internal/text"
)

// Description sums up a dataset, as JSON for programs, and by String as a table for people.
type Description struct {
	Name              string         `json:"name"`
	Queries           int            `json:"queries"`
	Documents         int            `json:"documents"`
	Features          int            `json:"features"`               // distinct ids
	Labels            map[string]int `json:"labels"`                 // documents by label
	LabelColumns      []string       `json:"labelColumns,omitempty"` // one, unless files differ; nil: the format has no names
	LabelFree         int            `json:"labelFree"`              // queries without a label above 0
	DocumentsPerQuery Range          `json:"documentsPerQuery"`
	Constant          []int          `json:"constant"`          // ids of features with one value in all documents
	ConstantInQueries []int          `json:"constantInQueries"` // ids of query features: others with one value in all documents of each query
	Missing           []int          `json:"missing"`           // ids of features with missing values

	Groups []GroupDescription `json:"groups,omitempty"` // by number; none if documents have no groups

	Weights      *Range `json:"weights,omitempty"`      // of documents; nil if they have none
	QueryWeights *Range `json:"queryWeights,omitempty"` // of queries; nil if they have none
	BaseScores   *Range `json:"baseScores,omitempty"`   // of documents; nil if they have none

	MissingValues int      `json:"missingValues"` // of all features together
	Warnings      []string `json:"warnings,omitempty"`

	FeatureList []FeatureDescription `json:"featureList"` // then columns of text that were left out
}

// GroupDescription describes one group of documents.
type GroupDescription struct {
	Name      string  `json:"name"`
	Documents int     `json:"documents"`
	MeanLabel float64 `json:"meanLabel"` // of documents with a label; 0 if there are none
}

// Range describes the distribution of some numbers; all fields are 0 if there are none.
type Range struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

func newRange[T int | float32](values []T) Range {
	if len(values) == 0 {
		return Range{}
	}
	sum := 0.
	for _, v := range values {
		sum += float64(v)
	}
	return Range{float64(slices.Min(values)), sum / float64(len(values)), float64(slices.Max(values))}
}

// Describe sums up several datasets as if they were one, such as the splits of a collection. They must have the same FeatureIDs;
// nil ones are left out.
func Describe(name string, datasets ...*Dataset) *Description {
	datasets = slices.DeleteFunc(slices.Clone(datasets), func(s *Dataset) bool { return s == nil })
	d := &Description{Name: name, Labels: map[string]int{}, Constant: []int{}, ConstantInQueries: []int{}, Missing: []int{}}
	counts := map[float32]int{}
	var sizes []int // of queries
	for i, s := range datasets {
		if s.Labels == nil && s.Queries() > 0 { // what is only scored may have none
			own := *s
			own.Labels = slices.Repeat([]float32{Unlabelled}, s.Offsets[s.Queries()])
			s, datasets[i] = &own, &own
		}
		d.Warnings = append(d.Warnings, s.Warnings...)
		for _, name := range s.origin.LabelColumns {
			if !slices.Contains(d.LabelColumns, name) {
				d.LabelColumns = append(d.LabelColumns, name)
			}
		}
		d.Queries += s.Queries()
		d.Documents += s.Rows()
		for q := range s.Queries() {
			labels := s.Labels[s.Offsets[q]:s.Offsets[q+1]]
			sizes = append(sizes, len(labels))
			for _, label := range labels {
				counts[label]++
			}
			if !slices.ContainsFunc(labels, func(label float32) bool { return label > 0 }) {
				d.LabelFree++
			}
		}
	}
	for label, n := range counts {
		d.Labels[formatFloat(label)] = n
	}
	d.DocumentsPerQuery = newRange(sizes)
	d.describeFeatures(datasets)
	d.Groups = describeGroups(datasets)
	d.Weights = describeNumbers(datasets, d.Documents, func(s *Dataset) []float32 { return s.Weights })
	d.QueryWeights = describeNumbers(datasets, d.Queries, func(s *Dataset) []float32 { return s.QueryWeights })
	d.BaseScores = describeNumbers(datasets, 0, func(s *Dataset) []float32 { return s.BaseScores })
	return d
}

// describeFeatures describes the features, and lists the constant ones and the ones with missing values.
func (d *Description) describeFeatures(datasets []*Dataset) {
	if len(datasets) == 0 {
		return
	}
	d.Features = datasets[0].Width()
	d.FeatureList = describeColumns(datasets)
	for _, f := range d.FeatureList[:d.Features] {
		if f.Use == useConstant {
			d.Constant = append(d.Constant, f.ID)
		} else if strings.HasPrefix(f.Use, useQuery) {
			d.ConstantInQueries = append(d.ConstantInQueries, f.ID)
		}
		if f.Missing > 0 {
			d.Missing = append(d.Missing, f.ID)
			d.MissingValues += f.Missing
		}
	}
}

// describeNumbers sums up a column of all datasets, which is 1 for things without a value if there are
// n of them. It is nil if no dataset has the column, or all are empty.
func describeNumbers(datasets []*Dataset, n int, column func(*Dataset) []float32) *Range {
	var all []float32
	for _, d := range datasets {
		all = append(all, column(d)...)
	}
	if all == nil {
		return nil
	}
	r := newRange(append(all, slices.Repeat([]float32{1}, max(0, n-len(all)))...))
	return &r
}

// describeGroups counts the documents of every group, and adds up their labels.
func describeGroups(datasets []*Dataset) (groups []GroupDescription) {
	byNumber, labelled := map[int]*GroupDescription{}, map[int]int{}
	for _, s := range datasets {
		for r, g := range s.Groups {
			if g < 0 {
				continue
			}
			group := byNumber[g]
			if group == nil {
				group = &GroupDescription{Name: s.GroupName(g)}
				byNumber[g] = group
			}
			group.Documents++
			if s.Labels[r] != Unlabelled {
				group.MeanLabel += float64(s.Labels[r])
				labelled[g]++
			}
		}
	}
	for _, g := range slices.Sorted(maps.Keys(byNumber)) {
		byNumber[g].MeanLabel /= float64(max(1, labelled[g]))
		groups = append(groups, *byNumber[g])
	}
	return groups
}

// mostLines is how many labels, and how many groups, the table has.
const mostLines = 20

// String returns a table.
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
	line("query features", "%s", d.list(d.ConstantInQueries))
	line("features with missing values", "%s", d.list(d.Missing))
	line("missing values", "%d (%.2f %%)", d.MissingValues, 100*float64(d.MissingValues)/math.Max(1, float64(d.Documents)*float64(d.Features)))
	for i, r := range []*Range{d.Weights, d.QueryWeights, d.BaseScores} {
		if r != nil {
			line([]string{"weights of documents", "weights of queries", "base scores"}[i], "%g to %g, mean %.3g", r.Min, r.Max, r.Mean)
		}
	}
	if d.LabelColumns != nil {
		line("label column", "%s", text.List(d.LabelColumns))
	}
	line("label-free queries", "%d", d.LabelFree)
	d.labelLines(line)
	d.groupLines(line)
	w.Flush()
	return b.String()
}

func (d *Description) labelLines(line func(what, format string, args ...any)) {
	var labels []float64
	for label := range d.Labels {
		v, _ := strconv.ParseFloat(label, 32)
		labels = append(labels, v)
	}
	slices.Sort(labels)
	for _, v := range labels[:min(len(labels), mostLines)] {
		name := formatFloat(float32(v))
		what := "label " + name
		if v == Unlabelled {
			what = "unlabelled (" + name + ")"
		}
		line(what, "%s", d.share(d.Labels[name]))
	}
	if more := len(labels) - mostLines; more > 0 {
		line("…", "%d more labels", more)
	}
}

func (d *Description) groupLines(line func(what, format string, args ...any)) {
	if d.Groups == nil {
		return
	}
	grouped := 0
	for i, g := range d.Groups {
		if grouped += g.Documents; i < mostLines {
			line("group "+g.Name, "%s, mean label %.3f", d.share(g.Documents), g.MeanLabel)
		}
	}
	if more := len(d.Groups) - mostLines; more > 0 {
		line("…", "%d more groups", more)
	}
	line("documents of no group", "%d", d.Documents-grouped)
}

// share is a number of documents, and its part of all.
func (d *Description) share(documents int) string {
	return fmt.Sprintf("%d (%.1f %%)", documents, 100*float64(documents)/float64(d.Documents))
}

// list is the number of features, whose ids ascend, and the names of the first ones.
func (d *Description) list(ids []int) string {
	if len(ids) == 0 {
		return "0"
	}
	var names []string
	for _, f := range d.FeatureList[:d.Features] {
		if _, listed := slices.BinarySearch(ids, f.ID); listed {
			names = append(names, f.Name)
		}
	}
	return fmt.Sprintf("%d: %s", len(ids), text.List(names))
}
