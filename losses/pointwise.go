package losses

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

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
	labels = finite(l, "label", labels)
	return meanOverDocuments(l, square(sub(scores(l), labels)), weights), nil
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
	defer caught(&err)
	scores := scores(l)
	var sum *G.Node
	for c := 1; c <= highest; c++ {
		above := shifted(l, scores, 0.5-float64(c))
		// −1 where the label is c or more, 0 where it is c−1 or less.
		target := sub(relu(shifted(l, labels, float64(-c))), relu(shifted(l, labels, float64(1-c))))
		// log(1 + e^{−x}) = log(1 + e^x) − x. (Not by Sub, whose gradient is wrong on
		// the Lisp machine for vectors of one number.)
		term := add(softplus(l, above), mul(target, above))
		if sum == nil {
			sum = term
		} else {
			sum = add(sum, term)
		}
	}
	return meanOverDocuments(l, sum, weights), nil
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
	defer caught(&err)
	// −t = max(0, 1 − label/highest) − 1.
	target := shifted(l, relu(shifted(l, scaled(l, labels, -1/highest), 1)), -1)
	scores := scores(l)
	return meanOverDocuments(l, add(softplus(l, scores), mul(target, scores)), weights), nil
}

// grades are labels after a check that they are not negative.
func grades(l ops.Lists, labels *G.Node) (checked *G.Node, err error) {
	if err := checkRows(l, "labels", labels); err != nil {
		return nil, err
	}
	defer caught(&err)
	return notNegative(l, "label", labels), nil
}

// meanOverDocuments is 1/D Σ_d w_d x_d of every query; nil weights are 1.
func meanOverDocuments(l ops.Lists, x, weights *G.Node) *G.Node {
	if weights != nil {
		x = mul(x, weights)
	}
	return mul(total(l, x), inverse(count(l)))
}
