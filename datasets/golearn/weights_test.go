package golearn

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
)

var allColumns = GridOptions{QueryColumn: "qid", WeightColumn: "weight", QueryWeightColumn: "query weight", GroupColumn: "group"}

// weighted is the sample with weights and groups, not in the order of the groups.
func weighted() *datasets.Dataset {
	d := sample()
	d.Weights, d.QueryWeights = []float32{.1, 0, 16777217, 3e-9}, []float32{2, .7, 1e-3}
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
		if !slices.Equal(back.Weights, d.Weights) || !slices.Equal(back.QueryWeights, d.QueryWeights) || !slices.Equal(back.Groups, d.Groups) ||
			!slices.Equal(back.GroupNames, names) || !slices.Equal(back.FeatureNames, d.FeatureNames) {
			t.Errorf("%v %v %v %q", back.Weights, back.QueryWeights, back.Groups, back.GroupNames)
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
		if !slices.Equal(back.Weights, d.Weights) || !slices.Equal(back.QueryWeights, d.QueryWeights) {
			t.Errorf("%v %v in\n%s", back.Weights, back.QueryWeights, text.String())
		}
	}
}

// A query that comes back keeps its weight, and its documents theirs.
func TestWeightsOfAQueryThatComesBackMustAgree(t *testing.T) {
	grid, err := base.ParseCSVToInstancesFromReader(strings.NewReader("label,qid,x,w,v,g\n1,5,10,1,.5,7\n2,6,11,2,1,8\n3,5,12,3,.5,7\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Dataset(grid, GridOptions{LabelColumn: "label", WeightColumn: "w", QueryWeightColumn: "v", GroupColumn: "g"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Weights, []float32{1, 3, 2}) || !slices.Equal(d.QueryWeights, []float32{.5, 1}) || !slices.Equal(d.Groups, []int{0, 0, 1}) || !slices.Equal(d.FeatureNames, []string{"x"}) {
		t.Errorf("%v %v %v %q", d.Weights, d.QueryWeights, d.Groups, d.FeatureNames)
	}
}

func TestDatasetsThatGridsCannotHoldAreErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*datasets.Dataset, *GridOptions)
		want   string
	}{
		{func(_ *datasets.Dataset, o *GridOptions) { o.WeightColumn = "" }, "sample has weights of documents: please name their column, WeightColumn"},
		{func(_ *datasets.Dataset, o *GridOptions) { o.QueryWeightColumn = "" }, "weights of queries"},
		{func(_ *datasets.Dataset, o *GridOptions) { o.GroupColumn = "" }, "GroupColumn"},
		{func(d *datasets.Dataset, _ *GridOptions) { d.Weights = nil }, `no weights of documents for column "weight"`},
		{func(d *datasets.Dataset, _ *GridOptions) { d.QueryWeights = nil }, `no weights of queries for column "query weight"`},
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
		"qid,label,w,v,g\n1,2,-1,1,1\n":               `row 1: attribute "w": weight -1: want a number of 0 or more`,
		"qid,label,w,v,g\n1,2,1,1,1\n1,2,1,2,1\n":     `query "1" has rows of weights 1 and 2: want one weight`,
		"qid,label,w,v,g\n9007199254740993,2,1,1,1\n": `row 1: attribute "qid": the id 9007199254740992 is not exact in golearn`,
		"qid,label,w,v,g\n1,2,1,1,1\n1,2,1,1,1e300\n": `row 2: attribute "g": the id 1000`,
		"qid,label,w,v\n1,2,1,1\n":                    `no attribute "g" among qid, label, w, v`,
		"qid,label,w,v,g\n1,2,x,1,1\n":                `weight attribute "w" holds no numbers`,
		"qid,label,w,v,g\n1,2,1,1,1\n2,2,1,1e39,1\n":  `row 2: attribute "v": 1e+39 is infinite or beyond`,
	} {
		grid, err := base.ParseCSVToInstancesFromReader(strings.NewReader(text), true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Dataset(grid, GridOptions{LabelColumn: "label", WeightColumn: "w", QueryWeightColumn: "v", GroupColumn: "g"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}
