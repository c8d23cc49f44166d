package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets/internal/store"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/transforms"
)

// weighted is a small dataset with all that a dataset can have.
func weighted() *Dataset {
	return &Dataset{
		Name:         "w",
		Features:     []float32{1, 2, 3, 4, 5, 6, 7, text.Missing},
		Labels:       []float32{2, 0, 1, 0},
		Offsets:      []int{0, 1, 3, 4},
		QueryIDs:     []string{"a", "b", "c"},
		FeatureIDs:   []int{1, 4},
		FeatureNames: []string{"f", "g"},
		DocumentIDs:  []string{"A", "B", "C", "D"},
		Weights:      []float32{1, .5, 0, 2},
		QueryWeights: []float32{1, 3, .25},
		BaseScores:   []float32{-1, 0, 2.5, 1},
		Groups:       []int{0, 1, -1, 0},
		GroupNames:   []string{"x", "y"},
	}
}

func TestFingerprintTellsWhatDiffers(t *testing.T) {
	want := weighted().Fingerprint()
	for _, test := range []struct {
		change func(d *Dataset)
		differ string
	}{
		{func(d *Dataset) {}, ""},
		{func(d *Dataset) { d.Name, d.DocumentIDs = "another", nil }, ""},
		{func(d *Dataset) { d.Features = slices.Clone(d.Features) }, ""},
		{func(d *Dataset) { d.Features[0], d.Features[1] = d.Features[1], d.Features[0] }, "feature values"},
		{func(d *Dataset) { d.Features[5] = math.Nextafter32(d.Features[5], 9) }, "feature values"},
		{func(d *Dataset) { d.Features = d.Features[:6] }, "feature values"},
		{func(d *Dataset) { d.Labels[1] = float32(math.Copysign(0, -1)) }, "labels"},
		{func(d *Dataset) { d.Offsets[1]++ }, "queries"},
		{func(d *Dataset) { d.QueryIDs = []string{"ab", "", "c"} }, "queries"},
		{func(d *Dataset) { d.FeatureIDs[1]++ }, "feature ids"},
		{func(d *Dataset) { d.FeatureNames = nil }, "feature ids"},
		{func(d *Dataset) { d.Groups[2] = 1 }, "groups"},
		{func(d *Dataset) { d.GroupNames[0] = "y" }, "groups"},
		{func(d *Dataset) { d.Groups = nil }, "groups"},
		{func(d *Dataset) { d.BaseScores[1] = 1 }, "base scores"},
		{func(d *Dataset) { d.BaseScores = nil }, "base scores"},
		{func(d *Dataset) { d.Weights[0] = 2 }, "weights"},
		{func(d *Dataset) { d.Weights = nil }, "weights"},
		{func(d *Dataset) { d.Weights, d.QueryWeights = nil, nil }, "weights"},
		{func(d *Dataset) { d.Labels[0], d.Groups[0], d.QueryWeights[0] = 1, 1, 2 }, "labels, groups, weights"},
	} {
		d := weighted()
		test.change(d)
		got := d.Fingerprint()
		if differ := got.Differences(want); differ != test.differ || (got == want) != (differ == "") {
			t.Errorf("want %q to differ, got %q", test.differ, differ)
		}
	}
}

// The fingerprint of a list of more than one block depends on all of it, and on
// nothing else.
func TestFingerprintDependsOnEveryBlock(t *testing.T) {
	values := make([]float32, 1<<19+5)
	want := store.DigestFloats(values).String()
	for _, i := range []int{0, 1<<18 - 1, 1 << 18, 1<<19 + 4} {
		values[i] = 1
		if store.DigestFloats(values).String() == want {
			t.Errorf("value %d has no influence", i)
		}
		values[i] = 0
	}
	if store.DigestFloats(values).String() != want || store.DigestFloats(values[1:]).String() == want {
		t.Error("not a function of the values")
	}
}

