package losses

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// Softmax returns the loss −Σ_d (ρ_d / Σρ) log p_d, p = softmax of m (Bruch et al., ICTIR 2019).
//
// It is the cheapest of the listwise losses. It reads Gains; a run with negative gains returns an
// error. Queries without gains have 0.
func Softmax() Objective {
	return Objective{RatioOnly: true, weights: ofCopies, curvature: withGains(oneChoice), graph: func(b *batch) *G.Node {
		return crossEntropy(b, b.times(b.gainsFromZero()))
	}}
}

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

// perCopy returns the logarithm of the share of one copy of a document, given the logarithm of the share of all its copies.
func (b *batch) perCopy(log *G.Node) *G.Node {
	if b.DocumentWeights == nil {
		return log
	}
	return sub(log, b.logWeights())
}

// logWeights returns the logarithms of the weights.
func (b *batch) logWeights() *G.Node {
	return G.Must(op.Elementwise("losses: LogWeight", b.DocumentWeights, logWeight, nil))
}

// XENDCG returns the loss −Σ_d φ_d log p_d, φ = (ρ + u) / Σ(ρ + u), u uniform noise, p = softmax of
// m (Bruch, WWW 2021).
//
// It is a cross entropy that bounds NDCG. The paper has
//
//	φ_d = (2^label_d − γ_d) / Σ (2^label − γ),
//
// with γ uniform in (0, 1) and drawn anew in every step. 2^label is ρ + 1, so that
// φ_d is in proportion to ρ_d + u_d, where u = 1 − γ is uniform, too; other gains than
// 2^label − 1 take the place of these. Gumbel noise gives u by exp(−exp(−noise)). φ is the mean over
// samples; the paper has one.
//
// It reads Gains, and Noise or else Sampler; a run with negative gains returns an error. Queries
// without gains have 0: their target is noise alone, whose mean is the same for all documents.
func XENDCG() Objective {
	o := Softmax()
	o.RatioOnly, o.Sampled = false, true
	o.graph = func(b *batch) *G.Node { return b.withGains(crossEntropy(b, noisyTarget(b))) }
	return o
}

