package nn_test

import (
	"fmt"
	"log"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

// A model in a graph of two documents with three features.
func Example() {
	model, err := nn.NewMLP(nn.MLPConfig{Features: 3, Hidden: []int{8}, Activation: ops.ReLU, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	g := G.NewGraph()
	features := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float32{1, 0, 2, 0, 1, 0}))
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(2, 3), G.WithName("x"), G.WithValue(features))
	scores, err := model.Build(nn.Input{Features: x, Weights: model.Weights().Nodes(g)}, nn.Evaluate)
	if err != nil {
		log.Fatal(err)
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("scores:", scores.Shape())
	for _, a := range model.Weights().Arrays() {
		fmt.Println(a.Name, a.Shape)
	}
	// Output:
	// scores: (2)
	// w0 [3 8]
	// b0 [8]
	// w1 [8]
	// b1 [1]
}
