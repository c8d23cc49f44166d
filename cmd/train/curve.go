package main

import (
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const curveFile = "curve.png"

// drawCurve draws the validation metric after each epoch, of the ranking and
// expected under the policy, and marks the best epoch. Fairness is a single curve.
func drawCurve(path, metric string, history []train.Epoch) error {
	p := viz.Plot{X: "epoch", Y: "validation"}
	best := 0
	for i, e := range history {
		if e.Best {
			best = i
		}
	}
	names := []string{metric}
	if m, err := metrics.ParseMeasure(metric); err == nil && m.Ranking().String() != m.Expected().String() {
		names = []string{m.Ranking().String(), m.Expected().String()}
	}
	for _, name := range names {
		s := viz.Series{Name: name, Marks: []int{best}}
		for _, e := range history {
			s.Y = append(s.Y, float64(e.Vali[name]))
		}
		p.Series = append(p.Series, s)
	}
	return p.Save(path)
}
