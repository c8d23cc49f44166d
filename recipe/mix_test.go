package recipe

import (
	"slices"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// A table of synthetic data: its first two features are of the query.
func tables(t *testing.T) *datasets.Splits {
	t.Helper()
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 12, Vali: 6, Test: 4, Seed: 3})
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		for q := range d.Queries() {
			for row := d.Offsets[q]; row < d.Offsets[q+1]; row++ {
				for c := range d.Width() / 2 {
					d.Features[row*d.Width()+c] = float32((q*7 + c) % 5)
				}
			}
		}
	}
	return s
}

// A table has a forest and a network, which Run trains one after another, as they are trained alone, and mixes.
func TestTablesHaveAMixture(t *testing.T) {
	s := tables(t)
	plan := For(s)
	if len(plan.Models) != 2 || plan.Models[0].Scorer != ranker.ForestKind || plan.Models[1].Scorer != "mlp" || plan.Models[1].Transform != "quantile+missing" {
		t.Fatalf("%+v", plan)
	}
	for i := range plan.Models {
		plan.Models[i].Epochs, plan.Models[i].Seed = 2, 5
	}
	r, err := plan.Run(t.Context(), s, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Model.File().Kind != ranker.MixtureKind || len(r.History) != 4 || r.History[3].Epoch != 4 || r.History[3].Model != 2 || len(r.Shares) != 2 {
		t.Errorf("%s, %+v, shares %v", r.Model.File().Kind, r.History, r.Shares)
	}
	for i, c := range plan.Models {
		alone, err := train.Run(t.Context(), c, s, train.Hooks{})
		if err != nil || alone.History[1].Loss != r.History[2*i+1].Loss {
			t.Errorf("model %d: %v, loss %v in the mixture, %v", i, err, r.History[2*i+1].Loss, alone.History[1].Loss)
		}
	}
	letor := datasets.Synthetic(datasets.SyntheticOptions{Train: 12, Vali: 6, Test: 4, Seed: 3})
	if ofQuery := queryShare(letor); ofQuery >= tablesFrom {
		t.Errorf("synthetic data: a part of %v of the features is of the query", ofQuery)
	}
	if plan := For(letor); len(plan.Models) != 1 || !slices.Equal(plan.Models[0].Hidden, []int{64}) {
		t.Errorf("%+v", plan)
	}
	rows := largeFrom
	large := For(&datasets.Splits{Train: &datasets.Dataset{
		Labels: make([]float32, rows), Features: make([]float32, rows), FeatureIDs: []int{1}, Offsets: []int{0, rows / 2, rows},
	}}).Models
	if len(large) != 2 || large[1].Bins == 0 || large[0].Loss != "query-rmse" || plan.Models[0].Loss != "softmax" {
		t.Errorf("large data: %+v", large)
	}
	s.Train.Gains = make([]float64, s.Train.Rows())
	if plan := For(s); len(plan.Models) != 1 {
		t.Errorf("gains from clicks: %d models", len(plan.Models))
	}
}
