package train

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

func stumps(features, labels []float32) *datasets.Splits {
	d := &datasets.Dataset{Name: "hand", FeatureIDs: []int{1}, Features: features, Labels: labels, Offsets: []int{0, 2, 4}, QueryIDs: []string{"a", "b"}}
	return &datasets.Splits{Train: d, Vali: d}
}

// A refit on squared errors gives a leaf (1 − refit)·old + refit·rate·Σ gap / (n + L2), where gaps are to the trees before with their new
// values. A leaf without documents keeps its value.
func TestRefitByHand(t *testing.T) {
	c := Config{
		Objective: Objective{Loss: "mse"}, Inputs: Inputs{Transform: "raw"}, Model: Model{Scorer: forestScorer, Depth: 1, Trees: 2},
		Optimization: Optimization{LearningRate: 0.5, L2: 3, Epochs: 1},
	}
	old := mustRun(t, mustNew(t, c, stumps([]float32{0, 1, 0, 1}, []float32{0, 3, 0, 4})), Hooks{})
	before, err := old.Model.File().Forest()
	if err != nil || len(before.Trees) != 2 {
		t.Fatalf("%d trees, error %v", len(before.Trees), err)
	}
	c.Refit, c.LearningRate = 0.25, 1
	for _, features := range [][]float32{{0, 1, 1, 1}, {0.75, 1, 1, 1.5}} {
		s := stumps(features, []float32{4, 1, 2, 3})
		tr, err := New(c.Plain(), Custom{Initial: old.Model}, s)
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, tr, Hooks{})
		last, err := tr.Current()
		if err != nil {
			t.Fatal(err)
		}
		after, err := last.File().Forest()
		if err != nil || len(after.Trees) != 2 {
			t.Fatalf("%d trees, error %v", len(after.Trees), err)
		}
		scores := make([]float64, 4)
		for k, tree := range before.Trees {
			if !reflect.DeepEqual(tree.Nodes, after.Trees[k].Nodes) {
				t.Errorf("tree %d has other nodes", k)
			}
			sums, counts := make([]float64, 2), make([]float64, 2)
			for i, x := range features {
				leaf := tree.Leaf([]float32{x})
				sums[leaf] += float64(s.Train.Labels[i]) - scores[i]
				counts[leaf]++
			}
			want := make([]float64, 2)
			for leaf, was := range tree.Leaves {
				if want[leaf] = was; counts[leaf] > 0 {
					want[leaf] = 0.75*was + 0.25*sums[leaf]/(counts[leaf]+3)
				}
				if got := after.Trees[k].Leaves[leaf]; math.Abs(got-want[leaf]) > 1e-6 {
					t.Errorf("features %v: leaf %d of tree %d is %v, want %v", features, leaf, k, got, want[leaf])
				}
			}
			for i, x := range features {
				scores[i] += want[tree.Leaf([]float32{x})]
			}
		}
	}
}

// The initial model stays the best where new values are worse on validation, and a second epoch refits the values of the first.
func TestRefitKeepsTheBetterModel(t *testing.T) {
	c, s := growing(), tabular()
	first := mustRun(t, mustNew(t, c, s), Hooks{})
	refit := func(part, rate float64, epochs int) (tr *Trainer, r *Result) {
		c.Refit, c.LearningRate, c.Epochs = part, rate, epochs
		tr, err := New(c.Plain(), Custom{Initial: first.Model}, s)
		if err != nil {
			t.Fatal(err)
		}
		return tr, mustRun(t, tr, Hooks{})
	}
	if _, r := refit(1, 1e-9, 2); r.BestEpoch != 0 || !reflect.DeepEqual(mustForest(t, r.Model), mustForest(t, first.Model)) {
		t.Errorf("best epoch %d: want the initial model", r.BestEpoch)
	}
	var leaves [3][]float64
	for epochs := 1; epochs < 3; epochs++ {
		tr, _ := refit(0.5, 0.3, epochs)
		last, err := tr.Current()
		if err != nil {
			t.Fatal(err)
		}
		leaves[epochs] = mustForest(t, last)
	}
	if len(leaves[1]) != len(leaves[2]) || reflect.DeepEqual(leaves[1], leaves[2]) {
		t.Errorf("%d values after two epochs, %d after one, which are to differ", len(leaves[2]), len(leaves[1]))
	}
}

// A refit needs an initial model, and refuses constraints on values.
func TestRefitNeedsTrees(t *testing.T) {
	c, s := growing(), tabular()
	first := mustRun(t, mustNew(t, c, s), Hooks{})
	c.Refit = 0.1
	if _, err := New(c.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), "want one (-init-model)") {
		t.Errorf("without an initial model: %v", err)
	}
	c.Rising = Features{"1"}
	if _, err := New(c.Plain(), Custom{Initial: first.Model}, s); err == nil || !strings.Contains(err.Error(), "-rising") {
		t.Errorf("with a constraint: %v", err)
	}
}
