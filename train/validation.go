package train

import (
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/ranker"
)

// validation is the hook that evaluates the model after each epoch, and keeps the best one; of a model of parts, it keeps each part as
// after its own best epoch, and evaluates the model of these.
type validation struct {
	NopHook
	evaluator *evaluator
	data      *runData
	history   *history
	learner   learner
	initial   *ranker.Model // nil: there is none
	bestParts []Value       // validation value of each
}

func (v *validation) State() State {
	if v.bestParts == nil {
		return State{}
	}
	return State{Values: map[string]any{"networks": &v.bestParts}, lengths: map[string]int{"networks": len(v.bestParts)}}
}

// Begin evaluates the initial model, where a run begins with one: it is the best until an epoch
// is better.
func (v *validation) Begin() error {
	if v.initial == nil || len(v.history.epochs) > 0 {
		return nil
	}
	var vali Values
	err := v.keepParts()
	if err == nil {
		vali, err = v.evaluator.values(v.learner, v.data.splits.Vali)
	}
	if err == nil {
		v.history.initial = nil
		_, err = v.isBest(vali)
	}
	if err != nil {
		return fmt.Errorf("train: the initial model: %w", err)
	}
	v.history.initial = vali
	v.learner.KeepBest()
	return nil
}

// keepParts keeps the parts that are better than before.
func (v *validation) keepParts() error {
	own, metric := *v.evaluator, v.evaluator.metric
	own.measures = metric.measures
	for i, part := range v.learner.Parts() {
		values, err := own.values(part, v.data.splits.Vali)
		if err != nil {
			return err
		}
		if value := values[metric.name]; metric.Better(float64(value), float64(v.bestParts[i])) {
			v.bestParts[i] = value
			part.Keep()
		}
	}
	return nil
}

func (v *validation) Evaluate(e *Epoch) (err error) {
	if err := v.keepParts(); err != nil {
		return err
	}
	s, splits := v.evaluator.settings, v.data.splits
	for _, split := range []struct {
		wanted bool
		data   *datasets.Dataset
		values *Values
	}{{s.EvaluateTrain, splits.Train, &e.Train}, {true, splits.Vali, &e.Vali}, {s.EvaluateTest, splits.Test, &e.Test}} {
		if split.wanted {
			if *split.values, err = v.evaluator.values(v.learner, split.data); err != nil {
				return err
			}
		}
	}
	if e.Best, err = v.isBest(e.Vali); len(e.Targets) > 0 && err == nil {
		e.Best = v.history.closer(e, e.Best)
	}
	if e.Best {
		v.learner.KeepBest()
	}
	return err
}

// isBest reports whether a model of these values on the validation split is better than all before it. It returns an
// error if neither has a value.
func (v *validation) isBest(vali Values) (bool, error) {
	metric := v.evaluator.metric
	value, best := float64(vali[metric.name]), v.history.bestValue()
	if !finite(value) && !finite(best) {
		return false, mpi.Agree(v.evaluator.group, v.evaluator.checkValue(vali, v.data.splits.Vali))
	}
	return metric.Better(value, best), nil
}
