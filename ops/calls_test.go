package ops_test

import (
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Every function of the package through what may happen to any.
func TestEveryOpWhateverMayHappenToIt(t *testing.T) {
	optest.CheckCalls(t, func(n optest.CallNodes) map[string]optest.Call {
		l, theta, sampler := n.Lists, n.Discounts, ops.NewSampler(3, 2, 1)
		dropout, err := ops.NewDropout(.5, 1)
		if err != nil {
			t.Fatal(err)
		}
		dropout.SetStep(1)
		// A layer needs a matrix: the scores as a column.
		column := G.Must(G.Reshape(G.Must(G.Mul(l.Scores, G.NewConstant(2.))), tensor.Shape{7, 1}))
		w := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"w", tensor.Float64, []float64{1.5})
		bias := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"b", tensor.Float64, []float64{.5})
		// Codes are no function of the scores, which the table is.
		codes := G.NewMatrix(l.Scores.Graph(), tensor.Float64, G.WithName(l.Scores.Name()+"codes"), G.WithShape(3, 1), G.WithValue(optest.Dense(tensor.Float64, []float64{2, 0, 2}, 3, 1)))
		table := G.Must(G.Reshape(G.Must(G.Mul(l.Scores, G.NewConstant(3.))), tensor.Shape{7, 1}))
		triple := G.NewMatrix(l.Scores.Graph(), tensor.Float64, G.WithName(l.Scores.Name()+"t"), G.WithShape(1, 3), G.WithValue(optest.Dense(tensor.Float64, []float64{1, .5, 2}, 1, 3)))
		zeros := optest.Vector(l.Scores.Graph(), l.Scores.Name()+"z", tensor.Float64, []float64{.1, .2, .3})
		all := map[string]optest.Call{
			"PLRank1":             {Func: ops.PLRank1, Args: []any{l, n.Gains, n.Rankings, theta}, Reads: "scores gains"},
			"PLRank2":             {Func: ops.PLRank2, Args: []any{l, n.Gains, n.Rankings, theta}, Reads: "scores gains"},
			"PLRankRB":            {Func: ops.PLRankRB, Args: []any{l, n.Gains, n.Rankings, theta}, Reads: "scores gains"},
			"PLRankBy":            {Func: ops.PLRankBy, Args: []any{plackett.PolicyGradient, l, n.Gains, n.Rankings, theta}, Reads: "scores gains"},
			"RewardFunc":          {Func: ops.RewardFunc, Args: []any{l, n.Rankings, func(_ int, y []int) float64 { return float64(y[0]) }}, Reads: "scores"},
			"ExpectedMetric":      {Func: ops.ExpectedMetric, Args: []any{l, n.Gains, theta}, Reads: "scores gains"},
			"Exposure":            {Func: ops.Exposure, Args: []any{l, n.Rankings, n.Rankings, theta}, Optional: []int{2}, Reads: "scores"},
			"ExpectedExposure":    {Func: ops.ExpectedExposure, Args: []any{l, theta}, Reads: "scores"},
			"LogProbs":            {Func: ops.LogProbs, Args: []any{l, n.Rankings}, Reads: "scores"},
			"LogSoftmax":          {Func: ops.LogSoftmax, Args: []any{l}, Reads: "scores"},
			"Rankings":            {Func: ops.Rankings, Args: []any{l, sampler}, Reads: "scores"},
			"IdealRankings":       {Func: ops.IdealRankings, Args: []any{l, n.Gains, sampler}, Optional: []int{2}, Reads: "gains"},
			"Gumbel":              {Func: ops.Gumbel, Args: []any{l, sampler}},
			"Ranks":               {Func: ops.Ranks, Args: []any{l}, Reads: "scores"},
			"SumOverDocuments":    {Func: ops.SumOverDocuments, Args: []any{l, l.Scores}},
			"SpreadOverDocuments": {Func: ops.SpreadOverDocuments, Args: []any{l, n.PerQuery}},
			"MeanOverQueries":     {Func: ops.MeanOverQueries, Args: []any{l, n.PerQuery}},
			"Gather":              {Func: ops.Gather, Args: []any{l.Scores, n.Lists.Offsets}},
			"Constant":            {Func: ops.Constant, Args: []any{l.Scores}},
			"Embed":               {Func: ops.Embed, Args: []any{codes, G.Nodes{table}}},
			"Attention":           {Func: ops.Attention, Args: []any{G.Must(ops.Dense(column, triple, zeros, ops.Identity)), l.Offsets, 1}, Optional: []int{1}},
			"LayerNorm":           {Func: ops.LayerNorm, Args: []any{G.Must(ops.Dense(column, triple, zeros, ops.Identity)), zeros, zeros}},
			"Drop":                {Func: ops.Drop, Args: []any{l.Scores, dropout, 0}},
		}
		for act := range ops.Activation(len(ops.ActivationNames())) {
			all["Dense "+act.String()] = optest.Call{Func: ops.Dense, Args: []any{column, w, bias, act}}
			all["DenseDrop "+act.String()] = optest.Call{Func: ops.DenseDrop, Args: []any{column, w, bias, act, dropout, 1 + int(act)}}
		}
		return all
	})
}
