package plrank_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// From features to λ to a trained weight: a linear model of two features on one
// query of four documents. Only the first feature is related to relevance.
func Example() {
	g := G.NewGraph()
	features := tensor.New(tensor.WithShape(4, 2), tensor.WithBacking([]float64{1, 3, 0, 4, 2, 1, 0, 2}))
	x := G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(4, 2), G.WithValue(features))
	gains := G.NewVector(g, tensor.Float64, G.WithName("gains"), G.WithShape(4),
		G.WithValue(tensor.New(tensor.WithBacking([]float64{1, 0, 3, 0}))))
	w := G.NewVector(g, tensor.Float64, G.WithName("w"), G.WithShape(2),
		G.WithValue(tensor.New(tensor.WithBacking([]float64{0, 0}))))

	lists := ops.Lists{Scores: G.Must(G.Mul(x, w))}                                                // log-scores, of one query
	loss, err := losses.Expected(losses.DCG, losses.Sampled(plackett.PLRankRB)).Mean(losses.Batch{ // −E[DCG@2]
		Lists: lists, Gains: gains, Discounts: []float64{1, 0.63}, Sampler: ops.NewSampler(100, 2, 42),
	})
	check(err)
	_, err = G.Grad(loss, w) // injects λ into the scores
	check(err)

	vm := G.NewTapeMachine(g, G.BindDualValues(w))
	defer vm.Close()
	sgd := G.NewVanillaSolver(G.WithLearnRate(0.3))
	for step := range 50 {
		check(vm.RunAll())
		if step%49 == 0 {
			fmt.Printf("step %2d: loss %.2f, weights %.1f\n", step, loss.Value().Data(), w.Value().Data())
		}
		check(sgd.Step(G.NodesToValueGrads(G.Nodes{w})))
		vm.Reset()
	}
	// Output:
	// step  0: loss -1.60, weights [0.0 0.0]
	// step 49: loss -3.56, weights [3.1 -0.7]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
