package op_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/internal/optest"
)

func vector(g *G.ExprGraph, name string, x ...float64) *G.Node {
	return G.NewVector(g, tensor.Float64, G.WithName(name), G.WithShape(len(x)), G.WithValue(tensor.New(tensor.WithBacking(x))))
}

// A derivative may be made of functions of inputs, the result and the gradient that
// comes in, on both machines: z = 3xy.
func TestDerivativesAreEvaluatedFromTheirTerms(t *testing.T) {
	product := &op.Func{Name: "product", Do: func(in []op.Tensor, result op.Tensor) error {
		for i := range result.F64 {
			result.F64[i] = in[0].F64[i] * in[1].F64[i]
		}
		return nil
	}}
	quotient := &op.Func{Name: "quotient", Do: func(in []op.Tensor, result op.Tensor) error {
		for i := range result.F64 {
			result.F64[i] = in[0].F64[i] / in[1].F64[i]
		}
		return nil
	}}
	scaled := &op.Func{
		Name: "scaled", Do: func(in []op.Tensor, result op.Tensor) error {
			for i := range result.F64 {
				result.F64[i] = 3 * in[0].F64[i] * in[1].F64[i]
			}
			return nil
		},
		// dx = dz·z/x, dy = dz·z/y.
		VJPs: []*op.Term{
			quotient.Of(product.Of(op.Incoming, op.Result), op.Input(0)),
			quotient.Of(product.Of(op.Incoming, op.Result), op.Input(1)),
		},
	}
	build := func() (x, y, sum *G.Node) {
		g := G.NewGraph()
		x, y = vector(g, "x", 1, 2), vector(g, "y", 5, 7)
		return x, y, G.Must(G.Sum(G.Must(scaled.Apply(x, y))))
	}
	want := "[15 21] [3 6]"
	x, y, sum := build()
	grads, err := G.Grad(sum, x, y)
	if err != nil {
		t.Fatal(err)
	}
	vm := G.NewTapeMachine(sum.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(grads[0].Value().Data(), grads[1].Value().Data()); got != want {
		t.Errorf("tape machine: %s, want %s", got, want)
	}
	x, y, sum = build()
	lisp := G.NewLispMachine(sum.Graph())
	defer lisp.Close()
	if err := lisp.RunAll(); err != nil {
		t.Fatal(err)
	}
	dx, _ := x.Grad()
	dy, _ := y.Grad()
	if got := fmt.Sprint(dx.Data(), dy.Data()); got != want {
		t.Errorf("Lisp machine: %s, want %s", got, want)
	}
}

// λ is computed where a gradient is asked for: by Grad before, on the Lisp machine after the value.
func TestLambdaIsComputedOnlyForAGradient(t *testing.T) {
	build := func() (x, sum *G.Node, asked *string) {
		x, asked = vector(G.NewGraph(), "x", 3, 5), new(string)
		metric, err := op.Metric("test: Squares", "", op.Lists{Scores: x}, func(l *op.List, lambda []float64) (value float64, err error) {
			*asked += fmt.Sprint(lambda != nil, " ")
			for d, v := range l.X[0] {
				value += v * v
				if lambda != nil {
					lambda[d] = 2 * v
				}
			}
			return value, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return x, G.Must(G.Sum(metric)), asked
	}
	_, sum, asked := build()
	if got := optest.Numbers(optest.Run(t, sum)); got[0] != 34 || *asked != "false " {
		t.Errorf("without a gradient: %v, λ asked for: %s", got, *asked)
	}
	for machine, want := range map[string]string{"tape": "true ", "lisp": "false true "} {
		x, sum, asked := build()
		value, gradient, err := optest.Machines[machine](sum, x)
		if err != nil || fmt.Sprint(value, gradient) != "[34] [6 10]" || *asked != want {
			t.Errorf("%s machine: %v, %v (%v), λ asked for: %s, want %s", machine, value, gradient, err, *asked, want)
		}
	}
}

// A panic in a function makes the run return an error, on whichever core it happens.
func TestPanicsBecomeErrors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 3} {
		runtime.GOMAXPROCS(procs)
		g := G.NewGraph()
		offsets := tensor.New(tensor.WithBacking([]int{0, 1, 2, 3, 4}))
		l := op.Lists{
			Scores:  vector(g, "scores", 1, 2, 3, 4),
			Offsets: G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(5), G.WithValue(offsets)),
		}
		f := op.ListFunc{Name: "test: Broken", Do: func(l *op.List) error {
			if l.Query == 2 {
				panic("oh")
			}
			return nil
		}}
		n, err := f.Apply(l, op.Scores(l))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Op().Do(l.Scores.Value(), offsets); err == nil || !strings.Contains(err.Error(), "test: Broken: panic: oh") {
			t.Errorf("on %d cores: error %v", procs, err)
		}
	}
}
