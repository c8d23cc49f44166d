package cli

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/plrank/plrank/train"
)

// Means and deviations of three folds by hand; the best feature is another one in
// the last fold, and its test split has no value.
func TestSumUpIsMeanAndDeviation(t *testing.T) {
	fold := func(feature string, vali, test float64) *train.Report {
		rankers := []string{"random order", feature, "model"}
		rows := func(v float64) []train.Values {
			return []train.Values{{"ndcg@5": 0.25}, {"ndcg@5": 0.5}, {"ndcg@5": train.Value(v)}}
		}
		return &train.Report{LabelFree: "skip", Metrics: []string{"ndcg@5"}, Splits: []train.SplitReport{
			{Name: "vali", Rankers: rankers, Rows: rows(vali)}, {Name: "test", Rankers: rankers, Rows: rows(test)},
		}}
	}
	r := SumUpFolds([]int{1, 2, 4}, []*train.Report{fold("feature 1", 0.5, 0.25), fold("feature 1", 0.625, 0.75), fold("feature 2", 0.75, math.NaN())})
	vali, test := r.Splits[0].Rows[2]["ndcg@5"], r.Splits[1].Rows[2]["ndcg@5"]
	if vali.Mean != 0.625 || vali.SD != 0.125 {
		t.Errorf("vali %+v", vali)
	}
	// ((−1/4)² + (1/4)²)/(2 − 1) = 1/8
	if test.Mean != 0.5 || math.Abs(float64(test.SD)-math.Sqrt(0.125)) > 1e-15 || len(test.Values) != 3 {
		t.Errorf("test %+v", test)
	}
	if random := r.Splits[0].Rows[0]["ndcg@5"]; random.Mean != 0.25 || random.SD != 0 {
		t.Errorf("random %+v", random)
	}
	if got := r.Splits[0].Rankers[1]; got != "best single feature" {
		t.Errorf("ranker %q", got)
	}

	one := SumUpFolds([]int{3}, []*train.Report{fold("feature 1", 0.5, 0.25)})
	if s := one.Splits[0]; s.Rankers[1] != "feature 1" || s.Rows[2]["ndcg@5"].Mean != 0.5 || s.Rows[2]["ndcg@5"].SD == s.Rows[2]["ndcg@5"].SD {
		t.Errorf("one fold: %+v", s)
	}

	dir, err := CreateRun(filepath.Join(t.TempDir(), "runs"))
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.FinishFolds(r, true); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir.File(FoldsFile))
	if err != nil {
		t.Fatal(err)
	}
	var back FoldsSummary
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if got := back.Metrics["vali"]["ndcg@5"]; !back.Interrupted || len(back.Folds) != 3 || got.SD != 0.125 ||
		back.Baselines["best single feature"]["test"]["ndcg@5"].Mean != 0.5 {
		t.Errorf("%s: %+v", text, back)
	}

	// While more folds are trained there is no summary.
	if err := dir.BeginSeveral(train.Config{}, FoldsFile); err != nil {
		t.Fatal(err)
	}
	if _, err = os.Stat(dir.File(FoldsFile)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
