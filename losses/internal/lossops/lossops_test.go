package lossops_test

import (
	"math"
	"testing"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// The differentiable functions of a vector x of all rows.
var listFuncs = map[string]optest.ListFunc{
	"SumOverGroups": func(l ops.Lists, _, groups *G.Node) (*G.Node, error) {
		return lossops.SumOverGroups(l, groups, l.Scores)
	},
	"Reciprocal": func(l ops.Lists, _, _ *G.Node) (*G.Node, error) {
		return lossops.Reciprocal(G.Must(G.Exp(l.Scores)))
	},
	"Scores":       func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return lossops.Scores(l) },
	"ApproxRanks":  func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return lossops.ApproxRanks(l, .7) },
	"RankBounds":   func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return lossops.RankBounds(l) },
	"SquaredError": func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) { return lossops.SquaredError(l, gains, gains) },
	"CrossEntropy": func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return lossops.CrossEntropy(l, G.Must(G.Abs(gains)), nil, 2)
	},
	"Thresholds": func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return lossops.Thresholds(l, G.Must(G.Abs(gains)), nil, 300)
	},
	"RelaxedGains": func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return lossops.RelaxedGains(l, gains, []float64{1, .6, .5}, 1.5)
	},
	"SortedGains": func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return lossops.SortedGains(l, gains, []float64{1, .6, .5}, 1.5)
	},
	"HingePairs": func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return lossops.HingePairs(l, gains, lossops.PairWeights{Each: .3, Swap: []float64{1, .5}})
	},
	"LogisticPairs": func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return lossops.LogisticPairs(l, gains, lossops.PairWeights{Each: .3, Swap: []float64{1, .5}, Distance: []float64{.2, .1, .4}})
	},
}

func TestVJPsAreFiniteDifferences(t *testing.T) { optest.CheckVJPs(t, listFuncs) }

func TestOpsHaveTheirValues(t *testing.T) {
	optest.CheckValue(t, "SumOverGroups", listFuncs["SumOverGroups"], 0, 4, 3, 4, 0, 2, 2, 0)
	optest.CheckValue(t, "Reciprocal", func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return lossops.Reciprocal(l.Scores) }, 1./9, 1, 1./3, 1./3, -1, 0, .5, 1./9)
	optest.CheckValue(t, "Documents", func(l ops.Lists, _, _ *G.Node) (*G.Node, error) { return lossops.Documents(l) }, 3, 0, 3)
	optest.CheckValue(t, "Nonzero", func(_ ops.Lists, gains, _ *G.Node) (*G.Node, error) { return lossops.Nonzero(gains) }, 1, 0, 1, 1, 1, 0, 1, 1)
	optest.CheckValue(t, "RankDiscounts", func(l ops.Lists, _, _ *G.Node) (*G.Node, error) {
		return lossops.RankDiscounts(l, []float64{8, 4}, .5)
	}, 0, .5, 8, 4, .5, 4, 8, 0)
	optest.CheckValue(t, "TargetExposure", func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return lossops.TargetExposure(l, gains, []float64{8, 4})
	}, 0, 0, 6, 6, 4, 0, 8, 0)
	optest.CheckValue(t, "TargetExposure, first rank", func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) {
		return lossops.TargetExposure(l, gains, []float64{8})
	}, 0, 0, 4, 4, 0, 0, 8, 0)
	optest.CheckValue(t, "GroupHeads", func(l ops.Lists, _, groups *G.Node) (*G.Node, error) { return lossops.GroupHeads(l, groups) }, 0, 1, 1, 0, 0, 1, 0, 0)
	optest.CheckValue(t, "CountPairs", func(l ops.Lists, gains, _ *G.Node) (*G.Node, error) { return lossops.CountPairs(l, gains) }, 2, 0, 3)
}

func TestNumbersThatAreNotFiniteAreErrorsOfTheRun(t *testing.T) {
	optest.CheckFault(t, "losses: RankBounds: query 0, row 1", []float64{0, math.Inf(1), 0}, nil, func(l ops.Lists, _ *G.Node) (*G.Node, error) { return lossops.RankBounds(l) })
	optest.CheckFault(t, "the temperature is 0: want a number above 0", nil, nil, func(l ops.Lists, _ *G.Node) (*G.Node, error) { return lossops.ApproxRanks(l, 0) })
	optest.CheckFault(t, "row 1: the gain is NaN", nil, []float64{0, math.NaN(), 0}, func(l ops.Lists, g *G.Node) (*G.Node, error) {
		return lossops.LogisticPairs(l, g, lossops.PairWeights{Each: 1})
	})
	optest.CheckFault(t, "row 0: the score is NaN", []float64{math.NaN(), 0, 0}, nil, func(l ops.Lists, g *G.Node) (*G.Node, error) {
		return lossops.LogisticPairs(l, g, lossops.PairWeights{Each: 1})
	})
	optest.CheckFault(t, "a weight is NaN", nil, nil, func(l ops.Lists, g *G.Node) (*G.Node, error) {
		return lossops.LogisticPairs(l, g, lossops.PairWeights{Swap: []float64{math.NaN()}})
	})
	optest.CheckFault(t, "losses: TargetExposure: query 0, row 0: the gain is NaN", nil, []float64{math.NaN(), 0, 0}, func(l ops.Lists, g *G.Node) (*G.Node, error) { return lossops.TargetExposure(l, g, []float64{1}) })
	optest.CheckFault(t, "losses: TargetExposure: no discounts", nil, nil, func(l ops.Lists, g *G.Node) (*G.Node, error) { return lossops.TargetExposure(l, g, nil) })
	optest.CheckFault(t, "losses: RankDiscounts: no discounts", nil, nil, func(l ops.Lists, g *G.Node) (*G.Node, error) { return lossops.RankDiscounts(l, nil, 0) })
	optest.CheckFault(t, "losses: CountPairs: no gains", nil, nil, func(l ops.Lists, g *G.Node) (*G.Node, error) { return lossops.CountPairs(l, nil) })
	optest.CheckFault(t, "losses: SumOverGroups: groups are of dtype float64: want [int]", nil, nil, func(l ops.Lists, g *G.Node) (*G.Node, error) { return lossops.SumOverGroups(l, g, g) })
}

// reinforce is Σ w·log π, whose gradient is an estimator's.
func reinforce(weights optest.Estimator) optest.Estimator {
	return func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
		w, err := weights(l, gains, rankings, discounts)
		if err != nil {
			return nil, err
		}
		logs, err := ops.LogProbs(l, rankings)
		if err != nil {
			return nil, err
		}
		return G.HadamardProd(w, logs)
	}
}

// The independent test vectors of the policy gradients.
func TestRewardsHaveTheGoldenGradients(t *testing.T) {
	optest.GoldenEstimators(t, map[string]optest.Estimator{
		"policy_gradient": reinforce(lossops.Rewards),
		"placement":       reinforce(lossops.RewardsToGo),
	})
}
