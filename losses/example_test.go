package losses_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
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
