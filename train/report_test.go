package train

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
)

// Where the file has relevant documents first, random order and a feature that is the same
// everywhere are no better by a measure of one's own than by one that knows ties.
func TestBaselinesOfOwnMeasureDoNotSeeTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	s := small()
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		var rows []int
		for q := range d.Queries() {
			first := len(rows)
			for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
				rows = append(rows, r)
			}
			slices.SortStableFunc(rows[first:], func(a, b int) int { return cmp.Compare(d.Labels[b], d.Labels[a]) })
		}
		var features, labels []float32
		for _, r := range rows {
			features, labels = append(append(features, 7), d.Row(r)[1:]...), append(labels, d.Labels[r])
		}
		d.Features, d.Labels = features, labels
	}
	first, err := metrics.ParseMeasure("dcg@1")
	if err != nil {
		t.Fatal(err)
	}
	own := metrics.NewMeasure("own", false, func(in metrics.Queries) ([]float64, error) { // knows no ties
		in.Ties = metrics.TiesOrder
		return first.PerQuery(in)
	})
	c := Config{Optimization: Optimization{Epochs: 1}, Evaluation: Evaluation{Metric: "own", Report: []string{first.String()}}, Model: Model{Hidden: []int{2}}}
	tr, err := New(c.Plain(), Custom{Metrics: []metrics.Measure{own}}, s)
	if err != nil {
		t.Fatal(err)
	}
	report, err := tr.Report(mustRun(t, tr, Hooks{}).Model)
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range report.Splits {
		got, want := split.Value(0, "own"), split.Value(0, first.String())
		if !(math.Abs(got-want) < 0.15*want) {
			t.Errorf("%s: random order has %g, want about %g", split.Name, got, want)
		}
	}
	if name := report.Splits[0].Rankers[featureRow]; strings.Contains(name, "feature 1,") {
		t.Errorf("the best feature is the one that is the same everywhere: %s", name)
	}
	values, err := tr.parsed.evaluator.evaluate(s.Train, descending(s.Train), tr.parsed.evaluator.ofRanking())
	if got, want := float64(values["own"]), float64(values[first.String()]); err != nil || !(math.Abs(got-want) < 0.15*want) {
		t.Errorf("a feature that is the same everywhere has %g, want about %g: %v", got, want, err)
	}
}

// Scores are measured as the model that gave them, except what is of a policy and not asked for;
// and the mean of the values by query is the value of the table, whatever the convention.
func TestScoresAreMeasuredAsTheirModel(t *testing.T) {
	t.Parallel()
	s := small()
	for q := range 3 { // queries without a relevant document
		clear(s.Test.Labels[s.Test.Offsets[q]:s.Test.Offsets[q+1]])
	}
	c := Config{Optimization: Optimization{Epochs: 1}, Model: Model{Hidden: []int{2}},
		Evaluation: Evaluation{Metric: "ndcg@3-0.5*disparity", Report: []string{"map", "expected-ndcg@5"}}}.Plain()
	model := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	scores, err := datasets.Score(model, s.Test)
	if err != nil {
		t.Fatal(err)
	}
	for _, convention := range []string{"zero", "one", "skip"} {
		c.LabelFree = convention
		report, err := Evaluate(c, Custom{}, model, Split{Name: "test", Data: s.Test})
		if err != nil {
			t.Fatal(err)
		}
		got, err := EvaluateRun(c, Custom{}, &datasets.Run{Dataset: s.Test, Scores: scores})
		if err != nil {
			t.Fatal(err)
		}
		if names := strings.Join(got.Metrics, " "); strings.Contains(names, "disparity") || strings.Count(names, "expected") != 1 || !strings.Contains(names, "map") {
			t.Errorf("metrics %s", names)
		}
		split := got.Splits[0]
		for _, m := range got.Metrics {
			value, want := split.Value(1, m), report.Splits[0].Value(1, m)
			if value != want || split.Rankers[1] != "scores" {
				t.Errorf("%s: %s %v, of the model %v", convention, m, value, want)
			}
			if mean := metrics.Mean(split.PerQuery[m], metrics.LabelFreeSkip); len(split.PerQuery[m]) != s.Test.Queries() || mean != value {
				t.Errorf("%s: the mean of %s by query is %v, want %v", convention, m, mean, value)
			}
		}
		if undefined := math.IsNaN(split.PerQuery["map"][0]); undefined != (convention == "skip") {
			t.Errorf("%s: %v of a query without a relevant document", convention, split.PerQuery["map"][0])
		}
	}
	// Without a rank there cannot be a policy.
	run := &datasets.Run{Dataset: s.Test, Scores: scores, Unranked: make([]bool, len(scores))}
	if _, err := EvaluateRun(c, Custom{}, run); err == nil || !strings.Contains(err.Error(), "expected-ndcg@5 needs the score of every document") {
		t.Error(err)
	}
	for _, n := range []int{1, len(scores) + 1} {
		run := &datasets.Run{Dataset: s.Test, Scores: make([]float64, n)}
		if _, err := EvaluateRun(c, Custom{}, run); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d scores for %d documents", n, len(scores))) {
			t.Error(err)
		}
	}
	if _, err := mustNew(t, c, s).Report(nil); err == nil {
		t.Error("a report of no model has no error")
	}
}

