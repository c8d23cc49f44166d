package train

import (
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/testkit"
)

// A program may train model after model, as a search for settings does: what one took is free again
// when it is dropped, without a Close of its rankers.
func TestMemoryOfRuns(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 4, Vali: 2, Test: 1})
	for _, scorer := range []string{"mlp", "attention"} {
		t.Run(scorer, func(t *testing.T) {
			c := Default()
			c.Scorer, c.Epochs, c.Members = scorer, 1, 2
			testkit.Steady(t, 10, func(from, to int) {
				for range to - from {
					r, err := Run(ctx, c.Plain(), s, Hooks{})
					if err != nil {
						t.Fatal(err)
					}
					if _, err := datasets.Score(r.Model, s.Vali); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}
