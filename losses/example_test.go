package losses_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// The loss of two queries, of three and of two documents, and its gradient.
func ExampleParse_name() {
	g := G.NewGraph()
	scores := G.NewVector(g, tensor.Float64, G.WithName("scores"), G.WithShape(5),
		G.WithValue(tensor.New(tensor.WithBacking([]float64{0, 1, 0, 0, 0}))))
	gains := G.NewVector(g, tensor.Float64, G.WithName("gains"), G.WithShape(5),
		G.WithValue(tensor.New(tensor.WithBacking([]float64{3, 0, 0, 0, 1}))))
	offsets := G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(3),
		G.WithValue(tensor.New(tensor.WithBacking([]int{0, 3, 5}))))

	build, err := losses.Parse("plrank-rb")
	if err != nil {
		panic(err)
	}
	loss, err := losses.Mean(build, losses.Batch{
		Lists:     ops.Lists{Scores: scores, Offsets: offsets},
		Gains:     gains,
		Sampler:   ops.NewSampler(100, 1, 42),
		Discounts: []float64{1},
	})
	if err != nil {
		panic(err)
	}
	gradient, err := G.Grad(loss, scores)
	if err != nil {
		panic(err)
	}
	var value, slope G.Value
	G.Read(loss, &value)
	G.Read(gradient[0], &slope)
	if err := G.NewTapeMachine(g).RunAll(); err != nil {
		panic(err)
	}
	// With a cutoff of 1 PL-Rank-RB has no variance: these are the exact numbers.
	fmt.Printf("%.3f %.3f\n", value.Data(), slope.Data())
	// Output: -0.568 [-0.251 0.183 0.067 0.125 -0.125]
}

// show prints a loss on the scores 1, ½ and 2 of three documents with the gains 3, 0
// and 1, and its gradient.
func show(f losses.Func) {
	g := G.NewGraph()
	numbers := func(name string, x ...float64) *G.Node {
		return G.NewVector(g, tensor.Float64, G.WithName(name), G.WithShape(len(x)), G.WithValue(tensor.New(tensor.WithBacking(x))))
	}
	scores := numbers("scores", 1, 0.5, 2)
	groups := G.NewVector(g, tensor.Int, G.WithName("groups"), G.WithShape(3), G.WithValue(tensor.New(tensor.WithBacking([]int{0, 0, 1}))))
	loss, err := losses.Mean(f, losses.Batch{
		Lists:        ops.Lists{Scores: scores},
		Gains:        numbers("gains", 3, 0, 1),
		Labels:       numbers("labels", 2, 0, 1),
		HighestGrade: 2,
		Groups:       groups,
		Sampler:      ops.NewSampler(100, 2, 1),
		Exposure:     ops.NewSampler(1000, 2, 2),
		Discounts:    metrics.Discounts(2),
	})
	if err != nil {
		panic(err)
	}
	gradient, err := G.Grad(loss, scores)
	if err != nil {
		panic(err)
	}
	var value, slope G.Value
	G.Read(loss, &value)
	G.Read(gradient[0], &slope)
	if err := G.NewTapeMachine(g).RunAll(); err != nil {
		panic(err)
	}
	fmt.Printf("%.2f %.2f\n", value.Data(), slope.Data())
}

// Losses by name: on scores alone, from sampled rankings or noise, and of fairness.
func ExampleParse_all() {
	for _, name := range []string{
		"softmax", "xe-ndcg", "listnet", "ranknet", "hinge", "lambdarank", "ndcg-loss1", "ndcg-loss2", "ndcg-loss2pp",
		"approxndcg", "gumbel-approxndcg", "neuralndcg", "pirank", "mse", "query-rmse", "ordinal", "cross-entropy", "listmle", "lambdaloss-deterministic",
		"stochasticrank", "ee-l(plrank-rb)", "group-exposure(plrank-rb)", "group-treatment(plrank-rb)",
	} {
		f, err := losses.Parse(name)
		if err != nil {
			panic(err)
		}
		fmt.Print(name, ": ")
		show(f)
	}
	// Output:
	// softmax: 1.21 [-0.52 0.14 0.38]
	// xe-ndcg: 1.22 [-0.40 0.06 0.35]
	// listnet: 1.26 [-0.43 0.05 0.38]
	// ranknet: 0.66 [-0.37 0.19 0.18]
	// hinge: 0.83 [-0.67 0.33 0.33]
	// lambdarank: 0.82 [-0.50 0.36 0.14]
	// ndcg-loss1: 1.55 [-0.73 0.36 0.37]
	// ndcg-loss2: 0.64 [-0.38 0.21 0.17]
	// ndcg-loss2pp: 7.26 [-4.30 2.47 1.83]
	// approxndcg: -0.72 [-0.04 0.05 -0.01]
	// gumbel-approxndcg: -0.73 [-0.04 0.03 0.00]
	// neuralndcg: -0.65 [-0.21 0.16 0.04]
	// pirank: -0.70 [-0.22 0.16 0.06]
	// mse: 0.75 [-0.67 0.33 0.67]
	// query-rmse: 2.17 [-2.33 0.67 1.67]
	// ordinal: 1.21 [-0.33 0.26 0.15]
	// cross-entropy: 0.80 [-0.09 0.21 0.13]
	// listmle: 1.67 [-0.77 0.32 0.45]
	// lambdaloss-deterministic: 2.34 [-1.38 0.77 0.61]
	// stochasticrank: -2.42 [-0.57 0.50 0.09]
	// ee-l(plrank-rb): 0.37 [-0.35 0.25 0.10]
	// group-exposure(plrank-rb): 0.15 [-0.11 -0.07 0.18]
	// group-treatment(plrank-rb): 0.28 [-0.14 -0.09 0.22]
}

