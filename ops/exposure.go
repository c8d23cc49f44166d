package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/plackett"
)

// Exposure estimates the exposure that every row can expect under the
// Plackett–Luce policy of the scores, E_d = E_y[Σ_k θ_k 1[y_k = d]], a node [rows]
// of the dtype of the scores; padding gets 0. It is the low-variance form, the
// mean over rankings of Σ_k θ_k P_k(d).
//
// The backward pass is PL-Rank-RB with gains ρ := ∂F/∂E, the incoming gradient
// (Oosterhuis, SIGIR 2021, §6: any function F of the exposures has the gradient
// of a relevance metric with these gains), on gradRankings, or on rankings where
// that is nil. When F is not linear in E, its gradient is unbiased only if the
// rankings are not the ones that gave the exposure: pass rankings from another
// [Sampler].
//
// rankings and gradRankings are [queries, samples, cutoff], each with a number of
// samples of its own. Errors and cost are those of [PLRank1].
func Exposure(l Lists, rankings, gradRankings *G.Node, discounts []float64) (*G.Node, error) {
	if gradRankings == nil {
		gradRankings = rankings
	}
	err := l.check()
	if err == nil {
		err = l.checkRankings(rankings)
	}
	if err == nil {
		err = l.checkRankings(gradRankings)
	}
	if err == nil {
		err = checkDiscounts(discounts)
	}
	if err != nil {
		return nil, fmt.Errorf("ops: Exposure: %w", err)
	}
	op := &exposureOp{listOp: newListOp(l), discounts: append([]float64(nil), discounts...)}
	return G.ApplyOp(op, l.with(rankings, gradRankings)...)
}

// exposureOp is scores, rankings, rankings for the gradient[, offsets] → exposure.
type exposureOp struct {
	listOp
	discounts []float64
}

var (
	_ G.SDOp = &exposureOp{}
	_ G.ADOp = &exposureOp{}
)

func (op *exposureOp) Arity() int    { return op.arity(2) }
func (op *exposureOp) Type() hm.Type { return op.fn(tensorOf(1), intRankings, intRankings) }

func (op *exposureOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *exposureOp) Do(values ...G.Value) (G.Value, error) {
	rankings, err := rankingsOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: Exposure: %w", err)
	}
	out, exposure, err := op.output(values[0], values[0].Shape()[0])
	if err != nil {
		return nil, err
	}
	err = op.eachList("Exposure", values, func(l list) error {
		r := rankings(l)
		if err := checkCutoff(op.discounts, r, len(l.scores)); err != nil {
			return err
		}
		l.result = sized(l.result, len(l.scores))
		if err := l.kernel.Exposure(l.scores, op.discounts, r, l.result); err != nil {
			return err
		}
		exposure.write(l.result, l.from)
		return nil
	})
	return out, err
}

func (op *exposureOp) DiffWRT(inputs int) []bool { return firstOf(inputs) }

func (op *exposureOp) backward() *exposureDiffOp {
	return &exposureDiffOp{listOp: op.fresh(), discounts: op.discounts}
}

func (op *exposureOp) SymDiff(inputs G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	return scoresGradient(op.backward(), inputs, inputs[2:3], grad)
}

func (op *exposureOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	return addScoresGradient(op.backward(), inputs, inputs[2:3], output)
}

func (op *exposureOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *exposureOp) Hashcode() uint32      { return hashOf(op) }
func (op *exposureOp) String() string {
	return fmt.Sprintf("Exposure{discounts: %v, offsets: %t}", op.discounts, op.offsets)
}

// exposureDiffOp is scores, rankings, ∂F/∂E of every row[, offsets] → ∂F/∂scores.
type exposureDiffOp struct {
	listOp
	discounts []float64
}

func (op *exposureDiffOp) Arity() int    { return op.arity(2) }
func (op *exposureDiffOp) Type() hm.Type { return op.fn(tensorOf(1), intRankings, tensorOf(1)) }

func (op *exposureDiffOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *exposureDiffOp) Do(values ...G.Value) (G.Value, error) {
	rankings, err := rankingsOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: Exposure: %w", err)
	}
	gains, err := numbersOf(values[2])
	if err != nil {
		return nil, fmt.Errorf("ops: Exposure: gradient: %w", err)
	}
	out, lambda, err := op.output(values[0], values[0].Shape()[0])
	if err != nil {
		return nil, err
	}
	err = op.eachList("Exposure", values, func(l list) error {
		r := rankings(l)
		if err := checkCutoff(op.discounts, r, len(l.scores)); err != nil {
			return err
		}
		l.gains = gains.read(l.gains, l.from, l.to)
		l.result = sized(l.result, len(l.scores))
		if _, err := l.kernel.Gradient(plackett.PLRankRB, l.scores, l.gains, op.discounts, r, l.result); err != nil {
			return err
		}
		lambda.write(l.result, l.from)
		return nil
	})
	return out, err
}

func (op *exposureDiffOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *exposureDiffOp) Hashcode() uint32      { return hashOf(op) }
func (op *exposureDiffOp) String() string {
	return fmt.Sprintf("ExposureDiff{discounts: %v, offsets: %t}", op.discounts, op.offsets)
}
