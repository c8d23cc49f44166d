package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// fitted is what the history says of a model of a run.
type fitted struct {
	name   string // "": the run has a single model
	config train.Config
	epochs []train.Epoch
	best   int // its epoch, from 1; 0: none
}

// models returns the models of the run that have been trained.
func (r *Run) models() (list []fitted) {
	if len(r.History) == 0 {
		return nil
	}
	if r.History[0].Model == 0 {
		f := fitted{"", r.Config, r.History, 0}
		if r.Summary != nil {
			f.best = r.Summary.BestEpoch
		}
		return []fitted{f}
	}
	for i, c := range r.Models {
		f := fitted{name: fmt.Sprintf("model %d", i+1), config: c}
		if r.Summary != nil && i < len(r.Summary.Shares) {
			f.name += fmt.Sprintf(", share %.2f", r.Summary.Shares[i])
		}
		for _, e := range r.History {
			if e.Model != i+1 {
				continue
			}
			f.epochs = append(f.epochs, e)
			if f.best == 0 || c.Better(float64(e.Vali[c.Metric]), float64(f.epochs[f.best-1].Vali[c.Metric])) {
				f.best = len(f.epochs)
			}
		}
		if f.epochs != nil {
			list = append(list, f)
		}
	}
	return list
}

// curves draws the validation metric and the loss by epoch.
func (v *view) curves(_ context.Context, r *rows) error {
	if len(v.History) == 0 {
		return nil
	}
	validation := v.Curve()
	validation.Y, _, _ = strings.Cut(validation.Y, " ") // the legend of a small picture names both measures
	r.plot("Validation", validation)
	for _, f := range v.models() {
		loss := viz.Series{}
		for _, e := range f.epochs {
			loss.Y = append(loss.Y, e.Loss)
		}
		title := "Training loss"
		if f.name != "" {
			title += ", " + f.name
		}
		r.plot(title, viz.Plot{X: "epoch", Y: "loss", Series: []viz.Series{loss}})
	}
	return nil
}

// best returns the best epoch of a run of one model; nil: there is none, or it is not known.
func (r *Run) best() *train.Epoch {
	if r.Summary == nil || r.Summary.BestEpoch < 1 || r.Summary.BestEpoch > len(r.History) {
		return nil
	}
	return &r.History[r.Summary.BestEpoch-1]
}

// ofModels returns the validation metric of each model by epoch, and the best epochs. The prefix begins the names.
func ofModels(list []fitted, metric, prefix string) (series []viz.Series) {
	best := viz.Series{Name: prefix + "best epochs", Style: viz.Points}
	for _, f := range list {
		s := viz.Series{Name: prefix + f.name}
		for _, e := range f.epochs {
			s.Y = append(s.Y, float64(e.Vali[metric]))
		}
		series = append(series, s)
		best.X, best.Y = append(best.X, float64(f.best)), append(best.Y, s.Y[f.best-1])
	}
	return append(series, best)
}

// Curve draws the metric of the run after each epoch on every split that was evaluated: for the ranking, and expected under the policy. A
// fairness metric has one curve per split. Curve marks the best epoch, or the initial model at 0. Several models have a curve each, of
// the ranking on the validation split. The run has a history.
func (r *Run) Curve() viz.Plot {
	metric, history := r.Config.Metric, r.History
	p := viz.Plot{X: "epoch", Y: metric}
	names := []string{metric}
	if m, err := metrics.ParseMeasure(metric); err == nil && m.Ranking().String() != m.Expected().String() {
		names = []string{m.Ranking().String(), m.Expected().String()}
		p.Y = names[0] + " and its expectation"
	}
	if history[0].Model > 0 {
		p.Y, p.Series = names[0], ofModels(r.models(), names[0], "")
		return p
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
	if r.Summary == nil {
		return p
	}
	name, epoch, values := "initial model, the best", 0, r.Summary.Initial
	if best := r.best(); best != nil {
		epoch, values = r.Summary.BestEpoch, best.Vali
		name = fmt.Sprintf("best epoch, %d", epoch)
	}
	if values != nil { // otherwise no single epoch is the best
		p.Series = append(p.Series, viz.Series{Name: name, Style: viz.Points, X: []float64{float64(epoch)},
			Y: []float64{float64(values[metric])}})
	}
	return p
}
