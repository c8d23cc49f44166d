package ops

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
)

// A denseCase is a network of two layers and a fixed linear loss on its output:
// the gradient of the first layer's weights shows the second's dx.
type denseCase struct {
	dt        tensor.Dtype
	act       Activation
	rows      int
	in, mid   int
	out       int // 0: a vector result
	values    map[string][]float64
	lossCoeff []float64
	entries   int // of a sparse x; 0: it is dense
}

var denseParams = []string{"w0", "b0", "w1", "b1"}

func newDenseCase(dt tensor.Dtype, act Activation, rows, in, mid, out int) *denseCase {
	c := &denseCase{dt: dt, act: act, rows: rows, in: in, mid: mid, out: out}
	rng := rand.New(rand.NewPCG(1, uint64(rows*in+mid)))
	fill := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			// Representable in float32, so that both dtypes start from one point.
			v[i] = float64(float32(rng.NormFloat64()))
		}
		return v
	}
	last := max(out, 1)
	c.values = map[string][]float64{"x": fill(rows * in), "w0": fill(in * mid), "b0": fill(mid), "w1": fill(mid * last), "b1": fill(last)}
	c.lossCoeff = fill(rows * last)
	return c
}

func (c *denseCase) tensor(v []float64, shape ...int) *tensor.Dense {
	if c.dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]float64(nil), v...)))
	}
	f := make([]float32, len(v))
	for i := range v {
		f[i] = float32(v[i])
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(f))
}

// A layerFunc is Dense, or the same in standard ops.
type layerFunc func(x, w, b *G.Node, act Activation) (*G.Node, error)

func standardLayer(x, w, b *G.Node, act Activation) (*G.Node, error) {
	z, err := G.Mul(x, w)
	if err != nil {
		return nil, err
	}
	if w.Dims() == 1 {
		// A vector plus a vector of one: BroadcastAdd does not take it.
		return nil, fmt.Errorf("no standard form")
	}
	b2, err := G.Reshape(b, tensor.Shape{1, b.Shape()[0]})
	if err != nil {
		return nil, err
	}
	if z, err = G.BroadcastAdd(z, b2, nil, []byte{0}); err != nil {
		return nil, err
	}
	switch act {
	case Sigmoid:
		return G.Sigmoid(z)
	case Tanh:
		return G.Tanh(z)
	case ReLU:
		return G.Rectify(z)
	}
	return z, nil
}

// run is the loss, the output and the gradients, by the tape machine or the
// Lisp machine.
func (c *denseCase) run(t *testing.T, layer layerFunc, lisp bool) (loss float64, y []float64, grads map[string][]float64) {
	t.Helper()
	g := G.NewGraph()
	node := func(name string, shape ...int) *G.Node {
		return G.NewTensor(g, c.dt, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(c.tensor(c.values[name], shape...)))
	}
	xShape := []int{c.rows, c.in}
	if c.entries > 0 {
		xShape = []int{c.entries}
	}
	x, w0, b0 := node("x", xShape...), node("w0", c.in, c.mid), node("b0", c.mid)
	w1shape, coeffShape := []int{c.mid, c.out}, []int{c.rows, c.out}
	if c.out == 0 {
		w1shape, coeffShape = []int{c.mid}, []int{c.rows}
	}
	w1, b1 := node("w1", w1shape...), node("b1", max(c.out, 1))
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	h, err := layer(x, w0, b0, c.act)
	check(err)
	out, err := layer(h, w1, b1, c.act)
	check(err)
	coeff := G.NewConstant(c.tensor(c.lossCoeff, coeffShape...))
	prod, err := G.HadamardProd(out, coeff)
	check(err)
	sum, err := G.Sum(prod)
	check(err)
	params := G.Nodes{w0, b0, w1, b1}
	var lossV G.Value
	var vm G.VM
	if lisp {
		vm = G.NewLispMachine(g)
	} else {
		_, err = G.Grad(sum, params...)
		check(err)
		vm = G.NewTapeMachine(g, G.BindDualValues(params...))
	}
	defer vm.Close()
	if !lisp {
		G.Read(out, &lossV)
		vm.Close()
		vm = G.NewTapeMachine(g, G.BindDualValues(params...))
	}
	check(vm.RunAll())
	if lisp {
		lossV = out.Value()
	}
	grads = map[string][]float64{}
	for i, p := range params {
		gv, err := p.Grad()
		check(err)
		grads[denseParams[i]] = asFloat64(gv)
	}
	y = asFloat64(lossV)
	for i, v := range y {
		loss += v * c.lossCoeff[i]
	}
	return loss, y, grads
}

