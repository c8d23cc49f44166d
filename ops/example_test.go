package ops_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/ops"
)

// numbersOf is a leaf of numbers.
func numbersOf(g *G.ExprGraph, name string, x ...float64) *G.Node {
	return G.NewVector(g, tensor.Float64, G.WithName(name), G.WithShape(len(x)), G.WithValue(tensor.New(tensor.WithBacking(x))))
}

// show runs a graph and prints a node and the gradient of its sum.
func show(n, scores *G.Node) {
	grads, err := G.Grad(G.Must(G.Sum(n)), scores)
	if err != nil {
		panic(err)
	}
	var value, gradient G.Value
	G.Read(n, &value)
	G.Read(grads[0], &gradient)
	vm := G.NewTapeMachine(n.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		panic(err)
	}
	fmt.Printf("%.3f %.3f\n", value.Data(), gradient.Data())
}

// The expected DCG@2 of two queries, of three documents and of two, and λ.
func ExampleExpectedMetric() {
	g := G.NewGraph()
	offsets := G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(3), G.WithValue(tensor.New(tensor.WithBacking([]int{0, 3, 5}))))
	lists := ops.Lists{Scores: numbersOf(g, "scores", 0, 1, 0, 2, 0), Offsets: offsets}
	metric, err := ops.ExpectedMetric(lists, numbersOf(g, "gains", 3, 0, 0, 1, 1), []float64{1, 0.63})
	if err != nil {
		panic(err)
	}
	show(metric, lists.Scores)
	// Output: [1.288 1.630] [0.714 -0.276 -0.437 0.000 0.000]
}

// The first query's, estimated from 1000 rankings.
func ExamplePLRankRB() {
	g := G.NewGraph()
	lists := ops.Lists{Scores: numbersOf(g, "scores", 0, 1, 0)}
	rankings, err := ops.Rankings(lists, ops.NewSampler(1000, 2, 42))
	if err != nil {
		panic(err)
	}
	metric, err := ops.PLRankRB(lists, numbersOf(g, "gains", 3, 0, 0), rankings, []float64{1, 0.63})
	if err != nil {
		panic(err)
	}
	show(metric, lists.Scores)
	// Output: [1.309] [0.738 -0.286 -0.452]
}

// A custom loss of the exposures: the first document should have ½.
func ExampleExpectedExposure() {
	g := G.NewGraph()
	lists := ops.Lists{Scores: numbersOf(g, "scores", 0, 1, 0)}
	exposure, err := ops.ExpectedExposure(lists, []float64{1, 0.63})
	if err != nil {
		panic(err)
	}
	wanted, counts := numbersOf(g, "wanted", 0.5, 0, 0), numbersOf(g, "counts", 1, 0, 0)
	gap := G.Must(G.HadamardProd(counts, G.Must(G.Sub(exposure, wanted))))
	show(G.Must(G.Square(gap)), lists.Scores)
	// Output: [0.005 0.000 0.000] [-0.034 0.013 0.021]
}

// The expected reciprocal rank (Chapelle et al., CIKM 2009) of documents that satisfy a
// reader with the chances ¾, 0 and ¼: a reward that is not a sum over ranks.
func ExampleRewardFunc() {
	g := G.NewGraph()
	lists := ops.Lists{Scores: numbersOf(g, "scores", 0, 1, 0)}
	rankings, err := ops.Rankings(lists, ops.NewSampler(1000, 3, 42))
	if err != nil {
		panic(err)
	}
	chances := []float64{0.75, 0, 0.25}
	reward, err := ops.RewardFunc(lists, rankings, func(_ int, ranking []int) float64 {
		sum, reading := 0.0, 1.0
		for k, d := range ranking {
			sum += reading * chances[d] / float64(k+1)
			reading *= 1 - chances[d]
		}
		return sum
	})
	if err != nil {
		panic(err)
	}
	show(reward, lists.Scores)
	// Output: [0.475] [0.083 -0.072 -0.010]
}
