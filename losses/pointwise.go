package losses

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
)

func mse(b *batch) *G.Node {
	return meanLoss(b, "losses: SquaredError", "", b.finiteLabels(), func(score, label float64) (value, slope float64) {
		gap := score - label
		return gap * gap, 2 * gap
	})
}

func queryRMSE(b *batch) *G.Node {
	scale := b.number
	return G.Must(op.Metric("losses: QueryRMSE", fmt.Sprint(scale), b.Lists, func(l *op.List, lambda []float64) (value float64, err error) {
		weights := l.Weights
		if weights != nil && floats.Sum(weights) == 0 {
			return 0, nil
		}
		gaps := l.Scratch(l.Len())
		floats.AddScaledTo(gaps, l.X[0], -scale, l.X[1])
		floats.AddConst(-mean(gaps, weights), gaps)
		for d, gap := range gaps {
			w := weightOf(weights, d)
			value += w * gap * gap
			if lambda != nil {
				lambda[d] = 2 * w * gap
			}
		}
		return value, nil
	}, op.AnyRows("labels", b.finiteLabels()), op.Weights(b.DocumentWeights)))
}

// mean is the mean of numbers, with the same bits for weights of 1 and none, which are nil.
func mean(x, weights []float64) float64 {
	if weights == nil {
		return floats.Sum(x) / float64(len(x))
	}
	return floats.Sum(floats.MulTo(make([]float64, len(x)), x, weights)) / floats.Sum(weights)
}

func ordinal(b *batch) *G.Node {
	highest := b.highest()
	if !(highest > 0 && highest <= math.MaxInt32) {
		panic(fmt.Errorf("the highest grade is %v: want a number above 0, and no more thresholds than can be counted", highest))
	}
	highest = math.Ceil(highest)
	return meanLoss(b, "losses: Thresholds", fmt.Sprint(highest), b.labelsFromZero(), func(score, label float64) (value, slope float64) {
		return thresholds(score, label, highest)
	})
}

func binaryCrossEntropy(b *batch) *G.Node {
	highest := b.highest()
	if !(highest > 0) || math.IsInf(highest, 1) {
		panic(fmt.Errorf("the highest grade is %v: want a number above 0", highest))
	}
	return meanLoss(b, "losses: CrossEntropy", fmt.Sprint(highest), b.labelsFromZero(), func(score, label float64) (value, slope float64) {
		target := min(1, label/highest)
		return softplus(score) - target*score, sigmoid(score) - target
	})
}

// meanLoss is 1/D Σ_d w_d loss(m_d, label_d) of every query, differentiable in the scores.
// loss gives the derivative by the score, too.
func meanLoss(b *batch, name, settings string, labels *G.Node, loss func(score, label float64) (value, slope float64)) *G.Node {
	return G.Must(op.Metric(name, settings, b.Lists, func(l *op.List, lambda []float64) (value float64, err error) {
		for d, m := range l.X[0] {
			w := weightOf(l.Weights, d) / float64(l.Len())
			if w == 0 {
				continue
			}
			v, slope := loss(m, l.X[1][d])
			value += w * v
			if lambda != nil {
				lambda[d] = w * slope
			}
		}
		return value, nil
	}, op.AnyRows("labels", labels), op.Weights(b.DocumentWeights)))
}

// thresholds is the loss of a document, with a label that is not negative, summed over the
// thresholds, at the same cost whatever the highest grade: those that are further than near
// from the score cost nothing or their distance from it, and are added up at once.
func thresholds(score, label, highest float64) (value, slope float64) {
	const near = 40 // e^−40 is 4e-18
	// The label is above the thresholds before grade, and the share over above the threshold grade.
	grade, over := math.Floor(label)+1, label-math.Floor(label)
	first := max(1, min(highest+1, math.Ceil(score+0.5-near)))
	last := max(first-1, min(highest, math.Floor(score+0.5+near)))
	far := func(sign, from, to float64) { // sign·(m − c + ½) for c from from to to
		if n := to - from + 1; n > 0 {
			value += sign * n * (score + 0.5 - (from+to)/2)
			slope += sign * n
		}
	}
	far(1, max(1, grade+1), first-1)
	far(-1, last+1, min(highest, grade-1))
	switch {
	case grade < first:
		far(1-over, grade, grade)
	case grade > last && grade <= highest:
		far(-over, grade, grade)
	}
	for c := first; c <= last; c++ {
		x := score - c + 0.5
		target := max(0, min(1, label-c+1))
		value += softplus(x) - target*x
		slope += sigmoid(x) - target
	}
	return value, slope
}
