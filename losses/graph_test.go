package losses_test

import (
	"fmt"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func dense(dt tensor.Dtype, x []float64) *tensor.Dense {
	if dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(len(x)), tensor.WithBacking(append([]float64{}, x...)))
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(len(x)), tensor.WithBacking(y))
}

func vector(g *G.ExprGraph, name string, dt tensor.Dtype, x []float64) *G.Node {
	return G.NewVector(g, dt, G.WithName(name), G.WithShape(len(x)), G.WithValue(dense(dt, x)))
}

func ints(g *G.ExprGraph, name string, x []int, shape ...int) *G.Node {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]int{}, x...)))
	return G.NewTensor(g, tensor.Int, len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(t))
}

func numbers(v G.Value) []float64 {
	switch x := v.Data().(type) {
	case []float64:
		return append([]float64{}, x...)
	case []float32:
		y := make([]float64, len(x))
		for i := range x {
			y[i] = float64(x[i])
		}
		return y
	case float64:
		return []float64{x}
	case float32:
		return []float64{float64(x)}
	}
	panic(fmt.Sprintf("no numbers: %T", v.Data()))
}

// fataler is a test, of package testing or rapid.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// differentiate runs a graph on the tape machine.
func differentiate(t fataler, loss, scores *G.Node) (float64, []float64) {
	t.Helper()
	grads, err := G.Grad(loss, scores)
	if err != nil {
		t.Fatal(err)
	}
	var value, gradient G.Value
	G.Read(loss, &value)
	G.Read(grads[0], &gradient)
	vm := G.NewTapeMachine(loss.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return numbers(value)[0], numbers(gradient)
}

// evaluate gives the numbers of a node.
func evaluate(t *testing.T, n *G.Node) []float64 {
	t.Helper()
	x, err := evaluated(n)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func evaluated(n *G.Node) ([]float64, error) {
	var value G.Value
	G.Read(n, &value)
	vm := G.NewTapeMachine(n.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	return numbers(value), nil
}

// lispGradient is the gradient by the Lisp machine.
func lispGradient(t *testing.T, loss, scores *G.Node) []float64 {
	t.Helper()
	vm := G.NewLispMachine(loss.Graph().SubgraphRoots(loss)) // nodes that the loss does not use are no costs
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	gradient, err := scores.Grad()
	if err != nil {
		t.Fatal(err)
	}
	return numbers(gradient)
}

func flat(rows [][]float64) (x []float64) {
	for _, r := range rows {
		x = append(x, r...)
	}
	return x
}
