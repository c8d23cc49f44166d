package train

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// clicked is the synthetic collection with gains, from labels, of all signs, and the exposure of a
// log that showed every document alike, for training and validation, without labels.
func clicked(splits ...*datasets.Dataset) {
	for _, d := range splits {
		d.Gains, d.Logged = make([]float64, d.Rows()), make([]float32, d.Rows())
		for r, l := range d.Labels {
			d.Gains[r], d.Logged[r], d.Labels[r] = float64(l)-1, 7, datasets.Unlabelled
			d.LoggedScores = append(d.LoggedScores, 0)
		}
	}
}

// A query whose gains are all negative is learned from: its worst documents go down. Zeros are not.
func TestQueriesOfNegativeGainsAreLearned(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 6, Vali: 2, Test: 1, Seed: 3})
	clicked(s.Train, s.Vali)
	for q := range 3 {
		for r := s.Train.Offsets[q]; r < s.Train.Offsets[q+1]; r++ {
			if s.Train.Gains[r] = -1 - float64(r%3); q == 0 {
				s.Train.Gains[r] = 0
			}
		}
	}
	c := learning("plrank-exact")
	c.Metric, c.NormalizeGains = LossMetric, false
	tr := mustNew(t, c, s)
	if want := []int{1, 2, 3, 4, 5}; !slices.Equal(tr.data.Queries, want) || tr.LeftOut() != 1 {
		t.Errorf("queries %v are learned from, want %v; %d left out", tr.data.Queries, want, tr.LeftOut())
	}
	s.Train = s.Train.Select([]int{1, 2})
	tr = mustNew(t, c, s)
	history := mustRun(t, tr, Hooks{}).History
	if first, last := history[0].Loss, history[len(history)-1].Loss; !(first > 0 && last < first-.1) {
		t.Errorf("the loss of negative gains goes from %v to %v: want it to fall", first, last)
	}
}

// Held-out queries of a log are measured by the loss, with its safety terms, and by nothing else;
// a loss that needs a log has a value on labelled data without one.
func TestValidationByGainsAndByLabels(t *testing.T) {
	for _, loss := range []string{"plrank-exact+0.1*exposure-risk(0.9)", "prpo(0.5)"} {
		for _, labelled := range []bool{false, true} {
			s := datasets.Synthetic(datasets.SyntheticOptions{Train: 8, Vali: 3, Test: 3, Seed: 3})
			clicked(s.Train)
			if !labelled {
				clicked(s.Vali)
			}
			c := learning(loss)
			c.Metric, c.NormalizeGains, c.EvaluateTrain, c.Epochs = LossMetric, false, true, 4
			tr := mustNew(t, c, s)
			path := filepath.Join(t.TempDir(), "checkpoint")
			result := mustRun(t, tr, Hooks{Epoch: func(tr *Trainer, e Epoch) error {
				c, err := tr.Checkpoint()
				if err == nil && e.Epoch == 2 {
					err = c.Save(path)
				}
				return err
			}})
			for _, e := range result.History {
				if v, ok := e.Vali[LossMetric]; !ok || !finite(float64(v)) || (len(e.Vali) == 1) == labelled || len(e.Train) != 1 {
					t.Errorf("%s, labelled %t: validation %v, training %v", loss, labelled, e.Vali, e.Train)
				}
			}
			report, err := tr.Report(result.Model)
			if err != nil {
				t.Fatal(err)
			}
			if split := report.Splits[0]; len(split.Rankers) != 2 || len(split.Rows[1]) != 1 {
				t.Errorf("the report on training gains: %+v", split)
			}
			again := mustNew(t, c, s)
			if err := again.Restore(path); err != nil {
				t.Fatal(err)
			}
			resumed := mustRun(t, again, Hooks{}).History
			if a, b := resumed[len(resumed)-1], result.History[len(result.History)-1]; a.Loss != b.Loss {
				t.Errorf("%s: after going on the loss is %v, at once %v", loss, a.Loss, b.Loss)
			}
			s.Train.Gains[0] += 1e-9
			if err := mustNew(t, c, s).Restore(path); err == nil || !strings.Contains(err.Error(), "gains of the training split") {
				t.Errorf("other gains: error %v", err)
			}
		}
	}
}

// On labelled data, PRPO is minus the expected metric, and the risk is left out.
func TestSafetyLossesOfLabelsAreTheMetric(t *testing.T) {
	values := map[string]float64{}
	for _, loss := range []string{"plrank-exact", "plrank-exact+3*exposure-risk", "prpo(0.9)"} {
		s := datasets.Synthetic(datasets.SyntheticOptions{Train: 2, Vali: 3, Test: 1, Seed: 3})
		clicked(s.Train)
		c := learning(loss)
		c.Metric = LossMetric
		tr := mustNew(t, c, s)
		got, err := tr.parsed.evaluator.evaluate(s.Vali, make([]float64, s.Vali.Rows()), tr.parsed.evaluator.metric.measures)
		if err != nil {
			t.Fatal(err)
		}
		values[loss] = float64(got[LossMetric])
	}
	for loss, v := range values {
		if math.Abs(v-values["plrank-exact"]) > 1e-6 {
			t.Errorf("%s is %v, plrank-exact %v", loss, v, values["plrank-exact"])
		}
	}
}

func TestGainsNeedAFittingMetric(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 2, Vali: 1, Test: 1, Seed: 3})
	clicked(s.Train, s.Vali)
	c := learning("plrank-exact")
	c.Metric = "ndcg@5"
	if _, err := New(c.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), "has gains from clicks, and no labels for ndcg@5: want -metric loss, or labelled data for validation by -vali") {
		t.Errorf("error %v", err)
	}
	c = learning("exposure-risk")
	s = datasets.Synthetic(datasets.SyntheticOptions{Train: 2, Vali: 1, Test: 1, Seed: 3})
	clicked(s.Train)
	c.Metric = LossMetric
	if _, err := Run(t.Context(), c.Plain(), s, Hooks{}); err == nil || !strings.Contains(err.Error(), "has no value without the exposure in a log") {
		t.Errorf("error %v where nothing is left of the loss", err)
	}
}
