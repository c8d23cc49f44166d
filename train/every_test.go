package train

import (
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
)

// Training on the synthetic collection lowers every loss: its value, or where that
// is only a surrogate's, the expected metric or the measure that it stands for.
func TestEveryLossOnSyntheticData(t *testing.T) {
	t.Parallel()
	s := grouped(datasets.Synthetic(datasets.SyntheticOptions{Train: 12, Vali: 1, Test: 1, Seed: 5}))
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		for r := range d.Rows() {
			d.Logged = append(d.Logged, 1+float32(r%5))
			d.LoggedScores = append(d.LoggedScores, float32(r%3))
			d.Intents = append(d.Intents, int(d.Labels[r]))
		}
	}
	for _, name := range losses.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := learning(name)
			config.LearningRate = .01
			config.Transform, config.Epochs, config.Samples = "minmax+log-standard", 5, 20
			// What is reported is the disparity of gains as they are.
			config.NormalizeGains = !strings.HasPrefix(name, "disparity")
			history := mustRun(t, mustNew(t, config, s), Hooks{}).History
			first, last := history[0], history[len(history)-1]
			before, after := first.Loss, last.Loss
			switch {
			case strings.HasSuffix(name, "policy-gradient"):
				before, after = -float64(first.Train["expected-dcg@5"]), -float64(last.Train["expected-dcg@5"])
			case strings.HasPrefix(name, "disparity("):
				before, after = float64(first.Train["disparity"]), float64(last.Train["disparity"])
			}
			if !(after < before) {
				t.Errorf("%s: %v after training, from %v", name, after, before)
			}
		})
	}
}
