// Package optest has what the tests of ops share: nodes of given numbers, both
// machines, random packed batches, and the checks that every op goes through.
package optest

import (
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
)

// Vector returns a node of numbers in that dtype.
func Vector(g *G.ExprGraph, name string, dt tensor.Dtype, x []float64) *G.Node {
	return G.NewVector(g, dt, G.WithName(name), G.WithShape(len(x)), G.WithValue(Dense(dt, x, len(x))))
}

// Dense returns a tensor of numbers in that dtype.
func Dense(dt tensor.Dtype, x []float64, shape ...int) *tensor.Dense {
	if dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]float64{}, x...)))
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(y))
}

// Ints returns a node of ints.
func Ints(g *G.ExprGraph, name string, x []int, shape ...int) *G.Node {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]int{}, x...)))
	return G.NewTensor(g, tensor.Int, len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(t))
}

// Numbers reads a value back.
func Numbers(v G.Value) []float64 {
	x, err := op.Numbers(v)
	if err != nil {
		panic(err)
	}
	return x
}

// Run returns the value of a node.
func Run(t testing.TB, n *G.Node) G.Value {
	t.Helper()
	var value G.Value
	G.Read(n, &value)
	vm := G.NewTapeMachine(n.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return value
}

// Benchmark runs a graph, compiled for nodes that follow from an input, again and again.
func Benchmark(b *testing.B, input *G.Node, outputs ...*G.Node) {
	b.Helper()
	g := input.Graph()
	program, places, err := G.CompileFunction(g, G.Nodes{input}, outputs)
	if err != nil {
		b.Fatal(err)
	}
	vm := G.NewTapeMachine(g, G.WithPrecompiled(program, places))
	defer vm.Close()
	b.ReportAllocs()
	for b.Loop() {
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			b.Fatal(err)
		}
	}
}

// A Machine runs a graph and gives the derivative of a scalar node.
type Machine func(loss, wrt *G.Node) (value, gradient []float64, err error)

// Machines are those that Gorgonia has.
var Machines = map[string]Machine{"tape": Tape, "lisp": Lisp}

// Tape runs a graph on the tape machine.
func Tape(loss, wrt *G.Node) ([]float64, []float64, error) {
	grads, err := G.Grad(loss, wrt)
	if err != nil {
		return nil, nil, err
	}
	var value, gradient G.Value
	G.Read(loss, &value)
	G.Read(grads[0], &gradient)
	vm := G.NewTapeMachine(loss.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, nil, err
	}
	return Numbers(value), Numbers(gradient), nil
}

// Lisp runs the Lisp machine, on the part of a graph that the loss needs: to it all
// others are losses, too.
func Lisp(loss, wrt *G.Node) ([]float64, []float64, error) {
	vm := G.NewLispMachine(loss.Graph().SubgraphRoots(loss))
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, nil, err
	}
	gradient, err := wrt.Grad()
	if err != nil {
		return nil, nil, err
	}
	return Numbers(loss.Value()), Numbers(gradient), nil
}
