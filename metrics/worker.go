package metrics

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett"
)

// worker computes measures of one query after another, and keeps what they share.
type worker struct {
	Input
	order   ranking // by descending score
	weights map[weighting]*expectedWeights

	sampler plackett.Sampler
	ranked  []int // rankings of the query, numbered from 0, one after another
	seen    []int // seen[d] is the number of the given ranking that had d last
	count   int
}

func newWorker(in Input) *worker {
	return &worker{Input: in, weights: map[weighting]*expectedWeights{}}
}

// tolerance of expectations, relative to their scale: ten digits.
const tolerance = 1e-10

// weighting says which metrics share expectedWeights.
type weighting struct {
	name   string // the metric that the weights are named after
	cutoff int
	param  float64
}

// expectedWeights are those of a weighting.
func (w *worker) expectedWeights(key weighting) *expectedWeights {
	if w.weights[key] == nil {
		w.weights[key] = &expectedWeights{Expectation: plackett.Expectation{Tolerance: tolerance}, query: -1}
	}
	return w.weights[key]
}

// expectedWeights has Σ_k w_k P(rank of d = k) for the documents of a query, the expected
// weight of their ranks. The expectation of a sum follows from it for any values of the
// documents.
type expectedWeights struct {
	plackett.Expectation // keeps what it finds out about the weights
	query                int
	documents            []float64
}

// of gives those of a query, computed once for all measures.
func (x *expectedWeights) of(q query, compute func(out []float64) error) ([]float64, error) {
	if x.query == q.number {
		return x.documents, nil
	}
	x.query, x.documents = q.number, scratch.Sized(x.documents, len(q.scores))
	return x.documents, compute(x.documents)
}

// exposure is the expected exposure of a query's documents: the one given, or that of the
// rankings.
func (w *worker) exposure(q query) ([]float64, error) {
	if w.Exposure != nil {
		return w.Exposure[q.first : q.first+len(q.labels)], nil
	}
	x := w.expectedWeights(weighting{name: "exposure"})
	return x.of(q, func(out []float64) error {
		if w.Rankings == nil {
			return x.Expectation.Exposure(q.scores, w.Discounts, out)
		}
		clear(out)
		depth := min(len(w.Discounts), len(out))
		ranked, err := w.rankings(q, depth)
		for i, d := range ranked {
			out[d] += w.Discounts[i%depth] / float64(len(ranked)/depth)
		}
		return err
	})
}

// rankings are those of a query, given or drawn, down to the rank depth.
func (w *worker) rankings(q query, depth int) ([]int, error) {
	if w.Rankings != nil {
		return w.given(q, depth)
	}
	w.ranked = scratch.Sized(w.ranked, cmp.Or(w.Policy.Samples, 100)*depth)
	stream := plackett.Stream{Seed: w.Policy.Seed, Step: w.Policy.Step, Query: uint64(q.number)}
	return w.ranked, w.sampler.Draw(q.scores, stream, plackett.Rankings{Documents: w.ranked, Cutoff: depth})
}

// given are the given rankings of a query that are present, down to the rank depth.
func (w *worker) given(q query, depth int) ([]int, error) {
	r, documents := w.Rankings, len(q.scores)
	if depth > r.Cutoff {
		return nil, fmt.Errorf("%d ranks of its %d documents count, but the rankings have only %d", depth, documents, r.Cutoff)
	}
	for len(w.seen) < documents {
		w.seen = append(w.seen, 0)
	}
	w.ranked = w.ranked[:0]
	for i := range r.Samples {
		at := (q.number*r.Samples + i) * r.Cutoff
		ranking := r.Rows[at : at+depth]
		if depth == 0 || ranking[0] == -1 {
			continue
		}
		w.count++
		for k, row := range ranking {
			d := row - q.first
			if d < 0 || d >= documents {
				return nil, fmt.Errorf("sample %d, rank %d: row %d is not one of the query's, %d to %d", i, k+1, row, q.first, q.first+documents-1)
			}
			if w.seen[d] == w.count {
				return nil, fmt.Errorf("sample %d, rank %d: row %d has a rank above already", i, k+1, row)
			}
			w.seen[d] = w.count
			w.ranked = append(w.ranked, d)
		}
	}
	if len(w.ranked) == 0 && depth > 0 {
		return nil, errors.New("none of its rankings is present")
	}
	return w.ranked, nil
}