// Runs are measured by the highest label of all judgements: one that lacks the query with that label
// has the same ERR in the others.
func TestRunsHaveTheGradeOfTheJudgements(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	judged, err := datasets.ReadQrels(file("qrels", "p 0 a 1\nq 0 a 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Evaluation: Evaluation{Report: []string{"err"}}}.Plain()
	const lacking = "p Q0 a 1 1 t\n"
	for _, text := range []string{lacking, lacking + "q Q0 a 1 1 t\n"} {
		run, err := datasets.ReadRun(file("run", text), judged)
		if err != nil {
			t.Fatal(err)
		}
		report, err := EvaluateRun(c, Custom{}, run)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := report.Splits[0].PerQuery["err"][0], 1./16; got != want || report.HighestGrade != 4 {
			t.Errorf("%q: ERR %v, want %v; highest grade %v", text, got, want, report.HighestGrade)
		}
	}
}

// The line under a table names the metrics of relevance that are 0 without a relevant document, and no others.
func TestLabelFreeNamesTheMetricsThatAreZero(t *testing.T) {
	t.Parallel()
	for _, convention := range []string{"one", "skip"} {
		_, zero, _ := strings.Cut((Report{LabelFree: convention}).LabelFreeNote(), ", but ")
		for _, name := range []string{"dcg", "ndcg", "precision", "recall", "map", "mrr", "err", "rbp", "graded-rbp", "hits", "pair-accuracy", "arp"} {
			m, err := metrics.ParseMeasure(name + "@3")
			if err != nil {
				t.Fatal(err)
			}
			values, err := m.PerQuery(metrics.Queries{Scores: []float64{2, 1}, Labels: []float32{0, 0}, Offsets: []int{0, 2}, HighestGrade: 4})
			if err != nil {
				t.Fatal(err)
			}
			word := strings.ToUpper(strings.TrimPrefix(name, "graded-"))
			if listed := strings.Contains(" "+strings.ToUpper(strings.NewReplacer(",", " ").Replace(zero))+" ", " "+word+" "); listed != (values[0] == 0) {
				t.Errorf("%s: %s is %v, listed: %t", convention, name, values[0], listed)
			}
		}
	}
}

// A sample has random queries of large data, and small data are taken whole.
func TestSampleOf(t *testing.T) {
	d := small().Train
	size := 4 * len(d.Features)
	if sampleOf(d, size) != d {
		t.Error("data that are small enough are copied")
	}
	s := sampleOf(d, size/3)
	apart := map[int]bool{}
	for i := 1; i < s.Queries(); i++ {
		apart[slices.Index(d.QueryIDs, s.QueryIDs[i])-slices.Index(d.QueryIDs, s.QueryIDs[i-1])] = true
	}
	if s.Queries() != d.Queries()/3 || apart[0] || len(apart) < 2 {
		t.Errorf("%d of %d queries, at distances of %v", s.Queries(), d.Queries(), apart)
	}
	if sampleOf(d, 1).Queries() != 1 {
		t.Error("no query is left")
	}
}
