package nn

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/ops"
)

// MLPConfig describes a multi-layer perceptron.
type MLPConfig struct {
	Features   int            `json:"features"`   // columns of the input
	Hidden     []int          `json:"hidden"`     // widths of the hidden layers; none: a linear model
	Activation ops.Activation `json:"activation"` // of the hidden layers; the zero value is none
	Dropout    float64        `json:"dropout"`    // rate of dropout after each hidden layer in Train graphs, in [0, 1)
	Members    int            `json:"members"`    // networks that the model averages, each with initial weights and dropout of its own; 0: 1
	Seed       uint64         `json:"seed"`       // of the initial weights and of the dropout
	Dtype      tensor.Dtype   `json:"-"`          // float32 or float64; the zero value is float32
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
	return nil
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
	return forward.MLPLayers(c.Features, c.Hidden, c.members())
}

// arrays are those of one member after another, w and b of one layer after another.
func (c MLPConfig) arrays() []Array {
	var all []Array
	for _, layers := range c.layers() {
		for i, l := range layers {
			shape := []int{l.In, l.Out}
			if i == len(layers)-1 {
				shape = shape[:1] // the last layer gives a vector
			}
			all = append(all, Array{Name: l.W, Shape: shape}, Array{Name: l.B, Shape: []int{l.Out}, Bias: true})
		}
	}
	return all
}

// An MLP is a multi-layer perceptron: hidden layers with an activation and
// dropout, and a linear last layer of width one. It may be an ensemble of several
// such networks, which are trained side by side; its score is the mean of theirs,
// which varies less with the seed than that of one, and ranks better (Lakshminarayanan
// et al., NeurIPS 2017).
type MLP struct {
	config  MLPConfig
	weights *Weights
	dropout *ops.Dropout // nil: none
}

var (
	_ Ensemble = &MLP{}
	_ Stepper  = &MLP{}
)

// NewMLP makes a model with zero biases and weights drawn by the seed, uniform
// in ±√(6/(in+out)) (Glorot & Bengio 2010, eq. 16).
func NewMLP(c MLPConfig) (*MLP, error) {
	if (c.Dtype == tensor.Dtype{}) {
		c.Dtype = tensor.Float32
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	weights, err := NewWeights(c.Dtype, c.arrays()...)
	if err != nil {
		return nil, err
	}
	for member, layers := range c.layers() {
		for i, l := range layers {
			rng := rand.New(rand.NewPCG(c.Seed, uint64(c.layerNumber(member, i))))
			limit := math.Sqrt(6 / float64(l.In+l.Out))
			initial := make([]float64, l.In*l.Out)
			for j := range initial {
				initial[j] = limit * (2*rng.Float64() - 1)
			}
			if err := weights.Set(l.W, initial); err != nil {
				return nil, err
			}
		}
	}
	return c.model(weights)
}

// model is the model of these weights, which are its arrays.
func (c MLPConfig) model(weights *Weights) (*MLP, error) {
	c.Hidden = slices.Clone(c.Hidden)
	m := &MLP{config: c, weights: weights}
	if c.Dropout != 0 {
		var err error
		if m.dropout, err = ops.NewDropout(c.Dropout, c.Seed); err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
	}
	return m, nil
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
	weights, err := stored.Select(c.arrays()...)
	if err != nil {
		return nil, err
	}
	return c.model(weights)
}

// layerNumber counts the layers of all members.
func (c MLPConfig) layerNumber(member, layer int) int { return member*(len(c.Hidden)+1) + layer }

// Config is what the model was made with; do not change its slices.
func (m *MLP) Config() MLPConfig { return m.config }

const mlpKind = "mlp"

// Kind is "mlp".
func (m *MLP) Kind() string { return mlpKind }

// Settings are the Config.
func (m *MLP) Settings() any { return m.config }

// String says in words what the model is: "hidden 64 (relu)".
func (m *MLP) String() string {
	network := "linear"
	if len(m.config.Hidden) > 0 {
		network = fmt.Sprintf("hidden %v (%v)", strings.Trim(fmt.Sprint(m.config.Hidden), "[]"), m.config.Activation)
	}
	if m.config.members() > 1 {
		network = fmt.Sprintf("%d networks of %s", m.config.members(), network)
	}
	return network
}

// Weights are w0, b0, w1, b1, …: w [in, out], b [out], and for the last layer
// w [in], b [1]. In a model of several networks the names begin with m0., m1., ….
func (m *MLP) Weights() *Weights { return m.weights }

// SetStep sets the step of the dropout.
func (m *MLP) SetStep(step uint64) {
	if m.dropout != nil {
		m.dropout.SetStep(step)
	}
}

// Build adds the model to the graph of the input, see [Scorer]. The offsets do not
// matter.
func (m *MLP) Build(in Input, mode Mode) (*G.Node, error) {
	scores, err := m.BuildMembers(in, mode)
	if err != nil {
		return nil, err
	}
	if len(scores) == 1 {
		return scores[0], nil
	}
	sum := scores[0]
	for _, s := range scores[1:] {
		if sum, err = G.Add(sum, s); err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
	}
	var share *G.Node
	if m.config.Dtype == tensor.Float64 {
		share = G.NewConstant(1 / float64(len(scores)))
	} else {
		share = G.NewConstant(1 / float32(len(scores)))
	}
	return G.Mul(sum, share)
}

// BuildMembers adds the networks to the graph of the input, see [Ensemble].
func (m *MLP) BuildMembers(in Input, mode Mode) (scores G.Nodes, err error) {
	x := in.Features
	if x == nil || x.Dims() != 2 || x.Shape()[1] != m.config.Features {
		return nil, fmt.Errorf("nn: the features are %v, want a matrix [rows, %d]", shapeOf(x), m.config.Features)
	}
	if x.Dtype() != m.config.Dtype {
		return nil, fmt.Errorf("nn: the features are %v, but the model is %v", x.Dtype(), m.config.Dtype)
	}
	if want := len(m.weights.arrays); len(in.Weights) != want {
		return nil, fmt.Errorf("nn: %d nodes of weights, want %d: Weights().Nodes(graph)", len(in.Weights), want)
	}
	for member := range m.config.members() {
		h := x
		for i := range len(m.config.Hidden) + 1 {
			layer := m.config.layerNumber(member, i)
			last := i == len(m.config.Hidden)
			activation := m.config.Activation
			if last {
				activation = ops.Identity
			}
			w, b := in.Weights[2*layer], in.Weights[2*layer+1]
			if m.dropout == nil || last || mode != Train {
				h, err = ops.Dense(h, w, b, activation)
			} else {
				h, err = ops.DenseDrop(h, w, b, activation, m.dropout, layer)
			}
			if err != nil {
				return nil, fmt.Errorf("nn: layer %d: %w", i, err)
			}
		}
		scores = append(scores, h)
	}
	return scores, nil
}

func shapeOf(x *G.Node) string {
	if x == nil {
		return "nil"
	}
	return fmt.Sprint(x.Shape())
}
