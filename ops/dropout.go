package ops

import (
	"fmt"
	"hash"
	"sync/atomic"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
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
// x is float32 or float64, of any shape; layers that share d need different
// layer numbers.
func Drop(x *G.Node, d *Dropout, layer int) (*G.Node, error) {
	if x == nil {
		return nil, fmt.Errorf("ops: dropout: x is nil")
	}
	if dt := x.Dtype(); dt != tensor.Float32 && dt != tensor.Float64 {
		return nil, fmt.Errorf("ops: dropout: x is %v, want float32 or float64", dt)
	}
	mask, err := G.ApplyOp(&maskOp{dropout: d, layer: layer}, x)
	if err != nil {
		return nil, err
	}
	return G.ApplyOp(&applyMaskOp{}, x, mask)
}

// maskOp is x → a mask of x's shape; the values of x do not matter.
type maskOp struct {
	plainOp
	dropout *Dropout
	layer   int
	runs    uint64
	out     outBuffer
}

var (
	_ G.SDOp = &maskOp{}
	_ G.ADOp = &maskOp{}
	_ G.SDOp = &applyMaskOp{}
	_ G.ADOp = &applyMaskOp{}
)

func (op *maskOp) Arity() int    { return 1 }
func (op *maskOp) Type() hm.Type { return hm.NewFnType(elem, elem) }

func (op *maskOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *maskOp) Do(values ...G.Value) (G.Value, error) {
	v, err := denseValues(op, values)
	if err != nil {
		return nil, err
	}
	step := op.runs
	if op.dropout.set {
		step = op.dropout.step
	}
	op.runs++
	key := mix(mix(mix(op.dropout.seed)+step) + uint64(op.layer))
	mask := op.out.get(v[0].Dtype(), v[0].Shape())
	if mask.Dtype() == tensor.Float32 {
		return mask, drawMask(key, op.dropout.rate, mask.Float32s())
	}
	return mask, drawMask(key, op.dropout.rate, mask.Float64s())
}

// drawMask fills the mask from the counter i alone, so that it can be drawn in
// pieces, and padding rows at its end change nothing before them.
func drawMask[T float](key uint64, rate float64, mask []T) error {
	keep := T(1 / (1 - rate))
	below := uint64(rate * (1 << 53))
	return elementwise(len(mask), func(from, to int) {
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

func (op *maskOp) DiffWRT(int) []bool { return []bool{false} }
func (op *maskOp) SymDiff(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) {
	return G.Nodes{nil}, nil
}
func (op *maskOp) DoDiff(G.ExecutionContext, G.Nodes, *G.Node) error { return nil }

func (op *maskOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *maskOp) Hashcode() uint32      { return hashOf(op) }
func (op *maskOp) String() string {
	return fmt.Sprintf("DropoutMask{%d: rate %v, layer %d}", op.dropout.id, op.dropout.rate, op.layer)
}

// applyMaskOp is x, mask → x ⊙ mask, differentiable in x.
type applyMaskOp struct {
	plainOp
	out outBuffer
}

func (op *applyMaskOp) Arity() int    { return 2 }
func (op *applyMaskOp) Type() hm.Type { return hm.NewFnType(elem, elem, elem) }

func (op *applyMaskOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *applyMaskOp) Do(values ...G.Value) (G.Value, error) {
	v, err := denseValues(op, values)
	if err != nil {
		return nil, err
	}
	x, mask := v[0], v[1]
	y := op.out.get(x.Dtype(), x.Shape())
	if x.Dtype() == tensor.Float32 {
		return y, multiply(x.Float32s(), mask.Float32s(), y.Float32s())
	}
	return y, multiply(x.Float64s(), mask.Float64s(), y.Float64s())
}

func multiply[T float](x, mask, y []T) error {
	return elementwise(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			y[i] = x[i] * mask[i]
		}
	})
}

func (op *applyMaskOp) DiffWRT(int) []bool { return []bool{true, false} }

func (op *applyMaskOp) SymDiff(inputs G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	dx, err := G.ApplyOp(&applyMaskOp{}, grad, inputs[1])
	return G.Nodes{dx, nil}, err
}

func (op *applyMaskOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	dy, err := output.Grad()
	if err != nil {
		return err
	}
	return addGrad(inputs[0], &applyMaskOp{}, dy, inputs[1].Value())
}

func (op *applyMaskOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *applyMaskOp) Hashcode() uint32      { return hashOf(op) }
func (op *applyMaskOp) String() string        { return "ApplyDropoutMask" }
