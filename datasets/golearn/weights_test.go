package golearn

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
)

var allColumns = GridOptions{QueryColumn: "qid", WeightColumn: "weight", GroupColumn: "group"}

// weighted is the sample with weights and groups, not in the order of the groups.
func weighted() *datasets.Dataset {
	d := sample()
	d.Weights = []float32{.1, 0, 16777217, 3e-9}
	d.Groups, d.GroupNames = []int{2, 0, -1, 2}, []string{"b c", "unused", "d"}
	return d
}

// Weights and groups cross the bridge both ways, from grid to grid and through golearn's
// CSV.
func TestWeightsAndGroupsCross(t *testing.T) {
	for _, names := range [][]string{{"b c", "unused", "d"}, {"16777216", "16777218", "16777217"}, nil} {
		d := weighted()
		d.GroupNames = names
		grid, err := Grid(d, allColumns)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Dataset(grid, allColumns)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, back, d)
		if names == nil {
			names = []string{"0", "1", "2"}
		}
		if !slices.Equal(back.Weights, d.Weights) || !slices.Equal(back.Groups, d.Groups) ||
			!slices.Equal(back.GroupNames, names) || !slices.Equal(back.FeatureNames, d.FeatureNames) {
			t.Errorf("%v %v %q", back.Weights, back.Groups, back.GroupNames)
		}

		var text bytes.Buffer
		if err := base.SerializeInstancesToCSVStream(grid, &text); err != nil {
			t.Fatal(err)
		}
		read, err := base.ParseCSVToInstancesFromReader(bytes.NewReader(text.Bytes()), true)
		if err != nil {
			t.Fatal(err)
		}
		o := allColumns
		o.LabelColumn = "label"
		if back, err = Dataset(read, o); err != nil {
			t.Fatal(err)
		}
		for r, group := range d.Groups {
			is, want := "", ""
			if back.Groups[r] >= 0 {
				is = back.GroupName(back.Groups[r])
			}
			if group >= 0 {
				want = names[group]
			}
			if is != want {
				t.Errorf("row %d: group %q, want %q, in\n%s", r, is, want, text.String())
			}
		}
		if !slices.Equal(back.Weights, d.Weights) {
			t.Errorf("%v in\n%s", back.Weights, text.String())
		}
	}
}

// The documents of a query that comes back keep their weights and groups.
func TestDocumentsOfAQueryThatComesBackKeepTheirWeights(t *testing.T) {
	grid, err := base.ParseCSVToInstancesFromReader(strings.NewReader("label,qid,x,w,g\n1,5,10,1,7\n2,6,11,2,8\n3,5,12,3,7\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Dataset(grid, GridOptions{LabelColumn: "label", WeightColumn: "w", GroupColumn: "g"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Weights, []float32{1, 3, 2}) || !slices.Equal(d.Groups, []int{0, 0, 1}) || !slices.Equal(d.FeatureNames, []string{"x"}) {
		t.Errorf("%v %v %q", d.Weights, d.Groups, d.FeatureNames)
	}
}

func TestDatasetsThatGridsCannotHoldAreErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*datasets.Dataset, *GridOptions)
		want   string
	}{
		{func(d *datasets.Dataset, _ *GridOptions) { d.QueryWeights = []float32{1, 2, 3}[:d.Queries()] }, "sample has weights of queries"},
		{func(_ *datasets.Dataset, o *GridOptions) { o.WeightColumn = "" }, "sample has weights of documents: please name their column, WeightColumn"},
		{func(_ *datasets.Dataset, o *GridOptions) { o.GroupColumn = "" }, "GroupColumn"},
		{func(d *datasets.Dataset, _ *GridOptions) { d.Weights = nil }, `no weights of documents for column "weight"`},
		{func(d *datasets.Dataset, _ *GridOptions) { d.Groups = nil }, `no groups for column "group"`},
		{func(_ *datasets.Dataset, o *GridOptions) { o.GroupColumn = "weight" }, "two columns have the same name"},
		{func(d *datasets.Dataset, _ *GridOptions) { d.GroupNames[1] = "b c" }, `group 1 has the name "b c"`},
		{func(d *datasets.Dataset, _ *GridOptions) { d.GroupNames[2] = "-1" }, `group 2 has the name "-1"`},
	} {
		d, o := weighted(), allColumns
		c.change(d, &o)
		if _, err := Grid(d, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	for text, want := range map[string]string{
		"qid,label,w,g\n1,2,-1,1\n":               `row 1: attribute "w": weight -1: want a number of 0 or more`,
		"qid,label,w,g\n9007199254740993,2,1,1\n": `row 1: attribute "qid": the id 9007199254740992 is not exact in golearn`,
		"qid,label,w,g\n1,2,1,1\n1,2,1,1e300\n":   `row 2: attribute "g": the id 1000`,
		"qid,label,w\n1,2,1\n":                    `no attribute "g" among qid, label, w`,
		"qid,label,w,g\n1,2,x,1\n":                `row 1: attribute "w": it is categorical`,
		"qid,label,w,g\n1,2,1,1\n2,2,1e39,1\n":    `row 2: attribute "w": 1e+39 is infinite or beyond`,
		"qid,g,label\n1,2,1\n":                    `no attribute "w" among qid, g, label`,
	} {
		grid, err := base.ParseCSVToInstancesFromReader(strings.NewReader(text), true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Dataset(grid, GridOptions{LabelColumn: "label", WeightColumn: "w", GroupColumn: "g"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}
