package ops_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// runScale gives the value of Σ weights·y, and its derivative by x, the scales or the bias, where y is
// Scale, or Dense with the scales on the diagonal of its weights, by which the derivative then is.
func runScale(t *testing.T, run optest.Machine, dt tensor.Dtype, in layerNormInputs, act ops.Activation, diagonal bool, by int) (loss float64, gradient []float64) {
	t.Helper()
	g := G.NewGraph()
	matrix := func(name string, v []float64) *G.Node {
		rows := len(v) / in.width
		return G.NewMatrix(g, dt, G.WithName(name), G.WithShape(rows, in.width), G.WithValue(optest.Dense(dt, v, rows, in.width)))
	}
	nodes := G.Nodes{matrix("x", in.values[0]), optest.Vector(g, "scale", dt, in.values[1]), optest.Vector(g, "bias", dt, in.values[2])}
	layer := ops.Scale
	if diagonal {
		values := make([]float64, in.width*in.width)
		for i, v := range in.values[1] {
			values[i*in.width+i] = v
		}
		layer, nodes[1] = ops.Dense, matrix("diagonal", values)
	}
	y, err := layer(G.Must(G.Neg(nodes[0])), nodes[1], nodes[2], act) // a leaf as input gets no gradient from Dense
	if err != nil {
		t.Fatal(err)
	}
	value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(matrix("weights", in.values[3]), y)))), nodes[by])
	if err != nil {
		t.Fatal(err)
	}
	if diagonal && by == 1 {
		for i := range in.width {
			gradient[i] = gradient[i*in.width+i]
		}
		gradient = gradient[:in.width]
	}
	return value[0], gradient
}

// Scale and its derivatives equal Dense with a diagonal matrix, whose derivatives are finite differences.
func TestScaleIsDenseWithADiagonalMatrix(t *testing.T) {
	in := newLayerNormInputs(700, 5, 4)
	for act := range ops.SwiGLU {
		for name, machine := range optest.Machines {
			for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-4} {
				for by := range 3 {
					want, slopes := runScale(t, machine, dt, in, act, true, by)
					got, gradient := runScale(t, machine, dt, in, act, false, by)
					differ := func(a, b float64) bool { return math.Abs(a-b) > tolerance*(1+math.Abs(b)) }
					if differ(got, want) || !slices.EqualFunc(gradient, slopes, func(a, b float64) bool { return !differ(a, b) }) {
						t.Errorf("%v, %s machine, %v, input %d: %v and %v, want %v and %v", act, name, dt, by, got, gradient, want, slopes)
					}
				}
			}
		}
	}
}

func TestScaleSameForAnyGOMAXPROCS(t *testing.T) {
	in := newLayerNormInputs(3000, 24, 2)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want [3]string
	for _, cores := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cores)
		for by := range want {
			loss, gradient := runScale(t, optest.Tape, tensor.Float32, in, ops.ReLU, false, by)
			got := fmt.Sprint(loss, gradient)
			if cores > 1 && got != want[by] {
				t.Errorf("other bits on %d cores", cores)
			}
			want[by] = got
		}
	}
}

func TestScaleArgumentsThatDoNotFitAreErrors(t *testing.T) {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(4, 3))
	vector := func(name string, dt tensor.Dtype, n int) *G.Node {
		return optest.Vector(g, name, dt, make([]float64, n))
	}
	scale := vector("scale", tensor.Float64, 3)
	for _, c := range []struct {
		x, scale, bias *G.Node
		act            ops.Activation
		want           string
	}{
		{x, scale, vector("short", tensor.Float64, 2), ops.ReLU, "bias has shape (2): want the width of x, [3]"},
		{x, vector("narrow", tensor.Float32, 3), scale, ops.ReLU, "scale are of dtype float32"},
		{scale, scale, scale, ops.ReLU, "x have shape (3)"},
		{x, scale, scale, 77, "no such activation: 77"},
	} {
		if _, err := ops.Scale(c.x, c.scale, c.bias, c.act); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
