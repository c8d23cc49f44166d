package report

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// curves draws the validation metric and the loss by epoch.
func (v *view) curves(_ context.Context, r *rows) error {
	if len(v.History) == 0 {
		return nil
	}
	loss := viz.Series{}
	for _, e := range v.History {
		loss.Y = append(loss.Y, e.Loss)
	}
	best, initial := 0, train.Values(nil)
	if v.Summary != nil {
		best, initial = v.Summary.BestEpoch, v.Summary.Initial
	}
	validation := Curve(v.Config.Metric, v.History, best, initial)
	validation.Y, _, _ = strings.Cut(validation.Y, " ") // the legend of a small picture names both measures
	r.plot("Validation", validation)
	r.plot("Training loss", viz.Plot{X: "epoch", Y: "loss", Series: []viz.Series{loss}})
	return nil
}

// Curve draws the metric after each epoch on every split that was evaluated: for the ranking, and expected under the policy. A fairness
// metric has one curve per split. Curve marks the best epoch, or the initial model at 0.
func Curve(metric string, history []train.Epoch, bestEpoch int, initial train.Values) viz.Plot {
	p := viz.Plot{X: "epoch", Y: metric}
	names := []string{metric}
	if m, err := metrics.ParseMeasure(metric); err == nil && m.Ranking().String() != m.Expected().String() {
		names = []string{m.Ranking().String(), m.Expected().String()}
		p.Y = names[0] + " and its expectation"
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
	name, best := "initial model, the best", initial
	if bestEpoch > 0 && bestEpoch <= len(history) {
		name, best = fmt.Sprintf("best epoch, %d", bestEpoch), history[bestEpoch-1].Vali
	}
	if best != nil { // otherwise no single epoch is the best
		p.Series = append(p.Series, viz.Series{Name: name, Style: viz.Points, X: []float64{float64(bestEpoch)},
			Y: []float64{float64(best[metric])}})
	}
	return p
}

// distribution draws the sorted values of the queries, for all rankers.
func (v *view) distribution(_ context.Context, r *rows) error {
	if v.data == nil {
		return nil
	}
	p := viz.Plot{X: "% of the queries", Y: v.metric, Series: []viz.Series{quantiles("model", v.split.PerQuery[v.metric])}}
	for i, values := range v.split.OthersPerQuery {
		if values[v.metric] != nil {
			p.Series = append(p.Series, quantiles(short(v.split.Rankers[i]), values[v.metric]))
		}
	}
	r.plot("Values of the queries, from the lowest", p)
	if before := v.perQuery(v.reference)[v.metric]; before != nil {
		var differences []float64
		for q, x := range v.split.PerQuery[v.metric] {
			differences = append(differences, x-before[q])
		}
		s := quantiles("", differences)
		zero := viz.Series{Style: viz.Guide, X: []float64{0, 100}, Y: []float64{0, 0}}
		r.plot("Model − "+short(v.reference)+", by query", viz.Plot{X: "% of the queries", Y: "difference of " + v.metric,
			Series: []viz.Series{zero, s}})
	}
	return nil
}

// quantiles returns the curve of the sorted values, thinned for a picture.
func quantiles(name string, values []float64) viz.Series {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(values)
	const most = 101
	s := viz.Series{Name: name}
	n := min(most, len(values))
	for i := range n {
		at := i * (len(values) - 1) / max(1, n-1)
		s.X = append(s.X, 100*float64(at)/float64(max(1, len(values)-1)))
		s.Y = append(s.Y, values[at])
	}
	return s
}