// A mixture of relevance and fairness.
func ExampleParse() {
	f, err := losses.Parse("plrank-rb + 0.5*disparity")
	if err != nil {
		panic(err)
	}
	show(f)
	_, err = losses.Parse("plrank-rb + 0.5 disparity")
	fmt.Println(err)
	// Output:
	// -1.54 [-1.07 0.67 0.40]
	// losses: "plrank-rb + 0.5 disparity", column 17: want * and a loss after the weight 0.5
}

// Minus the expected metric, exactly, and by estimators from rankings. The value of the policy gradient is a surrogate's: only its
// gradient is of use.
func ExampleExpected() {
	for _, by := range []losses.Estimator{
		losses.Exact, losses.Sampled(plackett.PLRank1), losses.Sampled(plackett.PLRank2), losses.Sampled(plackett.PLRankRB),
		losses.Sampled(plackett.PolicyGradient), losses.PlacementPolicyGradient,
	} {
		show(losses.Expected(losses.DCG, by).Build)
	}
	// Output:
	// -2.32 [-0.59 0.49 0.10]
	// -2.20 [-0.48 0.46 0.02]
	// -2.20 [-0.64 0.46 0.04]
	// -2.33 [-0.61 0.50 0.12]
	// 3.13 [-0.47 0.43 0.03]
	// 2.39 [-0.48 0.46 0.02]
}

// The stochastic LambdaLoss, and RankSVM's loss.
func ExamplePairwise() {
	show(losses.Pairwise(losses.Log2, losses.PairWeights{Distance: 1, Noise: true}).Build)
	show(losses.Pairwise(losses.Hinge, losses.PairWeights{Each: 1}).Build)
	// Output:
	// 4.10 [-1.64 0.89 0.75]
	// 0.83 [-0.67 0.33 0.33]
}

// A ranking that was observed: the second document, then the first.
func ExampleListMLE() {
	show(func(b losses.Batch) (*G.Node, error) {
		b.Rankings = G.NewTensor(b.Lists.Scores.Graph(), tensor.Int, 3, G.WithName("observed"), G.WithShape(1, 1, 2),
			G.WithValue(tensor.New(tensor.WithShape(1, 1, 2), tensor.WithBacking([]int{1, 0}))))
		return losses.ListMLE().Build(b)
	})
	// Output: 3.28 [-0.50 -0.86 1.36]
}

// The expected reciprocal rank (Chapelle et al., CIKM 2009), of grades up to 2.
func ExampleReward() {
	show(losses.Reward(func(gains []float64) float64 {
		sum, reading := 0.0, 1.0
		for k, gain := range gains {
			stop := gain / 4
			sum += reading * stop / float64(k+1)
			reading *= 1 - stop
		}
		return sum
	}).Build)
	// Output: -0.45 [-0.12 0.09 0.03]
}

// NDCG@2 in the place of DCG@2, for PL-Rank-RB.
func ExampleNormalizedGains() {
	show(func(b losses.Batch) (_ *G.Node, err error) {
		b.Gains, err = losses.NormalizedGains(b.Lists, b.Gains, b.Discounts)
		if err != nil {
			return nil, err
		}
		return losses.Expected(losses.DCG, losses.Sampled(plackett.PLRankRB)).Build(b)
	})
	// Output: -0.64 [-0.17 0.14 0.03]
}

// LambdaLoss of three documents, built of Gorgonia's own ops and differentiated by Gorgonia.
func ExampleGorgoniaLambdaLoss() {
	m, gains := []float64{1, .5, 2}, []float64{3, 0, 1}
	scores := G.NodeFromAny(G.NewGraph(), tensor.New(tensor.WithBacking(m)), G.WithName("scores"))
	loss, err := losses.GorgoniaLambdaLoss(scores, losses.LambdaPairs(m, gains, metrics.Discounts(2)))
	if err != nil {
		panic(err)
	}
	gradient, err := G.Grad(loss, scores)
	if err != nil {
		panic(err)
	}
	var value, slope G.Value
	G.Read(loss, &value)
	G.Read(gradient[0], &slope)
	if err := G.NewTapeMachine(loss.Graph()).RunAll(); err != nil {
		panic(err)
	}
	fmt.Printf("%.2f %.2f\n", value.Data(), slope.Data()) // lambdaloss-deterministic has the same
	// Output: 2.34 [-1.38 0.77 0.61]
}
