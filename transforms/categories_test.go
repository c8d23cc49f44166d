package transforms_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/transforms"
)

// categorical has two queries of two and three documents, and the features 1, 4 and 7, of
// which 4 is a category.
func categorical() *datasets.Dataset {
	nan := float32(math.NaN())
	return &datasets.Dataset{
		Name: "data", FeatureIDs: []int{1, 4, 7}, Offsets: []int{0, 2, 5}, QueryIDs: []string{"1", "2"},
		Labels: make([]float32, 5),
		Features: []float32{
			1, 900, 5,
			2, -3, 6,
			3, 900, 7,
			4, nan, 8,
			5, 17, 7,
		},
	}
}

// Values of two documents or more have codes, in ascending order; values of one are unseen.
func TestCodesOfCategoriesFollowAllOtherColumns(t *testing.T) {
	d := categorical()
	d.Features = append(d.Features, 9, -3, 1)
	d.Labels, d.Offsets[2] = append(d.Labels, 0), 6
	transform, err := datasets.FitTransform("none+minmax", d, 4)
	if err != nil {
		t.Fatal(err)
	}
	if want := []transforms.Category{{Column: 1, Values: []float32{-3, 900}}}; !reflect.DeepEqual(transform.Categories, want) {
		t.Errorf("categories %+v, want %+v", transform.Categories, want)
	}
	if got := transform.Used(); !slices.Equal(transform.Columns, []int{0, 2}) || !slices.Equal(got, []int{0, 1, 2}) || transform.Width() != 5 {
		t.Errorf("columns %v, used %v, width %d", transform.Columns, got, transform.Width())
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	rows := []float32{1, 900, 5, 2, -3, 6, 3, 17, 7, 4, nan, 8, 5, inf, 8, 6, 5e-9, 8}
	dst := make([]float32, 6*5)
	transform.Query(dst, rows)
	for r, want := range []float32{transforms.FirstValue + 1, transforms.FirstValue, transforms.UnseenValue, transforms.MissingValue, transforms.UnseenValue, transforms.UnseenValue} {
		if got := dst[r*5+4]; got != want {
			t.Errorf("row %d: code %v, want %v", r, got, want)
		}
	}
	// The other features are what they are without the category.
	plain := &datasets.Dataset{Name: "plain", FeatureIDs: []int{1, 7}, Offsets: d.Offsets, Features: without(d.Features), Labels: d.Labels}
	other, err := datasets.FitTransform("none+minmax", plain)
	if err != nil {
		t.Fatal(err)
	}
	alone := make([]float32, 6*4)
	other.Query(alone, without(rows))
	for r := range 6 {
		if !slices.Equal(dst[r*5:r*5+4], alone[r*4:r*4+4]) {
			t.Errorf("row %d: %v, want %v", r, dst[r*5:r*5+4], alone[r*4:r*4+4])
		}
	}
	// It reads back from JSON.
	text, err := json.Marshal(transform)
	if err != nil {
		t.Fatal(err)
	}
	var read transforms.Transform
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Fatal(err)
	}
	again := make([]float32, len(dst))
	read.Query(again, rows)
	if !slices.Equal(again, dst) {
		t.Errorf("%v after reading, want %v", again, dst)
	}
}

// without is rows of three features without the second.
func without(rows []float32) (left []float32) {
	for i, v := range rows {
		if i%3 != 1 {
			left = append(left, v)
		}
	}
	return left
}

// A category may be all there is.
func TestModelOfCategoriesAloneNeedsNoOtherFeature(t *testing.T) {
	d := categorical()
	d.FeatureIDs = []int{4}
	d.Features = []float32{1, 2, 1, 2, 2}
	transform, err := datasets.FitTransform("minmax+quantile", d, 4)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, 5)
	transform.Query(dst[:2], d.Features[:2])
	transform.Query(dst[2:], d.Features[2:])
	if want := []float32{2, 3, 2, 3, 3}; !slices.Equal(dst, want) || transform.Width() != 1 {
		t.Errorf("codes %v, want %v", dst, want)
	}
	if err := transform.Validate(); err != nil {
		t.Error(err)
	}
}

