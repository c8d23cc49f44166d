package metrics

import (
	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/plackett"
)

// The metrics of this file know only relevant and irrelevant documents.

// prepareRelevance sets values to 1 for relevant documents and 0 for the rest. It tells
// whether there is a relevant one: only then is a metric relative to them defined.
func prepareRelevance(e *evaluator, labels []float32) (bool, error) {
	err := e.setValues(labels, BinaryGain.Of)
	return floats.Sum(e.values) > 0, err
}

func preparePrecision(e *evaluator, labels []float32) (bool, error) {
	ranks := e.metric.cutoff
	if ranks == 0 {
		ranks = max(len(labels), 1)
	}
	e.setWeights(len(labels), func(float64) float64 { return 1 })
	e.norm = float64(ranks)
	_, err := prepareRelevance(e, labels)
	return true, err
}

func prepareRecall(e *evaluator, labels []float32) (bool, error) {
	defined, err := prepareRelevance(e, labels)
	e.setWeights(len(labels), func(float64) float64 { return 1 })
	e.norm = floats.Sum(e.values)
	return defined, err
}

// walkAP is average precision. In a block of n documents, r of them relevant, rank i of the
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
	best := floats.Sum(e.values)
	if e.metric.cutoff > 0 {
		best = min(best, float64(e.metric.cutoff))
	}
	return sum / best
}

// walkRR is the reciprocal rank of the first relevant document. In the first block that has
// any, r of n documents, the probability that none is above rank i+1 of the block is that
// for rank i times (n − i − r)/(n − i), i from 0.
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

// walkHits is the probability that a relevant document is among the ranks that count. It is
// found in the first block that has any, as in walkRR.
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

// expectedRR is the expected reciprocal rank of the first relevant document.
func expectedRR(e *evaluator, p *expectedWeights, q query) (float64, error) {
	return e.expectedFirst(p, q, func(rank float64) float64 { return 1 / rank })
}

// expectedHits is the probability that the first relevant document is within the cutoff.
func expectedHits(e *evaluator, p *expectedWeights, q query) (float64, error) {
	return e.expectedFirst(p, q, func(float64) float64 { return 1 })
}

// expectedFirst is the expected weight of the rank of the first relevant document. The
// first of them to be ranked is like a single document with the sum of their weights exp m,
// the rates at which they arrive (see plackett.Expectation).
func (e *evaluator) expectedFirst(p *expectedWeights, q query, weight func(rank float64) float64) (float64, error) {
	compact := make([]float64, len(q.scores))
	plackett.Compact(q.scores, compact)
	p.scores = p.scores[:0]
	var relevant []float64
	for d, score := range compact {
		if e.values[d] > 0 {
			relevant = append(relevant, score)
		} else {
			p.scores = append(p.scores, score)
		}
	}
	p.scores = append(p.scores, floats.LogSumExp(relevant))
	e.setWeights(len(p.scores), weight)
	p.out = append(p.out[:0], p.scores...)
	err := p.expectation.Exposure(p.scores, e.weights, p.out)
	return p.out[len(p.out)-1], err
}
