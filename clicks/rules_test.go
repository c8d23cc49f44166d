package clicks

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// rulesOf are rules for lists of six documents, other ones for each of five queries in turn.
func rulesOf(d *datasets.Dataset, q int) *plackett.Rules {
	labels := d.Labels[d.Offsets[q]:d.Offsets[q+1]]
	worst := slices.Index(labels, slices.Min(labels))
	return []*plackett.Rules{
		nil,
		{Pins: []plackett.Pin{{Document: worst, Rank: 1}}},
		{Pins: []plackett.Pin{{Document: worst, Rank: 1}}, Offsets: []float64{1, 0, 0, -2, 0, .5}},
		{Quotas: []plackett.Quota{{Documents: []int{0, 1}, First: 3, Least: 1, Most: 3}, {Documents: []int{1, 2, 3}, First: 2, Most: 1}}},
		{Pins: []plackett.Pin{{Document: worst, Rank: 1}}, Quotas: []plackett.Quota{{Documents: []int{0, 4, 5}, First: 3, Least: 1, Most: 2}}},
	}[q%5]
}

// valueUnder returns the clicks per impression under rules, over all rankings of three documents.
func valueUnder(t *testing.T, d *datasets.Dataset, scores func(d *datasets.Dataset, q int) ([]float64, error), bias Bias) (value float64) {
	t.Helper()
	for q := range d.Queries() {
		m, _ := scores(d, q)
		var p plackett.Ruled
		rules := rulesOf(d, q)
		if rules == nil {
			rules = &plackett.Rules{}
		}
		if err := p.Set(m, *rules); err != nil {
			t.Fatal(err)
		}
		logs := make([]float64, 3)
		if err := testkit.Enumerate(m, 3, func(ranking []int, _ float64) {
			if p.LogProbs(ranking, logs) != nil {
				return
			}
			for k, i := range ranking {
				r := (math.Exp2(float64(d.Labels[d.Offsets[q]+i])) - 1) / 15
				value += math.Exp(floats.Sum(logs)) * (bias.Alpha[k]*r + bias.Beta[k]) / float64(d.Queries())
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return value
}

// A log under rules evaluates the value of another policy under the same rules: it is in the interval of 95 of 100 logs.
func TestLogsUnderRulesEvaluate(t *testing.T) {
	const logs = 100
	d := fifty(6)
	d.Labels[0] = 4 // the highest label
	bias := Bias{Alpha: []float64{.9, .6, .4}, Beta: []float64{.08, .05, .02}}
	truth := valueUnder(t, d, byFeature(1.2), bias)
	logging := Logger{Cutoff: 3, Scores: byFeature(.4), Rules: rulesOf}
	covering, with, without := map[Estimator]int{}, []float64(nil), []float64(nil)
	for seed := range uint64(logs) {
		log, err := Simulate(d, logging, User{Behaviour: AffineClicks(bias)}, 2000, seed)
		if err != nil {
			t.Fatal(err)
		}
		target := Target{Bias: bias, Bootstrap: metrics.Bootstrap{Resamples: 200, Seed: seed}, Policy: func(im *Impression) ([]float64, error) {
			scores := make([]float64, len(im.Features))
			for i, f := range im.Features {
				scores[i] = 1.2 * float64(f)
			}
			return scores, nil
		}}
		estimates, err := Evaluate(log, target, IIPS, PolicyAware, DR, RIPS, WholeRanking)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range estimates {
			if e.Low <= truth && truth <= e.High {
				covering[e.Estimator]++
			}
		}
		with = append(with, estimates[3].Value-truth)
		for i := range log.Impressions {
			log.Impressions[i].Rules = nil
		}
		if estimates, err = Evaluate(log, target, RIPS); err != nil {
			t.Fatal(err)
		}
		without = append(without, estimates[0].Value-truth)
	}
	for _, e := range []Estimator{IIPS, PolicyAware, DR, RIPS, WholeRanking} {
		if covering[e] < 90 { // 95, less two standard deviations
			t.Errorf("%s: %d of %d intervals have the value %v", e, covering[e], logs, truth)
		}
	}
	t.Log(covering)
	errorOf := func(errors []float64) float64 { // in standard errors
		mean, deviation := stat.MeanStdDev(errors, nil)
		return math.Abs(mean) / deviation * math.Sqrt(logs)
	}
	if a, b := errorOf(with), errorOf(without); a > 3.5 || b < 5 {
		t.Errorf("the means are %v standard errors from the value, and %v without the rules", a, b)
	}

}

// Gains have the exposures under rules.
func TestGainsUnderRules(t *testing.T) {
	d := fifty(6)
	log, err := Simulate(d, Logger{Cutoff: 3, Scores: byFeature(.4), Rules: rulesOf}, User{}, 500, 1)
	if err != nil {
		t.Fatal(err)
	}
	bias := Bias{Alpha: []float64{1, .6, .4}}
	gains, err := Gains(log, bias, PolicyAware)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, gains.Rows())
	for _, im := range log.Impressions {
		var p plackett.Ruled
		rules := im.Rules
		if rules == nil {
			rules = &plackett.Rules{}
		}
		exposure := make([]float64, 6)
		if err := p.Set(im.Scores, *rules); err != nil {
			t.Fatal(err)
		}
		if err := p.Exposure(bias.Alpha, exposure); err != nil {
			t.Fatal(err)
		}
		for q, id := range gains.QueryIDs {
			if id == im.Query {
				floats.Add(want[gains.Offsets[q]:gains.Offsets[q+1]], exposure)
			}
		}
	}
	for row, e := range want {
		if math.Abs(float64(gains.Logged[row])-e) > 1e-5*(1+e) {
			t.Errorf("row %d: exposure %v, want %v", row, gains.Logged[row], e)
		}
	}
}

func TestRulesAreLogged(t *testing.T) {
	log, err := Simulate(fifty(6), Logger{Cutoff: 3, Rules: rulesOf}, User{}, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Impressions {
		log.Impressions[i].LogProbability = -1.25
	}
	var text bytes.Buffer
	if err := Write(&text, log); err != nil {
		t.Fatal(err)
	}
	if want := `"rank":1}]},"log_probability":-1.25`; !strings.Contains(text.String(), want) {
		t.Errorf("no %s in %.2000s", want, text.String())
	}
	read := func(text string) *Log {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := read(text.String())
	for i, im := range got.Impressions {
		if !reflect.DeepEqual(im.Rules, log.Impressions[i].Rules) || im.LogProbability != -1.25 {
			t.Errorf("impression %d: %+v, want %+v", i, im.Rules, log.Impressions[i].Rules)
		}
	}
	// Rules that no ranking of the log obeys are named.
	for i := range log.Impressions {
		log.Impressions[i].Rules = &plackett.Rules{Quotas: []plackett.Quota{{Documents: []int{0}, First: 3, Least: 2, Most: 3}}}
	}
	if _, err := Evaluate(log, Target{Policy: Logged}); err == nil || !strings.Contains(err.Error(), "rules: quota 0") {
		t.Errorf("error %v", err)
	}
	if got = read(strings.Replace(text.String(), `"pins":[`, `"pins":[1,`, 1)); len(got.Impressions) != 39 || len(got.Warnings) != 1 {
		t.Errorf("%d impressions, warnings %q", len(got.Impressions), got.Warnings)
	}
}
