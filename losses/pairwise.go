package losses

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
)

// mean is the mean over the pairs. Of the gains only the order counts.
func (p pairLoss) mean(b *batch) *G.Node {
	return mul(p.sum(b, b.gains(), nil, pairWeights{each: 1}), inverse(b.countPairs()))
}

// logistic is Σ w_ij log2(1 + exp(−(m_i − m_j))).
func logistic(b *batch, gains *G.Node, w pairWeights) *G.Node {
	return scaled(logisticPairs.sum(b, gains, nil, w), 1/math.Ln2)
}

func lambdaLoss(b *batch) *G.Node {
	weights := pairWeights{distance: drops(b.discounts(), 1)}
	return scaled(logisticPairs.sum(b, b.gains(), b.noise(), weights), 1/math.Ln2)
}

func lambdaLossDeterministic(b *batch) *G.Node {
	return logistic(b, b.gains(), pairWeights{distance: drops(b.discounts(), 1)})
}

func lambdaRank(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{swap: b.Discounts})
}

func ndcgLoss2(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{distance: drops(b.Discounts, 1)})
}

func ndcgLoss2PP(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{swap: b.Discounts, distance: drops(b.Discounts, 10)})
}

func ndcgLoss2K(b *batch) *G.Node {
	return logistic(b, b.normalizedGains(), pairWeights{atCutoff: b.Discounts})
}

func ndcgLoss1(b *batch) *G.Node {
	return total(b.Lists, mul(mul(b.normalizedGains(), rankDiscounts(b)), rankBounds(b)))
}

// rankDiscounts gives every document the discount of its rank of [ops.Ranks], and beyond the
// last of them that one.
func rankDiscounts(b *batch) *G.Node {
	return fixed("losses: RankDiscounts", op.PerRow, func(l *op.List, out []float64) {
		for rank, d := range l.Order(l.X[0]) {
			out[d] = l.Discounts[min(rank, len(l.Discounts)-1)]
		}
	}, b.Lists, op.Scores(b.Lists), op.Discounts(b.discounts()))
}

// drops are θ_δ − θ_{δ+1}, times a factor.
func drops(discounts []float64, factor float64) []float64 {
	d := make([]float64, len(discounts))
	for k, theta := range discounts {
		next := 0.0
		if k+1 < len(discounts) {
			next = discounts[k+1]
		}
		d[k] = factor * (theta - next)
	}
	return d
}
