package op_test

import (
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/internal/optest"
)

// The derivative of Σ x·Constant(x) by x is x, not 2x.
func TestConstantHasNoGradient(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		g := G.NewGraph()
		x := optest.Vector(g, "x", dt, []float64{1, -2, 0, 5})
		fixed, err := op.Constant(x)
		if err != nil {
			t.Fatal(err)
		}
		var value, slope G.Value
		G.Read(fixed, &value)
		grads, err := G.Grad(G.Must(G.Sum(G.Must(G.HadamardProd(x, fixed)))), x)
		if err != nil {
			t.Fatal(err)
		}
		G.Read(grads[0], &slope)
		vm := G.NewTapeMachine(g)
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		vm.Close()
		want := []float64{1, -2, 0, 5}
		if got := optest.Numbers(value); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", dt, got, want)
		}
		if got := optest.Numbers(slope); !slices.Equal(got, want) {
			t.Errorf("%v: derivative %v, want %v", dt, got, want)
		}
	}
	if _, err := op.Constant(nil); err == nil {
		t.Error("no error for no node")
	}
}
