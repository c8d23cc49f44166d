package lossops_test

import (
	"testing"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/losses/internal/lossops"
)

// Every function of the package through what may happen to any.
func TestEveryOpWhateverMayHappenToIt(t *testing.T) {
	optest.CheckCalls(t, func(n optest.CallNodes) map[string]optest.Call {
		l, theta := n.Lists, n.Discounts
		return map[string]optest.Call{
			"ApproxRanks":     {Func: lossops.ApproxRanks, Args: []any{l, .7}, Reads: "scores"},
			"RankBounds":      {Func: lossops.RankBounds, Args: []any{l}, Reads: "scores"},
			"RankDiscounts":   {Func: lossops.RankDiscounts, Args: []any{l, theta, .5}, Reads: "scores"},
			"TargetExposure":  {Func: lossops.TargetExposure, Args: []any{l, n.Gains, theta}, Reads: "gains"},
			"LogisticPairs":   {Func: lossops.LogisticPairs, Args: []any{l, n.Gains, lossops.PairWeights{Each: 1}}, Optional: []int{2}, Reads: "scores gains"},
			"HingePairs":      {Func: lossops.HingePairs, Args: []any{l, n.Gains, lossops.PairWeights{Each: 1}}, Optional: []int{2}, Reads: "scores gains"},
			"ApproxDiscounts": {Func: lossops.ApproxDiscounts, Args: []any{l, n.Noise, .7}, Reads: "scores"},
			"SquaredError":    {Func: lossops.SquaredError, Args: []any{l, n.Gains, nil}, Optional: []int{2}, Reads: "scores"},
			"CrossEntropy":    {Func: lossops.CrossEntropy, Args: []any{l, n.Gains, nil, 3.0}, Optional: []int{2}, Reads: "scores"},
			"Thresholds":      {Func: lossops.Thresholds, Args: []any{l, n.Gains, nil, 3}, Optional: []int{2}, Reads: "scores"},
			"RelaxedGains":    {Func: lossops.RelaxedGains, Args: []any{l, n.Gains, theta, .7}, Reads: "scores gains"},
			"SortedGains":     {Func: lossops.SortedGains, Args: []any{l, n.Gains, theta, .7}, Reads: "scores gains"},
			"NoisyTarget":     {Func: lossops.NoisyTarget, Args: []any{l, n.Gains, n.Noise}, Reads: "gains"},
			"Reward":          {Func: lossops.Reward, Args: []any{l, n.Gains, n.Rankings, func(gains []float64) float64 { return gains[0] }}, Reads: "scores gains"},
			"CountPairs":      {Func: lossops.CountPairs, Args: []any{l, n.Gains}, Reads: "gains"},
			"Order":           {Func: lossops.Order, Args: []any{l, n.Noise}, Reads: "scores"},
			"RankPairs":       {Func: lossops.RankPairs, Args: []any{l, n.Gains, n.Ranked, theta}, Reads: "gains"},
			"SumOverPairs":    {Func: lossops.SumOverPairs, Args: []any{l, n.Noise, 1}},
			"StochasticRank":  {Func: lossops.StochasticRank, Args: []any{l, n.Gains, n.Noise, n.Ranked, theta}, Reads: "gains"},
			"Rewards":         {Func: lossops.Rewards, Args: []any{l, n.Gains, n.Rankings, theta}, Reads: "gains"},
			"RewardsToGo":     {Func: lossops.RewardsToGo, Args: []any{l, n.Gains, n.Rankings, theta}, Reads: "gains"},
			"SumOverGroups":   {Func: lossops.SumOverGroups, Args: []any{l, n.Groups, l.Scores}},
			"GroupHeads":      {Func: lossops.GroupHeads, Args: []any{l, n.Groups}},
			"Documents":       {Func: lossops.Documents, Args: []any{l}},
			"Reciprocal":      {Func: lossops.Reciprocal, Args: []any{l.Scores}},
			"Checked":         {Func: lossops.Checked, Args: []any{l, "gain", n.Gains, true}, Reads: "gains"},
			"Scores":          {Func: lossops.Scores, Args: []any{l}, Reads: "scores"},
			"CheckedQueries":  {Func: lossops.CheckedQueries, Args: []any{l, "weight", n.PerQuery}},
			"InRange":         {Func: lossops.InRange, Args: []any{l, n.PerQuery, []lossops.Scale{{What: "gain", Of: n.Gains, Degree: 1, Factor: 1}}}, Optional: []int{1, 2}},
			"Nonzero":         {Func: lossops.Nonzero, Args: []any{l.Scores}},
		}
	})
}
