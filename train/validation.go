package train

import (
	"fmt"

	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/ranker"
)

// validation is the hook that evaluates the model after each epoch, and keeps the best one.
type validation struct {
	idle
	meter   *meter
	data    *runData
	history *history
	current *graphScoring // the model that is evaluated
	best    []float32     // weights of the best model
	initial *ranker.Model // nil: there is none
}

func (v *validation) state() state {
	return state{arrays: map[string][]float32{"best": v.best}}
}

// begin evaluates the initial model, where a run begins with one: it is the best until an epoch
// is better.
func (v *validation) begin() error {
	if v.initial == nil || len(v.history.epochs) > 0 {
		return nil
	}
	vali, err := v.meter.values(v.current, v.data.splits.Vali)
	if err == nil {
		v.history.initial = nil
		_, err = v.isBest(vali)
	}
	if err != nil {
		return fmt.Errorf("train: the initial model: %w", err)
	}
	v.history.initial = vali
	v.keepBest()
	return nil
}

func (v *validation) evaluate(e *Epoch) (err error) {
	if v.meter.settings.EvaluateTrain {
		if e.Train, err = v.meter.values(v.current, v.data.splits.Train); err != nil {
			return err
		}
	}
	if e.Vali, err = v.meter.values(v.current, v.data.splits.Vali); err != nil {
		return err
	}
	if v.meter.settings.EvaluateTest {
		if e.Test, err = v.meter.values(v.current, v.data.splits.Test); err != nil {
			return err
		}
	}
	e.Best, err = v.isBest(e.Vali)
	if e.Best {
		v.keepBest()
	}
	return err
}

// isBest tells whether a model of these values on the validation split is better than all
// before it. It is an error if neither has a value.
func (v *validation) isBest(vali Values) (bool, error) {
	metric := v.meter.metric
	value, best := float64(vali[metric.String()]), v.history.bestValue()
	if !finite(value) && !finite(best) {
		return false, processes.Agree(v.meter.group, v.meter.checkValue(vali, v.data.splits.Vali))
	}
	return metric.Better(value, best), nil
}

// keepBest makes the best model the one that is evaluated.
func (v *validation) keepBest() { copy(v.best, v.current.model.Weights().Float32s()) }
