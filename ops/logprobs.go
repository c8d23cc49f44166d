package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LogProbs gives the log-probability of every placement of every ranking under the
// Plackett–Luce policy of the scores,
//
//	log P(y_k | y_1..k−1) = m(y_k) − log Σ_{d not in y_1..k−1} exp m(d),
//
// a node of the shape of the rankings, [queries, samples, cutoff], 0 where absent:
// the sum over a ranking is log π(y). It is differentiable in the scores; the
// rankings are constants. Accurate for any finite scores. With weights w that do
// not depend on the scores, Σ w·LogProbs is a REINFORCE loss (Williams 1992).
//
// Errors are those of [PLRank1]. It costs O(D + N·K) for a query, like its
// backward pass.
func LogProbs(l Lists, rankings *G.Node) (*G.Node, error) {
	err := l.check()
	if err == nil {
		err = l.checkRankings(rankings)
	}
	if err != nil {
		return nil, fmt.Errorf("ops: LogProbs: %w", err)
	}
	return G.ApplyOp(&logProbsOp{newListOp(l)}, l.with(rankings)...)
}

// logProbsOp is scores, rankings[, offsets] → log-probabilities.
type logProbsOp struct{ listOp }

var (
	_ G.SDOp = &logProbsOp{}
	_ G.ADOp = &logProbsOp{}
)

func (op *logProbsOp) Arity() int    { return op.arity(1) }
func (op *logProbsOp) Type() hm.Type { return op.fn(tensorOf(3), intRankings) }

func (op *logProbsOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[1].(tensor.Shape).Clone(), nil
}

func (op *logProbsOp) Do(values ...G.Value) (G.Value, error) {
	rankings, err := rankingsOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: LogProbs: %w", err)
	}
	out, logs, err := op.output(values[0], values[1].Shape()...)
	if err != nil {
		return nil, err
	}
	err = op.eachList("LogProbs", values, func(l list) error {
		r := rankings(l)
		l.result = sized(l.result, len(r.Documents))
		if err := l.kernel.LogProbs(l.scores, r, l.result); err != nil {
			return err
		}
		logs.write(l.result, l.query*len(r.Documents))
		return nil
	})
	return out, err
}

func (op *logProbsOp) DiffWRT(inputs int) []bool { return firstOf(inputs) }

func (op *logProbsOp) SymDiff(inputs G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	return scoresGradient(&logProbsDiffOp{op.fresh()}, inputs, inputs[1:2], grad)
}

func (op *logProbsOp) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	return addScoresGradient(&logProbsDiffOp{op.fresh()}, inputs, inputs[1:2], output)
}

func (op *logProbsOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *logProbsOp) Hashcode() uint32      { return hashOf(op) }
func (op *logProbsOp) String() string        { return fmt.Sprintf("LogProbs{offsets: %t}", op.offsets) }

// logProbsDiffOp is scores, rankings, weights[, offsets] → the derivative of Σ w·LogProbs.
type logProbsDiffOp struct{ listOp }

func (op *logProbsDiffOp) Arity() int    { return op.arity(2) }
func (op *logProbsDiffOp) Type() hm.Type { return op.fn(tensorOf(1), intRankings, tensorOf(3)) }

func (op *logProbsDiffOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[0].(tensor.Shape).Clone(), nil
}

func (op *logProbsDiffOp) Do(values ...G.Value) (G.Value, error) {
	rankings, err := rankingsOf(values[1])
	if err != nil {
		return nil, fmt.Errorf("ops: LogProbs: %w", err)
	}
	weights, err := numbersOf(values[2])
	if err != nil {
		return nil, fmt.Errorf("ops: LogProbs: gradient: %w", err)
	}
	out, lambda, err := op.output(values[0], values[0].Shape()[0])
	if err != nil {
		return nil, err
	}
	err = op.eachList("LogProbs", values, func(l list) error {
		r := rankings(l)
		size := len(r.Documents)
		l.weights = weights.read(l.weights, l.query*size, (l.query+1)*size)
		l.result = sized(l.result, len(l.scores))
		if err := l.kernel.LogProbsGradient(l.scores, r, l.weights, l.result); err != nil {
			return err
		}
		lambda.write(l.result, l.from)
		return nil
	})
	return out, err
}

func (op *logProbsDiffOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *logProbsDiffOp) Hashcode() uint32      { return hashOf(op) }
func (op *logProbsDiffOp) String() string {
	return fmt.Sprintf("LogProbsDiff{offsets: %t}", op.offsets)
}
