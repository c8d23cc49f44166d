package ops

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// standardSwiGLU is SwiGLU of z in Gorgonia's ops.
func standardSwiGLU(z *G.Node) *G.Node {
	width := z.Shape()[1] / 2
	first, second := G.Must(G.Slice(z, nil, G.S(0, width))), G.Must(G.Slice(z, nil, G.S(width, 2*width)))
	return G.Must(G.HadamardProd(G.Must(G.HadamardProd(first, G.Must(G.Sigmoid(first)))), second))
}

// swigluLayers are the layers that may end in SwiGLU.
var swigluLayers = map[string]func(x, w, b *G.Node, act Activation) (*G.Node, error){
	"Dense": Dense,
	"PiecewiseLinear": func(x, w, b *G.Node, act Activation) (*G.Node, error) {
		return PiecewiseLinear(x, w, b, []int{1, 1}, act)
	},
}

// runSwiGLU is a weighted sum of the outputs of a layer [rows, 3] → [rows, width], by SwiGLU or by Gorgonia's ops, and its
// derivatives by the weights and the biases.
func runSwiGLU(t *testing.T, layer string, dt tensor.Dtype, rows, width int, standard, lisp bool) (values []float64) {
	t.Helper()
	c, g, random := &denseCase{dt: dt}, G.NewGraph(), rand.New(rand.NewPCG(1, 2))
	node := func(name string, shape ...int) *G.Node {
		numbers := make([]float64, tensor.Shape(shape).TotalSize())
		for i := range numbers {
			numbers[i] = float64(float32(random.Float64()))
		}
		return G.NewTensor(g, dt, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(c.tensor(numbers, shape...)))
	}
	x, w, b, weights := node("x", rows, 3), node("w", 3, 2*width), node("b", 2*width), node("weights", rows, width)
	act := SwiGLU
	if standard {
		act = Identity
	}
	y, err := swigluLayers[layer](x, w, b, act)
	if err != nil {
		t.Fatal(err)
	}
	if standard {
		y = standardSwiGLU(y)
	}
	sum := G.Must(G.Sum(G.Must(G.HadamardProd(y, weights))))
	var vm G.VM
	if lisp {
		vm = G.NewLispMachine(g)
	} else {
		if _, err := G.Grad(sum, w, b); err != nil {
			t.Fatal(err)
		}
		vm = G.NewTapeMachine(g, G.BindDualValues(w, b))
	}
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []*G.Node{w, b} {
		gradient, err := n.Grad()
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, asFloat64(gradient)...)
	}
	return values
}

// Widths are below, at and above the columns that are computed at a time.
func TestSwiGLUEqualsGorgoniasOps(t *testing.T) {
	for layer := range swigluLayers {
		for _, width := range []int{2, 5, 128, 131} {
			for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-5} {
				want := runSwiGLU(t, layer, dt, 4, width, true, false)
				got := runSwiGLU(t, layer, dt, 4, width, false, false)
				near(t, layer, got, want, tolerance)
				near(t, layer+" by the Lisp machine", runSwiGLU(t, layer, dt, 4, width, false, true), got, 0)
			}
		}
	}
}

func TestSwiGLUSameForAnyGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := runSwiGLU(t, "Dense", tensor.Float32, 3000, 40, false, false)
	runtime.GOMAXPROCS(5)
	if !slices.Equal(runSwiGLU(t, "Dense", tensor.Float32, 3000, 40, false, false), want) {
		t.Error("other bits on 5 cores")
	}
}

func TestSwiGLUOfOddColumnsIsAnError(t *testing.T) {
	g := G.NewGraph()
	x, w, b := G.NewMatrix(g, G.Float64, G.WithShape(2, 3)), G.NewMatrix(g, G.Float64, G.WithShape(3, 5)), G.NewVector(g, G.Float64, G.WithShape(5))
	for name, layer := range map[string]func() (*G.Node, error){
		"Dense":             func() (*G.Node, error) { return Dense(x, w, b, SwiGLU) },
		"Dense of a vector": func() (*G.Node, error) { return Dense(w, b, G.NewVector(g, G.Float64, G.WithShape(1)), SwiGLU) },
	} {
		if _, err := layer(); err == nil || !strings.Contains(err.Error(), "swiglu makes one output of two columns") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
