package ops

import (
	"fmt"
	"sync/atomic"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// A Dropout is the source of the masks of [Drop]: its rate, its seed and the
// step that training is at. One may serve all layers and all graphs of a model,
// as long as they do not run at the same time.
type Dropout struct {
	rate float64
	seed uint64
	id   uint64
	step uint64
	set  bool
}

var dropouts atomic.Uint64

// NewDropout is a source of masks that drop an entry with probability rate.
// Every run of a graph draws anew. A rate outside [0, 1) is an error.
func NewDropout(rate float64, seed uint64) (*Dropout, error) {
	if !(rate >= 0 && rate < 1) {
		return nil, fmt.Errorf("ops: dropout rate %v: want one in [0, 1)", rate)
	}
	return &Dropout{rate: rate, seed: seed, id: dropouts.Add(1)}, nil
}

// SetStep makes the masks of the next runs those of that step. Without it each
// mask counts the runs of its graph.
func (d *Dropout) SetStep(step uint64) { d.step, d.set = step, true }

// Drop is inverted dropout, y = x ⊙ mask: each entry of the mask is 0 with
// probability rate and 1/(1−rate) otherwise, so that E[y] = x. The mask depends
// on the seed, the step, the layer and the place of the entry alone, and the
// gradient goes through the same mask. (Gorgonia's own Dropout divides the
// gradient by the wrong number.) Leave Drop out of graphs for evaluation.
//
// x is float32 or float64, of any shape. Number the layers: masks of one seed and
// layer in one graph are drawn independently, but in the order in which it was built.
func Drop(x *G.Node, d *Dropout, layer int) (*G.Node, error) {
	const name = "ops: Drop"
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
	ordinal := uint64(0)
	for _, n := range x.Graph().AllNodes() {
		if op.SourceOf(n) == stream {
			ordinal++
		}
	}
	var runs uint64
	draw := op.Func{
		Name: name, Settings: fmt.Sprintf("%d: rate %v, layer %d, ordinal %d", d.id, d.rate, layer, ordinal), Source: stream,
		Do: func(_ []op.Tensor, mask op.Tensor) error {
			step := runs
			if d.set {
				step = d.step
			}
			runs++
			key := mix(mix(mix(d.seed)+step) + uint64(layer) + ordinal<<32)
			if mask.F32 != nil {
				drawMask(key, d.rate, mask.F32)
			} else {
				drawMask(key, d.rate, mask.F64)
			}
			return nil
		},
	}
	mask, err := draw.Apply(x)
	if err != nil {
		return nil, err
	}
	// Its own derivative: what comes in goes through the same mask.
	product := func(slopes ...*op.Term) *op.Func {
		return &op.Func{Name: name + "Product", Slopes: slopes, Do: func(in []op.Tensor, result op.Tensor) error {
			if in[0].F32 != nil {
				multiply(in[0].F32, in[1].F32, result.F32)
			} else {
				multiply(in[0].F64, in[1].F64, result.F64)
			}
			return nil
		}}
	}
	return product(product().Of(op.Incoming, op.Input(1))).Apply(x, mask)
}

// drawMask fills the mask from the counter i alone, so that it can be drawn in
// pieces, and padding rows at its end change nothing before them.
func drawMask[T float32 | float64](key uint64, rate float64, mask []T) {
	keep := T(1 / (1 - rate))
	below := uint64(rate * (1 << 53))
	forward.Elementwise(len(mask), func(from, to int) {
		for i := from; i < to; i++ {
			if mix(key+uint64(i))>>11 < below {
				mask[i] = 0
			} else {
				mask[i] = keep
			}
		}
	})
}

// mix is the output function of SplitMix64 (Steele, Lea & Flood 2014) after one
// step from z.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// maskStream is what the masks of a graph may share.
type maskStream struct {
	seed  uint64
	layer int
}

func multiply[T float32 | float64](x, mask, y []T) {
	forward.Elementwise(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			y[i] = x[i] * mask[i]
		}
	})
}
