package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

func newMLP(t *testing.T, c MLPConfig) *MLP {
	t.Helper()
	m, err := NewMLP(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run scores x, and gives the gradient of Σ c·score for every weight.
func run(t *testing.T, m *MLP, mode Mode, x, c []float64) (scores []float64, grads [][]float64) {
	t.Helper()
	g := G.NewGraph()
	leaf := func(name string, v []float64, shape ...int) *G.Node {
		value := optest.Dense(m.Config().Dtype, v, shape...)
		return G.NewTensor(g, m.Config().Dtype, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(value))
	}
	rows := len(c)
	weights := m.Weights().Nodes(g)
	out, err := m.Build(Input{Features: leaf("x", x, rows, len(x)/rows), Weights: weights}, mode)
	if err != nil {
		t.Fatal(err)
	}
	if !out.IsVector() || out.Shape()[0] != rows {
		t.Fatalf("scores have shape %v, want (%d)", out.Shape(), rows)
	}
	return runGraph(t, out, c, weights)
}

// runGraph gives scores, and the gradient of Σ c·score for every weight.
func runGraph(t *testing.T, out *G.Node, c []float64, weights G.Nodes) (scores []float64, grads [][]float64) {
	t.Helper()
	factors := optest.Vector(out.Graph(), "c", out.Dtype(), c)
	nodes, err := G.Grad(G.Must(G.Sum(G.Must(G.HadamardProd(out, factors)))), weights...)
	if err != nil {
		t.Fatal(err)
	}
	scores = optest.Numbers(optest.Run(t, out))
	for _, n := range nodes {
		grads = append(grads, optest.Numbers(n.Value()))
	}
	return scores, grads
}

func floats(t *testing.T, v G.Value) []float64 {
	t.Helper()
	f, err := Float64s(v)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func set(t *testing.T, m *MLP, name string, values []float64) {
	t.Helper()
	if err := m.Weights().Set(name, values); err != nil {
		t.Fatal(err)
	}
}

func random(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// naive is the model written out, for no dropout.
func naive(m *MLP, x []float64) []float64 {
	act := map[ops.Activation]func(float64) float64{
		ops.Identity: func(z float64) float64 { return z },
		ops.Sigmoid:  func(z float64) float64 { return 1 / (1 + math.Exp(-z)) },
		ops.Tanh:     math.Tanh,
		ops.ReLU:     func(z float64) float64 { return math.Max(z, 0) },
		ops.GELU:     func(z float64) float64 { return z / 2 * (1 + math.Erf(z/math.Sqrt2)) },
	}[m.Config().Activation]
	var scores []float64
	in := m.Config().Features
	for r := 0; r < len(x); r += in {
		h := x[r : r+in]
		for i := range len(m.Config().Hidden) + 1 {
			w, b := m.weights.Get(fmt.Sprint("w", i)), m.weights.Get(fmt.Sprint("b", i))
			next := make([]float64, len(b))
			for j := range next {
				for k := range h {
					next[j] += h[k] * w[k*len(b)+j]
				}
				next[j] += b[j]
				if i < len(m.Config().Hidden) && act != nil {
					next[j] = act(next[j])
				}
			}
			if half := len(next) / 2; i < len(m.Config().Hidden) && act == nil { // SwiGLU
				for j, z := range next[:half] {
					next[j] = z / (1 + math.Exp(-z)) * next[half+j]
				}
				next = next[:half]
			}
			h = next
		}
		scores = append(scores, h[0])
	}
	return scores
}

func TestMLPIsItsFormula(t *testing.T) {
	for _, name := range ops.ActivationNames() {
		act, _ := ops.ParseActivation(name)
		for _, hidden := range [][]int{nil, {1}, {5}, {4, 3}, {3, 1, 2}} {
			for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-5} {
				for _, features := range []int{1, 6} {
					m := newMLP(t, MLPConfig{Features: features, Hidden: hidden, Activation: act, Seed: 3, Dtype: dt})
					for _, a := range m.Weights().Arrays() { // zero biases would hide a missing one
						if a.Bias {
							set(t, m, a.Name, random(a.Size(), 1))
						}
					}
					for _, rows := range []int{1, 70} {
						x := random(rows*features, 2)
						scores, grads := run(t, m, Evaluate, x, random(rows, 3))
						for i, want := range naive(m, x) {
							if math.Abs(scores[i]-want) > tolerance {
								t.Fatalf("%v %v %v: score %v, want %v", name, hidden, dt, scores[i], want)
							}
						}
						if len(grads) != 2*len(hidden)+2 {
							t.Fatalf("%d gradients", len(grads))
						}
					}
				}
			}
		}
	}
}

// Training graphs, dropout and all, by central differences.
func TestMLPGradientsAreFiniteDifferences(t *testing.T) {
	m := newMLP(t, MLPConfig{Features: 4, Hidden: []int{5, 3}, Activation: ops.Tanh, Dropout: 0.4, Seed: 5, Dtype: tensor.Float64})
	m.SetStep(2)
	const rows = 6
	x, c := random(rows*4, 1), random(rows, 2)
	loss := func() (sum float64) {
		scores, _ := run(t, m, Train, x, c)
		for i, s := range scores {
			sum += s * c[i]
		}
		return sum
	}
	_, grads := run(t, m, Train, x, c)
	for i, a := range m.Weights().Arrays() {
		data := m.Weights().Float64s()[m.Weights().starts[i]:][:a.Size()]
		for j := range data {
			const h = 1e-5
			was := data[j]
			data[j] = was + h
			up := loss()
			data[j] = was - h
			down := loss()
			data[j] = was
			if numeric := (up - down) / (2 * h); math.Abs(numeric-grads[i][j]) > 1e-7 {
				t.Errorf("%s[%d]: gradient %v, want %v", a.Name, j, grads[i][j], numeric)
			}
		}
	}
}

func TestMLPDropoutOnlyInTraining(t *testing.T) {
	c := MLPConfig{Features: 3, Hidden: []int{40, 40}, Activation: ops.Sigmoid, Seed: 1, Dtype: tensor.Float64}
	plain := newMLP(t, c)
	c.Dropout = 0.5
	m := newMLP(t, c)
	x, ones := random(30, 1), random(10, 1)
	want, _ := run(t, plain, Train, x, ones)
	got, _ := run(t, m, Evaluate, x, ones)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("dropout changed the scores of an evaluation graph")
	}
	m.SetStep(1)
	first, _ := run(t, m, Train, x, ones)
	again, _ := run(t, m, Train, x, ones)
	m.SetStep(2)
	second, _ := run(t, m, Train, x, ones)
	if fmt.Sprint(first) == fmt.Sprint(want) || fmt.Sprint(first) == fmt.Sprint(second) {
		t.Error("dropout did nothing, or the same in two steps")
	}
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Error("one step gave two results")
	}
}

// Dropout must be right in expectation: over many steps the mean score of a
// network with one hidden layer is the score without dropout.
func TestMLPDropoutKeepsTheMeanScore(t *testing.T) {
	c := MLPConfig{Features: 2, Hidden: []int{8}, Activation: ops.ReLU, Seed: 1, Dtype: tensor.Float64, Dropout: 0.3}
	m := newMLP(t, c)
	const steps, rows = 15, 100
	x, ones := slices.Repeat(random(2, 4), rows), slices.Repeat([]float64{1}, rows)
	want, _ := run(t, m, Evaluate, x, ones)
	var sum, squares float64
	for step := range uint64(steps) {
		m.SetStep(step)
		scores, _ := run(t, m, Train, x, ones)
		for _, s := range scores {
			sum += s
			squares += s * s
		}
	}
	const n = steps * rows
	mean := sum / n
	sd := math.Sqrt((squares/n - mean*mean) / n)
	// The seed is fixed: four standard errors.
	if math.Abs(mean-want[0]) > 4*sd {
		t.Errorf("mean score %v ± %v, want %v", mean, sd, want[0])
	}
}

func TestMLPInitialWeightsAreUniformBySeed(t *testing.T) {
	c := MLPConfig{Features: 30, Hidden: []int{20, 10}, Seed: 9, Dtype: tensor.Float64}
	m, same := newMLP(t, c), newMLP(t, c)
	c.Seed = 10
	other := newMLP(t, c)
	in := []int{30, 20, 10}
	out := []int{20, 10, 1}
	for i, w := range m.Weights().Arrays() {
		data := m.Weights().Get(w.Name)
		if fmt.Sprint(data) != fmt.Sprint(same.Weights().Get(w.Name)) {
			t.Errorf("%s: one seed, two values", w.Name)
		}
		if i%2 == 1 {
			for _, v := range data {
				if v != 0 {
					t.Errorf("%s is not zero", w.Name)
				}
			}
			continue
		}
		if fmt.Sprint(data) == fmt.Sprint(other.Weights().Get(w.Name)) {
			t.Errorf("%s: two seeds, one value", w.Name)
		}
		limit := math.Sqrt(6 / float64(in[i/2]+out[i/2]))
		low, high := limit, -limit
		for _, v := range data {
			low, high = min(low, v), max(high, v)
		}
		// The extremes of n uniform numbers come within a few of 1/n of the limits.
		if slack := 20 * limit / float64(len(data)); low < -limit || high > limit || low > -limit+slack || high < limit-slack {
			t.Errorf("%s: within [%v, %v], want it to fill ±%v", w.Name, low, high, limit)
		}
	}
}

// Two graphs of one model see the same weights, and can run at the same time.
func TestMLPGraphsShareWeights(t *testing.T) {
	m := newMLP(t, MLPConfig{Features: 3, Hidden: []int{4}, Activation: ops.Tanh, Seed: 1})
	type machine struct {
		vm     G.VM
		scores *G.Node
	}
	var machines []machine
	for range 2 {
		g := G.NewGraph()
		value := optest.Dense(tensor.Float32, random(15, 1), 5, 3)
		x := G.NewMatrix(g, tensor.Float32, G.WithShape(5, 3), G.WithName("x"), G.WithValue(value))
		scores, err := m.Build(Input{Features: x, Weights: m.Weights().Nodes(g)}, Evaluate)
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, machine{G.NewTapeMachine(g), scores})
	}
	for i := range 3 {
		m.Weights().Float32s()[0] = float32(i)
		done := make(chan error)
		for _, vm := range machines {
			go func() {
				vm.vm.Reset()
				done <- vm.vm.RunAll()
			}()
		}
		for range machines {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		want := naive(m, optest.Numbers(optest.Dense(tensor.Float32, random(15, 1), 5, 3)))
		for _, vm := range machines {
			for j, v := range floats(t, vm.scores.Value()) {
				if math.Abs(v-want[j]) > 1e-5 {
					t.Fatalf("score %v, want %v", v, want[j])
				}
			}
		}
	}
}

func TestMLPRefusesInvalidConfigsAndInputs(t *testing.T) {
	for _, c := range []struct {
		config MLPConfig
		want   string
	}{
		{MLPConfig{}, "0 features"},
		{MLPConfig{Features: 3, Hidden: []int{4, 0}}, "hidden layer 2 has width 0"},
		{MLPConfig{Features: 3, Activation: 77}, "no such activation: 77"},
		{MLPConfig{Features: 3, Dropout: 1}, "[0, 1)"},
		{MLPConfig{Features: 3, Dropout: math.NaN()}, "[0, 1)"},
		{MLPConfig{Features: 3, Dtype: tensor.Int}, "dtype int"},
	} {
		if _, err := NewMLP(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	m := newMLP(t, MLPConfig{Features: 3})
	g := G.NewGraph()
	for want, x := range map[string]*G.Node{
		"want a matrix [rows, 3]":                        G.NewMatrix(g, tensor.Float32, G.WithShape(2, 4), G.WithName("a")),
		"features are (3)":                               G.NewVector(g, tensor.Float32, G.WithShape(3), G.WithName("b")),
		"features are nil":                               nil,
		"features are float64, but the model is float32": G.NewMatrix(g, tensor.Float64, G.WithShape(2, 3), G.WithName("c")),
	} {
		if _, err := m.Build(Input{Features: x, Weights: m.Weights().Nodes(g)}, Evaluate); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(2, 3), G.WithName("d"))
	if _, err := m.Build(Input{Features: x}, Evaluate); err == nil || !strings.Contains(err.Error(), "0 nodes of weights, want 2") {
		t.Errorf("no weights: %v", err)
	}
}
