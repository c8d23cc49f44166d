package recipe

import (
	"strconv"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

func TestPlansOfSparseDocumentsCanBeTrained(t *testing.T) {
	d := &datasets.Dataset{Name: "words", Offsets: []int{0}}
	for q := range 30 {
		for r := range 4 {
			d.Sparse.Append([]int32{int32(r), int32(4 + q)}, []float32{1, float32(1 + r%2)})
			d.Labels = append(d.Labels, float32(r%3))
		}
		d.Offsets, d.QueryIDs = append(d.Offsets, 4*(q+1)), append(d.QueryIDs, string(rune('A'+q)))
	}
	for id := range 40 {
		d.FeatureIDs = append(d.FeatureIDs, 1+id)
	}
	s := &datasets.Splits{Train: d, Vali: d}
	for name, plan := range map[string]Plan{"plan": For(s), "network": Single("mlp", s), "attention": Single("attention", s)} {
		for _, c := range plan.Models {
			c.Epochs = 1
			r, err := train.Run(t.Context(), c, s, train.Hooks{})
			if err != nil || r.History[0].Vali["ndcg@10"] < .5 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if plan := For(s); len(plan.Models) != 2 {
		t.Errorf("%d models", len(plan.Models))
	}
	d.FeatureIDs = nil
	for id := range 1 << 22 {
		d.FeatureIDs = append(d.FeatureIDs, id)
	}
	if plan := For(s); len(plan.Models) != 1 || plan.Models[0].Scorer != "forest" {
		t.Errorf("%d models of documents with 4 million features", len(plan.Models))
	}
}

// Each document has one of twenty words, and its label is by its word. A tree asks for one word after another.
func TestForestsOfSparseDocumentsAskForManyWords(t *testing.T) {
	d := &datasets.Dataset{Name: "words", Offsets: []int{0}}
	for q := range 60 {
		for r := range 20 {
			word := (7*q + r*(1+2*(q%9))) % 20
			d.Sparse.Append([]int32{int32(word)}, []float32{1})
			d.Labels = append(d.Labels, float32(word%5))
		}
		d.Offsets, d.QueryIDs = append(d.Offsets, 20*(q+1)), append(d.QueryIDs, strconv.Itoa(q))
	}
	for id := range 20 {
		d.FeatureIDs = append(d.FeatureIDs, 1+id)
	}
	s := &datasets.Splits{Train: d, Vali: d}
	plan := Single(ranker.ForestKind, s)
	plan.Models[0].Epochs = 1
	r, err := plan.Run(t.Context(), s, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Model.File().Forest()
	if err != nil || f.Trees[0].Depth() < 10 {
		t.Errorf("a tree of depth %d for twenty words (%v)", f.Trees[0].Depth(), err)
	}
}
