package train

import (
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/ranker"
)

// validation is the hook that evaluates the model after each epoch, and keeps the best one.
type validation struct {
	NopHook
	evaluator *evaluator
	data      *runData
	history   *history
	learner   learner
	initial   *ranker.Model // nil: there is none
}

// Begin evaluates the initial model, where a run begins with one: it is the best until an epoch
// is better.
func (v *validation) Begin() error {
	if v.initial == nil || len(v.history.epochs) > 0 {
		return nil
	}
	vali, err := v.evaluator.values(v.learner, v.data.splits.Vali)
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

func (v *validation) Evaluate(e *Epoch) (err error) {
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
