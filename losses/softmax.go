package losses

import (
	"math"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

func softmax(b *batch) *G.Node { return crossEntropy(b, b.times(b.gainsFromZero())) }

// crossEntropy is −Σ_d (t_d / Σ t) log p_d, p_d = exp m_d / Σ_j w_j exp m_j with the weights w of the
// documents, which the target is multiplied by.
func crossEntropy(b *batch, target *G.Node) *G.Node {
	hits := total(b.Lists, mul(target, b.logSoftmax()))
	return neg(mul(hits, inverse(total(b.Lists, target))))
}

// logSoftmax is log(exp m_d / Σ_j w_j exp m_j) with the weights w of the documents.
func (b *batch) logSoftmax() *G.Node {
	return b.perCopy(G.Must(ops.LogSoftmax(b.copies(b.Lists.Scores))))
}

// perCopy is what one of the copies has, given the logarithm of what all have.
func (b *batch) perCopy(log *G.Node) *G.Node {
	if b.DocumentWeights == nil {
		return log
	}
	return sub(log, b.logWeights())
}

// logWeights are the logarithms of the weights.
func (b *batch) logWeights() *G.Node {
	return G.Must(op.Elementwise("losses: LogWeight", b.DocumentWeights, logWeight, nil))
}

func xendcg(b *batch) *G.Node {
	return b.withGains(crossEntropy(b, noisyTarget(b)))
}

// noisyTarget is the mean over samples of φ, [rows], not differentiable. Documents of weight w are
// in the sum that many times.
func noisyTarget(b *batch) *G.Node {
	f := op.ListFunc{Name: "losses: NoisyTarget", Do: func(l *op.List) error {
		target := l.Out()
		return meanNoisy(l, 1, target, func(noisy perturbed) {
			sum, phi := 0.0, noisy.noise
			for d, rho := range l.X[0] {
				phi[d] = weightOf(l.Weights, d) * (rho + math.Exp(-math.Exp(-phi[d])))
				sum += phi[d]
			}
			for d, v := range phi {
				if v > 0 {
					target[d] += v / sum
				}
			}
		})
	}}
	return G.Must(f.Apply(b.Lists, op.Rows("gains", b.gainsFromZero()), op.Samples("noise", b.noise()), op.Weights(b.DocumentWeights)))
}

func listNet(b *batch) *G.Node {
	target := exp(G.Must(ops.LogSoftmax(b.copies(b.finiteLabels()))))
	if b.DocumentWeights != nil { // a query may have no others than of weight 0
		target = mul(target, nonzero(b.DocumentWeights))
	}
	return neg(total(b.Lists, mul(target, b.logSoftmax())))
}

func listMLE(b *batch) *G.Node {
	likelihood := func(rankings *G.Node) *G.Node {
		logs := G.Must(ops.LogProbs(b.copies(b.Lists.Scores), rankings))
		if b.DocumentWeights != nil {
			logs = mul(ranked(b.Lists, rankings, b.DocumentWeights), sub(logs, ranked(b.Lists, rankings, b.logWeights())))
		}
		return neg(G.Must(G.Sum(logs, 1, 2)))
	}
	if b.Rankings != nil {
		return likelihood(b.Rankings)
	}
	return b.withGains(likelihood(G.Must(ops.IdealRankings(b.Lists, b.gains(), b.Sampler))))
}

// ranked is the number of the document at every rank, of the shape of the rankings, 0 where absent;
// not differentiable.
func ranked(l ops.Lists, rankings, numbers *G.Node) *G.Node {
	return fixed("losses: Ranked", op.PerRanking, func(l *op.List, out []float64) {
		for i, row := range l.Ints[1] {
			if row >= 0 {
				out[i] = l.X[0][row-l.From]
			}
		}
	}, l, op.AnyRows("numbers", numbers), op.Rankings(rankings))
}

func partialListMLE(b *batch) *G.Node {
	return G.Must(op.Metric("losses: PartialListMLE", "", b.Lists, func(l *op.List, lambda []float64) (float64, error) {
		scores, gains, of := l.X[0], l.X[1], l.Weights
		order := slices.DeleteFunc(l.Order(gains), func(d int) bool { return weightOf(of, d) == 0 })
		return choices(scores, gains, of, order, l.Scratch(2*len(order)), lambda), nil
	}, op.AnyRows("gains", b.gainsFromZero()), op.Weights(b.DocumentWeights)))
}

// choices is the loss of partialListMLE, with its derivatives if lambda is not nil. order has the
// documents by descending gain; room is for two numbers of each. A document of weight w counts as w
// of them; without weights all are 1. Sums are kept over the exp of their largest m: differences of
// scores are exact, however large scores are.
func choices(scores, gains, weights []float64, order []int, room, lambda []float64) (loss float64) {
	tops, sums := left(scores, weights, order, room)
	taken, top := 0.0, math.Inf(1) // Σ 1/Σ exp m over the choices so far, times exp top
	for first := 0; first < len(order); {
		end, chosen := first, 0.0
		taken *= math.Exp(tops[first] - top)
		top = tops[first]
		for ; end < len(order) && gains[order[end]] == gains[order[first]]; end++ {
			if d := order[end]; gains[d] > 0 {
				loss += weightOf(weights, d) * (math.Log(sums[first]) + (top - scores[d]))
				taken += weightOf(weights, d) / sums[first]
				chosen = 1
			}
		}
		if lambda != nil {
			for _, d := range order[first:end] {
				lambda[d] = weightOf(weights, d) * (math.Exp(scores[d]-top)*taken - chosen)
			}
		}
		first = end
	}
	return loss
}

// left returns for every rank of order Σ w exp m from that rank on, as sum·exp top, in room for two numbers of each.
func left(scores, weights []float64, order []int, room []float64) (tops, sums []float64) {
	tops, sums = room[:len(order)], room[len(order):]
	top, sum := math.Inf(-1), 0.0
	for k := len(order) - 1; k >= 0; k-- {
		m := scores[order[k]]
		above := max(top, m)
		sum = sum*math.Exp(top-above) + weightOf(weights, order[k])*math.Exp(m-above)
		top = above
		tops[k], sums[k] = top, sum
	}
	return tops, sums
}
