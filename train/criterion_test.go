package train

import (
	"math"
	"strings"
	"testing"

	"github.com/plrank/plrank/metrics"
)

// A sum of metrics is read as it is written, each measure with the sign by which better
// values make it more.
func TestSumsOfMetricsAreRead(t *testing.T) {
	own := metrics.NewMeasure("my own - measure", true, nil)
	parts := Custom{Metrics: []metrics.Measure{own}}
	for text, want := range map[string]string{
		"NDCG@5": "ndcg@5", "loss": "loss", " loss ": "loss", "ee-l": "ee-l", "my own - measure": "my own - measure",
		"expected-ndcg@5-10*disparity":         "expected-ndcg@5-10*disparity",
		" map + .5*err(max=2)@10 + -2 * loss ": "map+0.5*err(max=2)@10-2*loss",
		"ndcg-ee-l":                            "",
		"ndcg - ee-l":                          "ndcg-ee-l",
		"ndcg@10+0.5*exposure-ratio-ee-d":      "",
		"ndcg@10+0.5*exposure-ratio-1*ee-d":    "ndcg@10+0.5*exposure-ratio-ee-d",
		"-disparity":                           "-disparity",
		"+ndcg@3":                              "ndcg@3",
		"rbp(0.9)@5-1e-3*my own - measure":     "rbp(p=0.9)@5-0.001*my own - measure",
	} {
		c, err := parseCriterion(text, parts.Metrics)
		if want == "" {
			if err == nil {
				t.Errorf("%q: read as %v", text, c)
			}
			continue
		}
		if err != nil || c.name != want {
			t.Errorf("%q: %q, %v, want %q", text, c.name, err, want)
		}
	}
	for text, want := range map[string]string{
		"ndcg@5+disparity":     "column 8: less of disparity is better, but more of a sum: want a weight below 0, such as -0.5*disparity",
		"loss+ndcg@5":          "less of loss is better",
		"disparity-0.5*ndcg@5": "less of disparity is better",
		"-0.5*ndcg@5":          "more of ndcg@5 is better, and more of a sum: want a weight above 0, such as 0.5*ndcg@5",
		"ndcg@5-0*disparity":   "want a weight below 0",
		"ndcg@5+":              "column 8: want a measure",
		"ndcg@5+2*":            "want a measure",
		"ndcg@5+1e999*map":     "out of range",
		"ndcg@5 disparity":     "not a metric's name",
		"ndcg@5+nosuch":        "unknown metric",
		"ndcg@5+map@3 map":     "want + or - and another term",
		"nosuch":               "unknown metric",
	} {
		if c, err := parseCriterion(text, parts.Metrics); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want an error with %q", text, c, err, want)
		}
	}
	if err := (customMeasures{metrics.NewMeasure("loss", true, nil)}).check(); err == nil {
		t.Error("no error for a measure of one's own that is called loss")
	}
}

// A sum is the sum of the values that are reported, on every split, and the best epoch has
// the highest.
func TestSumOfMetricsChoosesTheEpoch(t *testing.T) {
	t.Parallel()
	c := learning("plrank-exact")
	c.Metric, c.Epochs = "expected-ndcg@5-2*disparity", 6
	tr := mustNew(t, c, small())
	r := mustRun(t, tr, Hooks{})
	best := 0
	for i, e := range r.History {
		for _, values := range []Values{e.Train, e.Vali} {
			want := float64(values["expected-ndcg@5"]) - 2*float64(values["disparity"])
			if got := float64(values[c.Metric]); math.Abs(got-want) > 1e-12 {
				t.Errorf("epoch %d: the sum is %v, want %v", e.Epoch, got, want)
			}
		}
		if e.Vali[c.Metric] > r.History[best].Vali[c.Metric] {
			best = i
		}
	}
	if r.BestEpoch != best+1 {
		t.Errorf("the best epoch is %d, want %d", r.BestEpoch, best+1)
	}
	report, err := tr.Report(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	vali := report.Splits[1]
	if got := vali.Value(len(vali.Rows)-1, c.Metric); got != float64(r.History[best].Vali[c.Metric]) {
		t.Errorf("%v in the report, %v in the history", got, r.History[best].Vali[c.Metric])
	}
	if got := vali.Value(featureRow, c.Metric); !math.IsNaN(got) {
		t.Errorf("the feature, which is not a policy, has %v", got)
	}
}

// A value that is not finite is never the best.
func TestNaNIsNeverTheBest(t *testing.T) {
	for _, text := range []string{"ndcg", "loss", "ndcg - disparity"} {
		c, err := parseCriterion(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if c.Better(v, 0) || c.Better(v, v) || !c.Better(0, v) {
				t.Errorf("%s: %v, and 0", text, v)
			}
		}
	}
}
