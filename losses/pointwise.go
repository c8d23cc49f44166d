package losses

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
)

// mse is the squared error of the scores as predictions of the labels (Cossock &
// Zhang, COLT 2006),
//
//	1/D Σ_d (m_d − label_d)².
func mse(b *batch) *G.Node {
	return G.Must(lossops.SquaredError(b.Lists, b.finiteLabels(), b.DocumentWeights))
}

// ordinal is ordinal regression by the logistic loss at all thresholds between grades
// (Rennie & Srebro, IJCAI 2005 workshop), which stand at ½, 1½, …:
//
//	1/D Σ_d Σ_{c=1..C} log(1 + exp(−z_dc (m_d − c + ½))),
//
// with z_dc = 1 where label_d ≥ c and −1 elsewhere. Labels between grades count as a
// mixture of the two. C is the first whole number that is not below the highest grade.
func ordinal(b *batch) *G.Node {
	highest := b.highest()
	if !(highest > 0 && highest <= math.MaxInt32) {
		panic(fmt.Errorf("the highest grade is %v: want a number above 0, and no more thresholds than can be counted", highest))
	}
	return G.Must(lossops.Thresholds(b.Lists, b.labelsFromZero(), b.DocumentWeights, int(math.Ceil(highest))))
}

// binaryCrossEntropy is that of every document by itself, whose chance to be relevant is
// the sigmoid of its score (logistic regression),
//
//	1/D Σ_d log(1 + exp m_d) − t_d m_d,   t_d = min(1, label_d / highest).
//
// TF-Ranking has it as sigmoid cross-entropy, for labels 0 and 1; grades between 0 and the
// highest count as a mixture of the two, those above as the highest.
func binaryCrossEntropy(b *batch) *G.Node {
	highest := b.highest()
	if !(highest > 0) || math.IsInf(highest, 1) {
		panic(fmt.Errorf("the highest grade is %v: want a number above 0", highest))
	}
	return G.Must(lossops.CrossEntropy(b.Lists, b.labelsFromZero(), b.DocumentWeights, highest))
}
