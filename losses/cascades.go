package losses

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/intents"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Metrics of readers who stop. They go by labels. The number of Discounts is the cutoff; their values are not read. A document is
// relevant if its label is 1 or more; a query without any has the loss 0. A run with negative labels returns an error. They are
// the metrics of these names of package metrics.
var (
	// MRR, exact-mrr by name, is 1 / rank of the first relevant document (docs/exact.md; the metric: Voorhees, TREC 1999).
	MRR = cascade((*batch).relevant, relevance, inverseRank)
	// MAP, exact-map by name, is Σ over relevant k of precision@k / min(K, relevant documents), K the number of Discounts
	// (docs/exact.md; the metric: Buckley & Voorhees, SIGIR 2000).
	MAP = Metric{Objective{RatioOnly: true, labels: true, graph: averagePrecision, curvature: ofPrecision}}
	// ERR, exact-err by name, is expected reciprocal rank, Σ_k 1/k R_k Π_{x<k} (1 − R_x), R = (2^label − 1) / 2^highest
	// (Chapelle et al., CIKM 2009). The highest grade is HighestGrade, 0 stands for 4; labels above it count as it.
	ERR = cascade((*batch).stops, stop, inverseRank)
	// Success, exact-success by name, is 1 if a relevant document is at one of the ranks that count (docs/exact.md): the hit
	// rate, success in trec_eval. Where every rank counts it is always 1.
	Success = cascade((*batch).relevant, relevance, alike)
)

// Discounts of metrics. The discounts of a batch say how many ranks count.

func alike(int) float64         { return 1 }
func inverseRank(k int) float64 { return 1 / float64(k+1) }

// counted returns the discounts of the ranks that count.
func counted(discounts []float64, discount func(k int) float64) []float64 {
	own := make([]float64, len(discounts))
	for k := range own {
		own[k] = discount(k)
	}
	return own
}

// cascade returns the metric of a reader who stops at each document with a probability that depends on its label, and earns the
// discount of the rank.
func cascade(stops func(b *batch) *G.Node, chance func(label, highest float64) float64, discount func(k int) float64) Metric {
	graph := func(b *batch) *G.Node {
		stop := stops(b)
		return neg(G.Must(ops.ExpectedCascade(b.Lists, stop, shifted(neg(stop), 1), counted(b.discounts(), discount))))
	}
	write := func(q *query, out []float64) error {
		rewards, continuations := make([]float64, len(out)), make([]float64, len(out))
		for d := range out {
			rewards[d] = chance(max(0, q.labels[d]), q.highest)
			continuations[d] = 1 - rewards[d]
		}
		discounts := counted(q.discounts, discount)
		_, err := q.expectation.CascadeCurvature(q.scores, rewards, continuations, discounts, make([]float64, len(out)), out)
		return err
	}
	return Metric{Objective{RatioOnly: true, labels: true, graph: graph, curvature: write}}
}

// relevance is 1 for labels of 1 or more, and 0 for others, as in package metrics.
func relevance(label, _ float64) float64 {
	if label >= 1 {
		return 1
	}
	return 0
}

// stop is the probability (2^label − 1) / 2^highest that a reader stops at a document.
func stop(label, highest float64) float64 {
	return math.Exp2(min(label, highest)-highest) - math.Exp2(-highest)
}

// relevant is relevance of the labels.
func (b *batch) relevant() *G.Node {
	return G.Must(op.Elementwise("losses: Relevant", b.labelsFromZero(), func(label float64) float64 { return relevance(label, 0) }, nil))
}

// stops is stop of the labels.
func (b *batch) stops() *G.Node {
	highest := b.highest()
	return G.Must(op.Elementwise(fmt.Sprint("losses: Stops ", highest), b.labelsFromZero(), func(label float64) float64 {
		return stop(label, highest)
	}, nil))
}

func averagePrecision(b *batch) *G.Node {
	relevant, cutoff := b.relevant(), len(b.discounts())
	// As in package metrics, the sum is divided by the relevant documents that the ranks have room for.
	room := fixed(fmt.Sprint("losses: Room ", cutoff), op.PerQuery, func(l *op.List, out []float64) {
		n := floats.Sum(l.X[0])
		out[0] = max(1, n/float64(cutoff))
	}, b.Lists, op.Rows("relevances", relevant))
	return neg(mul(G.Must(ops.ExpectedAveragePrecision(b.Lists, relevant, cutoff)), room))
}

// ofPrecision is a bound for average precision, by docs/exact.md, section 6. Its derivative has a part for the document of a
// rank alone, once, and one for the relevant documents above. All pairs of a document have the same sign, so that the size of
// either part is the sum of its pairs; the derivative of the second part is at most twice as large.
func ofPrecision(q *query, out []float64) error {
	relevant, once, discounts := make([]float64, len(out)), make([]float64, len(out)), counted(q.discounts, inverseRank)
	for d := range relevant {
		relevant[d] = relevance(q.labels[d], 0)
	}
	all := floats.Sum(relevant)
	if all == 0 {
		return nil
	}
	if _, err := q.expectation.AveragePrecision(q.scores, relevant, len(discounts), out); err != nil {
		return err
	}
	_, err := q.expectation.Gradient(q.scores, relevant, discounts, once)
	room := min(all, float64(len(discounts)))
	for d := range out {
		out[d] = max(0, 2*math.Abs(out[d])*all-math.Abs(once[d])) / room
	}
	return err
}

