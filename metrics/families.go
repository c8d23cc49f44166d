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
		noMetric: {},

		// DCG@k = Σ_{r≤k} ρ_r / log2(r+1). Järvelin & Kekäläinen, TOIS 2002;
		// with this discount Burges et al., ICML 2005.
		dcg: {name: "dcg", prepare: prepareDCG},

		// NDCG@k = DCG@k / the DCG@k of the best ranking.
		ndcg: {name: "ndcg", prepare: prepareNDCG},

		// Precision@k = relevant documents among the first k / k, also where
		// the list is shorter than k, as trec_eval has it.
		precision: {name: "precision", alias: "p", prepare: preparePrecision},

		// Recall@k = relevant documents among the first k / relevant documents.
		recall: {name: "recall", prepare: prepareRecall},

		// AP@k = Σ_{r≤k, r relevant} precision@r / min(k, relevant documents):
		// LightGBM's, so that the best ranking has 1; trec_eval's map_cut
		// divides by all relevant documents.
		meanAveragePrecision: {name: "map", alias: "ap", prepare: prepareRelevance, walk: walkAP},

		// RR@k = 1 / rank of the first relevant document, 0 beyond k.
		reciprocalRank: {name: "mrr", alias: "rr", prepare: prepareRelevance, walk: walkRR},

		// ERR@k = Σ_{r≤k} 1/r · R_r Π_{i<r} (1 − R_i), R = (2^label − 1)/2^max.
		// Chapelle et al., CIKM 2009. max is the highest grade of the data set:
		// 4 as in the web collections.
		expectedReciprocalRank: {
			name:    "err",
			param:   param{"max", 4, "a label from 1 to 31", func(v float64) bool { return v >= 1 && v <= maxExp2Label }},
			prepare: prepareERR,
			walk:    walkERR,
		},

		// RBP@k = (1 − p) Σ_{r≤k} p^(r−1) [r relevant]. Moffat & Zobel, TOIS
		// 2008, whose middle value of p is the default.
		rankBiasedPrecision: {
			name:    "rbp",
			param:   param{"p", 0.8, "a persistence between 0 and 1", func(v float64) bool { return v > 0 && v < 1 }},
			prepare: prepareRBP,
		},

		// ARP = Σ_d label_d · rank_d / Σ_d label_d. Wang et al. (LambdaLoss),
		// CIKM 2018. ARP@k: documents after rank k count as if at rank k+1, so
		// that moving a relevant document up never does harm.
		averageRelevancePosition: {name: "arp", lowerIsBetter: true, prepare: prepareARP},

		// The two of LETOR 4.0's evaluation script (Eval-Score-4.0.pl, Xu & Liu
		// 2009): NDCG with the discounts of letor4Discount in both the DCG and
		// the best one, 0 at cutoffs beyond the end of the list; and its mean
		// over all cutoffs from 1 to the length of the list (or k).
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

// letor4Discount is 1 for the first two ranks and 1/log2(rank) for the others
// (Järvelin & Kekäläinen's of 2002, with 2 as the base of the logarithm).
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
			return 0, fmt.Errorf("label %v is above the highest grade %v of %s: write err(max=%v)", label, highest, j.metric, label)
		}
		gain, err := Exp2Gain.Of(label)
		return gain / math.Exp2(highest), err
	})
}

// prepareRelevance sets values to 1 for relevant documents and 0 for the rest;
// a metric relative to the relevant documents is defined where there is one.
func prepareRelevance(j *judge, labels []float32) (bool, error) {
	err := j.setValues(labels, func(label float32) (float64, error) {
		if err := checkLabel(label); err != nil {
			return 0, err
		}
		if label >= relevant {
			return 1, nil
		}
		return 0, nil
	})
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
