package losses_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// The loss of two queries, of three and of two documents, and its gradient.
func ExampleByName() {
	g := G.NewGraph()
	scores := G.NewVector(g, tensor.Float64, G.WithName("scores"), G.WithShape(5),
		G.WithValue(tensor.New(tensor.WithBacking([]float64{0, 1, 0, 0, 0}))))
	gains := G.NewVector(g, tensor.Float64, G.WithName("gains"), G.WithShape(5),
		G.WithValue(tensor.New(tensor.WithBacking([]float64{3, 0, 0, 0, 1}))))
	offsets := G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(3),
		G.WithValue(tensor.New(tensor.WithBacking([]int{0, 3, 5}))))

	build, err := losses.ByName("plrank-rb")
	if err != nil {
		panic(err)
	}
	loss, err := build(losses.Batch{
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

// show builds a loss on the scores 1, ½ and 2 of three documents with the gains 3, 0
// and 1, and prints it with its gradient.
func show(build func(b losses.Batch) (*G.Node, error)) {
	g := G.NewGraph()
	numbers := func(name string, x ...float64) *G.Node {
		return G.NewVector(g, tensor.Float64, G.WithName(name), G.WithShape(len(x)), G.WithValue(tensor.New(tensor.WithBacking(x))))
	}
	scores := numbers("scores", 1, 0.5, 2)
	groups := G.NewVector(g, tensor.Int, G.WithName("groups"), G.WithShape(3), G.WithValue(tensor.New(tensor.WithBacking([]int{0, 0, 1}))))
	loss, err := build(losses.Batch{
		Lists:     ops.Lists{Scores: scores},
		Gains:     numbers("gains", 3, 0, 1),
		Labels:    numbers("labels", 2, 0, 1),
		Groups:    groups,
		Sampler:   ops.NewSampler(100, 2, 1),
		Exposure:  ops.NewSampler(1000, 2, 2),
		Discounts: metrics.Discounts(2),
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

// exposed estimates exposure for a loss from other rankings than its gradient.
func exposed(b losses.Batch) (*G.Node, error) {
	rankings, err := ops.Rankings(b.Lists, b.Exposure)
	if err != nil {
		return nil, err
	}
	forGradient, err := ops.Rankings(b.Lists, b.Sampler)
	if err != nil {
		return nil, err
	}
	return ops.Exposure(b.Lists, rankings, forGradient, b.Discounts)
}

// A mixture of relevance and fairness.
func ExampleParse() {
	build, err := losses.Parse("plrank-rb + 0.5*disparity")
	if err != nil {
		panic(err)
	}
	show(build)
	_, err = losses.Parse("plrank-rb + 0.5 disparity")
	fmt.Println(err)
	// Output:
	// -1.54 [-1.07 0.67 0.40]
	// losses: "plrank-rb + 0.5 disparity", column 17: want * and a loss after the weight 0.5
}

func ExampleSoftmax() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.Softmax(b.Lists, b.Gains)
	})
	// Output: 1.21 [-0.52 0.14 0.38]
}

func ExampleXENDCG() {
	show(func(b losses.Batch) (*G.Node, error) {
		noise, err := ops.Gumbel(b.Lists, b.Sampler)
		if err != nil {
			return nil, err
		}
		return losses.XENDCG(b.Lists, b.Gains, noise)
	})
	// Output: 1.22 [-0.40 0.06 0.35]
}

func ExampleListNet() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.ListNet(b.Lists, b.Labels)
	})
	// Output: 1.26 [-0.43 0.05 0.38]
}

func ExampleRankNet() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.RankNet(b.Lists, b.Gains)
	})
	// Output: 0.66 [-0.37 0.19 0.18]
}

func ExampleHinge() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.Hinge(b.Lists, b.Gains)
	})
	// Output: 0.83 [-0.67 0.33 0.33]
}

func ExampleLambdaRank() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.LambdaRank(b.Lists, b.Gains, b.Discounts)
	})
	// Output: 0.82 [-0.50 0.36 0.14]
}

func ExampleNDCGLoss1() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.NDCGLoss1(b.Lists, b.Gains, b.Discounts)
	})
	// Output: 1.55 [-0.73 0.36 0.37]
}

func ExampleNDCGLoss2() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.NDCGLoss2(b.Lists, b.Gains, b.Discounts)
	})
	// Output: 0.64 [-0.38 0.21 0.17]
}

func ExampleNDCGLoss2PP() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.NDCGLoss2PP(b.Lists, b.Gains, b.Discounts)
	})
	// Output: 7.26 [-4.30 2.47 1.83]
}

