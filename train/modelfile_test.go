package train

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

func TestRankerFile(t *testing.T) {
	s := small()
	c := busy("adam")
	c.Epochs = 1
	r := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	want, err := datasets.Score(r, s.Test)
	if err != nil || len(want) != s.Test.Rows() {
		t.Fatal(len(want), err)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := datasets.Score(back, s.Test)
	if err != nil || !slices.Equal(got, want) {
		t.Error("the file scores otherwise", err)
	}
	if !slices.Equal(back.FeatureIDs(), s.Test.FeatureIDs) || back.File().Gain != "exp2" {
		t.Errorf("%v, %q", back.FeatureIDs(), back.File().Gain)
	}

	// A query's scores do not depend on what is scored with it.
	for q := range s.Test.Queries() {
		alone, err := datasets.Score(back, s.Test.Select([]int{q}))
		if err != nil || !slices.Equal(alone, want[s.Test.Offsets[q]:s.Test.Offsets[q+1]]) {
			t.Fatalf("query %d alone: %v", q, err)
		}
	}
	empty := &datasets.Dataset{Offsets: []int{0}, FeatureIDs: s.Test.FeatureIDs}
	if scores, err := datasets.Score(back, empty); err != nil || len(scores) != 0 {
		t.Errorf("no queries: %v, %v", scores, err)
	}
}

func TestRankerErrors(t *testing.T) {
	c := Config{Inputs: Inputs{Transform: "none"}, Optimization: Optimization{Epochs: 1}}
	r := mustRun(t, mustNew(t, c, tinySplits()), Hooks{}).Model
	d := tiny("new.txt", []float32{1, 0})
	d.FeatureIDs = []int{1, 2, 9}
	if _, err := datasets.Score(r, d); err == nil || !strings.Contains(err.Error(), "new.txt has other feature ids than the model: 9 is not one of these 3") {
		t.Errorf("got %v", err)
	}
	d = tiny("new.txt", []float32{1, 0})
	d.FeatureIDs = []int{1, 2}
	d.Features = d.Features[:4]
	if _, err := datasets.Score(r, d); err == nil || !strings.Contains(err.Error(), "3 is missing") {
		t.Errorf("got %v", err)
	}
	d = tiny("new.txt", []float32{1, 0})
	d.Row(1)[0], d.Row(1)[1] = 3e38, 3e38
	f := *r.File()
	for i := range f.Arrays[0].Values {
		f.Arrays[0].Values[i] = 3
	}
	r, err := ranker.New(&f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := datasets.Score(r, d); err == nil || !strings.Contains(err.Error(), "the score of document 1 is +Inf") {
		t.Errorf("got %v", err)
	}
}

// What is wrong with a file is said where it is saved, and where it is read.
func TestFilesThatDoNotFit(t *testing.T) {
	good := mustRun(t, mustNew(t, Config{Optimization: Optimization{Epochs: 1}}, tinySplits()), Hooks{}).Model
	path := filepath.Join(t.TempDir(), "m.npz")
	for _, c := range []struct {
		change func(*ranker.File)
		want   string
	}{
		{func(f *ranker.File) { f.FeatureIDs = []int{1, 2} }, "do not fit"},
		{func(f *ranker.File) { f.Transform.Columns = []int{7} }, "columns"},
		{func(f *ranker.File) { f.Transform.Parts = nil }, "no parts"},
	} {
		transform, broken := *good.File().Transform, *good.File()
		broken.Transform = &transform
		c.change(&broken)
		if err := broken.Save(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	transform, narrow := *good.File().Transform, *good.File()
	transform.Columns = transform.Columns[:1]
	narrow.Transform = &transform
	if err := narrow.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := ranker.Open(path); err == nil || !strings.Contains(err.Error(), "a model of 3 features and a transform that gives 1 do not fit") || !strings.Contains(err.Error(), path) {
		t.Errorf("a transform of another width: %v", err)
	}
}

// Model files of older commits score as the programs that wrote them did, and can be written and read
// again: version1 has format 1, of the first days; version2 is an attention model with bins and the texts of a
// category, of commit 6d462a20.
func TestModelFilesOfOlderVersionsScoreAsBefore(t *testing.T) {
	for model, data := range map[string]string{"version1": "version1.txt", "version2": "version2.csv"} {
		r, err := ranker.Open("testdata/" + model + ".npz")
		if err != nil {
			t.Fatal(err)
		}
		d, err := datasets.ReadFile("testdata/"+data, datasets.OptionsFor(r))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile("testdata/" + model + ".scores")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.npz")
		if err := r.Save(path); err != nil {
			t.Fatal(err)
		}
		again, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*ranker.Model{r, again} {
			scores, err := datasets.Score(r, d)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, s := range scores {
				fmt.Fprintln(&got, strconv.FormatFloat(s, 'g', -1, 32))
			}
			if got.String() != string(text) {
				t.Errorf("%s: got scores\n%s, want\n%s", model, got.String(), text)
			}
		}
	}
}

// Documents without labels are scored; a dataset that is not whole is refused.
func TestScoreRefuses(t *testing.T) {
	r := mustRun(t, mustNew(t, Config{Optimization: Optimization{Epochs: 1}}, tinySplits()), Hooks{}).Model
	whole := tinySplits().Test
	want, err := datasets.Score(r, whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(*datasets.Dataset)
		want   string // "": no error, and the same scores
	}{
		{func(d *datasets.Dataset) { d.Labels = nil }, ""},
		{func(d *datasets.Dataset) { d.QueryIDs = nil }, ""},
		{func(d *datasets.Dataset) { d.Labels = d.Labels[:2] }, "2 labels for 5 documents"},
		{func(d *datasets.Dataset) { d.Features = d.Features[:9] }, "9 feature values for 5 documents of 3 features"},
		{func(d *datasets.Dataset) { d.Offsets = []int{0, 2, 9} }, "15 feature values for 9 documents"},
		{func(d *datasets.Dataset) { d.Offsets = []int{0, 7, 5} }, "the offsets of queries must ascend"},
		{func(d *datasets.Dataset) { d.Offsets = []int{1, 5} }, "the offsets of queries must ascend"},
	} {
		d := *whole
		c.change(&d)
		got, err := datasets.Score(r, &d)
		if c.want == "" && (err != nil || !slices.Equal(got, want)) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, %v, want %q", got, err, c.want)
		}
	}
	if _, err := datasets.Score(r, nil); err == nil {
		t.Error("nil: no error")
	}
}

// Many goroutines on one model get its scores.
func TestModelInManyGoroutines(t *testing.T) {
	t.Parallel()
	s := small()
	r := mustRun(t, mustNew(t, Config{Optimization: Optimization{Epochs: 1}}, s), Hooks{}).Model
	want, err := datasets.Score(r, s.Test)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if got, err := datasets.Score(r, s.Test); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, %v", got, err)
				}
			}
		})
	}
	all.Wait()
}

