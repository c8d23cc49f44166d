package losses

import (
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// lambdaLoss is the loss of [LambdaLoss].
func lambdaLoss(b *batch) *G.Node {
	p := rankPairs{
		lists: b.Lists, gains: b.gains(), noise: b.noise(), order: noisyOrder(b.Lists, b.noise()),
		discounts: b.discounts(), drops: drops(b.discounts(), 1),
	}
	return scaled(p.sum(mul(p.weights(), softplusOf(p.misorder()))), 1/math.Ln2)
}

// rankPairs are the pairs of documents that are at most as many ranks apart in a
// [noisyOrder] as there are discounts, in all samples. Nodes of pairs have the shape
// [samples × rows × discounts]: one entry for every document and distance, 0 where there is
// no pair.
type rankPairs struct {
	lists               ops.Lists
	gains, noise, order *G.Node
	discounts, drops    []float64
}

// each calls f for every pair, with the number of its entry, and the documents of larger and of
// smaller gain (of equal gains: of better and of worse rank).
func (p rankPairs) each(l *op.List, f func(i int, r ranking, distance, better, worse int)) error {
	gains, k := l.X[1], len(p.discounts)
	return eachRanking(l, 3, func(r ranking) {
		for rank, upper := range r.rows {
			at := (r.first + l.From + rank) * k
			for i, lower := range r.rows[rank+1 : min(rank+1+k, len(r.rows))] {
				better, worse := upper-l.From, lower-l.From
				if gains[worse] > gains[better] {
					better, worse = worse, better
				}
				f(at+i, r, i, better, worse)
			}
		}
	})
}

// node is a function of the pairs.
func (p rankPairs) node(f op.ListFunc) *G.Node {
	f.Layout = op.Whole
	f.Shape = func(_, _ int, in []tensor.Shape) tensor.Shape { return tensor.Shape{in[3][0] * len(p.discounts)} }
	return G.Must(f.Apply(p.lists, op.Scores(p.lists), op.Rows("gains", p.gains), op.Samples("noise", p.noise),
		op.SampleInts("order", p.order), op.Discounts(p.discounts)))
}

// weights are, with δ the distance in ranks, (θ_δ − θ_{δ+1}) |ρ_i − ρ_j|, where θ is 0 beyond
// the last discount, over the number of samples present. They are not differentiable.
func (p rankPairs) weights() *G.Node {
	return p.node(op.ListFunc{Name: "losses: RankPairs", Do: func(l *op.List) error {
		gains := l.X[1]
		return p.each(l, func(i int, r ranking, distance, better, worse int) {
			share := 1 / float64(r.samples)
			l.Result.Set(i, p.drops[distance]*share*math.Abs(gains[better]-gains[worse]))
		})
	}})
}

// misorder is how far the worse document of every pair is above the better one by score
// plus noise, (m_w − m_b) + (noise_w − noise_b). It is differentiable in the scores.
func (p rankPairs) misorder() *G.Node {
	return p.node(op.ListFunc{
		Name: "losses: Misorder",
		Do: func(l *op.List) error {
			scores, noise := l.X[0], l.In[2]
			return p.each(l, func(i int, r ranking, _, better, worse int) {
				first := r.first + l.From
				l.Result.Set(i, scores[worse]-scores[better]+(noise.At(first+worse)-noise.At(first+better)))
			})
		},
		VJP: func(l *op.List) error {
			slopes, incoming := l.Out(), l.In[len(l.In)-1]
			return p.each(l, func(i int, _ ranking, _, better, worse int) {
				v := incoming.At(i)
				slopes[worse] += v
				slopes[better] -= v
			})
		},
	})
}

// sum sums x, a node of pairs, over those of every query: a node [queries]. It is
// differentiable in x.
func (p rankPairs) sum(x *G.Node) *G.Node {
	k := len(p.discounts)
	each := func(l *op.List, f func(i int)) {
		for first := 0; first < l.In[1].Len(); first += l.Rows * k {
			for i := first + l.From*k; i < first+l.To*k; i++ {
				f(i)
			}
		}
	}
	f := op.ListFunc{
		Name: "losses: SumOverPairs", Layout: op.PerQuery,
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
	return G.Must(f.Apply(p.lists, op.AnyRows("scores", p.lists.Scores), op.Samples("x", x), op.Discounts(p.discounts)))
}
