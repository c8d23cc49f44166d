package train

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
)

// networks is the hook that keeps each network of an ensemble as after its own best epoch. What is evaluated
// after an epoch is the ensemble of these: each learns by its own loss, and fits the training data too closely
// from another epoch on.
type networks struct {
	NopHook
	evaluator     *evaluator // of the metric of validation alone
	vali          *datasets.Dataset
	history       *history
	initial       *ranker.Model // nil: there is none
	alone         []scoring     // the networks, as they are trained
	arrays        []nn.Array
	trained, kept []float32 // weights of the ensemble
	best          []Value   // validation value of each network
}

// countNetworks is the number of networks of an ensemble, 0 where they have weights in common, for then
// one of them cannot be kept without the others.
func countNetworks(arrays []nn.Array) (n int) {
	for _, a := range arrays {
		if a.Network == 0 {
			return 0
		}
		n = max(n, a.Network)
	}
	return n
}

// keepNetworks makes the model that validation evaluates the one that the hook keeps. It returns nil if that is not an
// ensemble, or one that can only be kept as a whole.
func (t *Trainer) keepNetworks(of *trainedNetwork) (*networks, error) {
	current := of.graphScoring
	ensemble, ok := current.model.(nn.Ensemble)
	count := countNetworks(t.arrays)
	if !ok || count < 2 {
		return nil, nil
	}
	kept, err := t.newModel()
	if err != nil {
		return nil, err
	}
	own := *t.parsed.evaluator
	own.measures = own.metric.measures
	n := &networks{
		evaluator: &own, vali: t.data.splits.Vali, history: t.history, initial: t.parsed.parts.Initial,
		arrays: t.arrays, trained: of.evaluated, kept: kept.Weights().Float32s(),
	}
	copy(n.kept, n.trained)
	for i := range count {
		n.alone = append(n.alone, &graphScoring{model: nn.Network(ensemble, i+1), features: current.features, width: current.width, batch: current.batch})
		n.best = append(n.best, Value(math.NaN()))
	}
	current.model = kept
	return n, nil
}

func (n *networks) State() State {
	return State{
		Arrays: map[string][]float32{"networks": n.kept}, Values: map[string]any{"networks": &n.best},
		lengths: map[string]int{"networks": len(n.alone)},
	}
}

// Begin evaluates the networks of the initial model: each is the best until an epoch of its own is better.
func (n *networks) Begin() error {
	if n.initial == nil || len(n.history.epochs) > 0 {
		return nil
	}
	if err := n.Evaluate(nil); err != nil {
		return fmt.Errorf("train: the initial model: %w", err)
	}
	return nil
}

func (n *networks) Evaluate(*Epoch) error {
	for i, network := range n.alone {
		values, err := n.evaluator.values(network, n.vali)
		if err != nil {
			return err
		}
		if value := values[n.evaluator.metric.name]; n.evaluator.metric.Better(float64(value), float64(n.best[i])) {
			n.best[i] = value
			n.keep(i + 1)
		}
	}
	return nil
}

// keep keeps a network, which count from 1, as it is.
func (n *networks) keep(network int) {
	at := 0
	for _, a := range n.arrays {
		if end := at + a.Size(); a.Network == network {
			copy(n.kept[at:end], n.trained[at:end])
		}
		at += a.Size()
	}
}
