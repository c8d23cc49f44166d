package train

import (
	"context"
	"fmt"
	"maps"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
)

// A learner is what a run trains. A step moves the weights of a network along the gradient of a batch, and adds a tree to a
// forest, by the derivatives of the loss by the scores of all training documents. Loop, validation, checkpoints and hooks
// know no more of it than this.
type learner interface {
	scoring // as it is evaluated after an epoch

	// numbers are what a step changes, and their gradient: the memory of both, as Step has it, and the arrays that divide it.
	numbers() (weights, gradient []float32, arrays []nn.Array)
	// compute computes the loss of a step, given the number of steps before it, and its gradient. If a rank fails, all do.
	compute(ctx context.Context, b *stepBatch, steps uint64) (float64, error)
	// blame gives those queries of a batch of this rank whose loss or gradient fails by itself.
	blame(ctx context.Context, b *stepBatch, pack func(*shardBatch, int), steps uint64) (queries []int, err error)
	update(*Step) error

	keepBest() // makes the best model the one that is evaluated
	file(best bool) (*ranker.File, ranker.Maker, error)
	kind() (name string, settings any)
	String() string // its architecture
	state() State
	close() // gives memory back that is made again if it is needed
}

// A trainedNetwork is the learner of a model of package nn.
type trainedNetwork struct {
	*gradients
	*graphScoring // of the evaluated weights, or of the networks that are kept
	optimizer     Optimizer
	arrays        []nn.Array
	weights       []float32
	evaluated     []float32 // weights as they are, or their average
	best          []float32
	bins          *coordinates
	ensemble      *networks // nil: it is none, or one that can only be kept as a whole
	fileOf        func(weights []float32) (*ranker.File, ranker.Maker, error)
}

// newNetwork makes the learner of a network.
func (t *Trainer) newNetwork() (*trainedNetwork, error) {
	p, c := t.parsed, t.Config
	if err := p.checkMemory(inputsOf(t.transform), t.stepQueries()); err != nil {
		return nil, err
	}
	model, err := newScorer(c, p.parts.Scorer, t.transform)
	if err != nil {
		return nil, err
	}
	t.arrays = model.Weights().Arrays()
	best, err := t.newModel()
	if err != nil {
		return nil, err
	}
	weights := model.Weights().Float32s()
	n := &trainedNetwork{arrays: t.arrays, weights: weights, best: best.Weights().Float32s(), bins: newCoordinates(t.transform.Bins, t.arrays), fileOf: t.networkFile}
	n.bins.straighten(weights)
	if err := startFrom(p.parts.Initial, model); err != nil {
		return nil, err
	}
	current := model
	if c.Average != 0 {
		if current, err = t.newModel(); err != nil {
			return nil, err
		}
	}
	n.evaluated = current.Weights().Float32s()
	copy(n.evaluated, weights)
	if n.optimizer, err = newOptimizer(c, p.parts.Optimizer, t.arrays); err != nil {
		return nil, err
	}
	width := t.transform.Width()
	n.graphScoring = &graphScoring{model: current, features: t.data.features, width: width, batch: new(datasets.Batch)}
	n.gradients = newGradients(model, width, t.loop.objective, t.loop.batches.division, p.group)
	n.ensemble, err = t.keepNetworks(n)
	return n, err
}

func (n *trainedNetwork) numbers() (weights, gradient []float32, arrays []nn.Array) {
	return n.weights, n.total, n.arrays
}

func (n *trainedNetwork) update(s *Step) error {
	n.optimizer.Step(s.Weights, s.Gradient, s.Rate, s.Number)
	return nil
}

func (n *trainedNetwork) keepBest() { copy(n.best, n.graphScoring.model.Weights().Float32s()) }

func (n *trainedNetwork) file(best bool) (*ranker.File, ranker.Maker, error) {
	if best {
		return n.fileOf(n.best)
	}
	return n.fileOf(n.evaluated)
}

func (n *trainedNetwork) kind() (name string, settings any) {
	return n.gradients.model.Kind(), n.gradients.model.Settings()
}

func (n *trainedNetwork) String() string { return architecture(n.gradients.model) }

func (n *trainedNetwork) state() State {
	s := State{Arrays: map[string][]float32{"weights": n.weights, "best": n.best}}
	for name, values := range n.optimizer.State() {
		s.Arrays["optimizer-"+name] = values
	}
	return s
}

func (n *trainedNetwork) close() { n.gradients.graphs.Close() }

// networkFile is the file of a network of these weights.
func (t *Trainer) networkFile(weights []float32) (*ranker.File, ranker.Maker, error) {
	s, err := t.newModel()
	if err != nil {
		return nil, nil, err
	}
	copy(s.Weights().Float32s(), weights)
	f, err := File(s, t.transform, t.data.splits.Train, t.Config.Gain)
	return f, func(*ranker.File) (ranker.Forward, error) { return graphForward(s, t.transform.Width()) }, err
}

// model is the best model, or the one after the last step.
func (t *Trainer) model(best bool) (*ranker.Model, error) {
	f, maker, err := t.loop.learner.file(best)
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
