package metrics

import (
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// Bit for bit; and an error names query and row.
func TestMeansDoNotDependOnTheNumberOfCoresAndMeasures(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	in := Queries{Offsets: []int{0}, Discounts: Discounts(5)}
	for range 101 {
		for range rng.IntN(9) { // none, too
			in.Scores = append(in.Scores, float64(rng.IntN(4))) // with ties
			in.Labels = append(in.Labels, float32(rng.IntN(5)))
			in.Groups = append(in.Groups, rng.IntN(3)-1)
			if len(in.Labels) < 40 {
				in.Labels[len(in.Labels)-1] = 0 // in the first blocks; err needs the highest of all
			}
		}
		in.Offsets = append(in.Offsets, len(in.Scores))
		in.QueryWeights = append(in.QueryWeights, rng.Float32())
	}
	in.Intents = intentsOf(in.Labels)
	var measures []Measure
	for _, name := range Names() {
		measures = append(measures, mustParse(t, name), mustParse(t, name+"@3"), mustParse(t, expectedPrefix+name))
	}
	for _, name := range FairnessNames() {
		measures = append(measures, mustParse(t, name))
	}
	measures = append(measures, NewMeasure("queries", false, func(in Queries) ([]float64, error) {
		values := make([]float64, len(in.Offsets)-1)
		for q := range values {
			values[q] = float64(q)
		}
		return values, nil
	}))
	cores := runtime.GOMAXPROCS(8)
	defer runtime.GOMAXPROCS(cores)
	got, err := Means(in, measures)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(1)
	for i, m := range measures {
		want, err := Means(in, []Measure{m})
		if err != nil || math.Float64bits(got[i]) != math.Float64bits(want[0]) {
			t.Errorf("%v: %v, want %v (%v)", m, got[i], want, err)
		}
	}

	runtime.GOMAXPROCS(8)
	q := 90
	for in.Offsets[q+1] < in.Offsets[q]+2 {
		q++
	}
	in.Scores[in.Offsets[q]+1] = math.NaN()
	_, wrong := Means(in, measures)
	_, want := measures[0].PerQuery(in)
	if wrong == nil || want == nil || wrong.Error() != want.Error() || !strings.Contains(wrong.Error(), "row") {
		t.Errorf("error %v, want %v", wrong, want)
	}
}
