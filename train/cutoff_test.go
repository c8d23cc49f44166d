package train

import (
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses"
)

// A cutoff beyond the longest list is that of its length, to the last bit, for losses of
// all kinds: what is drawn and computed for ranks does not grow with it.
func TestCutoffBeyondTheLongestList(t *testing.T) {
	t.Parallel()
	s := small()
	k := longest(s.Train)
	for _, name := range []string{"plrank-rb", "plrank-exact", "lambdaloss", "ndcg-loss2k", "ndcg-loss1", "pirank", "stochasticrank", "disparity(plrank2)"} {
		var weights [][]float32
		for _, cutoff := range []int{k, 2000} {
			ranks := 0
			loss, err := losses.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			c := Config{Objective: Objective{Loss: "watched", Cutoff: cutoff, Samples: 3}, Model: Model{Hidden: []int{4}}, Optimization: Optimization{Epochs: 1, Batch: 16}, Evaluation: Evaluation{Metric: "ndcg@5"}, Seed: 1}
			tr, err := New(c.Plain(), Parts{Loss: func(b losses.Batch) (*G.Node, error) {
				ranks = len(b.Discounts)
				return loss(b)
			}}, s)
			if err != nil {
				t.Fatal(err)
			}
			weights = append(weights, trainedWeights(mustRun(t, tr, Hooks{}).Model))
			if ranks != k {
				t.Errorf("%s, cutoff %d: %d ranks for lists of up to %d documents", name, cutoff, ranks, k)
			}
		}
		if !slices.Equal(weights[0], weights[1]) {
			t.Errorf("%s: other weights with a cutoff of 2000 than of %d", name, k)
		}
	}
}