func ExampleApproxNDCG() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.ApproxNDCG(b.Lists, b.Gains, 1)
	})
	// Output: -0.72 [-0.04 0.05 -0.01]
}

func ExampleGumbelApproxNDCG() {
	show(func(b losses.Batch) (*G.Node, error) {
		noise, err := ops.Gumbel(b.Lists, b.Sampler)
		if err != nil {
			return nil, err
		}
		return losses.GumbelApproxNDCG(b.Lists, b.Gains, noise, 1)
	})
	// Output: -0.73 [-0.04 0.03 0.00]
}

func ExampleNeuralNDCG() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.NeuralNDCG(b.Lists, b.Gains, b.Discounts, 1)
	})
	// Output: -0.65 [-0.21 0.16 0.04]
}

func ExamplePiRank() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.PiRank(b.Lists, b.Gains, b.Discounts, 1)
	})
	// Output: -0.70 [-0.22 0.16 0.06]
}

func ExampleMSE() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.MSE(b.Lists, b.Labels)
	})
	// Output: 0.75 [-0.67 0.33 0.67]
}

func ExampleOrdinal() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.Ordinal(b.Lists, b.Labels, 2)
	})
	// Output: 1.21 [-0.33 0.26 0.15]
}

func ExampleCrossEntropy() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.CrossEntropy(b.Lists, b.Labels, 2)
	})
	// Output: 0.80 [-0.09 0.21 0.13]
}

func ExampleListMLE() {
	show(func(b losses.Batch) (*G.Node, error) {
		ideal, err := ops.IdealRankings(b.Lists, b.Gains, b.Sampler)
		if err != nil {
			return nil, err
		}
		return losses.ListMLE(b.Lists, ideal)
	})
	// Output: 1.67 [-0.77 0.32 0.45]
}

func ExampleLambdaLossDeterministic() {
	show(func(b losses.Batch) (*G.Node, error) {
		return losses.LambdaLossDeterministic(b.Lists, b.Gains, b.Discounts)
	})
	// Output: 2.34 [-1.38 0.77 0.61]
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
	}))
	// Output: -0.45 [-0.12 0.09 0.03]
}

func ExampleStochasticRank() {
	show(func(b losses.Batch) (*G.Node, error) {
		noise, err := ops.Gumbel(b.Lists, b.Sampler)
		if err != nil {
			return nil, err
		}
		return losses.StochasticRank(b.Lists, b.Gains, noise, b.Discounts)
	})
	// Output: -2.42 [-0.57 0.50 0.09]
}

func ExampleDisparity() {
	show(func(b losses.Batch) (*G.Node, error) {
		exposure, err := exposed(b)
		if err != nil {
			return nil, err
		}
		return losses.Disparity(b.Lists, b.Gains, exposure)
	})
	// Output: 1.54 [-0.96 0.39 0.57]
}

func ExampleExposureLoss() {
	show(func(b losses.Batch) (*G.Node, error) {
		exposure, err := exposed(b)
		if err != nil {
			return nil, err
		}
		return losses.ExposureLoss(b.Lists, b.Gains, exposure, b.Discounts)
	})
	// Output: 0.37 [-0.35 0.25 0.10]
}

func ExampleGroupExposure() {
	show(func(b losses.Batch) (*G.Node, error) {
		exposure, err := exposed(b)
		if err != nil {
			return nil, err
		}
		return losses.GroupExposure(b.Lists, b.Groups, exposure)
	})
	// Output: 0.15 [-0.11 -0.07 0.18]
}

func ExampleGroupTreatment() {
	show(func(b losses.Batch) (*G.Node, error) {
		exposure, err := exposed(b)
		if err != nil {
			return nil, err
		}
		return losses.GroupTreatment(b.Lists, b.Gains, b.Groups, exposure)
	})
	// Output: 0.28 [-0.14 -0.09 0.22]
}

// NDCG@2 in the place of DCG@2, for PL-Rank-RB.
func ExampleNormalizedGains() {
	show(func(b losses.Batch) (*G.Node, error) {
		rankings, err := ops.Rankings(b.Lists, b.Sampler)
		if err != nil {
			return nil, err
		}
		gains, err := losses.NormalizedGains(b.Lists, b.Gains, b.Discounts)
		if err != nil {
			return nil, err
		}
		return losses.PLRankRB(b.Lists, gains, rankings, b.Discounts)
	})
	// Output: -0.64 [-0.17 0.14 0.03]
}
