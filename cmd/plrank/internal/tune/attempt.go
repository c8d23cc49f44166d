package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// An attempt is a trial on a fold.
type attempt struct {
	*search
	trial  *trial
	fold   int
	model  *ranker.Model // nil: there is none
	best   float64
	values train.Values // of the best epoch
}

// train trains the models, and mixes them if there are several.
func (a *attempt) train(ctx context.Context, models []train.Config) error {
	result, err := recipe.Plan{Models: models}.Train(ctx, a.data.Folds[a.fold], func(i int, c train.Config, rival *recipe.Rival) (
		*train.Result, error) {
		t, err := a.data.Trainer(c, a.fold, rival)
		if err != nil {
			return nil, err
		}
		rival.Trainer = t
		if len(a.done) == 0 && a.fold == 0 && i == 0 {
			a.warn(t.Warnings()...)
		}
		r, err := t.Run(ctx, a.hooks(t, i, len(models)))
		if errors.Is(err, train.ErrBatch) && len(models) > 1 {
			a.warn(fmt.Sprintf("trial %d: model %d is left out: %v", a.trial.Number, i+1, err))
			return nil, nil
		}
		return r, err
	})
	if err != nil {
		return err
	}
	if a.model = result.Model; len(models) > 1 && len(result.History) > 0 {
		if err := a.measure(models[0]); err != nil {
			return err
		}
		if a.folds() == 1 {
			a.trial.Best = []train.Value{train.Value(a.best)}
		}
	}
	if result.Interrupted {
		return command.ErrInterrupted
	}
	return nil
}

// hooks returns what a training of one of several models calls.
func (a *attempt) hooks(t *train.Trainer, model, models int) train.Hooks {
	metric := t.Config.Metric
	if a.own || a.trial.Number == 0 {
		metric = a.common.Metric
	}
	h := train.Hooks{Step: func(at train.Step) {
		part := (float64(at.Epoch-1) + float64(at.Step)/float64(at.Steps)) / float64(t.Config.Epochs)
		part = (float64(a.fold) + (float64(model)+part)/float64(models)) / float64(a.folds())
		part = (float64(a.trial.Number) + part) / float64(a.total+1)
		if !a.end.IsZero() {
			part = max(part, 1-time.Until(a.end).Seconds()/a.limit.Seconds())
		}
		a.bar.Set(min(1, part), fmt.Sprintf("%s, epoch %d/%d", a.name(a.trial.Number), at.Epoch, t.Config.Epochs))
	}}
	if models > 1 {
		return h
	}
	h.Initial = func(v train.Values) error {
		a.best, a.values, a.trial.Epoch = float64(v[metric]), v, 0
		return nil
	}
	h.Epoch = func(_ *train.Trainer, e train.Epoch) error {
		if e.Best {
			a.best, a.values, a.trial.Epoch = float64(e.Vali[metric]), e.Vali, e.Epoch
		}
		if a.folds() == 1 {
			a.trial.Best = append(a.trial.Best, train.Value(a.best))
		}
		return nil
	}
	return h
}

// mix mixes the models of other trials.
func (a *attempt) mix(parts []*trial) (err error) {
	var models []*ranker.Model
	for _, t := range parts {
		models = append(models, t.models[0])
	}
	mixed, shares, err := recipe.Mix(a.common, a.data.Folds[a.fold].Vali, models...)
	if err != nil {
		return err
	}
	weights, _, err := mixed.Parts()
	if err != nil {
		return err
	}
	if weights == nil { // of a single part, which is mixed again where it is
		weights = []float64{1}
	}
	a.model, a.trial.Parts = mixed, []part{}
	for i, share := range shares {
		if share == 0 {
			continue
		}
		own, _, err := models[i].Parts()
		if err != nil {
			return err
		}
		weight := weights[0]
		if own != nil {
			weight /= own[0]
		}
		weights = weights[max(1, len(own)):]
		a.trial.Parts = append(a.trial.Parts, part{parts[i].Number, share, weight})
	}
	return a.measure(a.common)
}

// measure measures the model on the validation split.
func (a *attempt) measure(c train.Config) error {
	c.Report = append(append([]string{}, c.Report...), a.common.Metric)
	r, err := train.Evaluate(c, train.Custom{}, a.model, train.Split{Name: "vali", Data: a.data.Folds[a.fold].Vali})
	if err != nil {
		return err
	}
	rows := r.Splits[0].Rows
	if a.values = rows[len(rows)-1]; math.IsNaN(float64(a.values[a.common.Metric])) {
		return fmt.Errorf("%s of the mixture is not known", a.common.Metric)
	}
	a.best = float64(a.values[a.common.Metric])
	return nil
}
