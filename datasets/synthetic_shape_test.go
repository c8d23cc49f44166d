package datasets

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Training runs, examples and notebooks print what they get from this data.
func TestSyntheticStaysAsItIs(t *testing.T) {
	h := fnv.New64a()
	s := Synthetic(SyntheticOptions{Train: 100, Vali: 40, Test: 80, Seed: 7})
	for _, d := range s.all() {
		fmt.Fprintln(h, d.Offsets, d.Labels, d.QueryIDs)
	}
	if got, want := h.Sum64(), uint64(0x4a0621fccab52f0a); got != want {
		t.Errorf("list lengths and labels have hash %#x, but had %#x from the first version on", got, want)
	}
}

func TestSyntheticShapeIsThatOfTheCollection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		scale    float64
		queries  [3]int
		mean     float64 // documents a query
		longest  int
		features int
		labels   []float64
	}{
		{"mslr", .01, [3]int{189, 63, 63}, 118, 900, 136, []float64{.515, .325, .134, .018, .008}},
		{"yahoo", .01, [3]int{199, 30, 70}, 709877. / 29921, 139, 700, []float64{.26, .36, .28, .08, .02}},
		{"istella", .005, [3]int{104, 12, 49}, 10454629. / 33018, 439, 220, []float64{.963, .008, .013, .009, .007}},
		{"majority", .002, [3]int{400, 80, 160}, 32, 100, 40, []float64{.5, .2, .15, .1, .05}},
	} {
		s, err := SyntheticShape(c.name, c.scale, 3)
		if err != nil {
			t.Fatal(err)
		}
		d := s.Train
		rows, lengths := 0, []float64{}
		for i, d := range s.all() {
			checkShape(t, d)
			if d.Queries() != c.queries[i] || d.Width() != c.features || !slices.Equal(d.FeatureIDs, s.Train.FeatureIDs) {
				t.Errorf("%v, want %d queries and %d features", d, c.queries[i], c.features)
			}
			rows += d.Rows()
			for q := range d.Queries() {
				lengths = append(lengths, float64(d.Offsets[q+1]-d.Offsets[q]))
			}
		}
		mean, sd := meanAndDeviation(lengths)
		if se := sd / math.Sqrt(float64(len(lengths))); math.Abs(mean-c.mean) > 4*se {
			t.Errorf("%s: mean list length %.1f±%.1f, want %.1f", c.name, mean, se, c.mean)
		}
		if slices.Min(lengths) < 1 || slices.Max(lengths) > float64(c.longest) {
			t.Errorf("%s: lists of %v to %v documents, want 1 to %d", c.name, slices.Min(lengths), slices.Max(lengths), c.longest)
		}
		counts := make([]float64, 5)
		for _, label := range d.Labels {
			counts[int(label)]++
		}
		for grade, want := range c.labels { // to the rounding of where the grades are cut
			if got := counts[grade] / float64(d.Rows()); math.Abs(got-want) > 2/float64(d.Rows())+1e-9 {
				t.Errorf("%s: grade %d has frequency %.5f, want %.5f", c.name, grade, got, want)
			}
		}
		free := 0
		for q := range d.Queries() {
			if slices.Max(d.Labels[d.Offsets[q]:d.Offsets[q+1]]) == 0 {
				free++
			}
		}
		if free == 0 || free > d.Queries()/5 {
			t.Errorf("%s: %d of %d queries have no relevant document", c.name, free, d.Queries())
		}
		low, high := slices.Min(d.Features), slices.Max(d.Features)
		if raw := c.name == "mslr" || c.name == "istella"; raw && (low > -50 || high < 1e7) || c.name == "yahoo" && (low != 0 || high != 1) || c.name == "majority" && (low != 0 || high > 1) {
			t.Errorf("%s: features from %v to %v", c.name, low, high)
		}
		constant := 0
		for f := range d.Width() {
			r := 0
			for r < d.Rows() && d.Row(r)[f] == 0 {
				r++
			}
			if r == d.Rows() {
				constant++
			}
		}
		if want, _, _ := shapeAndTruth(c.name); constant != want.zeroFeatures {
			t.Errorf("%s: %d features are always 0, want %d", c.name, constant, want.zeroFeatures)
		}
	}
}

func meanAndDeviation(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}

func TestSyntheticShapeIsAFunctionOfItsArguments(t *testing.T) {
	for _, name := range SyntheticShapes() {
		make := func(seed uint64) *Splits {
			s, err := SyntheticShape(name, .001, seed)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		same := func(a, b *Splits) bool {
			for i, d := range a.all() {
				e := b.all()[i]
				if !slices.Equal(d.Features, e.Features) || !slices.Equal(d.Labels, e.Labels) || !slices.Equal(d.Offsets, e.Offsets) {
					return false
				}
			}
			return true
		}
		first := make(5)
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		if !same(first, make(5)) {
			t.Errorf("%s: another draw for the same seed on one core", name)
		}
		if same(first, make(6)) {
			t.Errorf("%s: the seed has no effect", name)
		}
		if name == "mslr" && !same(first, Synthetic(SyntheticOptions{Train: 19, Vali: 6, Test: 6, Seed: 5})) {
			t.Error("mslr is not the collection of Synthetic")
		}
	}
}

func TestUnknownShapesAndScalesAreErrors(t *testing.T) {
	if s, err := SyntheticShape("", 1e-9, 0); err != nil || s.Train.Queries() != 1 || s.Vali.Queries() != 1 || s.Test.Queries() != 1 {
		t.Errorf("the least scale: %v", err)
	}
	for _, scale := range []float64{0, -1, 1.01, math.NaN(), math.Inf(1)} {
		if _, err := SyntheticShape("yahoo", scale, 0); err == nil || !strings.Contains(err.Error(), "above 0 and at most 1") {
			t.Errorf("scale %v: %v", scale, err)
		}
	}
	_, err := SyntheticShape("Yahoo!", .1, 0)
	if want := `datasets: no synthetic shape "Yahoo!": want one of mslr, yahoo, istella, majority (did you mean yahoo?)`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The whole collections have the queries that their publishers state, and the
// strides reach every column.
func TestShapesHaveThePublishedQueries(t *testing.T) {
	published := map[string]int{"mslr": 31531, "yahoo": 29921, "istella": 33018, "majority": 320000}
	for _, s := range shapes {
		queries, err := s.scaled(1)
		if err != nil || queries[0]+queries[1]+queries[2] != published[s.name] {
			t.Errorf("%s has %v queries, %v", s.name, queries, err)
		}
		reached := map[int]bool{}
		for i := range s.features {
			reached[i*s.stride%s.features] = true
		}
		if len(reached) != s.features {
			t.Errorf("%s: the stride reaches %d columns of %d", s.name, len(reached), s.features)
		}
		for column := range s.features {
			for v := -6.; v < 6; v += .1 {
				if s.show(column, v) > s.show(column, v+.1) {
					t.Errorf("%s: column %d shows %v higher than %v", s.name, column, v, v+.1)
				}
			}
		}
	}
}