// noisyTarget is the mean of φ over samples, [rows], not differentiable. A document of weight w counts as w of them in the sum.
func noisyTarget(b *batch) *G.Node {
	f := op.ListFunc{Name: "losses: NoisyTarget", Do: func(l *op.List) error {
		target := l.Out()
		samples, err := eachNoisy(l, 1, func(noisy perturbed) {
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
		for d := range target {
			target[d] /= samples
		}
		return err
	}}
	return G.Must(f.Apply(b.Lists, op.Rows("gains", b.gainsFromZero()), op.Samples("noise", b.noise()), op.Weights(b.DocumentWeights)))
}

// ListNet returns the loss −Σ_d t_d log p_d, t = softmax of the labels, p = softmax of m (Cao et
// al., ICML 2007).
//
// It is the cross entropy of the probabilities to stand first, by the labels and by the scores. It
// reads Labels, which must be finite.
func ListNet() Objective {
	return Objective{LabelFree: true, labels: true, weights: ofCopies, curvature: oneChoice, graph: listNet}
}

func listNet(b *batch) *G.Node {
	target := exp(G.Must(ops.LogSoftmax(b.copies(b.finiteLabels()))))
	if b.DocumentWeights != nil { // a query may have no others than of weight 0
		target = mul(target, nonzero(b.DocumentWeights))
	}
	return neg(total(b.Lists, mul(target, b.logSoftmax())))
}

// ListMLE returns the loss −Σ_y Σ_k log P(y_k | y_1..k−1), y the ranking by gain, or rankings that
// are given (Xia et al., ICML 2008).
//
// It is the negative log-likelihood of rankings under the Plackett–Luce policy of the scores. It reads
// Rankings, which may have been observed, or else Gains: the ideal ranking, documents of equal gain in
// the order that Sampler draws, without it by row (see [ops.IdealRankings]), and the loss 0 for queries
// without gains. Rankings shorter than the list give the top-k ListMLE (Xia et al., NIPS 2009).
func ListMLE() Objective {
	return Objective{RatioOnly: true, weights: ofCopies, curvature: withGains(drawnChoices), graph: listMLE}
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

// ranked returns the number of the document at every rank, in the shape of the rankings, 0 where absent. It is not
// differentiable.
func ranked(l ops.Lists, rankings, numbers *G.Node) *G.Node {
	return fixed("losses: Ranked", op.PerRanking, func(l *op.List, out []float64) {
		for i, row := range l.Ints[1] {
			if row >= 0 {
				out[i] = l.X[0][row-l.From]
			}
		}
	}, l, op.AnyRows("numbers", numbers), op.Rankings(rankings))
}

// PartialListMLE returns the loss −Σ_{ρ_d>0} log(e^m_d / Σ_{ρ_j≤ρ_d} e^m_j), for rankings of some
// of the documents (Plackett 1975).
//
// It is −log of the probability that the documents with a gain come first, in the order of their
// gains: the likelihood of an observed ranking, where the others are the rest of the set that was
// chosen from. Documents of equal gain are all chosen from the same set (Breslow, Biometrics 30,
// 1974). It reads Gains; a run with negative gains returns an error.
func PartialListMLE() Objective {
	atOnce := func(q *query, out []float64) error {
		order := present(num.DescendingOrder(nil, q.gains), q.weights)
		choices(q.scores, q.gains, q.weights, order, make([]float64, 2*len(order)), nil, out)
		return nil
	}
	return Objective{RatioOnly: true, weights: ofCopies, curvature: atOnce, graph: partialListMLE}
}

func partialListMLE(b *batch) *G.Node {
	return G.Must(op.Metric("losses: PartialListMLE", "", b.Lists, func(l *op.List, lambda []float64) (float64, error) {
		scores, gains := l.X[0], l.X[1]
		order := present(l.Order(gains), l.Weights)
		return choices(scores, gains, l.Weights, order, l.Scratch(2*len(order)), lambda, nil), nil
	}, op.AnyRows("gains", b.gainsFromZero()), op.Weights(b.DocumentWeights)))
}

// present removes documents of weight 0 from an order.
func present(order []int, weights []float64) []int {
	return slices.DeleteFunc(order, func(d int) bool { return weightOf(weights, d) == 0 })
}

// choices is the loss of partialListMLE, with its derivatives if lambda is not nil, and the second ones if curvature is not. order
// has the documents by descending gain; room is for two numbers of each. A document of weight w counts as w
// of them; without weights all are 1. Sums are kept over the exp of their largest m: differences of
// scores are exact, however large scores are.
func choices(scores, gains, weights []float64, order []int, room, lambda, curvature []float64) (loss float64) {
	tops, sums := left(scores, weights, order, room)
	taken, squares, top := 0.0, 0.0, math.Inf(1) // Σ 1/Σ exp m over the choices so far, times exp top, and of the squares
	for first := 0; first < len(order); {
		end, chosen := first, 0.0
		fall := math.Exp(tops[first] - top)
		taken, squares, top = taken*fall, squares*fall*fall, tops[first]
		for ; end < len(order) && gains[order[end]] == gains[order[first]]; end++ {
			if d := order[end]; gains[d] > 0 {
				loss += weightOf(weights, d) * (math.Log(sums[first]) + (top - scores[d]))
				taken += weightOf(weights, d) / sums[first]
				squares += weightOf(weights, d) / (sums[first] * sums[first])
				chosen = 1
			}
		}
		for _, d := range order[first:end] {
			if lambda != nil {
				lambda[d] = weightOf(weights, d) * (math.Exp(scores[d]-top)*taken - chosen)
			}
			if curvature != nil {
				share := weightOf(weights, d) * math.Exp(scores[d]-top)
				curvature[d] = max(0, share*taken-share*share*squares)
			}
		}
		first = end
	}
	return loss
}

// drawnChoices writes Σ w p(1 − p) over the choices by falling gain, p the share of those that are left. Documents of equal gain are
// chosen one by one, in any order: as if they were alike, so that each of the n choices takes 1/n of what they have.
func drawnChoices(q *query, out []float64) error {
	order := present(num.DescendingOrder(nil, q.gains), q.weights)
	tops, sums := left(q.scores, q.weights, order, make([]float64, 2*len(order)))
	taken, squares, top := 0.0, 0.0, math.Inf(1) // as in choices
	for first, end := 0, 0; first < len(order); first = end {
		fall := math.Exp(tops[first] - top)
		taken, squares, top = taken*fall, squares*fall*fall, tops[first]
		all, weight, below := 0.0, 0.0, 0.0
		for ; end < len(order) && q.gains[order[end]] == q.gains[order[first]]; end++ {
			d := order[end]
			out[d] = weightOf(q.weights, d) * math.Exp(q.scores[d]-top)
			all, weight = all+out[d], weight+weightOf(q.weights, d)
		}
		if end < len(order) {
			below = sums[end] * math.Exp(tops[end]-top)
		}
		n := float64(end - first)
		for _, d := range order[first:end] {
			share := out[d]
			out[d] = max(0, share*taken-share*share*squares)
			for k := 0.0; k < n && share > 0; k++ { // that it is there for, with those that come after
				p := share / (below + share + (all-share)*(1-k/max(1, n-1)))
				out[d] += weight / n * (1 - k/n) * p * (1 - p)
			}
		}
		for k := 0.0; k < n; k++ {
			rest := below + all*(1-k/n)
			taken += weight / n / rest
			squares += weight / n / (rest * rest)
		}
	}
	return nil
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

// oneChoice is p(1 − p).
func oneChoice(q *query, out []float64) error {
	copies(q, out)
	all := floats.Sum(out)
	for d, e := range out {
		out[d] = e / all * (1 - e/all)
	}
	return nil
}

// withGains is 0 for a query without gains of documents that count, as [batch.withGains].
func withGains(write func(q *query, out []float64) error) func(q *query, out []float64) error {
	return func(q *query, out []float64) error {
		if floats.Max(earned(q.gains, q.weights)) == 0 {
			return nil
		}
		return write(q, out)
	}
}

// copies writes w exp(m − the largest m).
func copies(q *query, out []float64) {
	top := slices.Max(q.scores)
	for d, m := range q.scores {
		out[d] = weightOf(q.weights, d) * math.Exp(m-top)
	}
}
