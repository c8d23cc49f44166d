package metrics

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

type kind int

const (
	dcg kind = iota
	ndcg
	precision
	recall
	meanAveragePrecision
	reciprocalRank
	expectedReciprocalRank
	rankBiasedPrecision
	averageRelevancePosition
	letor4NDCG
	letor4MeanNDCG
	hitRate
	pairAccuracy
	gradedRBP
)

// family is all metrics of one name: how to read them and how to compute them.
// The package comment has their formulas and sources.
type family struct {
	name, alias   string
	param         param
	lowerIsBetter bool
	graded        bool // goes by the highest grade of the data set
	// prepare sets up the evaluator for one query with the given labels and tells
	// whether the metric is defined for it.
	prepare func(e *evaluator, labels []float32) (bool, error)
	// walk is the value of a ranking; nil for the metrics that are a weighted
	// sum over ranks.
	walk func(e *evaluator, r *ranking) float64
}

// relevant is the lowest label of a relevant document, for the metrics that
// know only relevant and not.
const relevant = 1

// families is filled by init: the functions in it refer to Metric, whose
// methods refer to families.
var families []family

func init() {
	families = []family{
		dcg:       {name: "dcg", prepare: prepareDCG},
		ndcg:      {name: "ndcg", prepare: prepareNDCG},
		precision: {name: "precision", alias: "p", prepare: preparePrecision},
		recall:    {name: "recall", prepare: prepareRecall},

		meanAveragePrecision: {name: "map", alias: "ap", prepare: prepareRelevance, walk: walkAP},
		reciprocalRank:       {name: "mrr", alias: "rr", prepare: prepareRelevance, walk: walkRR},
		expectedReciprocalRank: {
			name:    "err",
			graded:  true,
			param:   param{"max", 0, "a label above 0, up to 31", func(v float64) bool { return v > 0 && v <= maxExp2Label }},
			prepare: prepareERR,
			walk:    walkERR,
		},
		rankBiasedPrecision: {
			name:    "rbp",
			param:   persistence,
			prepare: prepareRBP,
		},
		averageRelevancePosition: {name: "arp", lowerIsBetter: true, prepare: prepareARP},

		letor4NDCG:     {name: "letor4-ndcg", prepare: prepareLETOR4NDCG},
		letor4MeanNDCG: {name: "letor4-meanndcg", prepare: prepareLETOR4MeanNDCG},

		hitRate:      {name: "hits", alias: "success", prepare: prepareRelevance, walk: walkHits},
		pairAccuracy: {name: "pair-accuracy", prepare: preparePairs, walk: walkPairs},
		gradedRBP:    {name: "graded-rbp", param: persistence, graded: true, prepare: prepareGradedRBP},
	}
}

func prepareDCG(e *evaluator, labels []float32) (bool, error) {
	e.weights = e.discounts(e.metric.depth(len(labels)))
	return true, e.setValues(labels, e.gain.Of)
}

func prepareNDCG(e *evaluator, labels []float32) (bool, error) {
	if _, err := prepareDCG(e, labels); err != nil {
		return false, err
	}
	e.norm = e.sum(e.ideal())
	return e.norm > 0, nil
}

// letor4Discount is 1 for the first two ranks and 1/log2(rank) for the others, the
// discount of Järvelin & Kekäläinen (2002) with a logarithm to the base 2.
func letor4Discount(rank int) float64 { return 1 / math.Log2(float64(max(rank, 2))) }

func prepareLETOR4NDCG(e *evaluator, labels []float32) (bool, error) {
	if err := e.setValues(labels, e.gain.Of); err != nil {
		return false, err
	}
	e.setWeights(len(labels), letor4Discount)
	e.norm = e.sum(e.ideal())
	defined := e.norm > 0
	if len(labels) < e.metric.cutoff {
		e.norm = math.Inf(1)
	}
	return defined, nil
}

// prepareLETOR4MeanNDCG writes the mean as one sum over ranks, in which rank r
// counts θ_r Σ_{k≥r} 1/(ideal DCG@k) / (number of cutoffs).
func prepareLETOR4MeanNDCG(e *evaluator, labels []float32) (bool, error) {
	defined, err := prepareLETOR4NDCG(e, labels)
	if err != nil || !defined {
		return false, err
	}
	best := e.ideal()
	e.norm = float64(len(best.documents))
	ideal, below := e.sum(best), 0.0
	for k, d := range slices.Backward(best.documents) {
		last := e.weights[k] * e.values[d]
		below += 1 / ideal
		e.weights[k] *= below
		ideal -= last
	}
	return true, nil
}

func preparePrecision(e *evaluator, labels []float32) (bool, error) {
	ranks := e.metric.cutoff
	if ranks == 0 {
		ranks = max(len(labels), 1)
	}
	e.setWeights(len(labels), func(int) float64 { return 1 })
	e.norm = float64(ranks)
	_, err := prepareRelevance(e, labels)
	return true, err
}

func prepareRecall(e *evaluator, labels []float32) (bool, error) {
	defined, err := prepareRelevance(e, labels)
	e.setWeights(len(labels), func(int) float64 { return 1 })
	e.norm = floats.Sum(e.values)
	return defined, err
}

