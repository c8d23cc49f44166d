package metrics

import (
	"fmt"
	"math"
)

// The metrics of this file are of a reader who goes on to the next rank with probability p.

func always(float64) bool { return true }

func prepareRBP(e *evaluator, labels []float32) (bool, error) {
	e.setPersistence(len(labels))
	_, err := prepareRelevance(e, labels)
	return true, err
}

// setPersistence sets the weights of RBP.
func (e *evaluator) setPersistence(documents int) {
	e.setWeights(documents, func(rank float64) float64 { return rbpDiscount(e.metric.param, rank) })
}

func prepareGradedRBP(e *evaluator, labels []float32) (bool, error) {
	e.setPersistence(len(labels))
	most, err := e.gain.Of(float32(e.highestGrade))
	if err != nil {
		return false, err
	}
	e.norm = max(most, math.SmallestNonzeroFloat64) // if it is 0, so are all gains
	return true, e.setValues(labels, func(label float32) (float64, error) {
		if float64(label) > e.highestGrade {
			return 0, fmt.Errorf("label %v is above %v, the highest grade", label, e.highestGrade)
		}
		return e.gain.Of(label)
	})
}
