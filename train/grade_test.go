package train

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// graded is small with all labels multiplied.
func graded(factor float32) *datasets.Splits {
	s := small()
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		for i := range d.Labels {
			d.Labels[i] *= factor
		}
	}
	return s
}

// The targets of cross-entropy are labels relative to the highest, whatever that is: also
// below 1, and between whole numbers.
func TestCrossEntropyOfAnyHighestLabel(t *testing.T) {
	t.Parallel()
	loss := func(factor float32) float64 {
		c := Config{Objective: Objective{Loss: "cross-entropy", Gain: "linear"}, Optimization: Optimization{Epochs: 1}}
		return mustRun(t, mustNew(t, c, graded(factor)), Hooks{}).History[0].Loss
	}
	want := loss(1)
	for _, factor := range []float32{0.125, 0.2, 0.6, 0.625, 300} {
		if got := loss(factor); math.Abs(got-want) > 1e-6 {
			t.Errorf("labels up to %v: the loss is %v, want %v as for labels up to 4", 4*factor, got, want)
		}
	}
}

// ordinal has thresholds up to the highest label, rounded up, and no more for labels below 1.
func TestOrdinalOfAnyHighestLabel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		factor float32
		same   float64 // the highest grade with which the loss is the same
	}{{0.125, 1}, {0.625, 3}, {1, 4}} {
		c := Config{Objective: Objective{Loss: "ordinal"}, Optimization: Optimization{Epochs: 1}}
		got := mustRun(t, mustNew(t, c, graded(test.factor)), Hooks{}).History[0].Loss
		c.HighestGrade = test.same
		want := mustRun(t, mustNew(t, c, graded(test.factor)), Hooks{}).History[0].Loss
		if got != want {
			t.Errorf("labels up to %v: the loss is %v, want %v", 4*test.factor, got, want)
		}
	}
}

// What is learnt does not depend on the labels of the other splits.
func TestOtherSplitsDoNotSetTheGradeOfLosses(t *testing.T) {
	t.Parallel()
	for _, loss := range []string{"cross-entropy", "ordinal"} {
		c := Config{Objective: Objective{Loss: loss}, Optimization: Optimization{Epochs: 1}}
		want := trainedWeights(mustRun(t, mustNew(t, c, small()), Hooks{}).Model)
		s := small()
		s.Test.Labels[0], s.Vali.Labels[0] = 5, 6
		if got := trainedWeights(mustRun(t, mustNew(t, c, s), Hooks{}).Model); !slices.Equal(got, want) {
			t.Errorf("%s: another model with other labels in the test split", loss)
		}
	}
}

// A model has one highest grade, whatever data it is measured on and however it was saved.
func TestModelCarriesTheHighestGrade(t *testing.T) {
	t.Parallel()
	s := small()
	tr := mustNew(t, Config{Optimization: Optimization{Epochs: 1}, Evaluation: Evaluation{Report: []string{"err@10", "graded-rbp"}}}, s)
	r := mustRun(t, tr, Hooks{})
	report, err := tr.Report(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.npz")
	if err := r.Model.Save(path); err != nil {
		t.Fatal(err)
	}
	model, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if model.File().Grade != 4 {
		t.Errorf("the grade of the model is %v, want 4", model.File().Grade)
	}
	evaluate := func(c Config, m *ranker.Model, splits ...Split) (*Report, error) {
		c.Report = []string{"err@10", "graded-rbp"}
		return Evaluate(c.Plain(), Custom{}, m, splits...)
	}
	low := queriesUpTo(s.Test, 3) // none of its labels is the highest
	lowest, err := evaluate(Config{}, model, Split{"low", low})
	if err != nil {
		t.Fatal(err)
	}
	both, err := evaluate(Config{}, model, Split{"low", low}, Split{"test", s.Test})
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{"err@10", "graded-rbp"} {
		if a, b := lowest.Splits[0].Value(1, metric), both.Splits[0].Value(1, metric); a != b || !(a > 0) {
			t.Errorf("%s is %v alone, %v with other data", metric, a, b)
		}
		model := len(report.Splits[2].Rows) - 1
		if a, b := report.Splits[2].Value(model, metric), both.Splits[1].Value(1, metric); a != b {
			t.Errorf("%s is %v in the report of the training, %v measured", metric, a, b)
		}
	}
	if lowest.HighestGrade != 4 || report.HighestGrade != 4 {
		t.Errorf("the reports have the highest grades %v and %v", lowest.HighestGrade, report.HighestGrade)
	}

	// A label above it is refused for the metrics that go by it, and only for them.
	high := s.Test.Select([]int{0, 1})
	high.Labels[1] = 5
	if _, err := evaluate(Config{}, model, Split{"high", high}); err == nil || !strings.Contains(err.Error(), "label 5 is above 4, the highest grade") {
		t.Errorf("a label above the grade of the model: %v", err)
	}
	if _, err := evaluate(Config{Objective: Objective{HighestGrade: 5}}, model, Split{"high", high}); err != nil {
		t.Error(err)
	}
	if _, err := Evaluate(Config{}.Plain(), Custom{}, model, Split{"high", high}); err != nil {
		t.Error(err)
	}
	if _, err := New(Config{Objective: Objective{HighestGrade: 3}}.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), "label 4 is above 3, the highest grade that is set") {
		t.Errorf("a label above the grade that is set: %v", err)
	}

	// Older files say none: then it is the highest of the data.
	old := *model.File()
	old.Grade = 0
	without, err := ranker.New(&old)
	if err != nil {
		t.Fatal(err)
	}
	if report, err := evaluate(Config{}, without, Split{"low", low}); err != nil || report.HighestGrade != 3 {
		t.Errorf("%+v, %v", report, err)
	}
	old.Grade = math.Inf(1)
	if _, err := ranker.New(&old); err == nil || !strings.Contains(err.Error(), "highest grade") {
		t.Errorf("an infinite grade: %v", err)
	}
}