func TestWeightsFollowDocuments(t *testing.T) {
	d := weighted()
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	s := d.Select([]int{2, 1})
	if !slices.Equal(s.Weights, []float32{2, .5, 0}) || !slices.Equal(s.QueryWeights, []float32{.25, 3}) {
		t.Errorf("selected: %v, %v", s.Weights, s.QueryWeights)
	}
	if v := d.view(1, 3); !slices.Equal(v.Weights, []float32{.5, 0, 2}) || !slices.Equal(v.QueryWeights, []float32{3, .25}) {
		t.Errorf("a view: %v, %v", v.Weights, v.QueryWeights)
	}
	transform := &transforms.Transform{Spec: "none", Inputs: 2, Columns: []int{0}, Parts: []transforms.Part{{Name: "none"}}}
	var b Batch
	for range 2 {
		b.Pack(d, transform, []int{2, 1}, 5, 3)
		if !slices.Equal(b.Weights, []float32{2, .5, 0, 0, 0}) || !slices.Equal(b.QueryWeights, []float32{.25, 3, 0}) || !slices.Equal(b.Groups, []int{0, 1, -1, -1, -1}) {
			t.Errorf("packed: %v, %v, %v", b.Weights, b.QueryWeights, b.Groups)
		}
	}
	d.Weights, d.QueryWeights = nil, nil
	if b.Pack(d, transform, []int{2, 1}, 5, 3); b.Weights != nil || b.QueryWeights != nil {
		t.Errorf("packed without weights: %v, %v", b.Weights, b.QueryWeights)
	}
}

// What a log says of documents follows them, too.
func TestGainsFollowDocuments(t *testing.T) {
	d := weighted()
	without := d.Fingerprint()
	d.Logged, d.LoggedScores = []float32{1, 2, 3, 4}, []float32{5, 6, 7, 8}
	logged := d.Fingerprint()
	d.Gains = []float64{.5, -1, 0, 2}
	if all := d.Fingerprint(); logged.Differences(without) != "gains" || all.Differences(logged) != "gains" {
		t.Errorf("fingerprints %v, %v, %v", without, logged, all)
	}
	s, v := d.Select([]int{2, 1}), d.view(1, 3)
	if !slices.Equal(s.Gains, []float64{2, -1, 0}) || !slices.Equal(s.Logged, []float32{4, 2, 3}) || !slices.Equal(s.LoggedScores, []float32{8, 6, 7}) {
		t.Errorf("selected: %v, %v", s.Gains, s.Logged)
	}
	if !slices.Equal(v.Gains, []float64{-1, 0, 2}) || !slices.Equal(v.Logged, []float32{2, 3, 4}) || !slices.Equal(v.LoggedScores, []float32{6, 7, 8}) {
		t.Errorf("a view: %v, %v", v.Gains, v.Logged)
	}
	var b Batch
	b.Pack(d, &transforms.Transform{Spec: "none", Inputs: 2}, []int{2, 1}, 5, 3)
	if !slices.Equal(b.Logged, []float32{4, 2, 3, 0, 0}) || !slices.Equal(b.LoggedScores, []float32{8, 6, 7, 0, 0}) {
		t.Errorf("packed: %v", b.Logged)
	}
	if d.Gains[3] = math.Inf(-1); d.Validate() == nil {
		t.Error("an infinite gain: no error")
	}
	d.Gains[3], d.LoggedScores[0] = 0, float32(math.NaN())
	if d.Validate() == nil {
		t.Error("a logged score that is NaN: no error")
	}
	d.LoggedScores[0] = 0
	if d.Gains = d.Gains[:3]; d.Validate() == nil {
		t.Error("a gain too few: no error")
	}
}

func TestValidateFindsInvalidWeights(t *testing.T) {
	for want, change := range map[string]func(d *Dataset){
		"3 document weights for 4 rows":        func(d *Dataset) { d.Weights = d.Weights[1:] },
		"4 query weights for 3 queries":        func(d *Dataset) { d.QueryWeights = append(d.QueryWeights, 1) },
		"row 2: the document weight is -1":     func(d *Dataset) { d.Weights[2] = -1 },
		"query 0: the query weight is NaN":     func(d *Dataset) { d.QueryWeights[0] = text.Missing },
		"row 0: the document weight is +Inf: ": func(d *Dataset) { d.Weights[0] = float32(math.Inf(1)) },
	} {
		d := weighted()
		change(d)
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	d := Synthetic(SyntheticOptions{Train: 500, Vali: 1, Test: 1}).Train
	b.SetBytes(int64(4 * len(d.Features)))
	for b.Loop() {
		d.Fingerprint()
	}
}
