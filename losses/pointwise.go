package losses

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// MSE is the squared error of the scores as predictions of the labels (Cossock &
// Zhang, COLT 2006), the mean over queries of
//
//	1/D Σ_d (m_d − label_d)².
//
// labels is [rows], the raw grades, of the dtype of the scores.
func MSE(l ops.Lists, labels *G.Node) (*G.Node, error) { return mean(l)(mse(l, labels, nil)) }

// mse has a weight for every document, nil: 1.
func mse(l ops.Lists, labels, weights *G.Node) (perQuery *G.Node, err error) {
	if err := checkRows(l, "labels", labels); err != nil {
		return nil, err
	}
	defer caught(&err)
	return lossops.SquaredError(l, finite(l, "label", labels), weights)
}

// Ordinal is ordinal regression by the logistic loss at all thresholds between grades
// (Rennie & Srebro, IJCAI 2005 workshop), which stand at ½, 1½, …: the mean over queries of
//
//	1/D Σ_d Σ_{c=1..highest} log(1 + exp(−z_dc (m_d − c + ½))),
//
// with z_dc = 1 where label_d ≥ c and −1 elsewhere. Labels between grades count as a
// mixture of the two. labels is [rows], the raw grades, of the dtype of the scores,
// from 0 to highest.
func Ordinal(l ops.Lists, labels *G.Node, highest int) (*G.Node, error) {
	return mean(l)(ordinal(l, labels, nil, highest))
}

// ordinal has a weight for every document, nil: 1.
func ordinal(l ops.Lists, labels, weights *G.Node, highest int) (perQuery *G.Node, err error) {
	if highest < 1 {
		return nil, fmt.Errorf("the highest grade is %d: want 1 or more", highest)
	}
	if labels, err = grades(l, labels); err != nil {
		return nil, err
	}
	return lossops.Thresholds(l, labels, weights, highest)
}

// ordinalUpTo is ordinal with thresholds up to the first that is not below the highest grade,
// which need not be a whole number.
func ordinalUpTo(l ops.Lists, labels, weights *G.Node, highest float64) (*G.Node, error) {
	if !(highest > 0 && highest <= math.MaxInt32) {
		return nil, fmt.Errorf("the highest grade is %v: want a number above 0, and no more thresholds than can be counted", highest)
	}
	return ordinal(l, labels, weights, int(math.Ceil(highest)))
}

// CrossEntropy is the binary cross-entropy of every document by itself, whose chance to be
// relevant is the sigmoid of its score (logistic regression), the mean over queries of
//
//	1/D Σ_d log(1 + exp m_d) − t_d m_d,   t_d = min(1, label_d / highest).
//
// TF-Ranking has it as sigmoid cross-entropy, for labels 0 and 1; grades between 0 and
// highest count as a mixture of the two. labels is [rows],
// the raw grades, of the dtype of the scores, none negative; those above highest, a number
// above 0, count as highest.
func CrossEntropy(l ops.Lists, labels *G.Node, highest float64) (*G.Node, error) {
	return mean(l)(pointwiseCrossEntropy(l, labels, nil, highest))
}

// pointwiseCrossEntropy has a weight for every document, nil: 1.
func pointwiseCrossEntropy(l ops.Lists, labels, weights *G.Node, highest float64) (perQuery *G.Node, err error) {
	if !(highest > 0) || math.IsInf(highest, 1) {
		return nil, fmt.Errorf("the highest grade is %v: want a number above 0", highest)
	}
	if labels, err = grades(l, labels); err != nil {
		return nil, err
	}
	return lossops.CrossEntropy(l, labels, weights, highest)
}

// grades are labels after a check that they are not negative.
func grades(l ops.Lists, labels *G.Node) (checked *G.Node, err error) {
	if err := checkRows(l, "labels", labels); err != nil {
		return nil, err
	}
	defer caught(&err)
	return notNegative(l, "label", labels), nil
}
