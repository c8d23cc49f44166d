package datasets

import (
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/text"
)

func three() *Dataset {
	return &Dataset{
		Name: "three", Features: []float32{1, 2, 3, 4, 5, 6, 7, 8}, Labels: []float32{0, 1, 2, 3}, Offsets: []int{0, 1, 3, 3, 4},
		QueryIDs: []string{"a", "b", "empty", "c"}, FeatureIDs: []int{2, 5}, DocumentIDs: []string{"w", "x", "y", "z"},
	}
}

func TestSelectCopiesQueriesInOrder(t *testing.T) {
	d := three()
	s := d.Select([]int{3, 1, 1, 2})
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Features, []float32{7, 8, 3, 4, 5, 6, 3, 4, 5, 6}) || !slices.Equal(s.Offsets, []int{0, 1, 3, 5, 5}) ||
		!slices.Equal(s.QueryIDs, []string{"c", "b", "b", "empty"}) || !slices.Equal(s.DocumentIDs, []string{"z", "x", "y", "x", "y"}) {
		t.Errorf("%+v", s)
	}
	if s.Features[0] = 99; d.Features[6] != 7 {
		t.Error("the selection is not a copy")
	}
	if none := d.Select(nil); none.Queries() != 0 || none.Rows() != 0 || none.Validate() != nil {
		t.Errorf("nothing selected: %+v", none)
	}
}

// What is selected knows the order of its documents in the file, where a query came back and where
// the queries are in another order.
func TestSelectedQueriesKeepTheOrderOfTheSource(t *testing.T) {
	d := three()    // of the documents w, x, y and z
	back := three() // as if w and y were of one query
	back.Features, back.DocumentIDs, back.SourceRows = nil, []string{"w", "y", "x", "z"}, []int{0, 2, 1, 3}
	back.FeatureIDs, back.Offsets, back.QueryIDs = nil, []int{0, 2, 3, 4}, []string{"p", "q", "r"}
	for name, test := range map[string]struct {
		d    *Dataset
		want []float64
	}{
		"the last two":               {back.Select([]int{1, 2}), []float64{1, 2}},    // x, z
		"a query that came back":     {back.Select([]int{2, 0}), []float64{2, 3, 1}}, // z, w, y
		"queries in reverse order":   {d.Select([]int{3, 0}), []float64{2, 1}},
		"queries in ascending order": {d.Select([]int{0, 3}), []float64{1, 2}},
	} {
		values := []float64{1, 2, 3}[:test.d.Rows()]
		if got := test.d.InSourceOrder(values); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v of the documents %q: %v, want %v", name, values, test.d.DocumentIDs, got, test.want)
		}
	}
}

func TestValidateFindsFieldsThatDoNotFit(t *testing.T) {
	for want, spoil := range map[string]func(d *Dataset){
		"offsets":          func(d *Dataset) { d.Offsets[1] = 4 },
		"feature id":       func(d *Dataset) { d.FeatureIDs[1] = 2 },
		"the label is NaN": func(d *Dataset) { d.Labels[0] = text.Missing },
		"feature values":   func(d *Dataset) { d.Features = d.Features[1:] },
		"query ids":        func(d *Dataset) { d.QueryIDs = d.QueryIDs[1:] },
		"document ids":     func(d *Dataset) { d.DocumentIDs = d.DocumentIDs[1:] },
		"source rows":      func(d *Dataset) { d.SourceRows = []int{0} },
		"feature names":    func(d *Dataset) { d.FeatureNames = []string{"one"} },
	} {
		d := three()
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		spoil(d)
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
