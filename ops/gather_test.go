package ops_test

import (
	"fmt"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

func TestGatherPicksAndAddsGradients(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for name, run := range optest.Machines {
			for _, c := range []struct {
				x        []float64
				at       []int
				gradient []float64 // of Σ i²·y_i, i from 1
			}{
				{[]float64{2, 3, 5}, []int{2, 0, 0, 2, 2}, []float64{4 + 9, 0, 1 + 16 + 25}},
				{[]float64{2, 3, 5}, []int{1}, []float64{0, 1, 0}},
				{[]float64{7}, []int{0, 0}, []float64{5}},
			} {
				g := G.NewGraph()
				x := optest.Vector(g, "x", dt, c.x)
				y, err := ops.Gather(x, optest.Ints(g, "at", c.at, len(c.at)))
				if err != nil {
					t.Fatal(err)
				}
				squares, want := make([]float64, len(c.at)), 0.0
				for i := range squares {
					squares[i] = float64((i + 1) * (i + 1))
					want += squares[i] * c.x[c.at[i]]
				}
				value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(y, optest.Vector(g, "w", dt, squares))))), x)
				if err != nil {
					t.Fatal(err)
				}
				if value[0] != want || fmt.Sprint(gradient) != fmt.Sprint(c.gradient) {
					t.Errorf("%v, %s: x[%v] gives %v with gradient %v, want %v with %v", dt, name, c.at, value, gradient, want, c.gradient)
				}
			}
		}
	}
	g := G.NewGraph()
	x := optest.Vector(g, "x", tensor.Float64, []float64{1, 2})
	y, err := ops.Gather(x, optest.Ints(g, "at", []int{0, 2}, 2))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := optest.Tape(G.Must(G.Sum(y)), x); err == nil {
		t.Error("no error for a place out of range")
	}
}
