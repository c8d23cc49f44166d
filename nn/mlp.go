package nn

import (
	"encoding/json"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/ops"
)

// MLPConfig describes a multi-layer perceptron.
type MLPConfig struct {
	Features   int            `json:"features"`             // columns of the input
	Embeddings []Embedding    `json:"embeddings,omitempty"` // of categorical features, whose codes are the last columns of the input, one each; none: there are no such
	Hidden     []int          `json:"hidden"`               // widths of the hidden layers; none: a linear model
	Activation ops.Activation `json:"activation"`           // of the hidden layers; the zero value is none
	Dropout    float64        `json:"dropout"`              // rate of dropout after each hidden layer in Train graphs, in [0, 1)
	Members    int            `json:"members"`              // networks that the model averages, each with initial weights and dropout of its own; 0: 1
	Seed       uint64         `json:"seed"`                 // of the initial weights and of the dropout
	Dtype      tensor.Dtype   `json:"-"`                    // float32 or float64; the zero value is float32
}

func (c MLPConfig) check() error {
	if c.Features < 1 {
		return fmt.Errorf("nn: %d features: a model needs one or more", c.Features)
	}
	if err := c.checkMembers(); err != nil {
		return fmt.Errorf("nn: %w", err)
	}
	for i, width := range c.Hidden {
		if width < 1 {
			return fmt.Errorf("nn: hidden layer %d has width %d, want 1 or more", i+1, width)
		}
	}
	if _, err := c.Activation.MarshalText(); err != nil {
		return fmt.Errorf("nn: %w", err)
	}
	if c.Dtype != tensor.Float32 && c.Dtype != tensor.Float64 {
		return fmt.Errorf("nn: dtype %v, want float32 or float64", c.Dtype)
	}
	return c.checkEmbeddings()
}

const maxMembers = 1000

func (c MLPConfig) checkMembers() error {
	if c.Members < 0 || c.Members > maxMembers {
		return fmt.Errorf("%d members: want 1 to %d", c.Members, maxMembers)
	}
	return nil
}

func (c MLPConfig) members() int { return max(1, c.Members) }

func (c MLPConfig) layers() [][]forward.MLPLayer {
	return forward.MLPLayers(c.inputs(), c.Hidden, c.members())
}

// arrays are those of one member after another, w and b of one layer after another, and
// then the embeddings.
func (c MLPConfig) arrays() []Array {
	var all []Array
	for _, layers := range c.layers() {
		for i, l := range layers {
			shape := []int{l.In, l.Out}
			if i == len(layers)-1 {
				shape = shape[:1] // the last layer gives a vector
			}
			all = append(all, Array{Name: l.W, Shape: shape, Inputs: i == 0}, Array{Name: l.B, Shape: []int{l.Out}, Bias: true})
		}
	}
	return append(all, c.embeddingArrays()...)
}

// An MLP is a multi-layer perceptron: hidden layers with an activation and
// dropout, and a linear last layer of width one. It may be an ensemble of several
// such networks, which are trained side by side; its score is the mean of theirs,
// which varies less with the seed than that of one, and ranks better (Lakshminarayanan
// et al., NeurIPS 2017).
type MLP struct{ network }

var (
	_ Ensemble = &MLP{}
	_ Stepper  = &MLP{}
)

// NewMLP makes a model with zero biases and weights drawn by the seed, uniform
// in ±√(6/(in+out)) (Glorot & Bengio 2010, eq. 16). Fewer than one feature, a layer without
// width, a rate of dropout outside [0, 1) and other settings that make no sense are errors.
func NewMLP(c MLPConfig) (*MLP, error) {
	c = c.withDtype()
	if err := c.check(); err != nil {
		return nil, err
	}
	n, err := c.newNetwork(c.arrays())
	if err != nil {
		return nil, err
	}
	return &MLP{n}, nil
}

// readMLP makes a model of settings and weights that were stored.
func readMLP(settings []byte, stored *Weights) (Scorer, error) {
	var c MLPConfig
	if err := json.Unmarshal(settings, &c); err != nil {
		return nil, fmt.Errorf("nn: settings of an MLP: %w", err)
	}
	c.Dtype = stored.Dtype()
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := stored.checkCount(forward.MLPArrays(len(c.Hidden), c.members()) + len(c.Embeddings)); err != nil {
		return nil, err
	}
	n, err := c.readNetwork(stored, c.arrays())
	if err != nil {
		return nil, err
	}
	return &MLP{n}, nil
}

// Config is what the model was made with; do not change its slices.
func (m *MLP) Config() MLPConfig { return m.config }

const mlpKind = "mlp"

// Kind is "mlp".
func (m *MLP) Kind() string { return mlpKind }

// Settings are the Config.
func (m *MLP) Settings() any { return m.config }

// String says in words what the model is: "hidden 64 (relu)".
func (m *MLP) String() string { return m.config.inWords(m.config.layersInWords()) }

// Weights are w0, b0, w1, b1, …: w [in, out], b [out], and for the last layer
// w [in], b [1]. In a model of several networks the names begin with m0., m1., …. Then
// there are embedding0, …, [codes, width], which the networks share.
func (m *MLP) Weights() *Weights { return m.weights }

// Build adds the model to the graph of the input, see [Scorer]. The offsets do not
// matter.
func (m *MLP) Build(in Input, mode Mode) (*G.Node, error) {
	return m.mean(m.BuildMembers(in, mode))
}

// BuildMembers adds the networks to the graph of the input, see [Ensemble].
func (m *MLP) BuildMembers(in Input, mode Mode) (scores G.Nodes, err error) {
	if in, err = m.input(in); err != nil {
		return nil, err
	}
	for member, layers := range m.config.layers() {
		h, err := m.hidden(in, mode, member, layers)
		if err == nil {
			h, err = m.dense(in, h, layers[len(layers)-1], ops.Identity)
		}
		if err != nil {
			return nil, err
		}
		scores = append(scores, h)
	}
	return scores, nil
}
