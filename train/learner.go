package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/network"
	"github.com/plrank/plrank/train/internal/trees"
)

// A learner is the model being trained. A step moves the weights of a network along the gradient of a batch, and adds a tree to a
// forest, by the derivatives of the loss by the scores of all training documents. Loop, validation, checkpoints and hooks
// know no more of it than this.
type learner interface {
	scoring // as it is evaluated after an epoch

	// Numbers returns what steps change, and its gradient: the memory of both, as Step has it; what their average is written to, nil if
	// none is evaluated; and the arrays that divide each.
	Numbers() (weights, gradient, averaged []float32, arrays []nn.Array)
	// Compute computes the loss of a step, given the number of steps before it, and its gradient. If a rank fails, all do.
	Compute(ctx context.Context, b *batches.Step, steps uint64) (float64, error)
	// Blame returns those queries of a batch of this rank whose loss or gradient fails by itself.
	Blame(ctx context.Context, b *batches.Step, steps uint64) (queries []int, err error)
	// Update makes the step of a number in the epoch, and in the run, along the gradient.
	Update(ofEpoch int, number uint64, rate float64) error

	Parts() []batches.Part // that are evaluated and kept by themselves before the whole; nil: none
	KeepBest()             // makes the model that is evaluated the best one
	File(f *ranker.File, best bool) (ranker.Maker, error)
	Kind() (name string, settings any)
	String() string // its architecture
	State() (arrays map[string][]float32, values map[string]any)
	Close() // gives memory back that is made again if it is needed
}

// newLearner makes the learner that the configuration names.
func (t *Trainer) newLearner() (learner, error) {
	if t.Config.Scorer == forestScorer {
		return t.newForest()
	}
	p, c := t.parsed, t.Config
	if err := p.checkMemory(inputsOf(t.transform), t.loop.batches.Division.Batch); err != nil {
		return nil, err
	}
	var first []nn.Array
	return network.New(network.Settings{
		Model: func() (nn.Scorer, error) {
			s, err := newScorer(c, p.parts.Scorer, t.transform)
			if err != nil {
				return nil, err
			}
			arrays := s.Weights().Arrays()
			if first == nil {
				first = arrays
			} else if !reflect.DeepEqual(arrays, first) {
				return nil, errors.New("train: Parts.Scorer gives models of other weights each time")
			}
			return s, nil
		},
		Transform: t.transform, Features: t.data.features, Batches: t.loop.batches, Objective: t.loop.objective,
		Optimizer: func(arrays []nn.Array) (network.Optimizer, error) {
			return newOptimizer(c.Optimization, p.parts.Optimizer, arrays)
		},
		GroupLasso: c.GroupLasso, Averaged: c.Average != 0, Group: p.group,
		Begin: func(model nn.Scorer) error { return startFrom(p.parts.Initial, model) },
	})
}

// newForest makes the learner of a forest.
func (t *Trainer) newForest() (learner, error) {
	p, c := t.parsed, t.Config
	if c.Leaves == 0 && c.Depth > forest.MaxDepth {
		return nil, fmt.Errorf("train: symmetric trees of depth %d: want at most %d, or trees of a number of leaves", c.Depth, forest.MaxDepth)
	}
	if c.Bins != 0 && c.Bins < forest.LeastBins {
		return nil, fmt.Errorf("train: a forest with %d bins: want %d to %d, or 0 for 64", c.Bins, forest.LeastBins, forest.MaxBins)
	}
	f, err := trees.New(trees.Settings{
		Tree: forest.Config{Depth: c.Depth, Leaves: c.Leaves, L2: c.L2, Rows: c.Sampling, Columns: c.FeatureSampling, Seed: c.Seed},
		Bins: c.Bins, Rising: c.Rising, Falling: c.Falling, Transform: t.transform, Features: t.data.features, Data: &t.data.Data,
		Objective: t.loop.objective, Terms: p.loss.terms, Initial: p.parts.Initial, Group: p.group,
	})
	if err != nil {
		return nil, err
	}
	if loss := f.Unknown(); loss != "" || p.loss.terms == nil {
		t.warnings = append(t.warnings, fmt.Sprintf("the curvature of %s is not known: the size of its gradient stands for it", cmp.Or(loss,
			c.Loss)))
	}
	t.loop.passes, t.loop.batches.Own = max(1, c.Trees), nil // a tree is a pass, and the chunks of a forest have all data
	return f, p.checkMemory(nn.MLPConfig{Features: 1}, f.Queries)
}

// model is the best model, or the one after the last step.
func (t *Trainer) model(best bool) (*ranker.Model, error) {
	f := fileFor(t.transform, t.data.splits.Train, t.Config.Gain)
	maker, err := t.loop.learner.File(f, best)
	if err != nil {
		return nil, err
	}
	if initial := t.parsed.parts.Initial; initial != nil { // a log, for one, does not tell the columns of tables
		columns := maps.Clone(initial.File().Columns)
		if columns == nil {
			columns = f.Columns
		}
		maps.Copy(columns, f.Columns)
		f.Columns = columns
	}
	f.Grade, f.TrainingQueries = t.parsed.evaluator.in.HighestGrade, t.trainedOn
	model, err := ranker.NewWith(f, maker)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return model, nil
}

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
