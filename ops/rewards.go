package ops

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/plackett"
)

// Rewards gives every placement the reward of its whole ranking, divided by the
// number of samples present: Σ_x θ_x ρ_{y_x} / N, the weight that REINFORCE (the
// policy gradient) gives to its log-probability. The node has the shape of the
// rankings, [queries, samples, cutoff], 0 where absent, the dtype of the
// scores, and is not differentiable. The other arguments and the errors are those
// of [PLRank1].
func Rewards(l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return rewards("Rewards", l, gains, rankings, discounts)
}

// RewardsToGo is [Rewards] with only what the ranking earns from the placement on,
// Σ_{x≥k} θ_x ρ_{y_x} / N: the weights of the placement policy gradient
// (Oosterhuis, SIGIR 2021, §5.1).
func RewardsToGo(l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return rewards("RewardsToGo", l, gains, rankings, discounts)
}

func rewards(name string, l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	if err := l.checkEstimate(gains, rankings, discounts); err != nil {
		return nil, fmt.Errorf("ops: %s: %w", name, err)
	}
	op := &rewardsOp{listOp: newListOp(l), estimate: estimate{name: name, discounts: append([]float64(nil), discounts...)}}
	return G.ApplyOp(op, l.with(gains, rankings)...)
}

// rewardsOp is scores, gains, rankings[, offsets] → rewards. Of the scores it uses
// the shape.
type rewardsOp struct {
	listOp
	estimate
	notDifferentiable
}

var (
	_ G.SDOp = &rewardsOp{}
	_ G.ADOp = &rewardsOp{}
)

func (op *rewardsOp) Arity() int    { return op.arity(2) }
func (op *rewardsOp) Type() hm.Type { return op.fn(tensorOf(3), tensorOf(1), intRankings) }

func (op *rewardsOp) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	return in[2].(tensor.Shape).Clone(), nil
}

func (op *rewardsOp) Do(values ...G.Value) (G.Value, error) {
	read, err := op.read(values)
	if err != nil {
		return nil, err
	}
	out, rewards, err := op.output(values[0], values[2].Shape()...)
	if err != nil {
		return nil, err
	}
	err = op.eachList(op.name, values, func(l list) error {
		gains, rankings, err := read(l)
		if err != nil {
			return err
		}
		l.result = sized(l.result, len(rankings.Documents))
		if err := plackett.RewardsToGo(gains, op.discounts, rankings, l.result); err != nil {
			return err
		}
		if op.name == "Rewards" {
			for i := 0; i < len(l.result); i += rankings.Cutoff {
				for k := 1; k < min(rankings.Cutoff, len(op.discounts)); k++ {
					if rankings.Documents[i+k] >= 0 {
						l.result[i+k] = l.result[i]
					}
				}
			}
		}
		rewards.write(l.result, l.query*len(l.result))
		return nil
	})
	return out, err
}

func (op *rewardsOp) WriteHash(h hash.Hash) { hashText(h, op) }
func (op *rewardsOp) Hashcode() uint32      { return hashOf(op) }
func (op *rewardsOp) String() string {
	return fmt.Sprintf("%v, offsets: %t}", &op.estimate, op.offsets)
}
