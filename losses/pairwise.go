package losses

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/elementwise"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// A Phi is a function of x = m_j − m_i, the score of the worse document minus the score of the better one.
type Phi struct {
	At     func(x float64) (value, slope, curvature float64) // with its first two derivatives
	Curved bool                                              // the second one is known
	Unit   float64                                           // that all three are divided by

	logistic bool // log(1 + e^x)
}

var (
	// Logistic is log(1 + e^x).
	Logistic = Phi{logistic, true, 1, true}
	// Log2 is log2(1 + e^x), which is 1 at a tie.
	Log2 = Phi{logistic, true, math.Ln2, true}
	// Hinge is max(0, 1 + x). Its derivative is 0 where the margin is exactly 1.
	Hinge = Phi{Unit: 1, At: func(x float64) (value, slope, _ float64) {
		if x > -1 {
			return 1 + x, 1, 0
		}
		return 0, 0, 0
	}}
)

// logistic is log(1 + e^x), with its first two derivatives, by one exponential.
func logistic(x float64) (value, slope, curvature float64) {
	e := num.FlushExp(-math.Abs(x))
	high, low := 1/(1+e), e/(1+e)
	if value, slope = math.Log1p(e), low; x >= 0 {
		value, slope = x+value, high
	}
	return value, slope, high * low
}

// over computes φ and its derivatives.
func (phi Phi) over(x, value, slope, curvature []float64) {
	if phi.logistic {
		elementwise.Logistic(x[:(len(x)+7)/8*8], value, slope, curvature) // with numbers that do not count: others take longer, one by one
		return
	}
	for i, x := range x {
		value[i], slope[i], curvature[i] = phi.At(x)
	}
}

// softplus is log(1 + e^x), sigmoid its derivative, and bell the derivative of that.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(num.FlushExp(-math.Abs(x))) }

func sigmoid(x float64) float64 {
	if x < 0 {
		e := num.FlushExp(x)
		return e / (1 + e)
	}
	return 1 / (1 + num.FlushExp(-x))
}

func bell(x float64) float64 { return sigmoid(x) * sigmoid(-x) }

// PairWeights are the weights w_ij of the pairs of a [Pairwise] loss, ρ_i > ρ_j: a sum of four parts, each with a factor. r are
// the ranks by the scores, from 1, ties by row; θ is 0 beyond the last discount. The weights are constants for differentiation,
// as in LambdaRank and in the M-step of LambdaLoss.
type PairWeights struct {
	// Each is the factor of 1, the same for every pair. The loss is then divided by the number of pairs.
	Each float64
	// Swap is the factor of (ρ_i − ρ_j) |θ_{r_i} − θ_{r_j}|, what the metric changes when i and j change ranks.
	Swap float64
	// Distance is the factor of (ρ_i − ρ_j) (θ_δ − θ_{δ+1}), δ = |r_i − r_j|.
	Distance float64
	// AtCutoff is the factor of the same times μ, 1 where both ranks are up to the number K of discounts, and θ_1 / (θ_1 − θ_r)
	// where r, the lower of them, is not. There θ goes on in proportion to DCG's, θ_r = θ_K log2(K+1) / log2(r+1).
	AtCutoff float64
	// Normalized divides gains by the ideal value of their query, see [NormalizedGains].
	Normalized bool
	// Noise adds Gumbel noise to the scores, which makes their order a ranking of the policy. The loss is the mean over samples.
	Noise bool
}

// byRank reports whether the weights depend on ranks.
func (w PairWeights) byRank() bool { return w.Swap != 0 || w.Distance != 0 || w.AtCutoff != 0 }

