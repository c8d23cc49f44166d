package train

import (
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/losses"
)

// A loss learns from the queries that it needs no labels of, alone and in a sum; for all
// others those without a relevant document are left out, and counted.
func TestQueriesWithoutRelevantDocuments(t *testing.T) {
	t.Parallel()
	model := func(loss string, turned bool) ([]float32, int) {
		s := grouped(small())
		d := s.Train
		for q := range 10 {
			from, to := d.Offsets[q], d.Offsets[q+1]
			clear(d.Labels[from:to])
			if turned {
				for i := from; i < to; i++ {
					d.Groups[i] = i % 2
				}
				slices.Reverse(d.Features[from*d.Width() : to*d.Width()])
			}
		}
		tr := mustNew(t, Config{Objective: Objective{Loss: loss, Samples: 10}, Evaluation: Evaluation{Metric: "dcg@5"}, Optimization: Optimization{Epochs: 1, LearningRate: 1e-5, Batch: 16}, Inputs: Inputs{Transform: "none"}}, s)
		r := mustRun(t, tr, Hooks{})
		if turned {
			return trainedWeights(r.Model), tr.LeftOut()
		}
		report, err := tr.Report(r.Model)
		if err != nil {
			t.Fatal(err)
		}
		if report.LeftOut != tr.LeftOut() {
			t.Errorf("%s: %d queries are left out, the report says %d", loss, tr.LeftOut(), report.LeftOut)
		}
		return trainedWeights(r.Model), tr.LeftOut()
	}
	free := 0 // queries of the training split without a relevant document
	d := small().Train
	for q := range d.Queries() {
		if q < 10 || slices.Max(d.Labels[d.Offsets[q]:d.Offsets[q+1]]) == 0 {
			free++
		}
	}
	for loss, learns := range map[string]bool{
		"group-exposure": true, "group-exposure(plrank-rb)": true, "ee-l": true, "mse": true, "query-rmse": true, "ordinal": true, "cross-entropy": true, "listnet": true,
		"plrank-exact+10*group-exposure": true, "xe-ndcg+mse": true,
		"plrank-exact": false, "group-treatment": false, "disparity": false, "softmax": false, "xe-ndcg": false, "listmle": false, "plrank-rb+0*mse": false,
	} {
		weights, left := model(loss, false)
		others, _ := model(loss, true)
		want := free
		if learns {
			want = 0
		}
		if left != want || slices.Equal(weights, others) == learns {
			t.Errorf("%s: %d queries left out, want %d; the model goes by what is in them: %t", loss, left, want, !slices.Equal(weights, others))
		}
	}
}

// Where no query at all has a relevant document, a loss of fairness can learn, and none by
// labels; a loss of one's own says which it is.
func TestDataWithoutRelevantDocuments(t *testing.T) {
	t.Parallel()
	s := grouped(small())
	clear(s.Train.Labels)
	clear(s.Vali.Labels)
	for loss, fails := range map[string]bool{"group-exposure": false, "ee-l": false, "plrank-exact+group-exposure": false, "mse": true, "plrank-exact": true, "ordinal+disparity": true} {
		tr, err := New(Config{Objective: Objective{Loss: loss}, Optimization: Optimization{Epochs: 2}}.Plain(), Custom{}, s)
		if (err != nil) != fails {
			t.Errorf("%s: %v", loss, err)
		}
		if err == nil && mustRun(t, tr, Hooks{}).BestEpoch == 0 {
			t.Errorf("%s: no best epoch", loss)
		}
	}
	own, err := losses.Parse("mse")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{}.Plain(), Custom{Loss: own}, s); err == nil || !strings.Contains(err.Error(), "relevant document") {
		t.Errorf("a loss of one's own: %v", err)
	}
	if tr, err := New(Config{}.Plain(), Custom{Loss: own, LabelFree: true}, s); err != nil || tr.LeftOut() != 0 {
		t.Errorf("one that needs no labels: %v", err)
	}
}
