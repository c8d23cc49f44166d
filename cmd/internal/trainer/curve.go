package trainer

import (
	"fmt"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// drawCurve draws the validation metric after each epoch, of the ranking and
// expected under the policy, on every split that was evaluated, and marks the best
// epoch, or the initial model at 0. Fairness has one curve a split.
func drawCurve(path, title, metric string, result *train.Result) error {
	history := result.History
	p := viz.Plot{Title: title, X: "epoch", Y: metric}
	names := []string{metric}
	if m, err := metrics.ParseMeasure(metric); err == nil && m.Ranking().String() != m.Expected().String() {
		names = []string{m.Ranking().String(), m.Expected().String()}
	}
	for _, split := range []struct {
		name   string
		values func(train.Epoch) train.Values
	}{
		{"validation", func(e train.Epoch) train.Values { return e.Vali }},
		{"training", func(e train.Epoch) train.Values { return e.Train }},
		{"test", func(e train.Epoch) train.Values { return e.Test }},
	} {
		for _, name := range names {
			if _, ok := split.values(history[0])[name]; !ok {
				continue
			}
			s := viz.Series{Name: split.name + ", " + name}
			for _, e := range history {
				s.Y = append(s.Y, float64(split.values(e)[name]))
			}
			p.Series = append(p.Series, s)
		}
	}
	name, best := "initial model, the best", result.Initial
	if result.BestEpoch > 0 {
		name, best = fmt.Sprintf("best epoch, %d", result.BestEpoch), history[result.BestEpoch-1].Vali
	}
	p.Series = append(p.Series, viz.Series{
		Name: name, Style: viz.Points, X: []float64{float64(result.BestEpoch)}, Y: []float64{float64(best[metric])},
	})
	return p.Save(path)
}