func asFloat64(v G.Value) []float64 {
	t := v.(*tensor.Dense)
	if t.Dtype() == tensor.Float64 {
		return append([]float64(nil), t.Float64s()...)
	}
	out := make([]float64, t.DataSize())
	for i, f := range t.Float32s() {
		out[i] = float64(f)
	}
	return out
}

func maxAbs(v []float64) (m float64) {
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	scale := maxAbs(want) + 1e-30
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*scale) {
			t.Fatalf("%s[%d] = %v, want %v (scale %v)", what, i, got[i], want[i], scale)
		}
	}
}

// The gradients of all activations and both result shapes, on both machines,
// against central differences in float64, and float32 against float64.
func TestDenseGradientsAreFiniteDifferences(t *testing.T) {
	for act := range SwiGLU {
		for i, size := range []struct{ rows, out int }{{5, 0}, {5, 1}, {5, 3}, {1, 0}, {1, 1}, {5, 0}, {5, 3}} {
			t.Run(fmt.Sprintf("%v/%d×%d/%d", act, size.rows, size.out, i), func(t *testing.T) {
				c := newDenseCase(tensor.Float64, act, size.rows, 4, 3, size.out)
				layer := layerFunc(Dense)
				if i >= 5 {
					c, layer = c.sparse()
				}
				_, y, grads := c.run(t, layer, false)
				for _, name := range denseParams {
					const h = 1e-5
					values, slope := c.values[name], 0.0
					moved := func(by float64) float64 { // along a direction in which no two entries are alike
						c.values[name] = slices.Clone(values)
						for i := range values {
							c.values[name][i] += by * math.Cos(float64(7*i+1))
						}
						loss, _, _ := c.run(t, layer, false)
						return loss
					}
					for i, v := range grads[name] {
						slope += v * math.Cos(float64(7*i+1))
					}
					near(t, "d"+name, []float64{slope}, []float64{(moved(h) - moved(-h)) / (2 * h)}, 1e-7)
					c.values[name] = values
				}
				_, yLisp, gradsLisp := c.run(t, layer, true)
				near(t, "y by the Lisp machine", yLisp, y, 0)
				c.dt = tensor.Float32
				_, y32, grads32 := c.run(t, layer, false)
				near(t, "float32 y", y32, y, 1e-6)
				_, _, grads32Lisp := c.run(t, layer, true)
				for _, name := range denseParams {
					near(t, "Lisp d"+name, gradsLisp[name], grads[name], 0)
					near(t, "float32 d"+name, grads32[name], grads[name], 2e-6)
					near(t, "Lisp float32 d"+name, grads32Lisp[name], grads32[name], 0)
				}
			})
		}
	}
}

func TestDenseEqualsStandardOps(t *testing.T) {
	for _, act := range []Activation{Identity, Sigmoid, Tanh, ReLU} {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			// Few inputs, since Gorgonia's sigmoid of anything above 16 is 1.
			c := newDenseCase(dt, act, 150, 7, 5, 2)
			tolerance := 1e-13
			if dt == tensor.Float32 {
				tolerance = 2e-5
			}
			_, y, grads := c.run(t, Dense, false)
			_, wantY, want := c.run(t, standardLayer, false)
			near(t, fmt.Sprintf("%v %v y", act, dt), y, wantY, tolerance)
			for _, name := range denseParams {
				near(t, fmt.Sprintf("%v %v d%s", act, dt, name), grads[name], want[name], tolerance)
			}
		}
	}
}

