package ranker

import (
	"slices"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
)

// ofTexts has queries of two features, the second with these texts, of which document r has the number r modulo count.
func ofTexts(count int, texts ...string) *datasets.Dataset {
	d := queries(2, 70, 70)
	d.Levels = [][]string{nil, texts}
	for r := range d.Rows() {
		d.Row(r)[1] = float32(r % count)
	}
	return d
}

// Models of the same texts in other orders, and with other texts, score the same documents as before: a network by its vectors, a
// forest by its sets, a mixture by its parts. Text e is in no training document, so it has no code; a is unknown to the second.
func TestUnitedModelsScoreTextsAsBefore(t *testing.T) {
	first, second := ofTexts(3, "a", "b"), ofTexts(5, "d", "b", "c", "f", "e") // numbers 0 to 4: e is never seen
	base := categorical(t, "standard", "float64", first, []int{2}, 1)
	base.Levels = first.Levels
	network := categorical(t, "standard", "float64", second, []int{2}, 2, 4)
	trees := &File{Transform: network.Transform, FeatureIDs: []int{1, 2}, Gain: "exp2"}
	for _, f := range []*File{network, trees} {
		f.Levels = second.Levels
	}
	// Codes 1 to 5 are missing, d, b, c, f; the first set has missing and c, the second unseen ones and b.
	if err := trees.SetForest(&forest.Forest{Inputs: 2, Trees: []forest.Tree{
		{Nodes: []forest.Node{{Column: 1, Set: []uint64{1<<1 | 1<<4}, Left: 1, Right: ^0}, {Column: 1, Set: []uint64{1 << 1}, Left: ^1, Right: ^2}},
			Leaves: []float64{1, 2, 4}},
		{Nodes: []forest.Node{{Column: 1, Set: []uint64{1 | 1<<3}, Left: ^0, Right: ^1}}, Leaves: []float64{8, 16}},
	}}); err != nil {
		t.Fatal(err)
	}
	mixture, err := Mix([]float64{2, 3}, reopen(t, network), reopen(t, trees))
	if err != nil {
		t.Fatal(err)
	}
	models := []*Model{reopen(t, base), reopen(t, network), reopen(t, trees), reopen(t, mixture)}
	united, err := Unite(models...)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"a", "b", "d", "c", "f", "e"}
	for i, m := range united {
		if !slices.Equal(m.Levels()[1], all) {
			t.Fatalf("model %d: texts %q, want %q", i, m.Levels()[1], all)
		}
		for value, text := range append([]string{""}, all...) {
			own := float32(slices.Index(models[i].Levels()[1], text) + 1) // 0: unknown
			want, err := models[i].Score(nil, []float32{.5, own})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := m.Score(nil, []float32{.5, float32(value)}); err != nil || got[0] != want[0] {
				t.Errorf("model %d, text %q: %v, want %v, error %v", i, text, got, want, err)
			}
		}
	}
	want, err := models[3].Score(nil, []float32{.5, 1}) // d
	if forest, _ := models[2].Score(nil, []float32{.5, 1}); err != nil || forest[0] != 1+16 {
		t.Errorf("the forest's score of d is %v, want 17", forest)
	}
	f, errOfMix := Mix([]float64{.5, 1}, united[3], united[1])
	if errOfMix != nil {
		t.Fatal(errOfMix)
	}
	alone, _ := models[1].Score(nil, []float32{.5, 1})
	if got, errOfScore := reopen(t, f).Score(nil, []float32{.5, 3}); err != nil || errOfScore != nil || got[0] != .5*2*alone[0]+.5*3*17+alone[0] {
		t.Errorf("a mixture of a mixture: %v, want %v and a half of %v, error %v", got, alone, want, errOfScore)
	}
}
