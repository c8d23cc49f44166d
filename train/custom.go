package train

import (
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
)

// Custom holds a custom loss, model, optimizer and measures, which replace the ones that a [Config] names, and custom
// hooks. The zero value has none: all are the Config's.
type Custom struct {
	// Loss is the objective. Config.Loss then is only its name in reports and checkpoints: "custom" if it is empty or the name of a
	// built-in loss. nil: the loss that Config.Loss names.
	Loss losses.Func

	// Curvature adds to out the curvature of the loss by the score of each document of one query, which forests divide by: numbers
	// that are not negative. See losses.Objective.Curvature, which knows it for most named losses. nil: where it is not known, the
	// size of the gradient stands for it.
	Curvature func(in metrics.Queries, out []float64) error

	// LabelFree keeps queries without a relevant document in the training, for a Loss that learns from them. false: they are left
	// out. For named losses see losses.Term.
	LabelFree bool

	// Scorer makes the model for a number of inputs: the width of the transform, whose last
	// columns are the codes of categorical features. With Config.Bins, which the recipe for large data
	// sets, the others are positions in bins, as for ops.PiecewiseLinear; without, numbers. It is called
	// for every copy of the model, and must return equal models. Their weights are float32. Hidden, Activation, Dropout, Members,
	// Blocks and Heads of the Config are not used then. nn.Register makes the kind of the model known, so that its file can be read.
	Scorer func(features int) (nn.Scorer, error)

	// Optimizer makes the optimizer for a number of weights. Config.Optimizer then is only its name, as Config.Loss is for Loss.
	Optimizer func(weights int) Optimizer

	// Initial is a trained model, whose weights training begins with, and whose transform it uses. The data must have the same
	// features, and the Config must describe the same architecture and transform. It is the best model until an epoch is better.
	Initial *ranker.Model

	// Metrics are reported in addition to the built-in ones, and Config.Metric and Config.Report may name them. A value that is not
	// finite is never the best. They may be called by several goroutines at once.
	Metrics []metrics.Measure

	// Baselines are other rankers, which [Evaluate] measures as well.
	Baselines []Baseline

	// Hooks take part in the run, in this order; see [Hook] for their place among the built-in ones. Do not share a hook between
	// Trainers. Checkpoints keep its State: a run is resumed with hooks of the same types.
	Hooks []Hook

	// Processes train the model together: each makes a Trainer of the same Config and data, and all get the same model.
	// nil: this process trains alone.
	Processes Processes
}

// Processes connects the processes that train one model. Each process is a rank. Broadcast, Allgather and Alltoall are
// collective: every rank calls them in the same order, with slices of the same lengths, and they return when all ranks have
// called them. If a rank cannot be reached, the implementation ends all processes.
type Processes interface {
	// Rank returns the number of this process, from 0.
	Rank() int
	// Size returns the number of processes.
	Size() int
	// Broadcast sets b to b of rank 0.
	Broadcast(b []byte)
	// Allgather sets dst to src of rank 0, followed by src of rank 1, and so on.
	Allgather(dst, src []byte)
	// Alltoall sends part r of src to rank r, and sets part r of dst to what rank r sends here. The parts are equally long.
	Alltoall(dst, src []byte)
}

// A Baseline is another ranker for a Report.
type Baseline struct {
	Name   string
	Ranker interface {
		Scores(*datasets.Dataset) ([]float64, error)
	} // such as the Tree of datasets/golearn
}

// custom is the name of a part that was given none.
const custom = "custom"

// naming returns c with names for the parts, and without the settings that they replace.
func (p Custom) naming(c Config) Config {
	if p.Loss != nil {
		if _, err := losses.Parse(c.Loss); c.Loss == "" || err == nil {
			c.Loss = custom
		}
	}
	if p.Optimizer != nil && (c.Optimizer == "" || slices.Contains(Optimizers(), c.Optimizer)) {
		c.Optimizer = custom
	}
	if p.Scorer != nil {
		c.Scorer, c.Hidden, c.Activation, c.Dropout, c.Members = custom, nil, 0, 0, 0
		plain := Config{}.Plain()
		c.Blocks, c.Heads = plain.Blocks, plain.Heads
	}
	return c
}
