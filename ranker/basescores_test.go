package ranker

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// small is a small model file.
func small(t *testing.T) *File { return network(t, "standard", "float32", queries(3, 4, 5), 2, 4) }

// onBase is a model on top of base scores, and its scores of two documents by itself.
func onBase(t *testing.T) (m *Model, features []float32, scores []float64) {
	t.Helper()
	f := small(t)
	plain := reopen(t, f)
	features = make([]float32, 2*len(f.FeatureIDs))
	features[0] = 1
	scores, err := plain.Score(nil, features)
	if err != nil {
		t.Fatal(err)
	}
	f.BaseScores = true
	return reopen(t, f), features, scores
}

func TestScoresOnBaseScores(t *testing.T) {
	m, features, scores := onBase(t)
	for _, base := range [][]float32{{0, 0}, {-1, 2.5}, {1e30, -1e30}} {
		want := []float64{scores[0] + float64(base[0]), scores[1] + float64(base[1])}
		d := &datasets.Dataset{FeatureIDs: m.FeatureIDs(), Features: features, Offsets: []int{0, 2}, QueryIDs: []string{"a"}, BaseScores: base}
		got, err := m.ScoreOn(t.Context(), nil, features, base)
		ofDataset, err2 := datasets.Score(m, d)
		if err != nil || err2 != nil || !slices.Equal(got, want) || !slices.Equal(ofDataset, want) {
			t.Errorf("base %v: %v and %v, want %v; %v, %v", base, got, ofDataset, want, err, err2)
		}
		d.BaseScores = base[:1]
		if _, err := datasets.Score(m, d); err == nil || !strings.Contains(err.Error(), "1 base scores for 2 documents, and the model adds its scores to them: want them in a column (-base-column)") {
			t.Errorf("error %v", err)
		}
	}
	if got, err := m.Score(nil, nil); err != nil || len(got) != 0 {
		t.Errorf("no documents: %v, %v", got, err)
	}
	if got, err := datasets.Score(m, &datasets.Dataset{FeatureIDs: m.FeatureIDs()}); err != nil || len(got) != 0 {
		t.Errorf("no queries: %v, %v", got, err)
	}
}

func TestBaseScoresThatDoNotFitAreErrors(t *testing.T) {
	m, features, _ := onBase(t)
	plain := reopen(t, small(t))
	for _, test := range []struct {
		m    *Model
		base []float32
		want string
	}{
		{m, nil, "no base scores: the model adds to the scores of another ranker: want one for each document"},
		{m, []float32{1}, "1 base scores for 2 documents"},
		{m, []float32{1, 2, 3}, "3 base scores for 2 documents"},
		{m, []float32{1, float32(math.Inf(1))}, "the score of document 1 is +Inf"},
		{m, []float32{float32(math.NaN()), 1}, "the score of document 0 is NaN"},
		{plain, []float32{1, 2}, "the model was trained without base scores, and takes none"},
	} {
		if got, err := test.m.ScoreOn(t.Context(), nil, features, test.base); err == nil || !strings.Contains(err.Error(), test.want) || len(got) != 0 {
			t.Errorf("%v: %v, %v, want %q", test.base, got, err, test.want)
		}
	}
}

// A model without them does not look at the base scores of a dataset.
func TestBaseScoresAreForModelsThatNeedThem(t *testing.T) {
	m := reopen(t, small(t))
	d := &datasets.Dataset{FeatureIDs: m.FeatureIDs(), Features: make([]float32, len(m.FeatureIDs())), Offsets: []int{0, 1}, QueryIDs: []string{"a"}}
	want, err := datasets.Score(m, d)
	d.BaseScores = []float32{7}
	got, err2 := datasets.Score(m, d)
	if err != nil || err2 != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v; %v, %v", got, want, err, err2)
	}
}
