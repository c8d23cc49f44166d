package nn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/layers"
	"github.com/plrank/plrank/internal/model"
)

// A network is a model of a built-in kind.
type network struct {
	settings model.Settings
	weights  *Weights
	dropout  *layers.Dropout // nil: none
}

// newNetwork makes one with initial weights: each array from its own stream of the seed.
func newNetwork(s model.Settings, dtype tensor.Dtype) (network, error) {
	if err := s.Check(); err != nil {
		return network{}, fmt.Errorf("nn: %w", err)
	}
	weights, err := NewWeights(dtype, arraysOf(s)...)
	if err != nil {
		return network{}, err
	}
	for i, a := range s.Arrays() {
		rng := rand.New(rand.NewPCG(s.Seed, a.Stream))
		for j := range weights.arrays[i].Size() {
			switch {
			case a.Limit == 0:
				weights.put(i, j, a.Initial)
			case j >= a.Zeros:
				weights.put(i, j, a.Limit*(2*rng.Float64()-1))
			}
		}
	}
	return networkOf(s, weights)
}

// readNetwork makes one of stored settings and weights.
func readNetwork(kind string, settings []byte, stored *Weights) (network, error) {
	s, err := model.Read(kind, settings)
	if err != nil {
		return network{}, fmt.Errorf("nn: %w", err)
	}
	weights, err := stored.Select(arraysOf(s)...)
	if err != nil {
		return network{}, err
	}
	return networkOf(s, weights)
}

func arraysOf(s model.Settings) (arrays []Array) {
	for _, a := range s.Arrays() {
		arrays = append(arrays, Array{
			Name: a.Name, Shape: a.Shape, Network: a.Network, Bias: a.Bias, Inputs: a.Inputs, Bins: a.Bins, AddedTo: a.AddedTo,
		})
	}
	return arrays
}

func networkOf(s model.Settings, weights *Weights) (n network, err error) {
	n = network{settings: s, weights: weights}
	if s.Dropout != 0 {
		if n.dropout, err = layers.NewDropout(s.Dropout, s.Seed); err != nil {
			return n, fmt.Errorf("nn: %w", err)
		}
	}
	return n, nil
}

// Kind returns "mlp" or "attention".
func (n *network) Kind() string {
	if n.settings.Attention != nil {
		return model.Transformer
	}
	return model.MLP
}

// Settings returns the Config as a model file has it.
func (n *network) Settings() any { return n.settings }

// Weights returns the arrays that the type describes.
func (n *network) Weights() *Weights { return n.weights }

// SetStep sets the step of the dropout.
func (n *network) SetStep(step uint64) {
	if n.dropout != nil {
		n.dropout.SetStep(step)
	}
}

// Build adds the model to the graph of the input, see [Scorer].
func (n *network) Build(in Input, mode Mode) (*G.Node, error) {
	scores, err := n.BuildMembers(in, mode)
	if err != nil {
		return nil, err
	}
	b := &builder{weights: n.weights}
	return model.Mean(b, scores), b.err
}

// BuildMembers adds the members to the graph of the input, see [Ensemble].
func (n *network) BuildMembers(in Input, mode Mode) (scores G.Nodes, err error) {
	if err := n.checkInput(in); err != nil {
		return nil, err
	}
	b := &builder{weights: n.weights, in: in}
	if mode == Train {
		b.dropout = n.dropout
	}
	scores = model.Build(n.settings, b, b.inputs(len(n.settings.Embeddings)))
	return scores, b.err
}

// Network returns one member of an [Ensemble] by itself, on the weights of all. Members count from 1, see [Array].
func Network(s Ensemble, number int) Scorer { return oneNetwork{s, number} }

type oneNetwork struct {
	Scorer
	number int
}

func (n oneNetwork) takesSparse() bool { return TakesSparse(n.Scorer) }

func (n oneNetwork) Build(in Input, mode Mode) (*G.Node, error) {
	scores, err := BuildMembers(n.Scorer, in, mode)
	if err != nil {
		return nil, err
	}
	if n.number < 1 || n.number > len(scores) {
		return nil, fmt.Errorf("nn: no network %d of %d members", n.number, len(scores))
	}
	return scores[n.number-1], nil
}

func (n *network) takesSparse() bool { return n.settings.Bins == nil && n.settings.Embeddings == nil }

func (n *network) checkInput(in Input) error {
	x := in.Features
	if in.Sparse != nil {
		x = in.Sparse.Values
	}
	switch {
	case in.Sparse != nil && !n.takesSparse():
		return errors.New("nn: sparse features, which a model with bins or embeddings does not take")
	case x == nil:
		return fmt.Errorf("nn: the features are nil, want a matrix [rows, %d]", n.settings.Features)
	case in.Sparse == nil && (x.Dims() != 2 || x.Shape()[1] != n.settings.Features):
		return fmt.Errorf("nn: the features are %v, want a matrix [rows, %d]", x.Shape(), n.settings.Features)
	}
	if dtype := n.weights.Dtype(); x.Dtype() != dtype {
		return fmt.Errorf("nn: the features are %v, but the model is %v", x.Dtype(), dtype)
	}
	if want := len(n.weights.arrays); len(in.Weights) != want {
		return fmt.Errorf("nn: %d nodes of weights, want %d: Weights().Nodes(graph)", len(in.Weights), want)
	}
	return nil
}

// String describes the model in words: "hidden 64 (relu), attention (blocks 1, heads 2)".
func (n *network) String() string {
	s := n.settings
	words := "linear"
	if len(s.Hidden) > 0 {
		words = fmt.Sprintf("hidden %v (%v)", strings.Trim(fmt.Sprint(s.Hidden), "[]"), s.Activation)
	}
	if s.Bins != nil {
		words += fmt.Sprintf(", %d bins of %d inputs", forward.BinRows(s.Bins, len(s.Bins)), len(s.Bins))
	}
	if s.Attention != nil {
		words += fmt.Sprintf(", attention (blocks %d, heads %d)", s.Blocks, s.Heads())
	}
	if s.Members > 1 {
		words = fmt.Sprintf("%d networks of %s", s.Members, words)
	}
	for i, e := range s.Embeddings {
		before := ","
		if i == 0 {
			before = ", embeddings"
		}
		words += fmt.Sprintf("%s %d×%d", before, e.Codes, e.Width)
	}
	return words
}
