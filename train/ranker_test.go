package train

import (
	"encoding/json"
	"errors"
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
)

func TestRankerFile(t *testing.T) {
	s := small()
	c := busy("adam")
	c.Epochs = 1
	r := mustRun(t, mustNew(t, c, s), Hooks{}).Ranker
	want, err := r.Score(s.Test)
	if err != nil || len(want) != s.Test.Rows() {
		t.Fatal(len(want), err)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := LoadRanker(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Score(s.Test)
	if err != nil || !slices.Equal(got, want) {
		t.Error("the file scores otherwise", err)
	}
	if !slices.Equal(back.FeatureIDs(), s.Test.FeatureIDs) || back.Gain() != "exp2" {
		t.Errorf("%v, %q", back.FeatureIDs(), back.Gain())
	}

	// A query's scores do not depend on what is scored with it.
	for q := range s.Test.Queries() {
		alone, err := back.Score(s.Test.Select([]int{q}))
		if err != nil || !slices.Equal(alone, want[s.Test.Offsets[q]:s.Test.Offsets[q+1]]) {
			t.Fatalf("query %d alone: %v", q, err)
		}
	}
	empty := &datasets.Dataset{Offsets: []int{0}, FeatureIDs: s.Test.FeatureIDs}
	if scores, err := back.Score(empty); err != nil || len(scores) != 0 {
		t.Errorf("no queries: %v, %v", scores, err)
	}
}

func TestRankerErrors(t *testing.T) {
	c := Config{Transform: "none", Epochs: 1}
	r := mustRun(t, mustNew(t, c, tinySplits()), Hooks{}).Ranker
	d := tiny("new.txt", []float32{1, 0})
	d.FeatureIDs = []int{1, 2, 9}
	if _, err := r.Score(d); err == nil || !strings.Contains(err.Error(), "new.txt has other feature ids than the model: 9 is not one of the model's 3") {
		t.Errorf("got %v", err)
	}
	d = tiny("new.txt", []float32{1, 0})
	d.FeatureIDs = []int{1, 2}
	d.Features = d.Features[:4]
	if _, err := r.Score(d); err == nil || !strings.Contains(err.Error(), "3 is missing") {
		t.Errorf("got %v", err)
	}
	d = tiny("new.txt", []float32{1, 0})
	d.Row(1)[0], d.Row(1)[1] = 3e38, 3e38
	for i := range trainedWeights(r)[:3] {
		trainedWeights(r)[i] = 3
	}
	if _, err := r.Score(d); err == nil || !strings.Contains(err.Error(), "the score of row 1 is +Inf") {
		t.Errorf("got %v", err)
	}
}

// What is wrong with a file is said where it is saved, and where it is read.
func TestFilesThatDoNotFit(t *testing.T) {
	good := mustRun(t, mustNew(t, Config{Epochs: 1}, tinySplits()), Hooks{}).Ranker
	path := filepath.Join(t.TempDir(), "m.npz")
	for _, c := range []struct {
		change func(*Ranker)
		want   string
	}{
		{func(r *Ranker) { r.ids = []int{1, 2} }, "do not fit"},
		{func(r *Ranker) { r.transform.Columns = []int{7} }, "columns"},
		{func(r *Ranker) { r.transform.Parts = nil }, "no parts"},
	} {
		transform := *good.transform
		broken := newRanker(good.model, &transform, good.ids, good.names, good.gain, good.grade)
		c.change(broken)
		if err := broken.Save(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	transform := *good.transform
	transform.Columns = transform.Columns[:1]
	if err := newRanker(good.model, &transform, good.ids, good.names, good.gain, good.grade).Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadRanker(path); err == nil || !strings.Contains(err.Error(), "a model of 3 features and a transform that gives 1 do not fit") || !strings.Contains(err.Error(), path) {
		t.Errorf("a transform of another width: %v", err)
	}
}

// A model file of format 1, written by the program before there was format 2, scores
// as that program did, and can be written and read again.
func TestVersion1(t *testing.T) {
	r, err := LoadRanker("testdata/version1.npz")
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.ReadFile("testdata/version1.txt", datasets.ReadOptions{FeatureIDs: r.FeatureIDs()})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/version1.scores")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	again, err := ReadRanker(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Ranker{r, again} {
		scores, err := r.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, s := range scores {
			fmt.Fprintln(&got, strconv.FormatFloat(s, 'g', -1, 32))
		}
		if got.String() != string(text) {
			t.Errorf("got scores\n%s, want\n%s", got.String(), text)
		}
	}
}

// Documents without labels are scored; a dataset that is not whole, and a second
// goroutine, are errors.
func TestScoreRefuses(t *testing.T) {
	r := mustRun(t, mustNew(t, Config{Epochs: 1}, tinySplits()), Hooks{}).Ranker
	whole := tinySplits().Test
	want, err := r.Score(whole)
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
		got, err := r.Score(&d)
		if c.want == "" && (err != nil || !slices.Equal(got, want)) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, %v, want %q", got, err, c.want)
		}
	}
	if _, err := r.Score(nil); err == nil {
		t.Error("nil: no error")
	}

	r.busy.Lock() // as a call does that goes on
	if _, err := r.Score(whole); !errors.Is(err, ErrBusy) {
		t.Errorf("a second goroutine: %v", err)
	}
	if err := r.Close(); !errors.Is(err, ErrBusy) {
		t.Errorf("closed by a second goroutine: %v", err)
	}
	r.busy.Unlock()
	if err := r.Close(); err != nil || len(r.graphs) != 0 {
		t.Errorf("%d graphs after Close, %v", len(r.graphs), err)
	}
	if got, err := r.Score(whole); err != nil || !slices.Equal(got, want) {
		t.Errorf("after Close: %v, %v", got, err)
	}
}

// Many goroutines on one ranker get scores or ErrBusy, and nothing else.
func TestRankerInManyGoroutines(t *testing.T) {
	s := small()
	r := mustRun(t, mustNew(t, Config{Epochs: 1}, s), Hooks{}).Ranker
	want, err := r.Score(s.Test)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if got, err := r.Score(s.Test); err == nil && !slices.Equal(got, want) || err != nil && !errors.Is(err, ErrBusy) {
					t.Errorf("%v, %v", got, err)
				}
			}
		})
	}
	all.Wait()
}

