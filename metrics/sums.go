package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// The values of a document by its label.

func gainOf(e *evaluator, label float32) (float64, error)      { return e.gain.Of(label) }
func gradeOf(_ *evaluator, label float32) (float64, error)     { return LinearGain.Of(label) }
func relevanceOf(_ *evaluator, label float32) (float64, error) { return BinaryGain.Of(label) }

func gradedGainOf(e *evaluator, label float32) (float64, error) {
	if float64(label) > e.highestGrade {
		return 0, fmt.Errorf("label %v is above %v, the highest grade", label, e.highestGrade)
	}
	return e.gain.Of(label)
}

// stopOf is the probability R of expected reciprocal rank that a reader stops at a document.
func stopOf(e *evaluator, label float32) (float64, error) {
	highest := cmp.Or(e.param, e.highestGrade)
	if float64(label) > highest {
		higher := e.metric
		higher.param = float64(label)
		return 0, fmt.Errorf("label %v is above %v, the highest grade of %v: use %v", label, highest, e.metric, higher)
	}
	gain, err := Exp2Gain.Of(label)
	return gain / math.Exp2(highest), err
}

// The weights of a rank, from 1, some with a parameter.

func equalWeight(_, _ float64) float64      { return 1 }
func rankWeight(rank, _ float64) float64    { return rank }
func inverseWeight(rank, _ float64) float64 { return 1 / rank }
func dcgWeight(rank, _ float64) float64     { return 1 / math.Log2(rank+1) }

// letor4Weight is 1 for the first two ranks and 1/log2(rank) for the others, the
// discount of Järvelin & Kekäläinen (2002) with a logarithm to the base 2.
func letor4Weight(rank, _ float64) float64 { return 1 / math.Log2(max(rank, 2)) }

// rbpWeight is that of a reader who goes on to the next rank with probability p.
func rbpWeight(rank, p float64) float64 { return (1 - p) * math.Pow(p, rank-1) }

// What the sum is divided by.

func byRanks(e *evaluator) (bool, error) {
	e.norm = float64(max(e.ranks(), 1))
	return true, nil
}

func bySumOfValues(e *evaluator) (bool, error) {
	e.norm = floats.Sum(e.values)
	return e.norm > 0, nil
}

func byIdeal(e *evaluator) (bool, error) {
	e.norm = e.sum(e.ideal())
	return e.norm > 0, nil
}

func byHighestGain(e *evaluator) (bool, error) {
	highest, err := e.gain.Of(float32(e.highestGrade))
	e.norm = max(highest, math.SmallestNonzeroFloat64) // if it is 0, so are all gains
	return true, err
}

// finishARP writes ARP@k as a sum over the ranks up to k:
// (k+1) − Σ_{r≤k} (k+1−r) label_r / Σ label.
func finishARP(e *evaluator) (bool, error) {
	e.base = float64(e.ranks() + 1)
	floats.AddConst(-e.base, e.weights)
	return bySumOfValues(e)
}

func finishLETOR4NDCG(e *evaluator) (bool, error) {
	defined, err := byIdeal(e)
	if len(e.values) < e.cutoff {
		e.norm = math.Inf(1)
	}
	return defined, err
}

// finishLETOR4MeanNDCG writes the mean as one sum over ranks, in which rank r
// counts θ_r Σ_{k≥r} 1/(ideal DCG@k) / (number of cutoffs).
func finishLETOR4MeanNDCG(e *evaluator) (bool, error) {
	defined, err := byIdeal(e)
	if err != nil || !defined {
		return false, err
	}
	best := e.ideal()
	ideal, below := e.norm, 0.0
	e.norm = float64(len(best.documents))
	for k, d := range slices.Backward(best.documents) {
		last := e.weights[k] * e.values[d]
		below += 1 / ideal
		e.weights[k] *= below
		ideal -= last
	}
	return true, nil
}

// finishPairs counts the pairs of documents of different labels.
func finishPairs(e *evaluator) (bool, error) {
	e.norm = 0
	sorted := e.sortedValues()
	for i, v := range sorted {
		lower, _ := slices.BinarySearch(sorted[:i], v)
		e.norm += float64(lower)
	}
	return e.norm > 0, nil
}

// sortedValues are the values in ascending order, to be changed.
func (e *evaluator) sortedValues() []float64 {
	e.scratch = append(e.scratch[:0], e.values...)
	slices.Sort(e.scratch)
	return e.scratch
}
