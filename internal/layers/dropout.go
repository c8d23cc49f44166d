package layers

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// A Dropout is what ops.Dropout is.
type Dropout struct {
	rate float64
	seed uint64
	id   uint64
	step uint64
	set  bool
}

// NewDropout returns a source of masks that drop an entry with probability rate, or an error for a rate outside [0, 1).
func NewDropout(rate float64, seed uint64) (*Dropout, error) {
	if !(rate >= 0 && rate < 1) {
		return nil, fmt.Errorf("dropout rate %v: want one in [0, 1)", rate)
	}
	return &Dropout{rate: rate, seed: seed, id: op.NewID()}, nil
}

// SetStep makes the next runs use the masks of that step.
func (d *Dropout) SetStep(step uint64) { d.step, d.set = step, true }

// Drop is ops.Drop.
func Drop(x *G.Node, d *Dropout, layer int) (*G.Node, error) {
	const name = "ops: Drop"
	key, err := d.key(name, x, layer)
	if err != nil {
		return nil, err
	}
	// Its own derivative: what comes in goes through the same mask.
	masked := func(slopes ...*op.Term) *op.Func {
		return &op.Func{Name: name, Settings: d.settings(), VJPs: slopes, Do: op.ByDtype(drop[float32](d), drop[float64](d))}
	}
	return masked(masked().Of(op.Incoming, op.Input(1))).Apply(x, key)
}

func drop[T op.Float](d *Dropout) op.Kernel[T] {
	return func(in []op.Tensor, x [][]T, y []T) {
		forward.DropInto(d.masks(in, 1), x[0], y)
	}
}

// key is a node of the key of the masks of a layer, which every run of the graph draws. So
// what a mask is applied to and its gradient are pure functions.
func (d *Dropout) key(name string, x *G.Node, layer int) (*G.Node, error) {
	switch {
	case x == nil:
		return nil, fmt.Errorf("%s: no x: the node is nil", name)
	case x.Dtype() != tensor.Float32 && x.Dtype() != tensor.Float64:
		return nil, fmt.Errorf("%s: x is %v, want float32 or float64", name, x.Dtype())
	case d == nil:
		return nil, fmt.Errorf("%s: no dropout: it is nil", name)
	case x.Graph() == nil:
		return nil, fmt.Errorf("%s: x belongs to no graph", name)
	}
	// Masks of one seed and layer in one graph are told apart by their ordinal.
	stream := maskStream{d.seed, layer}
	ordinal := uint64(op.Ordinal(x.Graph(), stream))
	var runs uint64
	draw := op.Func{
		Name: name + "Key", Settings: fmt.Sprintf("%s, layer %d, ordinal %d", d.settings(), layer, ordinal), Source: stream,
		Dtype: tensor.Int, Shape: func([]tensor.Shape) tensor.Shape { return tensor.Shape{1} },
		Do: func(_ []op.Tensor, key op.Tensor) error {
			step := runs
			if d.set {
				step = d.step
			}
			runs++
			key.Int[0] = int(forward.DropoutKey(d.seed, step, uint64(layer)+ordinal<<32))
			return nil
		},
	}
	return draw.Apply(x)
}

func (d *Dropout) settings() string { return fmt.Sprintf("%d: rate %v", d.id, d.rate) }

// masks returns the masks of the key, input number i; without dropout there are none.
func (d *Dropout) masks(in []op.Tensor, i int) forward.Dropout {
	if d == nil {
		return forward.Dropout{}
	}
	return forward.Dropout{Rate: d.rate, Key: uint64(in[i].Int[0])}
}

// maskStream is what the masks of a graph may share.
type maskStream struct {
	seed  uint64
	layer int
}
