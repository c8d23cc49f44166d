package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

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

// arrayName is the name of an array of a layer of a member: w0, or m2.w0 in a model
// of several.
func (c MLPConfig) arrayName(kind string, member, layer int) string {
	if c.members() == 1 {
		return fmt.Sprintf("%s%d", kind, layer)
	}
	return fmt.Sprintf("m%d.%s%d", member, kind, layer)
}

type layerSize struct{ in, out int }

func (c MLPConfig) sizes() []layerSize {
	var all []layerSize
	in := c.Features
	for _, out := range c.Hidden {
		all = append(all, layerSize{in, out})
		in = out
	}
	return append(all, layerSize{in, 1})
}

// An MLP is a multi-layer perceptron: hidden layers with an activation and
// dropout, and a linear last layer of width one. It may be an ensemble of several
// such networks, which are trained side by side; its score is the mean of theirs,
// which varies less with the seed than that of one, and ranks better (Lakshminarayanan
// et al., NeurIPS 2017).
type MLP struct {
	config  MLPConfig
	members [][]layer
	dropout *ops.Dropout // nil: none
}

type layer struct{ w, b Weight }

// NewMLP makes a model with zero biases and weights drawn by the seed, uniform
// in ±√(6/(in+out)) (Glorot & Bengio 2010, eq. 16).
func NewMLP(c MLPConfig) (*MLP, error) {
	if (c.Dtype == tensor.Dtype{}) {
		c.Dtype = tensor.Float32
	}
	c.Hidden = append([]int(nil), c.Hidden...)
	if err := c.check(); err != nil {
		return nil, err
	}
	m := &MLP{config: c}
	if c.Dropout != 0 {
		var err error
		if m.dropout, err = ops.NewDropout(c.Dropout, c.Seed); err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
	}
	for i := range c.members() {
		m.members = append(m.members, c.newMember(i))
	}
	return m, nil
}

func (c MLPConfig) newMember(member int) []layer {
	var layers []layer
	for i, size := range c.sizes() {
		shape := tensor.Shape{size.in, size.out}
		if i == len(c.Hidden) {
			shape = tensor.Shape{size.in} // the last layer gives a vector
		}
		l := layer{
			w: Weight{c.arrayName("w", member, i), tensor.New(tensor.Of(c.Dtype), tensor.WithShape(shape...)), false},
			b: Weight{c.arrayName("b", member, i), tensor.New(tensor.Of(c.Dtype), tensor.WithShape(size.out)), true},
		}
		rng := rand.New(rand.NewPCG(c.Seed, uint64(c.layerNumber(member, i))))
		limit := math.Sqrt(6 / float64(size.in+size.out))
		initial := make([]float64, size.in*size.out)
		for j := range initial {
			initial[j] = limit * (2*rng.Float64() - 1)
		}
		setFloats(l.w.Value, initial)
		layers = append(layers, l)
	}
	return layers
}

// layerNumber counts the layers of all members.
func (c MLPConfig) layerNumber(member, layer int) int { return member*(len(c.Hidden)+1) + layer }

// Config is what the model was made with; do not change its slices.
func (m *MLP) Config() MLPConfig { return m.config }

// Weights are w0, b0, w1, b1, …: w [in, out], b [out], and for the last layer
// w [in], b [1]; of one member after another.
func (m *MLP) Weights() []Weight {
	var all []Weight
	for _, layers := range m.members {
		for _, l := range layers {
			all = append(all, l.w, l.b)
		}
	}
	return all
}

// SetStep sets the step of the dropout.
func (m *MLP) SetStep(step uint64) {
	if m.dropout != nil {
		m.dropout.SetStep(step)
	}
}

// Build adds the model to the graph of x, see [Scorer].
func (m *MLP) Build(x *G.Node, mode Mode) (*G.Node, G.Nodes, error) {
	scores, weights, err := m.BuildMembers(x, mode)
	if err != nil || len(scores) == 1 {
		return first(scores), weights, err
	}
	sum := scores[0]
	for _, s := range scores[1:] {
		if sum, err = G.Add(sum, s); err != nil {
			return nil, nil, fmt.Errorf("nn: %w", err)
		}
	}
	var share *G.Node
	if m.config.Dtype == tensor.Float64 {
		share = G.NewConstant(1 / float64(len(scores)))
	} else {
		share = G.NewConstant(1 / float32(len(scores)))
	}
	mean, err := G.Mul(sum, share)
	return mean, weights, err
}

func first(nodes G.Nodes) *G.Node {
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}

// BuildMembers adds the members of the model to the graph of x, see [Scorer].
func (m *MLP) BuildMembers(x *G.Node, mode Mode) (scores, weights G.Nodes, err error) {
	if x == nil || x.Dims() != 2 || x.Shape()[1] != m.config.Features {
		return nil, nil, fmt.Errorf("nn: x is %v, want a matrix [rows, %d]", shapeOf(x), m.config.Features)
	}
	if x.Dtype() != m.config.Dtype {
		return nil, nil, fmt.Errorf("nn: x is %v, but the model is %v", x.Dtype(), m.config.Dtype)
	}
	for member, layers := range m.members {
		h := x
		for i, l := range layers {
			w, b := node(x.Graph(), l.w), node(x.Graph(), l.b)
			weights = append(weights, w, b)
			last := i == len(layers)-1
			act := m.config.Activation
			if last {
				act = ops.Identity
			}
			if h, err = ops.Dense(h, w, b, act); err != nil {
				return nil, nil, fmt.Errorf("nn: layer %d: %w", i, err)
			}
			if m.dropout == nil || last || mode != Train {
				continue
			}
			if h, err = ops.Drop(h, m.dropout, m.config.layerNumber(member, i)); err != nil {
				return nil, nil, fmt.Errorf("nn: layer %d: %w", i, err)
			}
		}
		scores = append(scores, h)
	}
	return scores, weights, nil
}

// node is a leaf with a header of its own on the weight's memory.
func node(g *G.ExprGraph, w Weight) *G.Node {
	shape := w.Value.Shape().Clone()
	var backing any
	if w.Value.Dtype() == tensor.Float32 {
		backing = w.Value.Float32s()
	} else {
		backing = w.Value.Float64s()
	}
	v := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
	return G.NewTensor(g, w.Value.Dtype(), shape.Dims(), G.WithShape(shape...), G.WithName(w.Name), G.WithValue(v))
}

func shapeOf(x *G.Node) string {
	if x == nil {
		return "nil"
	}
	return fmt.Sprint(x.Shape())
}

// getFloats and setFloats copy between a tensor and float64, which loses nothing
// of a float32.
func getFloats(t *tensor.Dense) []float64 {
	if t.Dtype() == tensor.Float64 {
		return append([]float64(nil), t.Float64s()...)
	}
	out := make([]float64, t.DataSize())
	for i, v := range t.Float32s() {
		out[i] = float64(v)
	}
	return out
}

func setFloats(t *tensor.Dense, values []float64) {
	if t.Dtype() == tensor.Float64 {
		copy(t.Float64s(), values)
		return
	}
	for i, v := range values {
		t.Float32s()[i] = float32(v)
	}
}
