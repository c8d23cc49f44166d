package losses

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
)

// Pairs are the pairs of documents in a LambdaLoss, and all of it that is constant for differentiation.
type Pairs struct {
	Better, Worse []int     // positions of the documents with more gain and with less, pair by pair
	Weights       []float64 // of the pairs
}

// LambdaPairs returns the pairs of lambdaloss-deterministic that have a weight, with the ranks of the scores:
//
//	(θ_δ − θ_{δ+1}) (ρ_i − ρ_j),  ρ_i > ρ_j,  δ the distance of the ranks, at most as many as the discounts.
//
// Scores and gains are of one query. Equal scores are ranked by position.
func LambdaPairs(scores, gains, discounts []float64) (p Pairs) {
	order := num.DescendingOrder(nil, scores)
	all := newPairs(PairWeights{Distance: 1}, perturbed{scores: scores}, order, gains, nil, discounts)
	all.each(func(better int, worse []int) {
		for i, other := range worse {
			if weight := all.weight[i]; weight != 0 {
				p.Better, p.Worse, p.Weights = append(p.Better, order[better]), append(p.Worse, order[other]), append(p.Weights, weight)
			}
		}
	})
	return p
}

// GorgoniaLambdaLoss builds the loss Σ w_ij log2(1 + e^−(m_i − m_j)) of one query, a scalar, of Gorgonia's own ops, to be
// differentiated by Gorgonia: the baseline for lambdaloss, the op that training uses, see [Pairwise].
//
// With [LambdaPairs] it is lambdaloss-deterministic. For lambdaloss add the noise of each sample to the scores, take the pairs
// of these sums, and the mean of the losses. scores is a vector, float32 or float64. Ranks change with the scores: build a graph
// for every step.
//
// A run allocates 25 numbers a pair, 200 bytes in float64. D documents with K discounts have up to D·K pairs: for 1,000 documents
// that is 1 MB with K = 5, but 100 MB if all ranks count, and for 10,000 documents 10 GB. The op stores no pair.
func GorgoniaLambdaLoss(scores *G.Node, p Pairs) (loss *G.Node, err error) {
	if err := op.CheckNode("scores", scores, 1, tensor.Float32, tensor.Float64); err != nil {
		return nil, fmt.Errorf("losses: %w", err)
	}
	if err := p.check(scores.Shape()[0]); err != nil {
		return nil, fmt.Errorf("losses: %w", err)
	}
	defer caught(&err)
	if len(p.Weights) == 0 {
		return scaled(G.Must(G.Sum(scores)), 0), nil
	}
	constant := func(name string, value *tensor.Dense) *G.Node {
		return G.NodeFromAny(scores.Graph(), value, G.WithName(fmt.Sprint(name, " ", op.NewID())))
	}
	// Of matrices, ByIndices has the right derivative.
	column := G.Must(G.Reshape(neg(scores), tensor.Shape{scores.Shape()[0], 1}))
	better := G.Must(G.ByIndices(column, constant("better", tensor.New(tensor.WithShape(len(p.Better)), tensor.WithBacking(p.Better))), 0))
	worse := G.Must(G.ByIndices(column, constant("worse", tensor.New(tensor.WithShape(len(p.Worse)), tensor.WithBacking(p.Worse))), 0))
	gap := sub(better, worse)
	size := G.Must(G.Abs(gap))
	// log(1 + e^gap): the derivative of Softplus is right below 19.
	logistic := add(scaled(add(gap, size), .5), G.Must(G.Softplus(neg(size))))
	weights := tensor.New(tensor.Of(scores.Dtype()), tensor.WithShape(len(p.Weights), 1))
	for i, w := range p.Weights {
		if narrow, ok := weights.Data().([]float32); ok {
			narrow[i] = float32(w)
		} else {
			weights.Float64s()[i] = w
		}
	}
	return scaled(G.Must(G.Sum(mul(constant("weights", weights), logistic))), 1/math.Ln2), nil
}

// check reports positions that are not among the documents.
func (p Pairs) check(documents int) error {
	if len(p.Better) != len(p.Weights) || len(p.Worse) != len(p.Weights) {
		return fmt.Errorf("%d better and %d worse documents for %d weights of pairs: want as many", len(p.Better), len(p.Worse), len(p.Weights))
	}
	for _, d := range slices.Concat(p.Better, p.Worse) {
		if d < 0 || d >= documents {
			return fmt.Errorf("a pair has document %d: there are %d, from 0", d, documents)
		}
	}
	return nil
}