// A ranker keeps a bounded number of graphs, whatever it scores.
func TestGraphsAreBounded(t *testing.T) {
	closed := 0
	g := graphs[fakeGraph]{}
	for rows := range 1000 {
		if _, err := g.get(rows, func() (fakeGraph, error) { return func() { closed++ }, nil }); err != nil || len(g) > mostGraphs {
			t.Fatal(len(g), err)
		}
	}
	if closed+len(g) != 1000 {
		t.Errorf("%d graphs closed, %d kept", closed, len(g))
	}
}

type fakeGraph func()

func (f fakeGraph) close() error { f(); return nil }

// reverse ranks by the first feature, ascending.
type reverse struct{}

func (reverse) Scores(d *datasets.Dataset) ([]float64, error) { return featureScores(d, 0, false), nil }

// The best single feature of this collection is the label itself; random order
// and the feature's DCG can be computed by hand.
func TestReport(t *testing.T) {
	tr := mustNew(t, Config{Epochs: 3, LearningRate: 0.5, EvaluationSamples: 20000}, tinySplits())
	report, err := tr.Report(mustRun(t, tr, Hooks{}).Ranker)
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
	named := mustNew(t, Config{Epochs: 1}, splits)
	model := mustRun(t, named, Hooks{}).Ranker
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
	path := filepath.Join(t.TempDir(), "named.npz")
	if err := model.Save(path); err != nil {
		t.Fatal(err)
	}
	if back, err := LoadRanker(path); err != nil || !slices.Equal(back.FeatureNames(), splits.Train.FeatureNames) {
		t.Errorf("names of features: %v, %v", back.FeatureNames(), err)
	}
	if !slices.Contains(report.Metrics, "expected-ndcg@10") {
		t.Errorf("metrics: %v", report.Metrics)
	}
	for _, name := range []string{"zero", "one", "skip", "letor4"} {
		if text := (Report{Convention: name}).LabelFree(); !strings.Contains(text, "without a relevant document") {
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
	column, descending, err := mustNew(t, Config{}, s).bestFeature(s.Train)
	if column != 1 || descending || err != nil {
		t.Errorf("column %d, descending %t, %v", column, descending, err)
	}
}

func TestConventions(t *testing.T) {
	for convention, want := range map[string]float64{"zero": 0.5, "letor4": 0.5, "one": 1, "skip": 1} {
		tr := mustNew(t, Config{Convention: convention}, tinySplits())
		values, err := tr.evaluate(tr.splits.Test, featureScores(tr.splits.Test, 0, true), tr.metric.measures())
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

func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "run") // parents are made
	if _, err := OpenDir(path, &Config{}); err == nil || !strings.Contains(err.Error(), "no run to resume") {
		t.Errorf("got %v", err)
	}
	dir, err := CreateDir(path)
	if err != nil {
		t.Fatal(err)
	}
	dir.Close()
	if dir, err = CreateDir(path); err != nil {
		t.Fatalf("an empty folder: %v", err)
	}
	c := Config{Epochs: 1}
	tr := mustNew(t, c, tinySplits())
	if _, err := dir.Begin(tr, c); err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := ReadSettings(path, &back); err != nil || back.Epochs != 1 {
		t.Errorf("%+v, %v", back, err)
	}
	dir.Close()
	// What a run leaves that failed before its first checkpoint, or was killed then.
	for _, name := range []string{".config.json.123", ".checkpoint.npz.9", ".lock"} {
		if err := os.WriteFile(dir.File(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if dir, err = CreateDir(path); err != nil {
		t.Fatalf("a run that has not begun: %v", err)
	}

	r := mustRun(t, tr, Hooks{Epoch: dir.Epoch})
	report, err := tr.Report(r.Ranker)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Finish(r, report); err != nil {
		t.Fatal(err)
	}
	dir.Close()
	if _, err := CreateDir(path); err == nil || !strings.Contains(err.Error(), "exists: it holds checkpoint.npz: name a new folder, or resume the run in it") {
		t.Errorf("a run that has begun: %v", err)
	}
	if _, err := CreateDir(filepath.Dir(path)); err == nil {
		t.Error("a folder of runs: no error")
	}
	if _, err := CreateDir(dir.File(CheckpointFile)); err == nil {
		t.Error("a file: no error")
	}

	// A run that goes on beyond its end is not at its end until it has finished.
	result := func() (s Summary) {
		text, err := os.ReadFile(dir.File(ResultFile))
		if err != nil || json.Unmarshal(text, &s) != nil {
			t.Fatal(err)
		}
		return s
	}
	if _, err := dir.Begin(mustNew(t, c, tinySplits()), c); err != nil || result().Interrupted {
		t.Errorf("nothing left to do: %+v, %v", result(), err)
	}
	c.Epochs = 2
	tr = mustNew(t, c, tinySplits())
	if _, err := dir.Begin(tr, c); err != nil || !result().Interrupted || result().Epochs != 1 || len(tr.History()) != 1 {
		t.Errorf("an epoch to go: %+v, %v", result(), err)
	}
	if _, err := OpenDir(path, &back); err != nil || back.Epochs != 2 {
		t.Errorf("the extension is not kept: %+v, %v", back, err)
	}
	if err := dir.Finish(mustRun(t, tr, Hooks{Epoch: dir.Epoch}), report); err != nil || result().Interrupted || result().Epochs != 2 {
		t.Errorf("at the end: %+v, %v", result(), err)
	}

	os.WriteFile(dir.File(SettingsFile), []byte("{"), 0o644)
	if _, err := OpenDir(path, &back); err == nil || !strings.Contains(err.Error(), SettingsFile) {
		t.Errorf("got %v", err)
	}
}
