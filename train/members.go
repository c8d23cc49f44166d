package train

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
)

// parts is the hook that keeps each part of a model as after its own best epoch.
type parts struct {
	NopHook
	evaluator *evaluator // of the metric of validation alone
	vali      *datasets.Dataset
	history   *history
	initial   *ranker.Model // nil: there is none
	all       []batches.Part
	best      []Value // validation value of each
}

// newParts returns the hook of the parts of a learner.
func newParts(v *validation, all []batches.Part) *parts {
	own := *v.evaluator
	own.measures = own.metric.measures
	p := &parts{evaluator: &own, vali: v.data.splits.Vali, history: v.history, initial: v.initial, all: all}
	for range all {
		p.best = append(p.best, Value(math.NaN()))
	}
	return p
}

func (p *parts) State() State {
	return State{Values: map[string]any{"networks": &p.best}, lengths: map[string]int{"networks": len(p.all)}}
}

// Begin evaluates the parts of the initial model: each is the best until an epoch of its own is better.
func (p *parts) Begin() error {
	if p.initial == nil || len(p.history.epochs) > 0 {
		return nil
	}
	if err := p.Evaluate(nil); err != nil {
		return fmt.Errorf("train: the initial model: %w", err)
	}
	return nil
}

func (p *parts) Evaluate(*Epoch) error {
	for i, part := range p.all {
		values, err := p.evaluator.values(part, p.vali)
		if err != nil {
			return err
		}
		if value := values[p.evaluator.metric.name]; p.evaluator.metric.Better(float64(value), float64(p.best[i])) {
			p.best[i] = value
			part.Keep()
		}
	}
	return nil
}
