package train

import (
	"cmp"
	"math"
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
	own := metrics.NewMeasure("own", false, func(in metrics.Input) ([]float64, error) { // knows no ties
		in.Ties = metrics.TiesOrder
		return first.PerQuery(in)
	})
	c := Config{Optimization: Optimization{Epochs: 1}, Evaluation: Evaluation{Metric: "own", Report: []string{first.String()}}, Model: Model{Hidden: []int{2}}}
	tr, err := New(c.Plain(), Parts{Metrics: []metrics.Measure{own}}, s)
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

// A sample has queries from all over large data, and small data are taken whole.
func TestSampleOf(t *testing.T) {
	d := small().Train
	size := 4 * len(d.Features)
	if sampleOf(d, size) != d {
		t.Error("data that are small enough are copied")
	}
	s := sampleOf(d, size/3)
	var want []string
	for i := range d.Queries() / 3 {
		want = append(want, d.QueryIDs[i*d.Queries()/(d.Queries()/3)])
	}
	if !slices.Equal(s.QueryIDs, want) {
		t.Errorf("queries %v, want %v", s.QueryIDs, want)
	}
	if sampleOf(d, 1).Queries() != 1 {
		t.Error("no query is left")
	}
}
