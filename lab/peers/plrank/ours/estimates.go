package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// A query is what an estimate is made of.
type query struct {
	Documents int     `json:"documents"`
	Cutoff    int     `json:"cutoff"`
	Samples   int     `json:"samples"`
	Spread    float64 `json:"spread"` // standard deviation of the scores
}

var queries = []query{
	{2, 5, 20, 1}, {7, 5, 20, 1}, {24, 5, 100, 1}, {125, 5, 100, 1}, {125, 10, 100, 1}, {125, 125, 20, 1},
	{24, 5, 100, 0.1}, {24, 5, 100, 3}, {125, 5, 1000, 3}, {1000, 10, 100, 1},
}

var estimators = []plackett.Estimator{plackett.PLRank1, plackett.PLRank2}

// writeEstimates writes scores, gains, full rankings, and our estimates of every query. Gains are
// those of labels 0 to 4.
func writeEstimates(path string) error {
	var arrays []npzfile.Array
	for i, q := range queries {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		scores, gains := make([]float64, q.Documents), make([]float64, q.Documents)
		for d := range scores {
			scores[d] = q.Spread * rng.NormFloat64()
			gains[d] = float64(int(1)<<rng.IntN(5) - 1)
		}
		rankings := plackett.Rankings{Documents: make([]int, q.Samples*q.Documents), Cutoff: q.Documents}
		var s plackett.Sampler
		if err := s.Draw(scores, plackett.Stream{Seed: 1, Query: uint64(i)}, rankings); err != nil {
			return err
		}
		add := func(name string, shape []int, data []float64) {
			arrays = append(arrays, npzfile.Array{Name: fmt.Sprintf("%s-%d", name, i), Shape: shape, Data: data})
		}
		add("scores", []int{q.Documents}, scores)
		add("gains", []int{q.Documents}, gains)
		add("rankings", []int{q.Samples, q.Documents}, floats(rankings.Documents))
		for _, e := range estimators {
			var k plackett.Kernel
			lambda := make([]float64, q.Documents)
			if _, err := k.Gradient(e, scores, gains, metrics.Discounts(min(q.Cutoff, q.Documents)), rankings, lambda); err != nil {
				return err
			}
			add(e.String(), []int{q.Documents}, lambda)
		}
	}
	return npzfile.Write(path, queries, arrays)
}

func floats(ints []int) []float64 {
	list := make([]float64, len(ints))
	for i, v := range ints {
		list[i] = float64(v)
	}
	return list
}