// Pairwise returns the loss Σ_{ρ_i > ρ_j} w_ij φ(m_j − m_i) over pairs of documents that are to be ranked one above the other. By
// name there are, with φ = Log2 where ranks have weights:
//
//   - ranknet (Burges et al., ICML 2005), Logistic, and hinge (Herbrich et al. 2000; Joachims, KDD 2002), RankSVM's: the mean over
//     the pairs, PairWeights{Each: 1}. Of gains only the order counts.
//   - lambdarank, {Swap: 1, Normalized: true}: pairs weigh what NDCG@k changes when they change ranks (Burges et al., NIPS 2006; as
//     a loss: Wang et al., CIKM 2018).
//   - lambdaloss, {Distance: 1, Noise: true}: the stochastic LambdaLoss that the PL-Rank paper compares with (Oosterhuis, SIGIR
//     2021, §7). Pairs further apart than there are discounts do not count, so it costs O(N·D·K) for a query, and is not an upper
//     bound on the shortfall from the ideal metric where documents are more than the cutoff.
//   - lambdaloss-deterministic, {Distance: 1}, is lambdaloss without noise, and ndcg-loss2, {Distance: 1, Normalized: true}, the
//     same for NDCG (Wang et al., CIKM 2018). It is an upper bound on 1 − NDCG, closer than [NDCGLoss1], where the cutoff is not
//     below the number of documents and the discounts are DCG's, or others that fall ever more slowly. With a lower cutoff it is
//     not a bound, and the weights rise at distance K.
//   - ndcg-loss2pp, {Swap: 1, Distance: 10, Normalized: true}: their NDCG-Loss2++, a bound where ndcg-loss2 is.
//   - ndcg-loss2k, {AtCutoff: 1, Normalized: true}: LambdaLoss@K (Jagerman et al., SIGIR 2022). A document beyond rank K costs as
//     much as leaving it out. With a cutoff that is not below the number of documents it is ndcg-loss2. With one that is, it is not
//     an upper bound on 1 − NDCG@K, but on the part of it that the wrongly ordered pairs are to blame for: the cost of the pairs in
//     the right order, min(ρ_i, ρ_j) times the weight, is taken for a constant, and is more than at the best ranking if many
//     relevant documents are beyond rank K.
//
// The loss is 0 for queries without pairs. It costs O(D²) for a query, where only distances have weights O(D·K), but memory for O(D):
// no pair is stored. It reads Gains, Discounts if weights go by ranks, and Noise or else Sampler for noise. With normalized gains,
// a run with negative gains returns an error, and so do discounts that are negative or rise from rank to rank.
func Pairwise(phi Phi, w PairWeights) Objective {
	o := Objective{weights: ofPairs, Sampled: w.Noise, RatioOnly: w.Normalized || !w.byRank()}
	if !o.RatioOnly {
		o.degree = 1
	}
	for _, x := range []float64{w.Each, w.Swap, w.Distance, w.AtCutoff} {
		if x-x != 0 {
			o.err = fmt.Errorf("a factor of PairWeights is %v: factors must be finite", x)
		}
	}
	id := op.NewID()
	o.graph = func(b *batch) *G.Node { return w.loss(b, phi, id) }
	if phi.Curved {
		o.curvature = func(q *query, out []float64) error { return w.curvature(q, phi, out) }
		o.keeps = !w.Noise
	}
	return o
}

// loss builds the loss of every query.
func (w PairWeights) loss(b *batch, phi Phi, id uint64) *G.Node {
	gains := b.gains
	if w.Normalized {
		gains = b.normalizedGains
	}
	inputs, noiseAt := []op.In{op.Rows("gains", gains())}, 0
	if w.Noise {
		inputs, noiseAt = append(inputs, op.Samples("noise", b.noise())), 2
	}
	inputs = append(inputs, op.Weights(b.DocumentWeights))
	if w.byRank() {
		inputs = append(inputs, op.Discounts(b.discounts()))
	}
	keeps, factor := phi.Curved && !w.Noise && b.DocumentWeights == nil && b.Curvature != nil, b.factor/phi.Unit
	if keeps {
		id = op.NewID() // equal terms of a sum are not one
	}
	metric := func(l *op.List, lambda []float64) (value float64, err error) {
		var curvature []float64
		if keeps && lambda != nil {
			curvature = make([]float64, l.Len())
		}
		samples, err := eachNoisy(l, noiseAt, func(noisy perturbed) {
			value += w.sum(phi, noisy, noisy.order(), l.X[1], l.Weights, l.Discounts, lambda, curvature)
		})
		if curvature != nil {
			divisor := 1.0
			if w.Each != 0 {
				divisor = max(1, countPairs(l.Order(l.X[1]), l.X[1], nil))
			}
			floats.AddScaled(b.Curvature[l.From:l.To], factor/divisor, curvature)
		}
		if lambda != nil {
			floats.Scale(1/samples, lambda)
		}
		return value / samples, err
	}
	perQuery := G.Must(op.Metric("losses: Pairs", fmt.Sprint(id), b.Lists, metric, inputs...))
	if w.Each != 0 {
		perQuery = mul(perQuery, inverse(b.countPairs()))
	}
	if phi.Unit != 1 {
		perQuery = scaled(perQuery, 1/phi.Unit)
	}
	return perQuery
}

