package datasets

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A digest depends on the documents alone, except for a query whose documents are all equal: there its id counts.
func TestQueryDigestsAreOfTheDocuments(t *testing.T) {
	want := weighted().QueryDigests()
	if slices.Contains(want, 0) {
		t.Fatalf("digests %x", want)
	}
	for name, c := range map[string]struct {
		change func(d *Dataset)
		same   bool
	}{
		"labels, names and weights": {func(d *Dataset) {
			d.Labels, d.Name, d.QueryIDs, d.DocumentIDs, d.Weights, d.QueryWeights, d.Groups = make([]float32, 4), "x", []string{"x", "y", "z"}, nil, nil, nil, nil
		}, true},
		"the order of documents": {func(d *Dataset) { d.Features = []float32{1, 2, 5, 6, 3, 4, 7, float32(math.NaN())} }, true},
		"a column of zeros": {func(d *Dataset) {
			d.FeatureIDs, d.Features = []int{1, 2, 4}, []float32{1, 0, 2, 3, 0, 4, 5, 0, 6, 7, 0, float32(math.NaN())}
		}, true},
		"a value":                     {func(d *Dataset) { d.Features[5] = 9 }, false},
		"a float32(math.NaN()) value": {func(d *Dataset) { d.Features[5] = float32(math.NaN()) }, false},
		"a document":                  {func(d *Dataset) { d.Offsets = []int{0, 0, 3, 4} }, false},
		"values of other features":    {func(d *Dataset) { d.FeatureIDs = []int{1, 5} }, false},
		"values of exchanged places":  {func(d *Dataset) { d.Features[2], d.Features[4] = 5, 3 }, false},
		"equal documents":             {func(d *Dataset) { d.Features[4], d.Features[5] = 3, 4 }, false},
	} {
		d := weighted()
		c.change(d)
		if got := d.QueryDigests()[1]; (got == want[1]) != c.same {
			t.Errorf("%s: digest %x, was %x", name, got, want[1])
		}
	}
	d := weighted()
	d.QueryIDs = []string{"x", d.QueryIDs[1], d.QueryIDs[2]}
	if got := d.QueryDigests(); got[0] == want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("digests %x, were %x: the first is of one document, and its query has another id", got, want)
	}
	d.Offsets = []int{0, 1, 1, 4}
	if got := d.QueryDigests(); got[1] != 0 {
		t.Errorf("digest %x of no documents", got[1])
	}
}

// They are the same from LETOR text, separated values, a cache, and parts of a collection.
func TestQueryDigestsAreThoseOfEveryFormat(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	letor := write("a.txt", "1 qid:7 1:0.1 3:-2\n0 qid:7 2:5\n2 qid:8 1:1e-3\n0 qid:8 1:0.25 2:NaN 3:1\n1 qid:9 1:4\n0 qid:9 1:3\n2 qid:10 1:8\n0 qid:10 1:9\n")
	comma := write("b.csv", "label,qid,x,y,z\n0,a,0,5,0\n0,a,0.10,0,-2\n0,b,0.001,0,0\n0,b,.25,,1.0\n0,c,3,0,0\n0,c,4,0,0\n0,d,9,0,0\n0,d,8,0,0\n")
	a, err := ReadFile(letor, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := a.QueryDigests()
	b, err := ReadFile(comma, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.QueryDigests(); !slices.Equal(got, want) || slices.Contains(got, 0) {
		t.Errorf("of separated values %x, want %x", got, want)
	}
	for range 2 { // the second is from the cache
		s, err := Open(letor, Options{Cache: filepath.Join(dir, "cache")})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*Dataset{s.Train, s.Vali} {
			for q, got := range d.QueryDigests() {
				if i := slices.Index(a.QueryIDs, d.QueryIDs[q]); got != want[i] {
					t.Errorf("query %s of %s: %x, want %x", d.QueryIDs[q], d.Name, got, want[i])
				}
			}
		}
	}
}

func BenchmarkQueryDigests(b *testing.B) {
	d := Synthetic(SyntheticOptions{Train: 500, Vali: 1, Test: 1}).Train
	b.SetBytes(int64(4 * len(d.Features)))
	for b.Loop() {
		d.QueryDigests()
	}
}
