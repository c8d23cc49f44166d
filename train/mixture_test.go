package train

import (
	"slices"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
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

// A Config that leaves the models to the recipe is a mixture where a tenth of the features are of the query, and what it says of
// evaluation holds for each model; one that says anything of a model is that model alone.
func TestTablesHaveAMixture(t *testing.T) {
	s := tables(t)
	models, _ := DefaultFor(s)
	if len(models) != 2 || models[0].Scorer != forestScorer || models[1].Scorer != mlpScorer || models[1].Transform != "quantile+missing" {
		t.Fatalf("%+v", models)
	}
	r, err := Run(t.Context(), Config{Optimization: Optimization{Epochs: 2}, Seed: 5}, s, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Model.File().Kind != ranker.MixtureKind || len(r.History) != 4 || r.History[3].Epoch != 4 || r.History[3].Model != 2 || len(r.Shares) != 2 {
		t.Errorf("%s, %+v, shares %v", r.Model.File().Kind, r.History, r.Shares)
	}
	for i, c := range models {
		c.Epochs, c.Seed = 2, 5
		alone, err := Run(t.Context(), c, s, Hooks{})
		if err != nil || alone.History[1].Loss != r.History[2*i+1].Loss {
			t.Errorf("model %d: %v, loss %v in the mixture, %v", i, err, r.History[2*i+1].Loss, alone.History[1].Loss)
		}
	}
	for what, c := range map[string]Config{
		"a rate":  {Optimization: Optimization{LearningRate: 0.01}},
		"a loss":  {Objective: Objective{Loss: "softmax"}},
		"a sum":   {Evaluation: Evaluation{Metric: "ndcg@5+0.5*map"}},
		"a layer": {Model: Model{Hidden: []int{3}}},
	} {
		if c.LeavesModels() {
			t.Errorf("%s: a mixture", what)
		}
	}
	letor := datasets.Synthetic(datasets.SyntheticOptions{Train: 12, Vali: 6, Test: 4, Seed: 3})
	if ofQuery := queryShare(letor); ofQuery >= tablesFrom {
		t.Errorf("synthetic data: a part of %v of the features is of the query", ofQuery)
	}
	if models, _ := DefaultFor(letor); len(models) != 1 || !slices.Equal(models[0].Hidden, []int{64}) {
		t.Errorf("%+v", models)
	}
	large, _ := DefaultFor(sized(50, largeFrom/50))
	if len(large) != 2 || large[1].Bins == 0 || large[0].Loss != "query-rmse" || models[0].Loss != "softmax" {
		t.Errorf("large data: %+v", large)
	}
	clicked(s.Train)
	if models, _ := DefaultFor(s); len(models) != 1 {
		t.Errorf("gains from clicks: %d models", len(models))
	}
}
