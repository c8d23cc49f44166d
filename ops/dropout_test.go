package ops

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/layers"
)

// dropRun drops from x, and gives y and the gradient of Σ c·y.
func dropRun(t *testing.T, d *Dropout, layer int, x, c []float64, dt tensor.Dtype, lisp bool, runs int) (y, dx []float64) {
	t.Helper()
	cs := &denseCase{dt: dt}
	g := G.NewGraph()
	xn := G.NewVector(g, dt, G.WithShape(len(x)), G.WithName("x"), G.WithValue(cs.tensor(x, len(x))))
	out, err := Drop(xn, d, layer)
	if err != nil {
		t.Fatal(err)
	}
	loss := G.Must(G.Sum(G.Must(G.HadamardProd(out, G.NewConstant(cs.tensor(c, len(c)))))))
	if lisp {
		vm := G.NewLispMachine(g)
		defer vm.Close()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		grad, _ := xn.Grad()
		return asFloat64(out.Value()), asFloat64(grad)
	}
	grads, err := G.Grad(loss, xn)
	if err != nil {
		t.Fatal(err)
	}
	var v G.Value
	G.Read(out, &v)
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	for range runs {
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
	}
	return asFloat64(v), asFloat64(grads[0].Value())
}

func dropoutOf(t *testing.T, rate float64, seed uint64) *Dropout {
	t.Helper()
	d, err := NewDropout(rate, seed)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ramp(n int) (x, c []float64) {
	x, c = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], c[i] = float64(i+1), float64(n-i)
	}
	return x, c
}

// Every entry is 0 or x/(1−p), as often as p says, and the gradient has the
// same mask: with this loss, dy/dx is c·mask.
func TestDropoutScalesWhatItKeeps(t *testing.T) {
	const n, rate = 20000, 0.3
	x, c := ramp(n)
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for _, lisp := range []bool{false, true} {
			d := dropoutOf(t, rate, 7)
			d.SetStep(3)
			y, dx := dropRun(t, d, 0, x, c, dt, lisp, 1)
			dropped := 0
			for i := range y {
				mask := 1 / (1 - rate)
				if y[i] == 0 {
					dropped++
					mask = 0
				}
				if math.Abs(y[i]-x[i]*mask) > 1e-6*x[i] || math.Abs(dx[i]-c[i]*mask) > 1e-6*c[i] {
					t.Fatalf("%v: y[%d] = %v of %v, dx = %v of %v", dt, i, y[i], x[i], dx[i], c[i])
				}
			}
			// Five standard deviations of a binomial, and the seed is fixed.
			if dev := math.Abs(float64(dropped) - n*rate); dev > 5*math.Sqrt(n*rate*(1-rate)) {
				t.Errorf("%v: %d of %d dropped, want about %v", dt, dropped, n, n*rate)
			}
		}
	}
}

