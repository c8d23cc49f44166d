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

// An attempt is what a trial has on a fold.
type attempt struct {
	model  *ranker.Model // nil: there is none
	epoch  int           // the best; 0 of a mixture
	values train.Values  // of the model on the validation split; nil: they are not known
}

// train trains the models of a trial on a fold, and mixes them if there are several.
func (s *search) train(ctx context.Context, t *trial, fold int, models []train.Config) (a attempt, err error) {
	result, err := recipe.Plan{Models: models}.Train(ctx, s.data.Folds[fold], func(i int, c train.Config, rival *recipe.Rival) (
		*train.Result, error) {
		trainer, err := s.data.Trainer(c, fold, rival)
		if err != nil {
			return nil, err
		}
		rival.Trainer = trainer
		if len(s.done) == 0 && fold == 0 && i == 0 {
			s.warn(trainer.Warnings()...)
		}
		r, err := trainer.Run(ctx, train.Hooks{Step: func(at train.Step) {
			epoch := (float64(at.Epoch-1) + float64(at.Step)/float64(at.Steps)) / float64(c.Epochs)
			s.progress(t, (float64(fold)+(float64(i)+epoch)/float64(len(models)))/float64(s.folds()),
				fmt.Sprintf("epoch %d/%d", at.Epoch, c.Epochs))
		}})
		if errors.Is(err, train.ErrBatch) && len(models) > 1 {
			s.warn(fmt.Sprintf("trial %d: model %d is left out: %v", t.Number, i+1, err))
			return nil, nil
		}
		return r, err
	})
	if err != nil {
		return a, err
	}
	a = attempt{result.Model, result.BestEpoch, result.Initial}
	switch {
	case result.Shares != nil:
		a.values, err = s.measure(models[0], fold, a.model)
	case a.epoch > 0:
		a.values = result.History[a.epoch-1].Vali
	}
	if err == nil && result.Interrupted {
		err = command.ErrInterrupted
	}
	return a, err
}

// progress shows how much of a trial is done.
func (s *search) progress(t *trial, part float64, words string) {
	part = (float64(t.Number) + part) / float64(s.total+1)
	if !s.end.IsZero() {
		part = max(part, 1-time.Until(s.end).Seconds()/s.limit.Seconds())
	}
	s.bar.Set(min(1, part), s.name(t.Number)+", "+words)
}

// mix mixes the models of other trials.
func (s *search) mix(t *trial, parts []*trial) (a attempt, err error) {
	var models []*ranker.Model
	for _, p := range parts {
		models = append(models, p.models[0])
	}
	mixed, shares, err := recipe.Mix(s.common, s.data.Folds[0].Vali, models...)
	if err != nil {
		return a, err
	}
	weights, _, err := mixed.Parts()
	if err != nil {
		return a, err
	}
	if weights == nil { // of a single part, which is mixed again where it is
		weights = []float64{1}
	}
	t.Parts = []part{}
	for i, share := range shares {
		if share == 0 {
			continue
		}
		own, _, err := models[i].Parts()
		if err != nil {
			return a, err
		}
		weight := weights[0]
		if own != nil {
			weight /= own[0]
		}
		weights = weights[max(1, len(own)):]
		t.Parts = append(t.Parts, part{parts[i].Number, share, weight})
	}
	values, err := s.measure(s.common, 0, mixed)
	return attempt{model: mixed, values: values}, err
}

// measure measures a mixture on the validation split of a fold.
func (s *search) measure(c train.Config, fold int, m *ranker.Model) (train.Values, error) {
	c.Report = append(append([]string{}, c.Report...), s.common.Metric)
	r, err := train.Evaluate(c, train.Custom{}, m, train.Split{Name: "vali", Data: s.data.Folds[fold].Vali})
	if err != nil {
		return nil, err
	}
	rows := r.Splits[0].Rows
	values := rows[len(rows)-1]
	if math.IsNaN(float64(values[s.common.Metric])) {
		return nil, fmt.Errorf("%s of the mixture is not known", s.common.Metric)
	}
	return values, nil
}
