package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	f64 "gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
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

var estimators = []plackett.Estimator{plackett.PolicyGradient, plackett.PLRank1, plackett.PLRank2}

// noisy is the number of samples of LambdaLoss, whose cost at the authors' grows with the pairs.
const noisy = 4

// writeEstimates writes scores, gains, full rankings, and our estimates of every query. Gains are
// the gains of labels 0 to 4.
func writeEstimates(folder string, _ int) error {
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
		noise := gumbel(rng, noisy*q.Documents)
		lambda, err := lambdaLoss(scores, gains, noise, q.Cutoff)
		if err != nil {
			return err
		}
		add("noise", []int{noisy, q.Documents}, noise)
		add("lambdaloss", []int{q.Documents}, lambda)
	}
	return npzfile.Write(filepath.Join(folder, "estimates.npz"), queries, arrays)
}

// lambdaLoss is minus the derivative of LambdaLoss with respect to the scores of one query.
func lambdaLoss(scores, gains, noise []float64, cutoff int) ([]float64, error) {
	g := G.NewGraph()
	value := func(name string, x any, shape ...int) *G.Node {
		t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x))
		return G.NodeFromAny(g, t, G.WithName(name))
	}
	d := len(scores)
	m := value("scores", scores, d)
	loss, err := losses.Pairwise(losses.Log2, losses.PairWeights{Distance: 1, Noise: true}).Mean(losses.Batch{
		Lists: ops.Lists{Scores: m, Offsets: value("offsets", []int{0, d}, 2)}, Gains: value("gains", gains, d),
		Noise: value("noise", noise, len(noise)), Discounts: metrics.Discounts(min(cutoff, d)),
	})
	if err != nil {
		return nil, err
	}
	derivative, err := G.Grad(loss, m)
	if err != nil {
		return nil, err
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	lambda := slices.Clone(derivative[0].Value().Data().([]float64))
	f64.Scale(-1, lambda)
	return lambda, nil
}

// gumbel draws n standard Gumbel variates.
func gumbel(rng *rand.Rand, n int) []float64 {
	drawn := make([]float64, n)
	for i := range drawn {
		drawn[i] = -math.Log(-math.Log(1 - rng.Float64()))
	}
	return drawn
}

func floats(ints []int) []float64 {
	list := make([]float64, len(ints))
	for i, v := range ints {
		list[i] = float64(v)
	}
	return list
}
