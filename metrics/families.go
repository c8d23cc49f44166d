package metrics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

type kind int

const (
	noMetric kind = iota
	dcg
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
)

// family is all metrics of one name: how to read them and how to compute them.
// The package comment has their formulas and sources.
type family struct {
	name, alias   string
	param         param
	lowerIsBetter bool
	// prepare sets up the judge for one query with the given labels and tells
	// whether the metric is defined for it.
	prepare func(j *judge, labels []float32) (bool, error)
	// walk is the value of a ranking; nil for the metrics that are a weighted
	// sum over ranks.
	walk func(j *judge, ranking []int) float64
}

// param is a metric's own parameter; the zero value is none.
type param struct {
	name     string
	standard float64
	want     string
	valid    func(v float64) bool
}

// relevant is the lowest label of a relevant document, for the metrics that
// know only relevant and not.
const relevant = 1

// families is filled by init: the functions in it refer to Metric, whose
// methods refer to families.
var families []family

func init() {
	families = []family{
		noMetric:  {},
		dcg:       {name: "dcg", prepare: prepareDCG},
		ndcg:      {name: "ndcg", prepare: prepareNDCG},
		precision: {name: "precision", alias: "p", prepare: preparePrecision},
		recall:    {name: "recall", prepare: prepareRecall},

		meanAveragePrecision: {name: "map", alias: "ap", prepare: prepareRelevance, walk: walkAP},
		reciprocalRank:       {name: "mrr", alias: "rr", prepare: prepareRelevance, walk: walkRR},
		expectedReciprocalRank: {
			name:    "err",
			param:   param{"max", 4, "a label from 1 to 31", func(v float64) bool { return v >= 1 && v <= maxExp2Label }},
			prepare: prepareERR,
			walk:    walkERR,
		},
		rankBiasedPrecision: {
			name:    "rbp",
			param:   param{"p", 0.8, "a persistence between 0 and 1", func(v float64) bool { return v > 0 && v < 1 }},
			prepare: prepareRBP,
		},
		averageRelevancePosition: {name: "arp", lowerIsBetter: true, prepare: prepareARP},

		letor4NDCG:     {name: "letor4-ndcg", prepare: prepareLETOR4NDCG},
		letor4MeanNDCG: {name: "letor4-meanndcg", prepare: prepareLETOR4MeanNDCG},
	}
}

func prepareDCG(j *judge, labels []float32) (bool, error) {
	j.weights = j.discounts(j.metric.depth(len(labels)))
	return true, j.setValues(labels, j.gain.Of)
}

func prepareNDCG(j *judge, labels []float32) (bool, error) {
	if _, err := prepareDCG(j, labels); err != nil {
		return false, err
	}
	j.norm = j.sum(j.ideal())
	return j.norm > 0, nil
}

// letor4Discount is 1 for the first two ranks and 1/log2(rank) for the others, the
// discount of Järvelin & Kekäläinen (2002) with a logarithm to the base 2.
func letor4Discount(rank int) float64 { return 1 / math.Log2(float64(max(rank, 2))) }

func prepareLETOR4NDCG(j *judge, labels []float32) (bool, error) {
	if err := j.setValues(labels, j.gain.Of); err != nil {
		return false, err
	}
	j.setWeights(len(labels), letor4Discount)
	j.norm = j.sum(j.ideal())
	defined := j.norm > 0
	if len(labels) < j.metric.cutoff {
		j.norm = math.Inf(1)
	}
	return defined, nil
}

// prepareLETOR4MeanNDCG writes the mean as one sum over ranks, in which rank r
// counts θ_r Σ_{k≥r} 1/(ideal DCG@k) / (number of cutoffs).
func prepareLETOR4MeanNDCG(j *judge, labels []float32) (bool, error) {
	defined, err := prepareLETOR4NDCG(j, labels)
	if err != nil || !defined {
		return false, err
	}
	best := j.ideal()
	j.norm = float64(len(best))
	ideal, below := j.sum(best), 0.0
	for k := len(best) - 1; k >= 0; k-- {
		last := j.weights[k] * j.values[best[k]]
		below += 1 / ideal
		j.weights[k] *= below
		ideal -= last
	}
	return true, nil
}

func preparePrecision(j *judge, labels []float32) (bool, error) {
	ranks := j.metric.cutoff
	if ranks == 0 {
		ranks = max(len(labels), 1)
	}
	j.setWeights(len(labels), func(int) float64 { return 1 })
	j.norm = float64(ranks)
	_, err := prepareRelevance(j, labels)
	return true, err
}

func prepareRecall(j *judge, labels []float32) (bool, error) {
	defined, err := prepareRelevance(j, labels)
	j.setWeights(len(labels), func(int) float64 { return 1 })
	j.norm = floats.Sum(j.values)
	return defined, err
}

func prepareRBP(j *judge, labels []float32) (bool, error) {
	p := j.metric.param
	j.setWeights(len(labels), func(rank int) float64 { return (1 - p) * math.Pow(p, float64(rank-1)) })
	_, err := prepareRelevance(j, labels)
	return true, err
}

// prepareARP writes ARP@k as a sum over the ranks up to k:
// (k+1) − Σ_{r≤k} (k+1−r) label_r / Σ label.
func prepareARP(j *judge, labels []float32) (bool, error) {
	beyond := j.metric.cutoff + 1
	if j.metric.cutoff == 0 {
		beyond = len(labels) + 1
	}
	j.setWeights(len(labels), func(rank int) float64 { return float64(rank - beyond) })
	err := j.setValues(labels, LinearGain.Of)
	j.base, j.norm = float64(beyond), floats.Sum(j.values)
	return j.norm > 0, err
}

func prepareERR(j *judge, labels []float32) (bool, error) {
	highest := j.metric.param
	return true, j.setValues(labels, func(label float32) (float64, error) {
		if float64(label) > highest {
			higher := j.metric
			higher.param = float64(label)
			return 0, fmt.Errorf("label %v is above %v, the highest grade of %v: use %v", label, highest, j.metric, higher)
		}
		gain, err := Exp2Gain.Of(label)
		return gain / math.Exp2(highest), err
	})
}

// prepareRelevance sets values to 1 for relevant documents and 0 for the rest;
// a metric relative to the relevant documents is defined where there is one.
func prepareRelevance(j *judge, labels []float32) (bool, error) {
	err := j.setValues(labels, BinaryGain.Of)
	return floats.Sum(j.values) > 0, err
}

func walkAP(j *judge, ranking []int) float64 {
	sum, found := 0.0, 0
	for k, d := range ranking {
		if j.values[d] > 0 {
			found++
			sum += float64(found) / float64(k+1)
		}
	}
	best := floats.Sum(j.values)
	if j.metric.cutoff > 0 {
		best = min(best, float64(j.metric.cutoff))
	}
	return sum / best
}

func walkRR(j *judge, ranking []int) float64 {
	for k, d := range ranking {
		if j.values[d] > 0 {
			return 1 / float64(k+1)
		}
	}
	return 0
}

func walkERR(j *judge, ranking []int) float64 {
	sum, reading := 0.0, 1.0
	for k, d := range ranking {
		sum += reading * j.values[d] / float64(k+1)
		reading *= 1 - j.values[d]
	}
	return sum
}
