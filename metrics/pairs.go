package metrics

import (
	"math"
	"slices"
)

// preparePairs counts the pairs of documents of different labels.
func preparePairs(e *evaluator, labels []float32) (bool, error) {
	err := e.setValues(labels, LinearGain.Of)
	sorted := e.sortedValues()
	e.norm = 0
	for i, v := range sorted {
		lower, _ := slices.BinarySearch(sorted[:i], v)
		e.norm += float64(lower)
	}
	return e.norm > 0, err
}

// sortedValues are the values in ascending order, to be changed.
func (e *evaluator) sortedValues() []float64 {
	e.scratch = append(e.scratch[:0], e.values...)
	slices.Sort(e.scratch)
	return e.scratch
}

// walkPairs is the share of pairs in the right order. A pair counts ½, but 1 or 0 if one of
// its documents is within the cutoff and above the other. The documents of a block are in
// any order; the probability that one is within the cutoff is the share of the block's ranks
// that are.
func walkPairs(e *evaluator, r *ranking) float64 {
	depth, sum, behind := e.depth(), 0.0, e.sortedValues()
	for first, block := range r.blocks() {
		for _, d := range block {
			at, _ := slices.BinarySearch(behind, e.values[d])
			behind = slices.Delete(behind, at, at+1)
		}
		within := min(1, float64(depth-first)/float64(len(block)))
		for _, d := range block {
			lower, _ := slices.BinarySearch(behind, e.values[d])
			upTo, _ := slices.BinarySearch(behind, math.Nextafter(e.values[d], math.Inf(1)))
			sum += within * float64(lower-(len(behind)-upTo))
		}
	}
	return 0.5 + sum/2/e.norm
}

// expectedPairs is the mean over pairs of the probability of the right order, the sigmoid of
// the difference of the scores.
func expectedPairs(e *evaluator, _ *expectedWeights, q query) (float64, error) {
	sum := 0.0
	for i, score := range q.scores {
		for j, other := range q.scores {
			if e.values[i] > e.values[j] {
				sum += 1 / (1 + math.Exp(other-score))
			}
		}
	}
	return sum / e.norm, nil
}
