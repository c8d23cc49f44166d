package metrics

import (
	"fmt"
	"math"
)

// The metric of this file is of a reader who stops at a document with probability R.

// highestGrade is the parameter of expected reciprocal rank; 0: that of the data set.
var highestGrade = param{"max", 0, "a label above 0, up to 31", func(v float64) bool { return v > 0 && v <= maxExp2Label }}

func highestGradeIsOpen(highest float64) bool { return highest == 0 }

func prepareERR(e *evaluator, labels []float32) (bool, error) {
	highest := e.metric.param
	if highest == 0 {
		highest = e.highestGrade
	}
	return true, e.setValues(labels, func(label float32) (float64, error) {
		if float64(label) > highest {
			higher := e.metric
			higher.param = float64(label)
			return 0, fmt.Errorf("label %v is above %v, the highest grade of %v: use %v", label, highest, e.metric, higher)
		}
		gain, err := Exp2Gain.Of(label)
		return gain / math.Exp2(highest), err
	})
}

// walkERR is expected reciprocal rank. With M_j the mean of Π (1 − R) over all choices of j
// documents of a block, the probability to read on after j of them, a stop at rank j of the
// block has the probability M_{j−1} − M_j.
func walkERR(e *evaluator, r *ranking) float64 {
	depth, sum, reading := e.depth(), 0.0, 1.0
	for first, block := range r.blocks() {
		if first >= depth {
			break
		}
		readOn := e.readOn(block, min(len(block), depth-first))
		for i := 1; i < len(readOn); i++ {
			sum += reading * (readOn[i-1] - readOn[i]) / float64(first+i)
		}
		reading *= readOn[len(readOn)-1]
	}
	return sum
}

// readOn is M_0 … M_ranks: M_j is the mean of Π_{d∈S} (1 − R_d) over all sets S of j
// documents of the block. Of the sets of j of the first m documents, a share of j/m
// has the m-th.
func (e *evaluator) readOn(block []int, ranks int) []float64 {
	e.scratch = append(e.scratch[:0], 1)
	for range ranks {
		e.scratch = append(e.scratch, 0)
	}
	for m, d := range block {
		for j := min(m+1, ranks); j > 0; j-- {
			with := float64(j) / float64(m+1)
			e.scratch[j] = (1-with)*e.scratch[j] + with*(1-e.values[d])*e.scratch[j-1]
		}
	}
	return e.scratch
}
