package train

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
)

// Parts are a loss, a model, an optimizer and measures of one's own, in the place of
// those that a [Config] names. The zero value has none: all are the Config's.
type Parts struct {
	// Loss is the objective. Config.Loss then only names it in reports and checkpoints;
	// where it is empty, or names a built-in loss, it becomes "custom".
	Loss losses.Func

	// LabelFree says that Loss learns from queries without a relevant document, too, as
	// losses.Term has it of others. Without it they are left out of training.
	LabelFree bool

	// Scorer makes the model, for so many inputs: the width of the transform, whose last
	// columns are the codes of categorical features. It is called twice, for the model that
	// is trained and for the best one, with Config.Average once more, and must give the same
	// every time. The weights are float32. Hidden, Activation, Dropout and Members of the
	// Config mean nothing then. So that the model can be read from a
	// file, make its kind known by nn.Register.
	Scorer func(features int) (nn.Scorer, error)

	// Optimizer makes the optimizer, for so many weights. Config.Optimizer then only
	// names it, as Config.Loss does the loss.
	Optimizer func(weights int) Optimizer

	// Initial is a trained model whose weights training begins with. The run takes its
	// transform of the features; the data must have its features, and the Config must
	// be of the same architecture and transform. It is the best model until an epoch is
	// better.
	Initial *Ranker

	// Metrics are reported beside the others, and Config.Metric and Config.Report may
	// name them. A value that is not finite is never the best. They may be called by several goroutines at once.
	Metrics []metrics.Measure

	// Processes train the model together. Each makes a Trainer of the
	// same Config and data, and all get the same model. nil: this one process.
	Processes Processes
}

// custom is the name of a part of one's own that was given none.
const custom = "custom"

// naming is c with names for the parts, and without what means nothing beside them.
func (p Parts) naming(c Config) Config {
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
	}
	return c
}

// lossOf is the loss, and what is known of the terms of one that is named.
func (p Parts) lossOf(c Config) (losses.Func, []losses.Term, error) {
	if p.Loss != nil {
		return p.Loss, nil, nil
	}
	loss, err := losses.Parse(c.Loss)
	if err != nil {
		return nil, nil, err
	}
	terms, err := losses.Terms(c.Loss)
	return loss, terms, err
}

// measures are those of the given names: the loss, among one's own, or of package metrics.
func (p Parts) measures(names ...string) ([]metrics.Measure, error) {
	var list []metrics.Measure
	for _, name := range names {
		if name == LossMetric {
			list = append(list, lossMeasure)
			continue
		}
		i := slices.IndexFunc(p.Metrics, func(m metrics.Measure) bool { return m.String() == name })
		if i >= 0 {
			list = append(list, p.Metrics[i])
			continue
		}
		m, err := metrics.ParseMeasure(name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// checkMetrics looks that one's own measures have names of their own.
func (p Parts) checkMetrics() error {
	seen := map[string]bool{}
	for i, m := range p.Metrics {
		name := m.String()
		if name == "" {
			return fmt.Errorf("train: measure %d of Parts.Metrics has no name: make it by metrics.NewMeasure", i)
		}
		if _, err := metrics.ParseMeasure(name); err == nil || seen[name] || isLoss(m) {
			return fmt.Errorf("train: there is another measure %q: want a name of its own", name)
		}
		seen[name] = true
	}
	return nil
}

// fitTransform fits the transform of the features, or takes that of the initial model.
func (t *Trainer) fitTransform() (*datasets.Transform, error) {
	of, d := t.parts.Initial, t.splits.Train
	switch {
	case of == nil:
		return datasets.FitTransformOn(t.sharing(), t.Transform, d, t.Categorical...)
	case !slices.Equal(of.ids, d.FeatureIDs):
		return nil, fmt.Errorf("train: %s has other feature ids than the initial model: %s", d.Name, difference(d.FeatureIDs, of.ids))
	case of.transform.Spec != t.Transform:
		return nil, fmt.Errorf("train: the transform of the initial model is %s, not %s", of.transform.Spec, t.Transform)
	case !slices.Equal(of.categorical(), slices.Sorted(slices.Values(t.Categorical))):
		return nil, fmt.Errorf("train: the categorical features of the initial model are %v, not %v", of.categorical(), t.Categorical)
	}
	return of.transform, nil
}

// begin gives the model the weights of the initial one, if there is one.
func (t *Trainer) begin() error {
	if t.parts.Initial == nil {
		return nil
	}
	of := t.parts.Initial.model
	has, err := of.Weights().Select(t.model.Weights().Arrays()...)
	if err == nil && (t.model.Kind() != of.Kind() || has.Float32s() == nil) {
		err = errors.New("another kind of model")
	}
	if err != nil {
		return fmt.Errorf("train: the initial model (%s) is of another architecture than the one to train (%s): %w", architecture(of), architecture(t.model), err)
	}
	copy(t.weights, has.Float32s())
	return nil
}

// newOptimizer makes the optimizer of the weights of t.
func (t *Trainer) newOptimizer() (Optimizer, error) {
	if t.parts.Optimizer == nil {
		return optimizers[t.Config.Optimizer](t.Config, t.model.Weights().Arrays()), nil
	}
	o := t.parts.Optimizer(len(t.weights))
	if o == nil {
		return nil, errors.New("train: Parts.Optimizer gives none")
	}
	return o, nil
}
