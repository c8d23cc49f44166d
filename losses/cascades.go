package losses

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Discounts of metrics; those of a batch say how many ranks count.

func alike(int) float64           { return 1 }
func inverseRank(k int) float64   { return 1 / float64(k+1) }
func (b *batch) ranks() []float64 { return make([]float64, len(b.discounts())) }

// cascade builds minus the metric of a reader who stops at each document with a probability, and earns the
// discount of its rank.
func cascade(stops func(b *batch) *G.Node, discount func(k int) float64) builder {
	return func(b *batch) *G.Node {
		discounts, stop := b.ranks(), stops(b)
		for k := range discounts {
			discounts[k] = discount(k)
		}
		return neg(G.Must(ops.ExpectedCascade(b.Lists, stop, shifted(neg(stop), 1), discounts)))
	}
}

// relevance is 1 for labels of 1 or more, and 0 for others.
func relevance(label float64) float64 {
	if label >= 1 {
		return 1
	}
	return 0
}

// stop is the probability (2^label − 1) / 2^highest that a reader stops at a document.
func stop(label, highest float64) float64 {
	return math.Exp2(min(label, highest)-highest) - math.Exp2(-highest)
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

// relevant is 1 for documents whose label is 1 or more, and 0 for others, as in package metrics.
func (b *batch) relevant() *G.Node {
	return G.Must(op.Elementwise("losses: Relevant", b.labelsFromZero(), relevance, nil))
}

// stops is stop of the labels.
func (b *batch) stops() *G.Node {
	highest := b.highest()
	return G.Must(op.Elementwise(fmt.Sprint("losses: Stops ", highest), b.labelsFromZero(), func(label float64) float64 {
		return stop(label, highest)
	}, nil))
}

// alphaNDCG builds ExactAlphaNDCG.
func alphaNDCG(b *batch) *G.Node {
	alpha, weights := b.number, b.DocumentWeights
	if b.noiseOf != nil {
		weights = b.noiseOf.DocumentWeights
	}
	metric := func(l *op.List, lambda []float64) (value float64, err error) {
		var part []float64
		if lambda != nil {
			part = make([]float64, l.Len())
		}
		err = eachIntent(earned(l.Ints[1], l.Weights), alpha, l.Discounts, func(rewards, continuations []float64) error {
			of, err := op.Own[plackett.Expectation](l).Cascade(l.X[0], rewards, continuations, l.Discounts, part)
			value += of
			for d, slope := range part {
				lambda[d] += slope
			}
			return err
		})
		return value, err
	}
	return neg(G.Must(op.Metric("losses: AlphaNDCG", fmt.Sprint(alpha), b.Lists, metric, op.RowInts("intents", b.intents()),
		op.Weights(weights), op.Discounts(metrics.Discounts(len(b.discounts()))))))
}

// earned is x without the documents of weight 0.
func earned[T int | float64](x []T, weights []float64) []T {
	x = slices.Clone(x)
	for d := range x {
		if weightOf(weights, d) == 0 {
			x[d] = 0
		}
	}
	return x
}

// eachIntent calls f for each intent of a query, with the cascade that α-nDCG is of it.
func eachIntent(intents []int, alpha float64, discounts []float64, f func(rewards, continuations []float64) error) error {
	ideal, left := metrics.IdealAlphaDCG(intents, alpha, discounts), 0
	if ideal == 0 {
		return nil
	}
	for _, has := range intents {
		left |= has
	}
	rewards, continuations := make([]float64, len(intents)), make([]float64, len(intents))
	for ; left != 0; left &= left - 1 {
		for d, has := range intents {
			rewards[d], continuations[d] = 0, 1
			if has&left&-left != 0 {
				rewards[d], continuations[d] = 1/ideal, 1-alpha
			}
		}
		if err := f(rewards, continuations); err != nil {
			return err
		}
	}
	return nil
}

// byCascade names the exposure of a reader who stops, as the parameter of the losses of fairness.
const byCascade = "cascade"

// onCascade is ops.ExpectedCascadeExposure of a reader who stops as in expected reciprocal rank.
func (b *batch) onCascade(scores *G.Node) (*G.Node, error) {
	return ops.ExpectedCascadeExposure(ops.Lists{Scores: scores, Offsets: b.Lists.Offsets}, shifted(neg(b.stops()), 1), b.discounts())
}

// targetOnCascade is targetExposure of that reader. The ranking by gain is the policy of scores that are far apart.
func (b *batch) targetOnCascade() *G.Node {
	scores := fixed("losses: FarApart", op.PerRow, func(l *op.List, out []float64) {
		sorted := slices.Compact(slices.Sorted(slices.Values(l.X[0])))
		for d, gain := range l.X[0] {
			at, _ := slices.BinarySearch(sorted, gain)
			out[d] = 1000 * float64(at)
		}
	}, b.Lists, op.Rows("gains", b.gains()))
	return G.Must(ops.Constant(G.Must(b.onCascade(scores))))
}
