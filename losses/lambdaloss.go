package losses

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// lambdaLoss is the loss of [LambdaLoss].
func lambdaLoss(b *batch) *G.Node {
	order := noisyOrder(b.Lists, b.noise())
	pairs := newRankPairs(b.Lists, b.gains(), order, b.discounts())
	misorder := softplusOf(pairs.misorder(b.Lists, b.noise()))
	sum := sumOverPairs(b.Lists, mul(pairs.weights, misorder), len(b.Discounts))
	return scaled(sum, 1/math.Ln2)
}

// rankPairs are the pairs of documents that are at most as many ranks apart in a
// [noisyOrder] as there are discounts, in all samples. All nodes have the shape
// [samples × rows × discounts]: one entry for every document and distance, of
// which those without a pair have numbers 0 and a weight of 0. They are not differentiable.
type rankPairs struct {
	// better and worse are int: for the document of larger and of smaller gain
	// of the pair (of equal gains: of better and of worse rank), its number in
	// a vector [samples × rows].
	better, worse *G.Node
	// weights have the dtype of the scores: with δ the distance in ranks,
	// (θ_δ − θ_{δ+1}) |ρ_i − ρ_j|, where θ is 0 beyond the last discount, over the number of
	// samples present.
	weights *G.Node
}

func newRankPairs(l ops.Lists, gains, order *G.Node, discounts []float64) rankPairs {
	k, falls := len(discounts), drops(discounts, 1)
	// part sets, for every document and those ranked up to k below it, entry i of the result.
	part := func(part string, dt tensor.Dtype, set func(l *op.List, i int, r ranking, distance, upper, lower int)) *G.Node {
		f := op.ListFunc{
			Name: "losses: RankPairs", Settings: part, Dtype: dt, Layout: op.Whole,
			Shape: func(_, _ int, in []tensor.Shape) tensor.Shape { return tensor.Shape{in[2][0] * k} },
			Do: func(l *op.List) error {
				return eachRanking(l, 2, func(r ranking) {
					for rank, upper := range r.rows {
						at := (r.first + l.From + rank) * k
						for i, lower := range r.rows[rank+1 : min(rank+1+k, len(r.rows))] {
							set(l, at+i, r, i, upper, lower)
						}
					}
				})
			},
		}
		return G.Must(f.Apply(l, op.AnyRows("scores", l.Scores), op.Rows("gains", gains), op.SampleInts("order", order), op.Discounts(discounts)))
	}
	// side is the document of larger gain of every pair, or the other one.
	side := func(name string, larger bool) *G.Node {
		return part(name, tensor.Int, func(l *op.List, i int, r ranking, _, upper, lower int) {
			number := upper
			if swapped := l.X[1][lower-l.From] > l.X[1][upper-l.From]; swapped == larger {
				number = lower
			}
			l.Result.Int[i] = r.first + number
		})
	}
	return rankPairs{
		better: side("better", true), worse: side("worse", false),
		weights: part("weights", l.Scores.Dtype(), func(l *op.List, i int, r ranking, distance, upper, lower int) {
			share := 1 / float64(r.samples)
			l.Result.Set(i, falls[distance]*share*math.Abs(l.X[1][upper-l.From]-l.X[1][lower-l.From]))
		}),
	}
}

// misorder is how far the worse document of every pair is above the better one by score
// plus noise, (m_w − m_b) + (noise_w − noise_b), a node of the shape of the pairs, 0 where
// there is none. It is differentiable in the scores.
func (p rankPairs) misorder(l ops.Lists, noise *G.Node) *G.Node {
	const name = "losses: Misorder"
	vjp := &op.Func{Name: name + "VJP", Do: func(in []op.Tensor, result op.Tensor) error {
		better, worse, incoming := in[1].Int, in[2].Int, in[3]
		slopes := make([]float64, result.Len())
		for i, w := range worse {
			v := incoming.At(i)
			slopes[w%len(slopes)] += v
			slopes[better[i]%len(slopes)] -= v
		}
		result.Write(slopes, 0)
		return nil
	}}
	f := op.Func{
		Name: name, Shape: func(in []tensor.Shape) tensor.Shape { return in[2] },
		Do: func(in []op.Tensor, result op.Tensor) error {
			scores, noise, better, worse := in[0], in[1], in[2].Int, in[3].Int
			rows := scores.Len()
			for i, w := range worse {
				gap, b := 0.0, better[i]
				if w != b {
					gap = scores.At(w%rows) - scores.At(b%rows) + (noise.At(w) - noise.At(b))
				}
				result.Set(i, gap)
			}
			return nil
		},
		VJPs: []*op.Term{vjp.Of(op.Input(0), op.Input(2), op.Input(3), op.Incoming)},
	}
	return G.Must(f.Apply(documentScores(l), noise, p.better, p.worse))
}

// sumOverPairs sums x, [samples × rows × discounts] as the nodes of [rankPairs], over the
// pairs of every query: a node [queries]. It is differentiable in x.
func sumOverPairs(l ops.Lists, x *G.Node, discounts int) *G.Node {
	each := func(l *op.List, f func(i int)) {
		for first := 0; first < l.In[1].Len(); first += l.Rows * discounts {
			for i := first + l.From*discounts; i < first+l.To*discounts; i++ {
				f(i)
			}
		}
	}
	f := op.ListFunc{
		Name: "losses: SumOverPairs", Settings: fmt.Sprint(discounts), Layout: op.PerQuery,
		Do: func(l *op.List) error {
			sum := l.Out()
			each(l, func(i int) { sum[0] += l.In[1].At(i) })
			return nil
		},
		Of: 1, VJP: func(l *op.List) error {
			each(l, func(i int) { l.Result.Set(i, l.Last()[0]) })
			return nil
		},
	}
	return G.Must(f.Apply(l, op.AnyRows("scores", l.Scores), op.Samples("x", x)))
}