// queriesUpTo are the queries of d without a label above the given one.
func queriesUpTo(d *datasets.Dataset, highest float32) *datasets.Dataset {
	var queries []int
	for q := range d.Queries() {
		if slices.Max(d.Labels[d.Offsets[q]:d.Offsets[q+1]]) <= highest {
			queries = append(queries, q)
		}
	}
	return d.Select(queries)
}

// A split without documents, or without data, is refused by name.
func TestEmptySplitsAreErrors(t *testing.T) {
	t.Parallel()
	r := mustRun(t, mustNew(t, Config{Optimization: Optimization{Epochs: 1}}, small()), Hooks{})
	model := model(t, r)
	for _, d := range []*datasets.Dataset{nil, {}, {Name: "none", Offsets: []int{0}}, {Name: "none", FeatureIDs: small().Test.FeatureIDs, Offsets: []int{0, 0}, QueryIDs: []string{"1"}}} {
		want := fmt.Sprintf("the split %q", "mine")
		if _, err := Evaluate(Config{}.Plain(), Custom{}, model, Split{"mine", d}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", d, err, want)
		}
		if _, err := Importances(ctx, Config{}.Plain(), Custom{}, model, d, 1); err == nil {
			t.Errorf("%+v: no error from Importances", d)
		}
	}
	if _, err := Evaluate(Config{}.Plain(), Custom{}, model); err == nil {
		t.Error("no error without splits")
	}
	split := Split{"test", small().Test}
	if _, err := Evaluate(Config{}, Custom{}, nil, split); !errors.Is(err, errNoModel) {
		t.Errorf("without a model: %v", err)
	}
	if _, err := Importances(ctx, Config{}, Custom{}, nil, split.Data, 1); !errors.Is(err, errNoModel) {
		t.Errorf("without a model: %v", err)
	}
}

// ERR has 2^label in it whatever the gain. The error says so, and in which line the label is.
func TestErrorsOfMeasuresNameTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("1 qid:1 1:1\n0 qid:1 1:2\n0 qid:2 1:1\n40 qid:2 1:2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := datasets.ReadFile(path, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{{Evaluation: Evaluation{Metric: "err"}}, {Evaluation: Evaluation{Metric: "err(max=4)"}}} {
		c.Loss, c.Gain, c.Epochs = "softmax", "linear", 1
		trainer, err := New(c.Plain(), Custom{}, &datasets.Splits{Train: d, Vali: d})
		if err == nil {
			_, err = trainer.Run(ctx, Hooks{})
		}
		if err == nil || !strings.Contains(err.Error(), path+":4: label 40 is too high for err, ") || strings.Contains(err.Error(), "use") {
			t.Errorf("%s: %v", c.Metric, err)
		}
	}
}
