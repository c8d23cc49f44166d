package losses_test

import (
	"math"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses"
)

// By intents the similarity is the cosine of the sets: here the documents 1 and 2 have one in common, of two and one. Groups come first,
// and a negative one is none.
func TestSimilarityIsOfGroupsOrIntents(t *testing.T) {
	s := newSmall()
	pair := func(i, j int) float64 { return s.pair(i, j) + s.pair(j, i) }
	b := s.batch()
	b.Groups = nil
	if got, _ := differentiate(t, build(t, "similarity", b), b.Lists.Scores); math.Abs(got-pair(1, 2)/math.Sqrt2) > 1e-8 {
		t.Errorf("of intents: %v, want %v", got, pair(1, 2)/math.Sqrt2)
	}
	s.groups = []int{-1, 5, 5, -1}
	b = s.batch()
	if got, _ := differentiate(t, build(t, "similarity", b), b.Lists.Scores); math.Abs(got-pair(1, 2)) > 1e-8 {
		t.Errorf("of groups: %v, want %v", got, pair(1, 2))
	}
	// Of three ranks it is a mean over three pairs; in a sum it counts as its weight says.
	s.discounts = []float64{1, 1, 1}
	b = s.batch()
	three, _ := differentiate(t, build(t, "similarity", b), b.Lists.Scores)
	plain, _ := differentiate(t, build(t, "plrank-exact", b), b.Lists.Scores)
	sum, err := losses.Parse("plrank-exact+0.2*similarity")
	if err != nil {
		t.Fatal(err)
	}
	both, _ := differentiate(t, G.Must(losses.Mean(sum, b)), b.Lists.Scores)
	want := 0.0 // 1/3 if 1 and 2 are among the three, which is if the last one is another
	for _, last := range []int{0, 3} {
		others := [][3]int{{1, 2, 3 - last}, {2, 1, 3 - last}, {1, 3 - last, 2}, {2, 3 - last, 1}, {3 - last, 1, 2}, {3 - last, 2, 1}}
		for _, y := range others {
			want += next(s.scores, nil)[y[0]] * next(s.scores, y[:1])[y[1]] * next(s.scores, y[:2])[y[2]] / 3
		}
	}
	if math.Abs(three-want) > 1e-8 || math.Abs(both-(plain+.2*three)) > 1e-12 {
		t.Errorf("of three ranks: %v, want %v; with plrank-exact, %v, %v", three, want, plain, both)
	}
	b.Groups, b.Intents = nil, nil
	if _, err := losses.MustTerms("similarity")[0].Build(b); err == nil || !strings.Contains(err.Error(), "want Batch.Groups or Batch.Intents") {
		t.Errorf("without groups and intents: error %v", err)
	}
}
