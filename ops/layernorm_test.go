package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// layerNormInputs are x, gain, bias, and the weights of the loss Σ weights·y.
type layerNormInputs struct {
	rows, width int
	values      [4][]float64
}

func (in layerNormInputs) loss() (loss float64) {
	x, gain, bias, weights := in.values[0], in.values[1], in.values[2], in.values[3]
	for r := range in.rows {
		mean, variance := 0.0, 0.0
		for i := range in.width {
			mean += x[r*in.width+i] / float64(in.width)
		}
		for i := range in.width {
			variance += (x[r*in.width+i] - mean) * (x[r*in.width+i] - mean) / float64(in.width)
		}
		for i := range in.width {
			loss += weights[r*in.width+i] * (gain[i]*(x[r*in.width+i]-mean)/math.Sqrt(variance+1e-5) + bias[i])
		}
	}
	return loss
}

func (in layerNormInputs) run(t rapid.TB, run optest.Machine, dt tensor.Dtype, by int) (loss float64, gradient []float64) {
	g := G.NewGraph()
	matrix := func(name string, i int) *G.Node {
		return G.NewMatrix(g, dt, G.WithName(name), G.WithShape(in.rows, in.width), G.WithValue(optest.Dense(dt, in.values[i], in.rows, in.width)))
	}
	nodes := G.Nodes{matrix("x", 0), optest.Vector(g, "gain", dt, in.values[1]), optest.Vector(g, "bias", dt, in.values[2])}
	y, err := ops.LayerNorm(nodes[0], nodes[1], nodes[2])
	if err != nil {
		t.Fatal(err)
	}
	value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(matrix("weights", 3), y)))), nodes[by])
	if err != nil {
		t.Fatal(err)
	}
	return value[0], gradient
}

func newLayerNormInputs(rows, width int, seed uint64) (in layerNormInputs) {
	rng := rand.New(rand.NewPCG(seed, 1))
	in.rows, in.width = rows, width
	for i, n := range []int{rows * width, width, width, rows * width} {
		for range n {
			in.values[i] = append(in.values[i], float64(float32(rng.NormFloat64())))
		}
	}
	return in
}

// The result has its formula, and the derivatives are its finite differences, on
// both machines; in float32 they are near.
func TestLayerNormHasItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := newLayerNormInputs(rapid.IntRange(1, 600).Draw(t, "rows"), rapid.IntRange(2, 6).Draw(t, "width"), rapid.Uint64().Draw(t, "seed"))
		for by, name := range []string{"x", "gain", "bias"} {
			loss, gradient := in.run(t, optest.Tape, tensor.Float64, by)
			if want := in.loss(); math.Abs(loss-want) > 1e-9*float64(in.rows) {
				t.Fatalf("%v, want %v", loss, want)
			}
			if _, other := in.run(t, optest.Lisp, tensor.Float64, by); !slices.Equal(gradient, other) {
				t.Fatalf("%s: the machines differ", name)
			}
			_, narrow := in.run(t, optest.Tape, tensor.Float32, by)
			scale := 1.0
			for _, v := range gradient {
				scale = max(scale, math.Abs(v))
			}
			const h = 1e-6
			up, down, slope := in, in, 0.0
			up.values[by], down.values[by] = slices.Clone(in.values[by]), slices.Clone(in.values[by])
			for i, v := range gradient {
				if math.Abs(v-narrow[i]) > 1e-3*scale {
					t.Fatalf("%s %d: %v, in float32 %v", name, i, v, narrow[i])
				}
				direction := math.Cos(float64(7 * i))
				up.values[by][i] += h * direction
				down.values[by][i] -= h * direction
				slope += v * direction
			}
			if want := (up.loss() - down.loss()) / (2 * h); math.Abs(slope-want) > 1e-4*scale {
				t.Fatalf("%s: slope %v, by differences %v", name, slope, want)
			}
		}
	})
}

func TestLayerNormSameForAnyGOMAXPROCS(t *testing.T) {
	in := newLayerNormInputs(3000, 24, 2)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want [3]string
	for _, cores := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cores)
		for by := range want {
			loss, gradient := in.run(t, optest.Tape, tensor.Float32, by)
			got := fmt.Sprint(loss, gradient)
			if cores > 1 && got != want[by] {
				t.Errorf("other bits on %d cores", cores)
			}
			want[by] = got
		}
	}
}

func TestLayerNormArgumentsThatDoNotFitAreErrors(t *testing.T) {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(4, 3))
	gain, short, narrow := optest.Vector(g, "gain", tensor.Float64, make([]float64, 3)), optest.Vector(g, "short", tensor.Float64, make([]float64, 2)), optest.Vector(g, "narrow", tensor.Float32, make([]float64, 3))
	for _, c := range []struct {
		x, gain, bias *G.Node
		want          string
	}{
		{nil, gain, gain, "no x"},
		{x, nil, gain, "no gain"},
		{x, gain, short, "bias has shape (2): want the width of x, [3]"},
		{x, narrow, gain, "gain are of dtype float32"},
		{gain, gain, gain, "x have shape (3)"},
	} {
		if _, err := ops.LayerNorm(c.x, c.gain, c.bias); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
