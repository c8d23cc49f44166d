package lossops

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// A pointwise loss of a document goes by its score and its label.
type pointwise struct {
	name, settings string
	loss           func(score, label float64) (value, slope float64) // and its derivative by the score
}

// apply is 1/D Σ_d w_d loss_d of every query, a node [queries] that is differentiable in the
// scores. labels and weights, nil for 1, are [rows].
func (p pointwise) apply(l ops.Lists, labels, weights *G.Node) (*G.Node, error) {
	others := []op.In{op.Rows("labels", labels)}
	if weights != nil {
		others = append(others, op.Rows("weights", weights))
	}
	return op.Metric(p.name, p.settings, l, func(l *op.List, in []op.Tensor, lambda []float64) (value float64, err error) {
		scores, err := l.Scores()
		if err != nil {
			return 0, err
		}
		for d, m := range scores {
			w := 1 / float64(len(scores))
			if weights != nil {
				w *= in[2].At(l.From + d)
			}
			if w == 0 {
				continue
			}
			loss, slope := p.loss(m, in[1].At(l.From+d))
			value += w * loss
			lambda[d] = w * slope
		}
		return value, nil
	}, others...)
}

// SquaredError is 1/D Σ_d w_d (m_d − label_d)², a node [queries].
func SquaredError(l ops.Lists, labels, weights *G.Node) (*G.Node, error) {
	return pointwise{name: "losses: SquaredError", loss: func(score, label float64) (value, slope float64) {
		gap := score - label
		return gap * gap, 2 * gap
	}}.apply(l, labels, weights)
}

// CrossEntropy is 1/D Σ_d w_d (log(1 + exp m_d) − t_d m_d), with t_d = min(1, label_d / highest),
// a node [queries].
func CrossEntropy(l ops.Lists, labels, weights *G.Node, highest float64) (*G.Node, error) {
	return pointwise{
		name: "losses: CrossEntropy", settings: fmt.Sprint(highest), loss: func(score, label float64) (value, slope float64) {
			target := min(1, label/highest)
			return softplus(score) - target*score, sigmoid(score) - target
		},
	}.apply(l, labels, weights)
}

// Thresholds is 1/D Σ_d w_d Σ_{c=1..highest} log(1 + exp(−z_dc (m_d − c + ½))), with z_dc = 1 where
// label_d ≥ c and −1 elsewhere, a node [queries]. Labels between grades count as a mixture of
// the two. It costs the same whatever the highest grade.
func Thresholds(l ops.Lists, labels, weights *G.Node, highest int) (*G.Node, error) {
	return pointwise{
		name: "losses: Thresholds", settings: fmt.Sprint(highest), loss: func(score, label float64) (value, slope float64) {
			return thresholds(score, label, float64(highest))
		},
	}.apply(l, labels, weights)
}

// thresholds is the loss of a document, with a label that is not negative, summed over the
// thresholds. Those that are further than near from the score cost nothing or their
// distance from it, and are added up at once.
func thresholds(score, label, highest float64) (value, slope float64) {
	const near = 40 // e^−40 is 4e-18
	// The label is above the thresholds before grade, and the share over above that of grade.
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

// softplus is log(1 + e^x).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(normal.Exp(-math.Abs(x))) }
