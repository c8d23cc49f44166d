package ops

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
)

// binsOf3 are the bins of the first of three columns: with those, the weights have four rows.
var binsOf3 = []int{2}

// binnedLayer sees the first three columns of the leaf x through bins, and is Dense elsewhere.
func binnedLayer(x, w, b *G.Node, act Activation) (*G.Node, error) {
	if x.Op() != nil {
		return Dense(x, w, b, act)
	}
	first, err := G.Slice(x, nil, G.S(0, 3))
	if err != nil {
		return nil, err
	}
	return PiecewiseLinear(first, w, b, binsOf3, act)
}

// encodedLayer is the same by the formula of the encoding.
func encodedLayer(x, w, b *G.Node, act Activation) (*G.Node, error) {
	if x.Op() != nil {
		return Dense(x, w, b, act)
	}
	v := asFloat64(x.Value())
	var e []float64
	for ; len(v) > 0; v = v[4:] {
		e = append(e, min(max(v[0], 0), 1), min(max(v[0]-1, 0), 1), v[1], v[2])
	}
	c := denseCase{dt: x.Dtype()}
	return Dense(G.NewConstant(c.tensor(e, len(e)/4, 4)), w, b, act)
}

// The numbers of a layer with bins, and its gradients on both machines and in both dtypes, are those
// of a dense layer of encoded features, which are finite differences.
func TestPiecewiseLinearIsDenseOfItsEncoding(t *testing.T) {
	for act := range Activation(len(ActivationNames())) {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			for _, out := range []int{0, 1, 3} {
				c := newDenseCase(dt, act, 40, 4, 37, out)
				for i := 0; i < len(c.values["x"]); i += 4 {
					c.values["x"][i] = float64(int(65536*(1+c.values["x"][i]))) / 65536 // within the bins and beyond
				}
				_, want, wantGrads := c.run(t, encodedLayer, false)
				for _, lisp := range []bool{false, true} {
					_, y, grads := c.run(t, binnedLayer, lisp)
					near(t, "y", y, want, 1e-5)
					for _, name := range denseParams {
						near(t, fmt.Sprint(act, dt, " d", name), grads[name], wantGrads[name], 1e-5)
					}
				}
			}
		}
	}
}

// Rows that change places take their outputs along, and rows of padding change nothing of the others.
func TestPiecewiseLinearSeesEveryRowByItself(t *testing.T) {
	c := newDenseCase(tensor.Float32, ReLU, 9, 4, 5, 2)
	_, y, _ := c.run(t, binnedLayer, false)
	turned := newDenseCase(tensor.Float32, ReLU, 9, 4, 5, 2)
	slices.Reverse(turned.values["x"])
	for r := range 9 {
		slices.Reverse(turned.values["x"][4*r : 4*r+4])
	}
	_, back, _ := turned.run(t, binnedLayer, false)
	for r := range 9 {
		near(t, "y of a row in another place", back[2*(8-r):2*(8-r)+2], y[2*r:2*r+2], 0)
	}
	c.rows, c.values["x"], c.lossCoeff = 12, append(c.values["x"], make([]float64, 12)...), append(c.lossCoeff, make([]float64, 6)...)
	_, padded, _ := c.run(t, binnedLayer, false)
	near(t, "y beside padding", padded[:18], y, 0)
}

func TestPiecewiseLinearArgumentsThatDoNotFitAreErrors(t *testing.T) {
	g := G.NewGraph()
	node := func(shape ...int) *G.Node {
		return G.NewTensor(g, tensor.Float64, len(shape), G.WithShape(shape...), G.WithName(fmt.Sprint(shape)))
	}
	for _, c := range []struct {
		w    *G.Node
		bins []int
		want string
	}{
		{node(4, 2), []int{2, 2}, "w has shape (4, 2), want [5, out]"},
		{node(3, 2), []int{0}, "feature 0 has 0 bins: want 1 to 255"},
		{node(258, 2), []int{1, 256}, "feature 1 has 256 bins: want 1 to 255"},
		{node(4, 2), []int{1, 1, 1, 1}, "bins of 4 features for 3 columns"},
	} {
		_, err := PiecewiseLinear(node(5, 3), c.w, node(2), c.bins, ReLU)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

// BenchmarkPiecewiseLinear is a first layer of 136 features of 16 bins and 256 units beside a dense one
// of 136 inputs, with ReLU, in batches of 4,096 documents, forward and backward, and the same where half of
// the features have two values, and one bin. Each is measured in turn, so that both are under the same
// conditions, and the shortest runs are compared, which other programs disturb least. With GOMAXPROCS=1 it is
// for one core.
func BenchmarkPiecewiseLinear(b *testing.B) {
	const features = 136
	for _, c := range []struct {
		name string
		bins []int
	}{
		{"bins=16", slices.Repeat([]int{16}, features)},
		{"bins=16,1", slices.Repeat([]int{16, 1}, features/2)},
	} {
		b.Run(c.name, func(b *testing.B) {
			layers := [2]G.VM{
				layerOf(b, features, features, 1, Dense),
				layerOf(b, features, forward.BinRows(c.bins, features), 16, func(x, w, b *G.Node, act Activation) (*G.Node, error) {
					return PiecewiseLinear(x, w, b, c.bins, act)
				}),
			}
			best := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, vm := range layers {
					start := time.Now()
					vm.Reset()
					if err := vm.RunAll(); err != nil {
						b.Fatal(err)
					}
					best[i] = min(best[i], time.Since(start))
				}
			}
			b.ReportMetric(float64(best[0].Nanoseconds()), "dense-ns")
			b.ReportMetric(float64(best[1].Nanoseconds()), "piecewise-ns")
			b.ReportMetric(float64(best[1])/float64(best[0]), "ratio")
		})
	}
}

// layerOf runs a layer of 256 units, with so many rows of weights, and its gradients on 4,096 documents
// with features up to most.
func layerOf(b *testing.B, features, weights int, most float32, layer layerFunc) G.VM {
	const rows, units = 4096, 256
	g, r := G.NewGraph(), rand.New(rand.NewPCG(1, 2))
	node := func(name string, scale float32, shape ...int) *G.Node {
		v := make([]float32, tensor.Shape(shape).TotalSize())
		for i := range v {
			v[i] = scale * r.Float32()
		}
		return G.NewTensor(g, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))))
	}
	x, w, bias := node("x", most, rows, features), node("w", 1, weights, units), node("b", 1, units)
	grads, err := G.Grad(G.Must(G.Sum(G.Must(layer(x, w, bias, ReLU)))), w, bias)
	if err != nil {
		b.Fatal(err)
	}
	program, places, err := G.CompileFunction(g, G.Nodes{x}, grads)
	if err != nil {
		b.Fatal(err)
	}
	return G.NewTapeMachine(g, G.WithPrecompiled(program, places))
}