func TestDenseSameForAnyGOMAXPROCS(t *testing.T) {
	c := newDenseCase(tensor.Float32, GELU, 1000, 50, 40, 0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, y, grads := c.run(t, Dense, false)
	for _, n := range []int{2, 5} {
		runtime.GOMAXPROCS(n)
		_, y2, grads2 := c.run(t, Dense, false)
		near(t, "y", y2, y, 0)
		for _, name := range denseParams {
			near(t, "d"+name, grads2[name], grads[name], 0)
		}
	}
}

// A machine that runs again sees new values and no trace of the old ones.
func TestDenseKeepsNoTraceOfOtherRuns(t *testing.T) {
	g := G.NewGraph()
	xv := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{1, 2, 3, 4}))
	x := G.NewMatrix(g, tensor.Float64, G.WithShape(2, 2), G.WithName("x"), G.WithValue(xv))
	w := G.NewVector(g, tensor.Float64, G.WithShape(2), G.WithName("w"), G.WithValue(tensor.New(tensor.WithBacking([]float64{1, 10}))))
	b := G.NewVector(g, tensor.Float64, G.WithShape(1), G.WithName("b"), G.WithValue(tensor.New(tensor.WithShape(1), tensor.WithBacking([]float64{100}))))
	y, err := Dense(x, w, b, Identity)
	if err != nil {
		t.Fatal(err)
	}
	loss := G.Must(G.Sum(y))
	grads, err := G.Grad(loss, w, b)
	if err != nil {
		t.Fatal(err)
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	for _, want := range []struct{ x, y, dw []float64 }{
		{[]float64{1, 2, 3, 4}, []float64{121, 143}, []float64{4, 6}},
		{[]float64{0, 1, 0, -1}, []float64{110, 90}, []float64{0, 0}},
	} {
		copy(xv.Float64s(), want.x)
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		near(t, "y", asFloat64(y.Value()), want.y, 0)
		near(t, "dw", asFloat64(grads[0].Value()), want.dw, 0)
		near(t, "db", asFloat64(grads[1].Value()), []float64{2}, 0)
	}
}

// x may be a view, as G.Transpose leaves it.
func TestDenseTakesTransposedInput(t *testing.T) {
	g := G.NewGraph()
	xt := G.NewMatrix(g, tensor.Float64, G.WithShape(2, 3), G.WithName("x"), G.WithValue(tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 2, 3, 10, 20, 30}))))
	w := G.NewVector(g, tensor.Float64, G.WithShape(2), G.WithName("w"), G.WithValue(tensor.New(tensor.WithBacking([]float64{1, 1}))))
	b := G.NewVector(g, tensor.Float64, G.WithShape(1), G.WithName("b"), G.WithValue(tensor.New(tensor.WithShape(1), tensor.WithBacking([]float64{0}))))
	y, err := Dense(G.Must(G.Transpose(xt)), w, b, Identity)
	if err != nil {
		t.Fatal(err)
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	near(t, "y", asFloat64(y.Value()), []float64{11, 22, 33}, 0)
}