// curvature writes Σ w φ″ over the pairs of each document, without noise.
func (w PairWeights) curvature(q *query, phi Phi, out []float64) error {
	divisor := phi.Unit
	if w.Normalized {
		ideal := make([]float64, len(out))
		plackett.RankedExposure(q.gains, q.discounts, ideal)
		if divisor *= floats.Dot(ideal, q.gains); !(divisor > 0) {
			return nil
		}
	}
	if w.Each != 0 {
		divisor *= countPairs(num.DescendingOrder(nil, q.gains), q.gains, q.weights)
	}
	if divisor > 0 {
		w.sum(phi, perturbed{scores: q.scores}, num.DescendingOrder(nil, q.scores), q.gains, q.weights, q.discounts, nil, out)
		floats.Scale(1/divisor, out)
	}
	return nil
}

// sum returns Σ w φ over the pairs of a query, given its ranking and the weights of its documents, or nil. It adds the derivatives
// to lambda and the curvatures to out, unless they are nil.
func (w PairWeights) sum(phi Phi, noisy perturbed, order []int, gains, documents, discounts, lambda, out []float64) (value float64) {
	p := newPairs(w, noisy, order, gains, documents, discounts)
	slopes, curvatures := make([]float64, len(order)), make([]float64, len(order))
	p.each(func(better int, worse []int) {
		phi.over(p.x[:len(worse)], p.value, p.slope, p.curvature)
		ownSlope, ownCurvature := 0.0, 0.0
		for i, other := range worse {
			weight := p.weight[i]
			value += weight * p.value[i]
			slope, curvature := weight*p.slope[i], weight*p.curvature[i]
			ownSlope += slope
			slopes[other] += slope
			ownCurvature += curvature
			curvatures[other] += curvature
		}
		slopes[better] -= ownSlope
		curvatures[better] += ownCurvature
	})
	for rank, d := range order {
		if lambda != nil {
			lambda[d] += slopes[rank]
		}
		if out != nil {
			out[d] += curvatures[rank]
		}
	}
	return value
}

// pairs has the documents of a query by rank, from 0, and room for the pairs of one of them with worse ones.
type pairs struct {
	PairWeights
	gains, documents   []float64 // by rank
	scores, noise      []float64
	theta, falls, tail []float64
	discounts          int
	byGain, top        []int // ranks by descending gain: all, and those that have a discount

	x, weight, value, slope, curvature []float64 // by pair; x is m_j − m_i
	near                               []int
}

func newPairs(w PairWeights, noisy perturbed, order []int, gains, documents, discounts []float64) *pairs {
	n := len(order)
	each := n + 7 // for Phi.over
	room := make([]float64, 10*each)
	next := func() (part []float64) { part, room = room[:each], room[each:]; return part }
	p := &pairs{PairWeights: w, gains: next()[:n], documents: next()[:n], scores: next()[:n], noise: next()[:n], theta: next()[:n],
		discounts: len(discounts), x: next(), weight: next(), value: next(), slope: next(), curvature: next()}
	copy(p.theta, discounts)
	for rank, d := range order {
		p.gains[rank], p.documents[rank], p.scores[rank] = gains[d], weightOf(documents, d), noisy.scores[d]
		if noisy.noise != nil {
			p.noise[rank] = noisy.noise[d]
		}
	}
	p.byGain = num.DescendingOrder(nil, p.gains)
	for k := 0; w.Distance != 0 && k < len(discounts); k++ {
		p.falls = append(p.falls, w.Distance*(discounts[k]-discountOf(k+1, discounts)))
	}
	for i := 0; w.Swap != 0 && i < n; i++ {
		if p.byGain[i] < p.discounts {
			p.top = append(p.top, p.byGain[i])
		}
	}
	if w.AtCutoff != 0 && len(discounts) > 0 {
		p.tail = continued(discounts, n)
	}
	return p
}

// each calls visit for each document with the documents of less gain, but not with those beyond the discounts with which it can have no
// weight. The pairs have their x and weights.
func (p *pairs) each(visit func(better int, worse []int)) {
	end, topEnd := 0, 0 // of the documents that are not worse
	for _, better := range p.byGain {
		for end < len(p.byGain) && p.gains[p.byGain[end]] >= p.gains[better] {
			end++
		}
		for topEnd < len(p.top) && p.gains[p.top[topEnd]] >= p.gains[better] {
			topEnd++
		}
		worse := p.byGain[end:]
		if p.Each == 0 && p.tail == nil && (p.Swap == 0 || better >= p.discounts) { // the rest weighs nothing
			worse = p.around(better, p.top[topEnd:])
		}
		p.weigh(better, worse)
		visit(better, worse)
	}
}

