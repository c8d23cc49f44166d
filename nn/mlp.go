package nn

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/model"
)

// An MLP is a multi-layer perceptron: hidden layers with an activation and dropout, and a
// linear last layer of width one. It may be an ensemble of several such networks. Its score is
// the mean of those of its members, which varies less with the seed than that of one, and ranks
// better (Lakshminarayanan et al., NeurIPS 2017).
type MLP struct{ network }

var (
	_ Ensemble = &MLP{}
	_ Stepper  = &MLP{}
)

func init() {
	Register(model.MLP, func(settings []byte, stored *Weights) (Scorer, error) {
		n, err := readNetwork(model.MLP, settings, stored)
		if err != nil {
			return nil, err
		}
		return &MLP{n}, nil
	})
}

// NewMLP makes a model with zero biases and weights drawn by the seed, uniform
// in ±√(6/(in+out)) (Glorot & Bengio 2010, eq. 16). Fewer than one feature, a layer without
// width, a rate of dropout outside [0, 1) and other settings that make no sense are errors.
func NewMLP(c MLPConfig) (*MLP, error) {
	n, err := newNetwork(c.settings(), c.Dtype)
	if err != nil {
		return nil, err
	}
	return &MLP{n}, nil
}

// Config is the config that the model was made with.
func (m *MLP) Config() MLPConfig { return mlpConfig(m.settings, m.weights.Dtype()) }

// Kind is "mlp".
func (m *MLP) Kind() string { return model.MLP }

// Settings are the Config as a model file has it.
func (m *MLP) Settings() any { return m.settings }

// String describes the model in words: "hidden 64 (relu)".
func (m *MLP) String() string { return m.inWords() }

// Weights are w0, b0, w1, b1, …: w [in, out], b [out], and for the last layer
// w [in], b [1]. In an ensemble the names begin with m0., m1., …. Then
// there are embedding0, …, [codes, width], which the members share.
func (m *MLP) Weights() *Weights { return m.weights }

// Build adds the model to the graph of the input, see [Scorer]. It ignores the offsets.
func (m *MLP) Build(in Input, mode Mode) (*G.Node, error) { return m.build(in, mode) }

// BuildMembers adds the members to the graph of the input, see [Ensemble].
func (m *MLP) BuildMembers(in Input, mode Mode) (scores G.Nodes, err error) {
	return m.buildMembers(in, mode)
}
