package ops

import (
	"cmp"
	"fmt"
	"hash"
	"slices"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/plackett"
)

// IdealRankings ranks the documents of every query by descending gain: an int node
// [queries, 1, rows of the lists] of row numbers, −1 past the end of a query, as
// [LogProbs] takes it. Documents of equal gain stand in an order drawn anew by the
// sampler at every run, or where it is nil in the order of their rows; neither its
// samples nor its cutoff play a part. gains is [rows]. The node is not
// differentiable. Gains that are not finite are an error of the run.
func IdealRankings(l Lists, gains *G.Node, s *Sampler) (*G.Node, error) {
	if err := l.checkedRows("IdealRankings", "gains", gains); err != nil {
		return nil, err
	}
	op := &idealRankingsOp{listOp: newListOp(l)}
	if s != nil {
		var err error
		if op.drawn, err = newDrawn(s, l.Scores.Graph()); err != nil {
			return nil, fmt.Errorf("ops: IdealRankings: %w", err)
		}
	}
	return G.ApplyOp(op, Lists{Scores: gains, Offsets: l.Offsets}.with()...)
}

// idealRankingsOp is gains[, offsets] → rankings.
type idealRankingsOp struct {
	listOp
	drawn
	notDifferentiable
}

var (
	_ G.SDOp = &idealRankingsOp{}
	_ G.ADOp = &idealRankingsOp{}
)

func (op *idealRankingsOp) Arity() int    { return op.arity(0) }
func (op *idealRankingsOp) Type() hm.Type { return op.fn(intRankings) }

func (op *idealRankingsOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	q, err := op.queries(in)
	if err != nil {
		return nil, err
	}
	rows, err := in[0].DimSize(0)
	return tensor.Shape{q, 1, rows}, err
}

func (op *idealRankingsOp) Do(values ...G.Value) (G.Value, error) {
	gains, err := numbersOf(values[0])
	if err != nil {
		return nil, fmt.Errorf("ops: IdealRankings: gains: %w", err)
	}
	queries, rows := 1, gains.len()
	if op.offsets {
		queries = values[1].Shape()[0] - 1
	}
	out := op.out.get(tensor.Int, tensor.Shape{queries, 1, rows})
	places := out.Ints()
	for i := range places {
		places[i] = -1
	}
	var now draw
	if op.sampler != nil {
		now = op.sampler.next(&op.drawn)
	}
	return out, op.eachList("IdealRankings", values, func(l list) error {
		gains := l.scores // the first input
		if err := l.finiteGains(gains); err != nil {
			return err
		}
		ties := l.zeros()
		if op.sampler != nil {
			plackett.Gumbel(plackett.Stream{Seed: now.seed, Step: now.step, Query: uint64(l.query)}, 0, ties)
		}
		ranking := places[l.query*rows:][:len(gains)]
		for d := range ranking {
			ranking[d] = l.from + d
		}
		slices.SortFunc(ranking, func(a, b int) int {
			a, b = a-l.from, b-l.from
			if c := cmp.Compare(gains[b], gains[a]); c != 0 {
				return c
			}
			if c := cmp.Compare(ties[b], ties[a]); c != 0 {
				return c
			}
			return cmp.Compare(a, b)
		})
		return nil
	})
}

func (op *idealRankingsOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *idealRankingsOp) Hashcode() uint32      { return hashOf(op) }
func (op *idealRankingsOp) String() string {
	if op.sampler == nil {
		return fmt.Sprintf("IdealRankings{offsets: %t}", op.offsets)
	}
	return fmt.Sprintf("IdealRankings{%v, offsets: %t}", &op.drawn, op.offsets)
}
