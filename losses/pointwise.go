package losses

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
)

// MSE returns the loss 1/D Σ_d (m_d − label_d)² (Cossock & Zhang, COLT 2006).
//
// It reads Labels, which must be finite. Queries without a label above 0 count like any other, as in
// the other losses by labels.
func MSE() Objective {
	return pointwise("losses: SquaredError", (*batch).finiteLabels, nil, func(score, label, _ float64) (value, slope float64) {
		gap := score - label
		return gap * gap, 2 * gap
	}, func(_, _, documents float64) float64 { return 2 / documents })
}

// QueryRMSE returns the loss Σ_d (m_d − m̄ − c(label_d − mean label))², c the scale (CatBoost's
// QueryRMSE, squared, times the documents per query).
//
// It is the squared error of the scores as predictions of c·label, up to a constant of the query:
// with the weights w of the documents Σ_d w_d (e_d − Σ w e / Σ w)², e_d = m_d − c·label_d. CatBoost's
// QueryRMSE is the root of the same sum over all queries, with c = 1, divided by Σ w over all
// documents. [Mean] divides by the number of queries instead: it is the square times the documents per
// query, a constant of the data. So in both a query counts in proportion to its documents. A larger c
// makes a sharper policy. The scale is above 0 and at most 1e6, 1 by name; another makes the Func
// return an error. It reads Labels, which must be finite.
func QueryRMSE(scale float64) Objective {
	twice := func(q *query, out []float64) error {
		for d := range out {
			out[d] = 2 * weightOf(q.weights, d)
		}
		return nil
	}
	return Objective{
		LabelFree: true, labels: true, weights: ofTerms, curvature: twice, err: labelScales.check(scale, "QueryRMSE", scale),
		graph: func(b *batch) *G.Node { return queryRMSE(b, scale) },
	}
}

func queryRMSE(b *batch, scale float64) *G.Node {
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

// Ordinal returns the loss 1/D Σ_d Σ_c log(1 + e^∓(m_d − c + ½)), − where label_d ≥ c, + elsewhere
// (Rennie & Srebro 2005).
//
// It is ordinal regression by the logistic loss at all thresholds between the grades c = 1, 2, …,
// which stand at ½, 1½, …. Labels between grades count as a mixture of the two. The last grade is
// HighestGrade, rounded up: 0 stands for 4, and a negative one returns an error. It reads Labels; a
// run with negative labels returns an error.
func Ordinal() Objective {
	return pointwise("losses: Thresholds", (*batch).labelsFromZero, func(highest float64) error {
		if !(highest > 0 && highest <= math.MaxInt32) {
			return fmt.Errorf("the highest grade is %v: want a number above 0, and no more thresholds than can be counted", highest)
		}
		return nil
	}, thresholds, func(score, highest, documents float64) (sum float64) {
		const near = 40 // as in thresholds
		score += 0.5
		for c := max(1, math.Ceil(score-near)); c <= min(math.Ceil(highest), score+near); c++ {
			sum += bell(score-c) / documents
		}
		return sum
	})
}

// CrossEntropy returns the loss 1/D Σ_d log(1 + e^m_d) − t_d m_d, t = label / highest grade
// (logistic regression).
//
// The chance of a document to be relevant is the sigmoid of its score. TF-Ranking has it as sigmoid
// cross entropy, for labels 0 and 1; grades between 0 and the highest count as a mixture of the two,
// those above as the highest. HighestGrade is as for [Ordinal]. It reads Labels; a run with negative
// labels returns an error.
func CrossEntropy() Objective {
	return pointwise("losses: CrossEntropy", (*batch).labelsFromZero, func(highest float64) error {
		if !(highest > 0) || math.IsInf(highest, 1) {
			return fmt.Errorf("the highest grade is %v: want a number above 0", highest)
		}
		return nil
	}, func(score, label, highest float64) (value, slope float64) {
		target := min(1, label/highest)
		return softplus(score) - target*score, sigmoid(score) - target
	}, func(score, _, documents float64) float64 { return bell(score) / documents })
}

// pointwise returns the loss 1/D Σ_d w_d f(m_d, label_d, highest grade), given the derivative by the score, too, and the second one
// over D. check is for the highest grade; nil: the loss does not go by it.
func pointwise(name string, labels func(*batch) *G.Node, check func(highest float64) error,
	f func(score, label, highest float64) (value, slope float64), second func(score, highest, documents float64) float64) Objective {
	o := Objective{LabelFree: true, labels: true, weights: ofTerms}
	o.graph = func(b *batch) *G.Node {
		highest, settings := 0.0, ""
		if check != nil {
			highest = b.highest()
			if err := check(highest); err != nil {
				panic(err)
			}
			settings = fmt.Sprint(highest)
		}
		return G.Must(op.Metric(name, settings, b.Lists, func(l *op.List, lambda []float64) (value float64, err error) {
			for d, m := range l.X[0] {
				w := weightOf(l.Weights, d) / float64(l.Len())
				if w == 0 {
					continue
				}
				v, slope := f(m, l.X[1][d], highest)
				value += w * v
				if lambda != nil {
					lambda[d] = w * slope
				}
			}
			return value, nil
		}, op.AnyRows("labels", labels(b)), op.Weights(b.DocumentWeights)))
	}
	o.curvature = func(q *query, out []float64) error {
		for d, m := range q.scores {
			out[d] = weightOf(q.weights, d) * second(m, q.highest, float64(len(out)))
		}
		return nil
	}
	return o
}

// thresholds is the loss of a document, with a label that is not negative, summed over the
// thresholds, at the same cost whatever the highest grade: those that are further than near
// from the score cost nothing or their distance from it, and are added up at once.
func thresholds(score, label, highest float64) (value, slope float64) {
	const near = 40 // e^−40 is 4e-18
	highest = math.Ceil(highest)
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