func prepareRBP(e *evaluator, labels []float32) (bool, error) {
	e.setPersistence(len(labels))
	_, err := prepareRelevance(e, labels)
	return true, err
}

// setPersistence sets the weights of RBP.
func (e *evaluator) setPersistence(documents int) {
	p := e.metric.param
	e.setWeights(documents, func(rank int) float64 { return (1 - p) * math.Pow(p, float64(rank-1)) })
}

func prepareGradedRBP(e *evaluator, labels []float32) (bool, error) {
	e.setPersistence(len(labels))
	most, err := e.gain.Of(float32(e.highestGrade))
	if err != nil {
		return false, err
	}
	e.norm = max(most, math.SmallestNonzeroFloat64) // all gains are 0 where the highest is
	return true, e.setValues(labels, func(label float32) (float64, error) {
		if float64(label) > e.highestGrade {
			return 0, fmt.Errorf("label %v is above %v, the highest grade", label, e.highestGrade)
		}
		return e.gain.Of(label)
	})
}

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
	e.chances = append(e.chances[:0], e.values...)
	slices.Sort(e.chances)
	return e.chances
}

// prepareARP writes ARP@k as a sum over the ranks up to k:
// (k+1) − Σ_{r≤k} (k+1−r) label_r / Σ label.
func prepareARP(e *evaluator, labels []float32) (bool, error) {
	beyond := e.metric.cutoff + 1
	if e.metric.cutoff == 0 {
		beyond = len(labels) + 1
	}
	e.setWeights(len(labels), func(rank int) float64 { return float64(rank - beyond) })
	err := e.setValues(labels, LinearGain.Of)
	e.base, e.norm = float64(beyond), floats.Sum(e.values)
	return e.norm > 0, err
}

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

// prepareRelevance sets values to 1 for relevant documents and 0 for the rest;
// a metric relative to the relevant documents is defined where there is one.
func prepareRelevance(e *evaluator, labels []float32) (bool, error) {
	err := e.setValues(labels, BinaryGain.Of)
	return floats.Sum(e.values) > 0, err
}

// walkAP is average precision. In a block of n documents, r of them relevant, rank i
// of the block has a relevant one with chance r/n, before which (i−1)(r−1)/(n−1) of
// the block's relevant documents stand in the mean (McSherry & Najork 2008, §2.4).
func walkAP(e *evaluator, r *ranking) float64 {
	depth, sum, found := e.depth(), 0.0, 0.0
	for first, block := range r.blocks() {
		hits, others := e.hits(block), float64(max(1, len(block)-1))
		chance := hits / float64(len(block))
		for i := 0; i < len(block) && first+i < depth; i++ {
			before := found + float64(i)*(hits-1)/others
			sum += chance * (before + 1) / float64(first+i+1)
		}
		found += hits
	}
	best := floats.Sum(e.values)
	if e.metric.cutoff > 0 {
		best = min(best, float64(e.metric.cutoff))
	}
	return sum / best
}

// walkRR is the reciprocal rank of the first relevant document. In the first block
// that has any, r of n documents, none stands before rank i+1 of the block with the
// chance of the same for rank i times (n − i − r)/(n − i), i from 0.
func walkRR(e *evaluator, r *ranking) float64 {
	depth := e.depth()
	for first, block := range r.blocks() {
		hits, n := e.hits(block), float64(len(block))
		if hits == 0 {
			continue
		}
		sum, none := 0.0, 1.0
		for i := 0; i < len(block) && first+i < depth; i++ {
			left := n - float64(i)
			sum += none * min(1, hits/left) / float64(first+i+1)
			none *= max(0, left-hits) / left
		}
		return sum
	}
	return 0
}

// walkHits is the chance that a relevant document is among the ranks that count: 1 where
// a block of relevant ones ends there, else that in the block at the cutoff, see walkRR.
func walkHits(e *evaluator, r *ranking) float64 {
	depth := e.depth()
	for first, block := range r.blocks() {
		hits, n := e.hits(block), float64(len(block))
		if hits == 0 {
			continue
		}
		none := 1.0
		for i := 0; i < len(block) && first+i < depth; i++ {
			left := n - float64(i)
			none *= max(0, left-hits) / left
		}
		return 1 - none
	}
	return 0
}

// walkPairs is the share of pairs in the right order. Every pair counts ½ but those of a
// document within the cutoff and another behind it, which count 1 or 0. The documents of
// a block are in any order, and within the cutoff with the chance of as many of them as
// it has ranks for.
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

// hits is the number of relevant documents in a block.
func (e *evaluator) hits(block []int) float64 {
	hits := 0.0
	for _, d := range block {
		if e.values[d] > 0 {
			hits++
		}
	}
	return hits
}

// walkERR is expected reciprocal rank. With M_j the mean over all j documents of a
// block of Π (1 − R), the chance to read on after j of them, a stop at rank j of the
// block has the chance M_{j−1} − M_j.
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
	e.chances = append(e.chances[:0], 1)
	for range ranks {
		e.chances = append(e.chances, 0)
	}
	for m, d := range block {
		for j := min(m+1, ranks); j > 0; j-- {
			with := float64(j) / float64(m+1)
			e.chances[j] = (1-with)*e.chances[j] + with*(1-e.values[d])*e.chances[j-1]
		}
	}
	return e.chances
}
