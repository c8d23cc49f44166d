// Package network learns the weights of models of package nn.
package network

import (
	"encoding/json"
	"fmt"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/graph"
	"github.com/plrank/plrank/transforms"
)

// Settings are what a network learns by.
type Settings struct {
	Model      func() (nn.Scorer, error) // makes a model with the weights to begin with, always the same
	Transform  *transforms.Transform     // whose values are the inputs
	Products   *Products                 // nil: it learns none
	Features   map[*datasets.Dataset]*datasets.Transformed
	Batches    *batches.Batches
	Objective  *graph.Objective
	Optimizer  func(arrays []nn.Array) (Optimizer, error)
	GroupLasso float64               // λ, see GroupLasso
	Averaged   bool                  // an average of the weights is evaluated
	Whole      bool                  // networks of an ensemble are kept as a whole
	Begin      func(nn.Scorer) error // takes the weights of another model
	Group      mpi.Group
}

// A Network is the learner of a model of package nn.
type Network struct {
	*gradients
	*Scoring  // of the evaluated weights, or of the networks that are kept
	optimizer Optimizer
	settings  Settings
	Weights   []float32
	arrays    []nn.Array
	evaluated *nn.Weights // as they are, or their average
	best      *nn.Weights
	bins      *coordinates

	// Of an ensemble of networks each is kept as after its own best epoch: each learns by its own loss, and fits the training data too
	// closely from another epoch on. What is evaluated after an epoch is the ensemble of those that are kept.
	alone []batches.Part // nil: there is one network, or they can only be kept as a whole
	kept  []float32
}

// A part is a network of an ensemble, as it is trained.
type part struct {
	*Scoring
	whole  *Network
	number int // from 1
}

// New makes the learner of a network.
func New(s Settings) (*Network, error) {
	width := s.Transform.Width()
	if plain := s.Model; s.Products != nil {
		width, s.Batches.Vectors = s.Products.Width, s.Products.Vectors
		s.Model = func() (nn.Scorer, error) {
			model, err := plain()
			if err != nil {
				return nil, err
			}
			return s.Products.Of(model)
		}
	}
	model, err := s.Model()
	if err != nil {
		return nil, err
	}
	n := &Network{settings: s, arrays: model.Weights().Arrays(), Weights: model.Weights().Float32s()}
	best, err := s.Model()
	if err != nil {
		return nil, err
	}
	n.best, n.bins = best.Weights(), newCoordinates(s.Transform.Bins, n.arrays)
	n.bins.straighten(n.Weights)
	if err := s.Begin(model); err != nil {
		return nil, err
	}
	current := model
	if s.Averaged {
		if current, err = s.Model(); err != nil {
			return nil, err
		}
	}
	n.evaluated = current.Weights()
	copy(n.evaluated.Float32s(), n.Weights)
	if n.optimizer, err = s.Optimizer(n.arrays); err != nil {
		return nil, err
	}
	n.Scoring = NewScoring(current, s.Features, width)
	n.Scoring.vectors = s.Batches.Vectors
	n.gradients = newGradients(model, n.width, s.Objective, s.Batches, s.Group)
	return n, n.keepNetworks()
}

// keepNetworks makes the model that is evaluated the one of the networks that are kept, if it is an ensemble of several.
func (n *Network) keepNetworks() error {
	ensemble, ok := n.Model.(nn.Ensemble)
	count := countNetworks(n.arrays)
	if !ok || count < 2 || n.settings.Whole {
		return nil
	}
	kept, err := n.settings.Model()
	if err != nil {
		return err
	}
	n.kept = kept.Weights().Float32s()
	copy(n.kept, n.evaluated.Float32s())
	for i := range count {
		alone := &Scoring{Model: nn.Network(ensemble, i+1), features: n.Scoring.features, width: n.width, batch: n.batch, vectors: n.vectors}
		n.alone = append(n.alone, &part{alone, n, i + 1})
	}
	n.Model = kept
	return nil
}