func TestCategoricalFeaturesThatCannotBeAreErrors(t *testing.T) {
	for _, c := range []struct {
		ids  []int
		want string
	}{
		{[]int{5}, "data has no feature 5, which is to be categorical: it has the features 1, 4, 7"},
		{[]int{4, 1, 4}, "feature 4 is listed as categorical twice"},
	} {
		if _, err := datasets.FitTransform("minmax", categorical(), c.ids...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.ids, err, c.want)
		}
	}
	for _, id := range []string{"16777217", "16777216", "-16777217", "1e30", "123456789"} {
		for name, text := range map[string]string{
			"d.txt": "1 qid:1 1:1 4:5\n0 qid:1 1:2 4:" + id + "\n",
			"d.csv": "label,qid,x,y z,z,seller\n1,1,1,0,0,5\n0,1,2,0,0," + id + "\n",
		} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			d, err := datasets.ReadFile(path, datasets.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = datasets.FitTransform("minmax", d, 4)
			if want := d.Where(1) + ": the categorical feature "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "does not hold all whole numbers from 16777216 on") {
				t.Errorf("%s in %s: error %v, want one with %q", id, name, err, want)
			}
		}
	}
	d := categorical()
	d.Features[1], d.Features[4] = 1<<24-1, 1-1<<24
	if _, err := datasets.FitTransform("minmax", d, 4); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		change func(*transforms.Transform)
		want   string
	}{
		{func(t *transforms.Transform) { t.Categories[0].Column = 3 }, "but there is 3"},
		{func(t *transforms.Transform) { t.Categories[0].Column = 0 }, "be no others, but there is 0"},
		{func(t *transforms.Transform) { t.Categories[0].Values = []float32{1, 1} }, "must ascend"},
		{func(t *transforms.Transform) { t.Categories[0].Values = []float32{float32(math.NaN())} }, "must ascend and be finite"},
	} {
		transform, err := datasets.FitTransform("minmax", categorical(), 4)
		if err != nil {
			t.Fatal(err)
		}
		c.change(transform)
		if err := transform.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// Of more than 100,000 values of two documents or more, the rarest count as unseen, of those as rare the last.
func TestRarestValuesAreUnseen(t *testing.T) {
	many := &datasets.Dataset{Name: "many", FeatureIDs: []int{1}, Offsets: []int{0}}
	query := func(from, to int) {
		for x := from; x < to; x++ {
			many.Features = append(many.Features, float32(x))
		}
		many.Offsets = append(many.Offsets, len(many.Features))
	}
	query(0, 100_003)
	query(0, 100_003)
	query(2, 100_002) // so 0, 1 and 100,002 are there twice
	many.Labels = make([]float32, len(many.Features))
	transform, err := datasets.FitTransform("minmax", many, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c := transform.Categories[0]; len(c.Values) != 100_000 || c.Rare != 3 {
		t.Errorf("%d values, %d rare", len(c.Values), c.Rare)
	}
	codes := make([]float32, 4)
	transform.Query(codes, []float32{0, 2, 100_001, 100_002})
	if want := []float32{transforms.UnseenValue, transforms.FirstValue, transforms.FirstValue + 99_999, transforms.UnseenValue}; !slices.Equal(codes, want) {
		t.Errorf("codes %v, want %v", codes, want)
	}
}

// A user of a single query counts as unseen, however many documents the query has.
func TestUsersOfASingleQueryAreUnseen(t *testing.T) {
	d := &datasets.Dataset{
		Name: "users", FeatureIDs: []int{1, 2}, Offsets: []int{0, 3, 5, 6}, Labels: make([]float32, 6),
		Features: []float32{
			7, 1, 7, 2, 7, 3,
			8, 4, 8, 5,
			8, 6,
		},
	}
	transform, err := datasets.FitTransform("none", d, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c := transform.Categories[0]; !slices.Equal(c.Values, []float32{8}) {
		t.Errorf("values %v, want 8", c.Values)
	}
}