// AlphaNDCG, exact-alpha-ndcg by name, is Σ_k Σ_i J_ki (1 − α)^{documents above k with intent i} / log2(k + 1) / its greedy ideal
// (Clarke et al., SIGIR 2008).
//
// J_ki is 1 if the document at rank k has intent i of Intents. The ideal ranking is hard to find: see
// [metrics.IdealAlphaDCG]. Labels do not count, and a query without intents has the loss 0. As many ranks count as there are
// Discounts, whose values are not read. α is above 0 and at most 1, .5 by name; with another, building a loss returns an error.
func AlphaNDCG(alpha float64) Metric {
	return byIntents("AlphaNDCG", alpha, metrics.Discounts, metrics.IdealAlphaDCG)
}

// ERRIA, exact-err-ia by name, is [AlphaNDCG] with 1/k in place of 1/log2(k + 1), over what documents that all have every intent
// would earn, Σ_k I (1 − α)^{k−1} / k for I intents (Chapelle et al., Information Retrieval 2011).
func ERRIA(alpha float64) Metric {
	discounts := func(n int) []float64 { return counted(make([]float64, n), inverseRank) }
	return byIntents("ERRIA", alpha, discounts, func(sets []int, documents int, alpha float64, discounts []float64) (best float64) {
		for range intents.All(sets, len(sets)/documents) {
			left := 1.0
			for _, discount := range discounts {
				best += discount * left
				left *= 1 - alpha
			}
		}
		return best
	})
}

// A best is the value by which a sum over intents is divided; 0 if the query has none.
type best func(sets []int, documents int, alpha float64, discounts []float64) float64

func byIntents(name string, alpha float64, discounts func(n int) []float64, ideal best) Metric {
	write := func(q *query, out []float64) error {
		discounts, lambda, part := discounts(len(q.discounts)), make([]float64, len(out)), make([]float64, len(out))
		return eachIntent(q.intents, len(q.scores), alpha, discounts, ideal, func(rewards, continuations []float64) error {
			_, err := q.expectation.CascadeCurvature(q.scores, rewards, continuations, discounts, lambda, part)
			floats.Add(out, part)
			return err
		})
	}
	graph := func(b *batch) *G.Node {
		metric := func(l *op.List, lambda []float64) (value float64, err error) {
			var part []float64
			if lambda != nil {
				part = make([]float64, l.Len())
			}
			err = eachIntent(earned(l.Ints[1], l.Weights), l.Len(), alpha, l.Discounts, ideal, func(rewards, continuations []float64) error {
				earns, err := op.Own[plackett.Expectation](l).Cascade(l.X[0], rewards, continuations, l.Discounts, part)
				value += earns
				for d, slope := range part {
					lambda[d] += slope
				}
				return err
			})
			return value, err
		}
		return neg(G.Must(op.Metric("losses: "+name, fmt.Sprint(alpha), b.Lists, metric, op.RowSets("intents", b.intents()),
			op.Weights(b.ownWeights()), op.Discounts(discounts(len(b.discounts()))))))
	}
	return Metric{Objective{
		LabelFree: true, Intents: true, labels: true, err: redundancies.check(alpha, name, alpha), curvature: write,
		graph: graph,
	}}
}

// earned returns x with 0 for documents of weight 0. x has the same number of entries for each document.
func earned[T int | float64](x []T, weights []float64) []T {
	x = slices.Clone(x)
	each := max(1, len(x)/max(1, len(weights)))
	for i := range x {
		if weightOf(weights, i/each) == 0 {
			x[i] = 0
		}
	}
	return x
}

// eachIntent calls f for each intent of a query with the rewards and continuations that make its part of the metric a cascade.
func eachIntent(sets []int, documents int, alpha float64, discounts []float64, best best,
	f func(rewards, continuations []float64) error) error {
	if err := intents.Check(sets, documents); err != nil {
		return err
	}
	ideal, ints := best(sets, documents, alpha, discounts), len(sets)/documents
	if ideal == 0 {
		return nil
	}
	rewards, continuations := make([]float64, documents), make([]float64, documents)
	for at, bit := range intents.All(sets, ints) {
		for d := range documents {
			rewards[d], continuations[d] = 0, 1
			if sets[d*ints+at]&bit != 0 {
				rewards[d], continuations[d] = 1/ideal, 1-alpha
			}
		}
		if err := f(rewards, continuations); err != nil {
			return err
		}
	}
	return nil
}

// onCascade returns the exposure to a reader who stops as in expected reciprocal rank.
func (b *batch) onCascade(scores *G.Node) (*G.Node, error) {
	return ops.ExpectedCascadeExposure(ops.Lists{Scores: scores, Offsets: b.Lists.Offsets}, shifted(neg(b.stops()), 1), b.discounts())
}

// targetOnCascade is targetExposure for that reader. Scores that are far apart make the policy rank by gain.
func (b *batch) targetOnCascade() *G.Node {
	scores := fixed("losses: FarApart", op.PerRow, func(l *op.List, out []float64) {
		sorted := slices.Compact(slices.Sorted(slices.Values(l.X[0])))
		for d, gain := range l.X[0] {
			at, _ := slices.BinarySearch(sorted, gain)
			out[d] = 1000 * float64(at)
		}
	}, b.Lists, op.Rows("gains", b.gains()))
	return G.Must(op.Constant(G.Must(b.onCascade(scores))))
}