func TestDropoutMasksDependOnSeedStepAndLayer(t *testing.T) {
	x, c := ramp(64)
	draw := func(seed, step uint64, layer int) []float64 {
		d := dropoutOf(t, 0.5, seed)
		d.SetStep(step)
		y, _ := dropRun(t, d, layer, x, c, tensor.Float64, false, 1)
		return y
	}
	same := func(a, b []float64) bool {
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	base := draw(1, 1, 0)
	if !same(base, draw(1, 1, 0)) {
		t.Error("one seed, step and layer gave two masks")
	}
	for what, other := range map[string][]float64{"seed": draw(2, 1, 0), "step": draw(1, 2, 0), "layer": draw(1, 1, 1)} {
		if same(base, other) {
			t.Errorf("another %s gave the same mask", what)
		}
	}
	// Without a step, every run draws anew.
	once, _ := dropRun(t, dropoutOf(t, 0.5, 1), 0, x, c, tensor.Float64, false, 1)
	twice, dx := dropRun(t, dropoutOf(t, 0.5, 1), 0, x, c, tensor.Float64, false, 2)
	if same(once, twice) {
		t.Error("two runs gave one mask")
	}
	for i := range twice {
		if (twice[i] == 0) != (dx[i] == 0) {
			t.Fatal("the gradient of a second run has another mask than its value")
		}
	}
}

// A layer with dropout in one pass has the numbers of Drop after Dense.
func TestDropoutInDenseIsDropAfterIt(t *testing.T) {
	const rows, in = 9, 5
	rng := rand.New(rand.NewPCG(2, 3))
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for act := range Activation(len(ActivationNames())) {
			const width = 7
			out := width * forward.Activation(act).Products()
			x, w, b, c := random(rows*in), random(in*out), random(out), random(rows*width)
			run := func(layer func(x, w, b *G.Node) (*G.Node, error)) [][]float64 {
				cs := &denseCase{dt: dt}
				g := G.NewGraph()
				// x is not a leaf, so that it has a gradient.
				leaf := G.NewMatrix(g, dt, G.WithShape(rows, in), G.WithName("x"), G.WithValue(cs.tensor(x, rows, in)))
				wn := G.NewMatrix(g, dt, G.WithShape(in, out), G.WithName("w"), G.WithValue(cs.tensor(w, in, out)))
				bn := G.NewVector(g, dt, G.WithShape(out), G.WithName("b"), G.WithValue(cs.tensor(b, out)))
				y, err := layer(G.Must(G.Neg(leaf)), wn, bn)
				if err != nil {
					t.Fatal(err)
				}
				grads, err := G.Grad(G.Must(G.Sum(G.Must(G.HadamardProd(y, G.NewConstant(cs.tensor(c, rows, width)))))), leaf, wn, bn)
				if err != nil {
					t.Fatal(err)
				}
				values := make([]G.Value, 4)
				for i, n := range append(G.Nodes{y}, grads...) {
					G.Read(n, &values[i])
				}
				vm := G.NewTapeMachine(g)
				defer vm.Close()
				if err := vm.RunAll(); err != nil {
					t.Fatal(err)
				}
				var all [][]float64
				for _, v := range values {
					all = append(all, asFloat64(v))
				}
				return all
			}
			d := dropoutOf(t, .4, 5)
			d.SetStep(8)
			want := run(func(x, w, b *G.Node) (*G.Node, error) {
				y, err := Dense(x, w, b, act)
				if err != nil {
					return nil, err
				}
				return Drop(y, d, 2)
			})
			got := run(func(x, w, b *G.Node) (*G.Node, error) {
				return layers.Dense("DenseDrop", x, w, b, nil, forward.Activation(act), d.masks, 2)
			})
			for i, what := range []string{"y", "dx", "dw", "db"} {
				for j, v := range got[i] {
					if math.Abs(v-want[i][j]) > 1e-5 || what == "y" && v != want[i][j] {
						t.Errorf("%v, %v: entry %d of %s is %v, want %v", act, dt, j, what, v, want[i][j])
					}
				}
			}
		}
	}
}

func TestDropoutSameForAnyGOMAXPROCSAndPadding(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	// Longer than the pieces of 16384 that the work is cut into.
	long, short := slices.Repeat([]float32{1}, 3*16384), slices.Repeat([]float32{1}, 16385)
	d := forward.Dropout{Rate: .4, Key: 9}
	forward.DropInto(d, long, long)
	runtime.GOMAXPROCS(3)
	forward.DropInto(d, short, short)
	for i := range short {
		if short[i] != long[i] {
			t.Fatalf("entry %d differs", i)
		}
	}
}

func TestDropoutDropsAtItsRate(t *testing.T) {
	x, c := ramp(10)
	y, _ := dropRun(t, dropoutOf(t, 0, 1), 0, x, c, tensor.Float64, false, 1)
	near(t, "y at rate 0", y, x, 0)
	for _, rate := range []float64{-.1, 1, math.NaN()} {
		if _, err := NewDropout(rate, 1); err == nil || !strings.Contains(err.Error(), "[0, 1)") {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	g := G.NewGraph()
	if _, err := Drop(G.NewVector(g, tensor.Int, G.WithShape(2), G.WithName("x")), dropoutOf(t, .5, 1), 0); err == nil {
		t.Error("an int x: no error")
	}
}

// Masks of one seed and layer in one graph are drawn independently, masks of several
// sources too.
func TestDropoutsOfOneSeedDrawIndependently(t *testing.T) {
	x, _ := ramp(64)
	g := G.NewGraph()
	cs := &denseCase{dt: tensor.Float64}
	xn := G.NewVector(g, tensor.Float64, G.WithShape(len(x)), G.WithName("x"), G.WithValue(cs.tensor(x, len(x))))
	var y [2]G.Value
	for i := range y {
		G.Read(G.Must(Drop(xn, dropoutOf(t, .5, 1), 0)), &y[i])
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	alone, _ := dropRun(t, dropoutOf(t, .5, 1), 0, x, x, tensor.Float64, false, 1)
	near(t, "the first of two", asFloat64(y[0]), alone, 0)
	if slices.Equal(asFloat64(y[0]), asFloat64(y[1])) {
		t.Error("both masks are the same")
	}
}
