package metrics

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/intents"
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

// stopOf returns the probability R of expected reciprocal rank that a reader stops at a document.
func stopOf(e *evaluator, label float32) (float64, error) {
	highest := cmp.Or(e.param, e.highestGrade)
	switch {
	case label > maxExp2Label:
		return 0, fmt.Errorf("label %v is too high for %v, which has 2^label in it whatever the gain: want at most %d, or another metric",
			label, e.family.name, maxExp2Label)
	case float64(label) > highest:
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

// letor4Weight returns 1 for the first two ranks and 1/log2(rank) for the others, the
// discount of Järvelin & Kekäläinen (2002) with a logarithm to the base 2.
func letor4Weight(rank, _ float64) float64 { return 1 / math.Log2(max(rank, 2)) }

// rbpWeight returns the weight of a rank for a reader who goes on to the next rank with probability p.
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

// finishARP writes ARP@k as a sum over the ranks up to k, where not all documents have one of them:
// (k+1) − Σ_{r≤k} (k+1−r) label_r / Σ label.
func finishARP(e *evaluator) (bool, error) {
	if e.unranked || e.depth() < len(e.values) {
		e.base = float64(e.ranks() + 1)
		floats.AddConst(-e.base, e.weights)
	}
	return bySumOfValues(e)
}

func finishLETOR4NDCG(e *evaluator) (bool, error) {
	defined, err := byIdeal(e)
	if len(e.values) < e.cutoff {
		e.norm = math.Inf(1)
	}
	return defined, err
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

// sortedValues returns the values in ascending order, in a slice that the caller may change.
func (e *evaluator) sortedValues() []float64 {
	e.scratch = append(e.scratch[:0], e.values...)
	slices.Sort(e.scratch)
	return e.scratch
}

// The metrics that are not sums over ranks.

// walkAP returns average precision. In a block of n documents, r of them relevant, rank i of the
// block has a relevant one with probability r/n, and above it are on average
// (i−1)(r−1)/(n−1) of the block's relevant documents (McSherry & Najork 2008, §2.4).
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
	return sum / min(e.norm, float64(e.ranks()))
}

// walkRR returns the reciprocal rank of the first relevant document.
func walkRR(e *evaluator, r *ranking) float64 {
	reciprocal, _ := e.firstHit(r)
	return reciprocal
}

// walkHits returns the probability that a relevant document is among the ranks that count.
func walkHits(e *evaluator, r *ranking) float64 {
	_, none := e.firstHit(r)
	return 1 - none
}

// firstHit returns the expected reciprocal rank of the first relevant document, and the
// probability that there is none. The document is in the first block that has a relevant one,
// r of n. From rank i of the block to rank i+1, i from 0, the probability that no relevant
// document is above falls by the factor (n − i − r)/(n − i).
func (e *evaluator) firstHit(r *ranking) (reciprocal, none float64) {
	depth, none := e.depth(), 1.0
	for first, block := range r.blocks() {
		hits := e.hits(block)
		if hits == 0 {
			continue
		}
		for i := 0; i < len(block) && first+i < depth; i++ {
			left := float64(len(block) - i)
			reciprocal += none * min(1, hits/left) / float64(first+i+1)
			none *= max(0, left-hits) / left
		}
		break
	}
	return reciprocal, none
}

// hits returns the number of relevant documents in a block.
func (e *evaluator) hits(block []int) float64 {
	hits := 0.0
	for _, d := range block {
		if e.values[d] > 0 {
			hits++
		}
	}
	return hits
}

// walkERR returns expected reciprocal rank.
func walkERR(e *evaluator, r *ranking) float64 { return e.cascade(r, e.values) }

// walkIntents returns the sum over intents of J·(1 − α)^{J above}, as the probability αJ to stop, over α.
func walkIntents(e *evaluator, r *ranking) float64 {
	sum := 0.0
	for stop := range e.eachIntent() {
		sum += e.cascade(r, stop)
	}
	return sum / e.param / e.norm
}

// eachIntent yields α J of the documents for every intent of the query.
func (e *evaluator) eachIntent() iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		ints := len(e.intents) / max(1, len(e.values))
		for at, bit := range intents.All(e.intents, ints) {
			for d := range e.values {
				e.values[d] = 0
				if e.intents[at]&bit != 0 {
					e.values[d] = e.param
				}
				at += ints
			}
			if !yield(e.values) {
				return
			}
		}
	}
}

func byGreedyIdeal(e *evaluator) (bool, error) {
	e.norm = idealAlphaDCG(e.intents, len(e.values), e.ids, e.param, e.weights)
	return e.norm > 0, nil
}

// byBestOfEachIntent divides by the value of a ranking whose documents all have every intent of the query.
func byBestOfEachIntent(e *evaluator) (bool, error) {
	e.norm = 0
	for k := range e.ranks() {
		e.norm += math.Pow(1-e.param, float64(k)) / float64(k+1)
	}
	count := 0.0
	for range intents.All(e.intents, len(e.intents)/max(1, len(e.values))) {
		count++
	}
	e.norm *= count
	return e.norm > 0, nil
}

// cascade returns Σ_k weights[k]·P(a reader, who stops at each document with its probability, stops at
// rank k). With M_j the mean of Π (1 − stop) over all choices of j
// documents of a block, the probability to read on after j of them, a stop at rank j of the
// block has the probability M_{j−1} − M_j.
func (e *evaluator) cascade(r *ranking, stop []float64) float64 {
	depth, sum, reading := e.depth(), 0.0, 1.0
	for first, block := range r.blocks() {
		if first >= depth {
			break
		}
		readOn := e.readOn(block, stop, min(len(block), depth-first))
		for i := 1; i < len(readOn); i++ {
			sum += reading * (readOn[i-1] - readOn[i]) * e.weights[first+i-1]
		}
		reading *= readOn[len(readOn)-1]
	}
	return sum
}

// readOn returns M_0 … M_ranks, where M_j is the mean of Π_{d∈S} (1 − stop_d) over all sets S of j
// documents of the block. Of the sets of j of the first m documents, a share of j/m
// has the m-th.
func (e *evaluator) readOn(block []int, stop []float64, ranks int) []float64 {
	e.scratch = append(append(e.scratch[:0], 1), make([]float64, ranks)...)
	for m, d := range block {
		for j := min(m+1, ranks); j > 0; j-- {
			with := float64(j) / float64(m+1)
			e.scratch[j] = (1-with)*e.scratch[j] + with*(1-stop[d])*e.scratch[j-1]
		}
	}
	return e.scratch
}

// walkPairs returns the share of pairs in the right order. A pair counts ½, but 1 or 0 if one of
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
