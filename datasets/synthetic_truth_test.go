package datasets

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The truth decides labels, and nothing else.
func TestTruthsShareFeaturesAndQueries(t *testing.T) {
	make := func(name string) [3]*Dataset {
		s, err := SyntheticShape(name, .0005, 3)
		if err != nil {
			t.Fatal(err)
		}
		return s.all()
	}
	for _, shape := range SyntheticShapes() {
		first := make(shape)
		for _, truth := range SyntheticTruths() {
			if shape != "mslr" && truth != "trees" {
				continue // what is special to a shape is in all truths but the smooth one
			}
			for i, d := range make(shape + "/" + truth) {
				checkShape(t, d)
				if !slices.Equal(d.Features, first[i].Features) || !slices.Equal(d.Offsets, first[i].Offsets) || !slices.Equal(d.QueryIDs, first[i].QueryIDs) {
					t.Errorf("%s/%s: other features or queries than %s", shape, truth, shape)
				}
				if same := slices.Equal(d.Labels, first[i].Labels); same != (truth == "smooth") {
					t.Errorf("%s/%s: the labels of %s: %t", shape, truth, shape, same)
				}
				if count(d.Labels) != count(first[i].Labels) && i == 0 {
					t.Errorf("%s/%s: %v documents of each label in training, want %v", shape, truth, count(d.Labels), count(first[i].Labels))
				}
			}
		}
	}
}

func count(labels []float32) (n [5]int) {
	for _, label := range labels {
		n[int(label)]++
	}
	return n
}

// Figures in documents are of these labels; the hashes are from the first version.
func TestTruthsStayAsTheyAre(t *testing.T) {
	for truth, want := range map[string]uint64{"trees": 0x37e6875ce0ed0132, "additive": 0xbeaf673f3d6af8dc, "mixture": 0xd96db18d2086a37a} {
		s, err := SyntheticShape("mslr/"+truth, .002, 7)
		if err != nil {
			t.Fatal(err)
		}
		h := fnv.New64a()
		for _, d := range s.all() {
			fmt.Fprintln(h, d.Labels)
		}
		if got := h.Sum64(); got != want {
			t.Errorf("labels of %s have hash %#x, want %#x", truth, got, want)
		}
	}
}

// A seed has one relevance at every scale, and no two seeds have the same.
func TestRelevanceIsThatOfTheSeed(t *testing.T) {
	mixture := truths[3] // of all parts
	draw := func(queries int, seed uint64) []float32 {
		return shapes[0].synthesize(mixture, "", [3]int{queries, 1, 1}, seed)[0].latent
	}
	small, large := draw(2, 1), draw(9, 1)
	if !slices.Equal(small, large[:len(small)]) {
		t.Error("the relevance of a document changes with the scale")
	}
	row := make([]float32, shapes[0].features)
	if mixture.relevance(shapes[0], 1)(row, 0) == mixture.relevance(shapes[0], 2)(row, 0) {
		t.Error("two seeds have one relevance")
	}
}

// Written out: x₁ > 1 leads to the right, then x₀ > 0 there and x₀ > 5 on the left.
func TestForestIsTheSumOfItsLeaves(t *testing.T) {
	deep := tree{[]question{{1, 1}, {0, 5}, {0, 0}}, []float64{1, 2, 3, 4}}
	step := tree{[]question{{0, 0}}, []float64{10, 20}}
	for _, c := range []struct {
		row  []float32
		want float64
	}{
		{[]float32{0, 1}, 1 + 10}, // a threshold itself is not above
		{[]float32{6, 1}, 2 + 20},
		{[]float32{-1, 2}, 3 + 10},
		{[]float32{.5, 2}, 4 + 20},
	} {
		if got := (forest{deep, step}).value(c.row); got != c.want {
			t.Errorf("%v: %v, want %v", c.row, got, c.want)
		}
	}
}