// around returns ranks, and the other ranks of less gain so near that their distance has a weight.
func (p *pairs) around(better int, ranks []int) []int {
	if p.falls == nil {
		return ranks
	}
	p.near = append(p.near[:0], ranks...)
	first := better - len(p.falls)
	if p.Swap != 0 {
		first = max(first, p.discounts)
	}
	for rank := max(0, first); rank < min(len(p.gains), better+len(p.falls)+1); rank++ {
		if p.gains[rank] < p.gains[better] {
			p.near = append(p.near, rank)
		}
	}
	return p.near
}

// weigh sets the x and the weights of the pairs of a document.
func (p *pairs) weigh(better int, worse []int) {
	gain, own, score, noise, theta := p.gains[better], p.documents[better], p.scores[better], p.noise[better], p.theta[better]
	for i, other := range worse {
		weight := p.Swap * math.Abs(theta-p.theta[other])
		if p.falls != nil || p.tail != nil {
			weight += p.byDistance(min(better, other), max(better, other))
		}
		p.weight[i] = (p.Each + (gain-p.gains[other])*weight) * own * p.documents[other]
		p.x[i] = p.scores[other] - score + (p.noise[other] - noise)
	}
}

// byDistance returns what the distance of two ranks adds to the weight of their pair.
func (p *pairs) byDistance(upper, lower int) (weight float64) {
	distance := lower - upper
	if distance <= len(p.falls) {
		weight = p.falls[distance-1]
	}
	if p.tail != nil {
		atCutoff := p.tail[distance-1] - p.tail[distance]
		if lower >= p.discounts {
			atCutoff *= p.tail[0] / (p.tail[0] - p.tail[lower])
		}
		weight += p.AtCutoff * atCutoff
	}
	return weight
}

// discountOf is the discount of a rank from 0.
func discountOf(rank int, discounts []float64) float64 {
	if rank < len(discounts) {
		return discounts[rank]
	}
	return 0
}

// continued returns discounts for that number of ranks, in proportion to DCG's beyond the last.
func continued(discounts []float64, ranks int) []float64 {
	k := len(discounts)
	theta := append([]float64(nil), discounts[:min(k, ranks)]...)
	for r := k; r < ranks; r++ {
		theta = append(theta, theta[k-1]*math.Log2(float64(k+1))/math.Log2(float64(r+2)))
	}
	return theta
}

// countPairs counts the pairs of documents with different gains in every query, or adds up the products of their weights. It is
// not differentiable.
func (b *batch) countPairs() *G.Node {
	return fixed("losses: CountPairs", op.PerQuery, func(l *op.List, out []float64) {
		out[0] = countPairs(l.Order(l.X[0]), l.X[0], l.Weights)
	}, b.Lists, op.Rows("gains", b.gains()), op.Weights(b.DocumentWeights))
}

// countPairs counts the pairs of documents of different gains, or adds up the products of their weights, given the order by gains.
func countPairs(order []int, gains, documents []float64) (pairs float64) {
	passed, above := 0.0, 0.0 // above: documents of a gain above the one at hand
	for i, d := range order {
		if i > 0 && gains[d] != gains[order[i-1]] {
			above = passed
		}
		w := weightOf(documents, d)
		pairs += above * w
		passed += w
	}
	return pairs
}

// NDCGLoss1 returns the loss Σ_i G_i θ_{r_i} Σ_{j≠i} log2(1 + e^−(m_i − m_j)), an upper bound on 1
// − NDCG@k (Wang et al., CIKM 2018).
//
// G is ρ / ideal DCG. Ranks beyond the last discount have that discount, or nothing would raise the documents there; with DCG's
// discounts the bound still holds. Arguments and errors are as for [Pairwise] with normalized gains.
func NDCGLoss1() Objective {
	return Objective{RatioOnly: true, weights: ofPairs, graph: func(b *batch) *G.Node {
		metric := func(l *op.List, lambda []float64) (value float64, err error) {
			for rank, i := range l.Order(l.X[0]) {
				earned := l.X[1][i] * l.Discounts[min(rank, len(l.Discounts)-1)]
				for j, other := range l.X[0] {
					if i == j || earned == 0 {
						continue
					}
					weight := earned * ofPair(l.Weights, i, j) / Log2.Unit
					v, slope, _ := Log2.At(other - l.X[0][i])
					value += weight * v
					if lambda != nil {
						lambda[i] -= weight * slope
						lambda[j] += weight * slope
					}
				}
			}
			return value, nil
		}
		return G.Must(op.Metric("losses: NDCGLoss1", "", b.Lists, metric,
			op.Rows("gains", b.normalizedGains()), op.Weights(b.DocumentWeights), op.Discounts(b.discounts())))
	}}
}
