package ops

import (
	"fmt"
	"hash"
	"math"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/plackett"
)

// Gumbel draws standard Gumbel noise for every row and sample, −log(−log u), a
// node [samples × rows] of the dtype of the scores, sample after sample. Ranking
// by m + noise draws from the Plackett–Luce policy (Gumbel 1954; Yellott 1977).
// It is NaN in the samples beyond [Sampler.SetSamples] and 0 in padding rows. The
// node is not differentiable; the cutoff of the sampler plays no part.
func Gumbel(l Lists, s *Sampler) (*G.Node, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("ops: Gumbel: %w", err)
	}
	d, err := newDrawn(s, l.Scores.Graph())
	if err != nil {
		return nil, fmt.Errorf("ops: Gumbel: %w", err)
	}
	return G.ApplyOp(&gumbelOp{listOp: newListOp(l), drawn: d}, l.with()...)
}

// gumbelOp is scores[, offsets] → noise. Of the scores it uses the shape.
type gumbelOp struct {
	listOp
	drawn
	notDifferentiable
}

var (
	_ G.SDOp = &gumbelOp{}
	_ G.ADOp = &gumbelOp{}
)

func (op *gumbelOp) Arity() int    { return op.arity(0) }
func (op *gumbelOp) Type() hm.Type { return op.fn(tensorOf(1)) }

func (op *gumbelOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	rows, err := in[0].DimSize(0)
	return tensor.Shape{op.sampler.capacity * rows}, err
}

func (op *gumbelOp) Do(values ...G.Value) (G.Value, error) {
	rows := values[0].Shape()[0]
	out, noise, err := op.output(values[0], op.sampler.capacity*rows)
	if err != nil {
		return nil, err
	}
	draw := op.sampler.next(&op.drawn)
	err = op.eachList("Gumbel", values, func(l list) error {
		l.result = sized(l.result, len(l.scores))
		for i := range op.sampler.capacity {
			if i < draw.samples {
				plackett.Gumbel(plackett.Stream{Seed: draw.seed, Step: draw.step, Query: uint64(l.query)}, uint64(i), l.result)
			} else {
				for d := range l.result {
					l.result[d] = math.NaN()
				}
			}
			noise.write(l.result, i*rows+l.from)
		}
		return nil
	})
	return out, err
}

func (op *gumbelOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *gumbelOp) Hashcode() uint32      { return hashOf(op) }
func (op *gumbelOp) String() string {
	return fmt.Sprintf("Gumbel{%v, offsets: %t}", &op.drawn, op.offsets)
}
