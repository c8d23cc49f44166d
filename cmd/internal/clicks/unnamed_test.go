package clicks

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	logs "github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

// Words of a log have names, ids, or an id where others have names.
func TestWordsWithoutANameHaveTheirID(t *testing.T) {
	for _, names := range [][]string{nil, {"red", "blue", ""}} {
		d := &datasets.Dataset{QueryIDs: []string{"p", "q", "r"}, Offsets: []int{0, 2, 4, 5}, Labels: []float32{1, 0, 0, 1, 0},
			DocumentIDs: []string{"a", "b", "b", "c", "a"}, FeatureIDs: []int{1, 5, 9}, FeatureNames: names,
			Sparse: datasets.Sparse{Starts: []int{0, 2, 2, 3, 5, 6}, Columns: []int32{1, 2, 0, 0, 2, 1}, Values: []float32{1, 2.5, -3, 4, .1, 7}}}
		path := filepath.Join(t.TempDir(), "model.npz")
		testkit.LinearModel(t, path, 1, 2, 3)
		m, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f := *m.File()
		f.FeatureNames, f.TrainingQueries = names, ranker.NewQueryDigests(d.Select([]int{2, 1}).TrainingDigests()...)
		if m, err = ranker.New(&f); err != nil {
			t.Fatal(err)
		}
		log, err := logs.Simulate(d, logs.Logger{Cutoff: 1}, logs.User{}, 60, 1)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := logs.Write(&text, log); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "log.jsonl")
		write(t, file, text.String())
		if log, err = logs.Read(file); err != nil {
			t.Fatal(err)
		}
		scorer, err := newScorer(path, m, log, 1)
		if err != nil {
			t.Fatal(err)
		}
		if seen := scorer.known(newQueries(log, map[string]bool{})).CountSeen(m.Seen); seen != 2 {
			t.Errorf("names %q: %d queries, want 2", names, seen)
		}
		for _, im := range log.Impressions {
			q := slices.Index(d.QueryIDs, im.Query)
			if x, err := scorer.rows(&im); err != nil || !slices.Equal(x, d.Dense(nil, d.Offsets[q], d.Offsets[q+1])) {
				t.Fatalf("names %q: query %s has %v, %v", names, im.Query, x, err)
			}
		}
	}
}