// countNetworks returns the number of networks of an ensemble, 0 where they have weights in common, for then
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

// Numbers returns what steps change, its gradient, and what an average of it is written to, nil if there is none; and the arrays
// that divide each of them.
func (n *Network) Numbers() (weights, gradient, averaged []float32, arrays []nn.Array) {
	if n.settings.Averaged {
		averaged = n.evaluated.Float32s()
	}
	return n.Weights, n.total, averaged, n.arrays
}

// Parts returns the networks that are kept one by one.
func (n *Network) Parts() []batches.Part { return n.alone }

// Keep keeps the network as it is.
func (p *part) Keep() {
	at, n := 0, p.whole
	for _, a := range n.arrays {
		if end := at + a.Size(); a.Network == p.number {
			copy(n.kept[at:end], n.evaluated.Float32s()[at:end])
		}
		at += a.Size()
	}
}

// Update changes the weights along the gradient: first layers with bins in their coordinates.
func (n *Network) Update(_ int, number uint64, rate float64) error {
	n.bins.enter(n.Weights, n.total)
	n.optimizer.Step(n.Weights, n.total, rate, number)
	if lambda := n.settings.GroupLasso; lambda != 0 {
		GroupLasso(n.Weights, n.arrays, rate*lambda)
	}
	n.bins.leave(n.Weights)
	return nil
}

// KeepBest keeps what is evaluated as the best model.
func (n *Network) KeepBest() { copy(n.best.Float32s(), n.Model.Weights().Float32s()) }

// File writes the best model, or the current one, into a file, and returns how it is run.
func (n *Network) File(f *ranker.File, best bool) (ranker.Maker, error) {
	weights, products := n.evaluated, n.settings.Products
	if best {
		weights = n.best
	}
	if products != nil {
		products.fill(f, weights)
	}
	forward := func(*ranker.File) (ranker.Forward, error) { // of a kind without a forward pass on slices
		s, err := n.settings.Model()
		if err != nil {
			return nil, err
		}
		s = inner(s)
		copy(s.Weights().Float32s(), weights.Float32s())
		return Forward(s, n.settings.Transform.Width())
	}
	return forward, Fill(f, inner(n.model), weights)
}

// Fill writes a model of these weights into a file.
func Fill(f *ranker.File, model nn.Scorer, weights *nn.Weights) (err error) {
	if f.Settings, err = json.Marshal(model.Settings()); err != nil {
		return fmt.Errorf("train: settings of the model: %w", err)
	}
	f.Kind, f.Dtype = model.Kind(), weights.Dtype().String()
	for _, a := range model.Weights().Arrays() {
		f.Arrays = append(f.Arrays, ranker.Array{Name: a.Name, Shape: a.Shape, Values: weights.Get(a.Name)})
	}
	return nil
}

// Kind returns the kind of the model, and its settings.
func (n *Network) Kind() (name string, settings any) { return n.model.Kind(), n.model.Settings() }

// String describes the model.
func (n *Network) String() string { return Words(n.model) }

// Words describes a model: "hidden 64 (relu), 6017 weights".
func Words(s nn.Scorer) string {
	model := s.Kind()
	if words, ok := s.(fmt.Stringer); ok {
		model = words.String()
	}
	return fmt.Sprintf("%s, %d weights", model, s.Weights().Size())
}

// State returns what a checkpoint keeps.
func (n *Network) State() (arrays map[string][]float32, values map[string]any) {
	arrays = map[string][]float32{"weights": n.Weights, "best": n.best.Float32s()}
	if n.kept != nil {
		arrays["networks"] = n.kept
	}
	for name, values := range n.optimizer.State() {
		arrays["optimizer-"+name] = values
	}
	return arrays, nil
}

// Close gives memory back that is made again if it is needed.
func (n *Network) Close() { n.gradients.graphs.Close() }