func TestDenseArgumentsThatDoNotFitAreErrors(t *testing.T) {
	g := G.NewGraph()
	node := func(dt tensor.Dtype, shape ...int) *G.Node {
		return G.NewTensor(g, dt, len(shape), G.WithShape(shape...), G.WithName(fmt.Sprint(dt, shape)))
	}
	f64, f32 := tensor.Float64, tensor.Float32
	for _, c := range []struct {
		x, w, b *G.Node
		act     Activation
		want    string
	}{
		{nil, node(f64, 3, 2), node(f64, 2), Sigmoid, "x is nil"},
		{node(f64, 5, 3), nil, node(f64, 2), Sigmoid, "w is nil"},
		{node(f64, 5, 3), node(f64, 4, 2), node(f64, 2), Sigmoid, "w has shape (4, 2), want [3, out]"},
		{node(f64, 5, 3), node(f64, 3, 2), node(f64, 3), Sigmoid, "b has shape (3), want [2]"},
		{node(f64, 5, 3), node(f64, 3), node(f64, 2), Sigmoid, "b has shape (2), want [1]"},
		{node(f64, 5), node(f64, 3, 2), node(f64, 2), Sigmoid, "want [rows, in]"},
		{node(f64, 5, 3), node(f32, 3, 2), node(f64, 2), Sigmoid, "w is float32"},
		{node(tensor.Int, 5, 3), node(tensor.Int, 3, 2), node(tensor.Int, 2), Sigmoid, "x is int"},
		{node(f64, 5, 3), node(f64, 3, 2), node(f64, 2), Activation(9), "no such activation: 9"},
	} {
		_, err := Dense(c.x, c.w, c.b, c.act)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

// What cannot be known when the graph is built comes back from the machine as
// an error, not as a panic on another goroutine.
func TestDensePanicsBecomeErrors(t *testing.T) {
	g := G.NewGraph()
	node := func(name string, shape ...int) *G.Node {
		return G.NewTensor(g, tensor.Float64, len(shape), G.WithShape(shape...), G.WithName(name))
	}
	x := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking(make([]float64, 4)))
	w := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking(make([]float64, 6)))
	b := tensor.New(tensor.WithShape(2), tensor.WithBacking(make([]float64, 2)))
	y, err := Dense(node("x", 2, 2), node("w", 2, 2), node("b", 2), Sigmoid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := y.Op().Do(x, w, b); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("got %v", err)
	}
	if _, err := y.Op().Do(x, w); err == nil || !strings.Contains(err.Error(), "2 inputs, want 3") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkDense(b *testing.B) {
	for _, rows := range []int{125, 4000} {
		for _, kind := range []string{"fused", "standard"} {
			b.Run(fmt.Sprintf("%s/rows=%d", kind, rows), func(b *testing.B) {
				layer := layerFunc(Dense)
				if kind == "standard" {
					layer = standardLayer
				}
				benchmarkNet(b, rows, layer)
			})
		}
	}
}

// benchmarkNet is the forward and backward pass of 136→32→32→1 with sigmoids.
func benchmarkNet(b *testing.B, rows int, layer layerFunc) {
	g := G.NewGraph()
	rng := rand.New(rand.NewPCG(1, 2))
	leaf := func(name string, shape ...int) *G.Node {
		v := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(shape...))
		for i := range v.Float32s() {
			v.Float32s()[i] = float32(rng.NormFloat64() / 6)
		}
		return G.NewTensor(g, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(v))
	}
	widths := []int{136, 32, 32, 1}
	h := leaf("x", rows, widths[0])
	inputs := G.Nodes{h}
	var weights G.Nodes
	for i := 1; i < len(widths); i++ {
		act := Sigmoid
		if i == len(widths)-1 {
			act = Identity
		}
		w, bias := leaf(fmt.Sprint("w", i), widths[i-1], widths[i]), leaf(fmt.Sprint("b", i), widths[i])
		weights = append(weights, w, bias)
		var err error
		if h, err = layer(h, w, bias, act); err != nil {
			b.Fatal(err)
		}
	}
	loss := G.Must(G.Sum(h))
	grads, err := G.Grad(loss, weights...)
	if err != nil {
		b.Fatal(err)
	}
	prog, locs, err := G.CompileFunction(g, append(inputs, weights...), append(G.Nodes{loss}, grads...))
	if err != nil {
		b.Fatal(err)
	}
	vm := G.NewTapeMachine(g, G.WithPrecompiled(prog, locs))
	defer vm.Close()
	b.ReportAllocs()
	for b.Loop() {
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			b.Fatal(err)
		}
	}
}
