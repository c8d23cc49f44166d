package metrics

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Bit for bit; and an error names query and row of the whole.
func TestMeansInBlocksAreThoseOfAllQueriesAtOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	in := Input{Offsets: []int{0}, Discounts: Discounts(5), Policy: Policy{Samples: 7, Seed: 1}}
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
	var measures []Measure
	for _, name := range Names() {
		for _, text := range []string{name, name + "@3", expectedPrefix + name} {
			m, err := ParseMeasure(text)
			if err != nil {
				t.Fatal(err)
			}
			measures = append(measures, m)
		}
	}
	for _, name := range FairnessNames() {
		m, err := ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		measures = append(measures, m)
	}
	measures = append(measures, NewMeasure("queries", false, func(in Input) ([]float64, error) {
		values := make([]float64, len(in.Offsets)-1)
		for q := range values {
			values[q] = float64(q)
		}
		return values, nil
	}))
	got, err := Means(in, measures)
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for i, m := range measures {
		e, err := m.Estimate(in)
		if err != nil {
			t.Fatal(err)
		}
		labelFree := in.LabelFree
		if m.kind == ofExposure {
			labelFree = LabelFreeSkip
		}
		want, err := e.mean(in.QueryWeights, labelFree)
		if err != nil || math.Float64bits(got[i].Mean) != math.Float64bits(want.Mean) || math.Float64bits(got[i].StdErr) != math.Float64bits(want.StdErr) {
			t.Errorf("%v: %v, want %v (%v)", m, got[i], want, err)
		}
		if in.byBlocks(measures)[i] != nil {
			blocks++
		}
	}
	if blocks < len(measures)/2 {
		t.Errorf("only %d of %d measures are computed in blocks", blocks, len(measures))
	}

	q := 90
	for in.Offsets[q+1] < in.Offsets[q]+2 {
		q++
	}
	in.Scores[in.Offsets[q]+1] = math.NaN()
	_, wrong := Means(in, measures)
	_, want := measures[0].Estimate(in)
	if wrong == nil || want == nil || wrong.Error() != want.Error() || !strings.Contains(wrong.Error(), "row") {
		t.Errorf("error %v, want %v", wrong, want)
	}
}