// reverse ranks by the first feature, ascending.
type reverse struct{}

func (reverse) Scores(d *datasets.Dataset) ([]float64, error) {
	return featureRanker{0, false}.Scores(d)
}

// descending are the scores by the first feature.
func descending(d *datasets.Dataset) []float64 {
	scores, _ := featureRanker{0, true}.Scores(d)
	return scores
}

// The best single feature of this collection is the label itself; random order
// and the feature's DCG can be computed by hand.
func TestReport(t *testing.T) {
	t.Parallel()
	tr := mustNew(t, Config{Optimization: Optimization{Epochs: 3, LearningRate: 0.5}}, tinySplits())
	report, err := tr.Report(mustRun(t, tr, Hooks{}).Model)
	if err != nil {
		t.Fatal(err)
	}
	test := report.Splits[2]
	if test.Name != "test" || test.Queries != 2 || test.Relevant != 1 || test.Documents != 5 {
		t.Errorf("%+v", test)
	}
	if test.Rankers[1] != "feature 1, descending" {
		t.Errorf("best feature: %q", test.Rankers[1])
	}
	// One query of labels 0, 1: NDCG is 1 with the label first, else 1/log2(3).
	if v := test.Value(1, "ndcg@5"); v != 1 {
		t.Errorf("the label's NDCG is %v", v)
	}
	// Label-free queries count 0 in DCG.
	if v := test.Value(1, "dcg@5"); v != 0.5 {
		t.Errorf("the label's mean DCG is %v, want 0.5", v)
	}
	if v, want := test.Value(0, "ndcg@5"), (1+1/math.Log2(3))/2; math.Abs(v-want) > 0.01 {
		t.Errorf("random order: NDCG %v, want %v", v, want)
	}
	if v := test.Value(1, "expected-ndcg@5"); v == v {
		t.Errorf("a feature has an expected NDCG: %v", v)
	}
	// A further ranker stands before the model: here the reverse of that feature.
	splits := tinySplits()
	for _, d := range []*datasets.Dataset{splits.Train, splits.Vali, splits.Test} {
		d.FeatureNames = make([]string, d.Width())
		d.FeatureNames[0] = "grade"
	}
	named := mustNew(t, Config{Optimization: Optimization{Epochs: 1}}, splits)
	model := mustRun(t, named, Hooks{}).Model
	more, err := named.Report(model, Baseline{"reverse", reverse{}})
	if err != nil {
		t.Fatal(err)
	}
	test = more.Splits[2]
	if test.Rankers[1] != "feature grade, descending" || test.Rankers[2] != "reverse" || len(test.Rows) != 4 {
		t.Errorf("rankers: %q", test.Rankers)
	}
	if v := test.Value(2, "ndcg@5"); math.Abs(v-1/math.Log2(3)) > 1e-12 {
		t.Errorf("the reverse has NDCG %v", v)
	}
	// Evaluate measures the same feature, and gives the values of all rankers by query.
	feature, known := FeatureBaseline("feature grade, descending", splits.Test)
	measured, err := Evaluate(named.Config, Custom{Baselines: []Baseline{feature}}, model, Split{Name: "test", Data: splits.Test})
	if err != nil || !known {
		t.Fatal(known, err)
	}
	again := measured.Splits[0]
	if again.Value(1, "ndcg@5") != test.Value(1, "ndcg@5") || len(again.OthersPerQuery) != 2 {
		t.Errorf("%v, %d other rankers", again.Rows[1], len(again.OthersPerQuery))
	}
	for i, values := range append(again.OthersPerQuery, again.PerQuery) {
		if got := metrics.Mean(values["ndcg@5"], metrics.LabelFreeSkip); len(values["ndcg@5"]) != splits.Test.Queries() || got != again.Value(i, "ndcg@5") {
			t.Errorf("%s: by query %v, mean %v", again.Rankers[i], values["ndcg@5"], again.Value(i, "ndcg@5"))
		}
	}
	if _, known := FeatureBaseline("feature price, descending", splits.Test); known {
		t.Error("there is no feature price")
	}
	path := filepath.Join(t.TempDir(), "named.npz")
	if err := model.Save(path); err != nil {
		t.Fatal(err)
	}
	if back, err := ranker.Open(path); err != nil || !slices.Equal(back.FeatureNames(), splits.Train.FeatureNames) {
		t.Errorf("names of features: %v, %v", back.FeatureNames(), err)
	}
	if !slices.Contains(report.Metrics, "expected-ndcg@10") {
		t.Errorf("metrics: %v", report.Metrics)
	}
	for _, name := range []string{"zero", "one", "skip", "letor4"} {
		if text := (Report{LabelFree: name}).LabelFreeNote(); !strings.Contains(text, "without a relevant document") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestBestFeatureMayBeAscending(t *testing.T) {
	s := tinySplits()
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		for r := range d.Rows() {
			d.Row(r)[0] = 0 // only the negative is left
		}
	}
	s.Train.Row(0)[1] = float32(math.NaN()) // of a document with label 0: missing comes last
	best, err := mustNew(t, Config{}, s).parsed.evaluator.bestFeature(s.Train)
	if best.column != 1 || best.descending || err != nil {
		t.Errorf("%+v, %v", best, err)
	}
}

func TestConventions(t *testing.T) {
	for convention, want := range map[string]float64{"zero": 0.5, "letor4": 0.5, "one": 1, "skip": 1} {
		tr := mustNew(t, Config{Evaluation: Evaluation{LabelFree: convention}}, tinySplits())
		values, err := tr.parsed.evaluator.evaluate(tr.data.splits.Test, descending(tr.data.splits.Test), tr.parsed.evaluator.metric.measures)
		if err != nil {
			t.Fatal(err)
		}
		// The list of two documents is shorter than LETOR's cutoff of 5: 0.
		if convention == "letor4" {
			want = 0
		}
		if v := float64(values["ndcg@5"]); v != want {
			t.Errorf("%s: NDCG %v, want %v", convention, v, want)
		}
	}
}

func TestValuesJSON(t *testing.T) {
	text, err := json.Marshal(Values{"a": 0.5, "b": Value(math.NaN())})
	if err != nil || string(text) != `{"a":0.5,"b":null}` {
		t.Fatal(string(text), err)
	}
	var back Values
	if err := json.Unmarshal(text, &back); err != nil || back["a"] != 0.5 || back["b"] == back["b"] {
		t.Errorf("%v, %v", back, err)
	}
}
