package losses

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// PairAccuracy, exact-pair-accuracy by name, is the share of pairs of documents of different labels in which the document of
// the higher label is above the other (docs/exact.md). A pair counts ½ if neither is at one of the ranks that count: as many as there are
// Discounts, whose values are not read. A query without such pairs has the loss 0. It is the metric of this name of package metrics.
var PairAccuracy = Metric{Objective{RatioOnly: true, labels: true, graph: pairAccuracy}}

func pairAccuracy(b *batch) *G.Node {
	return neg(G.Must(op.Metric("losses: PairAccuracy", "", b.Lists, func(l *op.List, lambda []float64) (float64, error) {
		var there []int // documents of weight 0 are not
		var scores, labels, part []float64
		for d := range l.Len() {
			if weightOf(l.Weights, d) != 0 {
				there, scores, labels = append(there, d), append(scores, l.X[0][d]), append(labels, l.X[1][d])
			}
		}
		if lambda != nil {
			part = make([]float64, len(there))
		}
		value, err := op.Own[plackett.Expectation](l).PairAccuracy(scores, labels, len(l.Discounts), part)
		for i, slope := range part {
			lambda[there[i]] = slope
		}
		return value, err
	}, op.Rows("labels", b.labelsFromZero()), op.Weights(b.ownWeights()), op.Discounts(b.discounts()))))
}

// BestSuccess, exact-success(n) by name, is the success of the best of n rankings drawn independently, 1 − (1 − S)^n with S the
// expected [Success]: for an agent, or a reader, who may ask n times. n is 1 or more; with another, building a loss returns an
// error.
func BestSuccess(n float64) Metric {
	if n == 1 {
		return Success
	}
	m := Success
	m.exact.err = draws.check(n, "BestSuccess", n)
	m.exact.graph = func(b *batch) *G.Node {
		return neg(fromRelevance(b, fmt.Sprint("losses: BestSuccess ", n), bestSuccess(n), alike))
	}
	m.exact.curvature = func(q *query, out []float64) error {
		relevant, slopes := make([]float64, len(out)), make([]float64, len(out))
		for d := range relevant {
			relevant[d] = relevance(q.labels[d], 0)
		}
		discounts := counted(q.discounts, alike)
		success, err := q.expectation.CascadeCurvature(q.scores, relevant, others(relevant), discounts, slopes, out)
		fails := max(0, 1-success)
		for d, slope := range slopes { // both parts of the second derivative
			out[d] = n * math.Pow(fails, n-1) * (out[d] + (n-1)*slope*slope/max(fails, 1e-12))
		}
		return err
	}
	return m
}

func bestSuccess(n float64) fromRelevant {
	return func(e *plackett.Expectation, scores, relevant, discounts, lambda []float64) (float64, error) {
		success, err := e.Cascade(scores, relevant, others(relevant), discounts, lambda)
		fails := max(0, 1-success)
		floats.Scale(n*math.Pow(fails, n-1), lambda)
		return 1 - math.Pow(fails, n), err
	}
}

// DeviationMRR returns the loss √Var(reciprocal rank of the first relevant document) over rankings of the policy, exactly
// (docs/exact.md).
//
// It is for readers who would rather have less than be unsure of it: the mean less half the deviation is exact-mrr +
// 0.5*deviation-mrr. It goes by labels and ranks as [MRR] does. Where one rank is certain it is 0, with the gradient 0.
func DeviationMRR() Objective { return deviation(MRR, inverseRank) }

// DeviationSuccess returns the loss √(S (1 − S)), S the expected [Success]: its standard deviation over rankings of the policy
// (docs/exact.md).
//
// It is used as [DeviationMRR], beside exact-success.
func DeviationSuccess() Objective { return deviation(Success, alike) }

func deviation(m Metric, discount func(k int) float64) Objective {
	o := m.exact
	o.curvature = nil
	o.graph = func(b *batch) *G.Node {
		return fromRelevance(b, "losses: Deviation", ofDraws, discount)
	}
	return o
}

func ofDraws(e *plackett.Expectation, scores, relevant, discounts, lambda []float64) (float64, error) {
	_, deviation, err := e.Deviation(scores, relevant, discounts, lambda)
	return deviation, err
}

// A fromRelevant computes a number of a query from its relevant documents, and the derivatives by the scores.
type fromRelevant func(e *plackett.Expectation, scores, relevant, discounts, lambda []float64) (float64, error)

func fromRelevance(b *batch, name string, compute fromRelevant, discount func(k int) float64) *G.Node {
	return G.Must(op.Metric(name, "", b.Lists, func(l *op.List, lambda []float64) (float64, error) {
		return compute(op.Own[plackett.Expectation](l), l.X[0], l.X[1], l.Discounts, lambda)
	}, op.Rows("relevances", b.relevant()), op.Discounts(counted(b.discounts(), discount))))
}

// others are 1 − x.
func others(x []float64) []float64 {
	rest := make([]float64, len(x))
	for d, v := range x {
		rest[d] = 1 - v
	}
	return rest
}