// What a feature adds to an additive truth is the same whatever the others are. It is
// a truth of trees that for some features depends on the others.
func TestAdditiveTruthHasNoInteractions(t *testing.T) {
	s := shapes[0]
	document := func(random *rand.Rand) []float32 {
		row := make([]float32, s.features)
		for i := range row {
			row[i] = s.show(s.column(i), random.NormFloat64())
		}
		return row
	}
	// interaction is how much more a feature's change says with the other row than with the first.
	interaction := func(value relevance, a, b []float32, feature int) float64 {
		change := func(row []float32) float64 {
			row = slices.Clone(row)
			row[feature] = a[feature]
			v := value(row, 0)
			row[feature] = b[feature]
			return value(row, 0) - v
		}
		return math.Abs(change(a) - change(b))
	}
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		steps := forestSize{300, 1}.grow(s, random)
		if v := interaction(steps, document(random), document(random), random.IntN(s.features)); v > 1e-9 {
			t.Errorf("interaction %v", v)
		}
	})
	random := rand.New(rand.NewPCG(1, 0))
	trees, found := forestSize{150, 5}.grow(s, random), 0
	for feature := range s.features {
		if interaction(trees, document(random), document(random), feature) > 1e-9 {
			found++
		}
	}
	if found < 40 || found > forestColumns {
		t.Errorf("trees: %d features interact with others, want most of %d", found, forestColumns)
	}
}

// Relevance before noise ranks well by its own truth, and not by another one.
func TestTruthsDiffer(t *testing.T) {
	t.Parallel()
	tests := map[string]synthetic{}
	for _, truth := range truths {
		tests[truth.name] = shapes[0].synthesize(truth, "", [3]int{1, 1, 60}, 7)[2]
	}
	for _, truth := range truths {
		ndcg := ndcg(tests[truth.name].data, 10)
		by := func(name string) float64 { return ndcg(func(r int) float64 { return float64(tests[name].latent[r]) }) }
		own := by(truth.name)
		t.Logf("%s: NDCG@10 of the true value %.3f", truth.name, own)
		if own < .7 || own > .9 {
			t.Errorf("%s: the true value ranks with NDCG@10 %.3f", truth.name, own)
		}
		if truth.name == "mixture" {
			continue // has something of all
		}
		for _, other := range []string{"smooth", "trees", "additive"} {
			if v := by(other); other != truth.name && v > own-.3 {
				t.Errorf("%s: the true value of %s ranks with NDCG@10 %.3f, its own with %.3f", truth.name, other, v, own)
			}
		}
	}
}

func TestUnknownTruthsAreErrors(t *testing.T) {
	for name, want := range map[string]string{
		"mslr/tree":  `datasets: no truth "tree" of synthetic shapes: want one of smooth, trees, additive, mixture (did you mean trees?)`,
		"mslr/":      `datasets: no truth "" of synthetic shapes: want one of smooth, trees, additive, mixture`,
		"msl/trees":  `datasets: no synthetic shape "msl": want one of mslr, yahoo, istella, majority (did you mean mslr?)`,
		"mslr/a/b":   `datasets: no truth "a/b" of synthetic shapes: want one of smooth, trees, additive, mixture`,
		"trees/mslr": `datasets: no synthetic shape "trees": want one of mslr, yahoo, istella, majority`,
	} {
		if _, err := SyntheticShape(name, .001, 0); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// NDCG@10 of ranking the whole test split by the true value, which is the most that features can
// tell; it takes 2 GB.
func BenchmarkTrueValue(b *testing.B) {
	for _, truth := range truths {
		b.Run(truth.name, func(b *testing.B) {
			for b.Loop() {
				queries, err := shapes[0].scaled(1)
				if err != nil {
					b.Fatal(err)
				}
				test := shapes[0].synthesize(truth, "", queries, 7)[2]
				b.ReportMetric(ndcg(test.data, 10)(func(r int) float64 { return float64(test.latent[r]) }), "NDCG@10")
			}
		})
	}
}
