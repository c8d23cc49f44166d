package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// An attentionCase is packed vectors q, k and v, with padding at both ends and empty queries.
type attentionCase struct {
	width, heads int
	offsets      []int
	rows         int
	qkv, weights []float64 // the loss is Σ weights·y
}

func drawAttention(t *rapid.T) attentionCase {
	c := attentionCase{heads: rapid.IntRange(1, 3).Draw(t, "heads"), offsets: []int{rapid.IntRange(0, 2).Draw(t, "first row")}}
	c.width = c.heads * rapid.IntRange(1, 5).Draw(t, "size")
	sizes := rapid.SampledFrom([]int{0, 1, 2, 9, 40, 150})
	for range rapid.IntRange(1, 4).Draw(t, "queries") {
		c.offsets = append(c.offsets, c.offsets[len(c.offsets)-1]+sizes.Draw(t, "documents"))
	}
	c.rows = c.offsets[len(c.offsets)-1] + rapid.IntRange(1, 3).Draw(t, "padding")
	spread := rapid.SampledFrom([]float64{.3, 1, 4}).Draw(t, "spread")
	c.fill(rapid.Uint64().Draw(t, "seed"), spread)
	return c
}

func (c *attentionCase) fill(seed uint64, spread float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range c.rows * 3 * c.width {
		c.qkv = append(c.qkv, float64(float32(spread*rng.NormFloat64())))
	}
	for range c.rows * c.width {
		c.weights = append(c.weights, float64(float32(rng.NormFloat64())))
	}
}

// value is the loss as the formula has it.
func (c attentionCase) value(qkv []float64) (loss float64) {
	size := c.width / c.heads
	vector := func(r, which, h int) []float64 { return qkv[(3*r+which)*c.width+h*size:][:size] }
	for q := range len(c.offsets) - 1 {
		from, to := c.offsets[q], c.offsets[q+1]
		for i := from; i < to; i++ {
			for h := range c.heads {
				var p []float64
				sum := 0.0
				for j := from; j < to; j++ {
					logit := 0.0
					for e, v := range vector(i, 0, h) {
						logit += v * vector(j, 1, h)[e]
					}
					p = append(p, math.Exp(logit/math.Sqrt(float64(size))))
					sum += p[j-from]
				}
				for j := from; j < to; j++ {
					for e, v := range vector(j, 2, h) {
						loss += c.weights[i*c.width+h*size+e] * p[j-from] / sum * v
					}
				}
			}
		}
	}
	return loss
}

// run is the result of the op, and the derivatives of the loss by qkv.
func (c attentionCase) run(t rapid.TB, run optest.Machine, dt tensor.Dtype) (loss float64, gradient []float64) {
	g := G.NewGraph()
	qkv := G.NewMatrix(g, dt, G.WithName("qkv"), G.WithShape(c.rows, 3*c.width), G.WithValue(optest.Dense(dt, c.qkv, c.rows, 3*c.width)))
	weights := G.NewMatrix(g, dt, G.WithName("weights"), G.WithShape(c.rows, c.width), G.WithValue(optest.Dense(dt, c.weights, c.rows, c.width)))
	y, err := ops.Attention(qkv, optest.Ints(g, "offsets", c.offsets, len(c.offsets)), c.heads)
	if err != nil {
		t.Fatal(err)
	}
	value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(weights, y)))), qkv)
	if err != nil {
		t.Fatal(err)
	}
	return value[0], gradient
}

// The result has its formula, and the derivatives are its finite differences, on
// both machines; in float32 they are near. Padding gets no derivative.
func TestAttentionHasItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawAttention(t)
		want := c.value(c.qkv)
		loss, gradient := c.run(t, optest.Tape, tensor.Float64)
		if math.Abs(loss-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("%v, want %v", loss, want)
		}
		_, other := c.run(t, optest.Lisp, tensor.Float64)
		if !slices.Equal(gradient, other) {
			t.Fatal("the machines differ")
		}
		loss32, narrow := c.run(t, optest.Tape, tensor.Float32)
		scale := 1.0
		for _, v := range gradient {
			scale = max(scale, math.Abs(v))
		}
		if math.Abs(loss32-want) > 1e-3*(1+math.Abs(want)) {
			t.Fatalf("float32: %v, want %v", loss32, want)
		}
		for i := range gradient {
			if math.Abs(gradient[i]-narrow[i]) > 1e-4*scale {
				t.Fatalf("derivative %d is %v, in float32 %v", i, gradient[i], narrow[i])
			}
		}
		const h = 1e-5
		up, down, slope := slices.Clone(c.qkv), slices.Clone(c.qkv), 0.0
		for i := range gradient {
			direction := math.Cos(float64(7 * i))
			up[i] += h * direction
			down[i] -= h * direction
			slope += gradient[i] * direction
		}
		if want := (c.value(up) - c.value(down)) / (2 * h); math.Abs(slope-want) > 1e-7*scale*float64(c.rows) {
			t.Fatalf("slope %v, by differences %v", slope, want)
		}
		for r := range c.rows {
			if r >= c.offsets[0] && r < c.offsets[len(c.offsets)-1] {
				continue
			}
			for _, v := range gradient[r*3*c.width : (r+1)*3*c.width] {
				if v != 0 {
					t.Fatalf("padding row %d has a derivative", r)
				}
			}
		}
	})
}

// Documents in another order get the same results, in that order, and other queries and
// padding change nothing.
func TestAttentionKnowsNoOrder(t *testing.T) {
	c := attentionCase{width: 6, heads: 2, offsets: []int{0, 70}, rows: 70}
	c.fill(1, 1)
	alone := c.outputs(t)
	moved := attentionCase{width: 6, heads: 2, offsets: []int{2, 12, 12, 82}, rows: 85}
	moved.fill(2, 1)
	order := rand.New(rand.NewPCG(3, 4)).Perm(70)
	for i, from := range order {
		copy(moved.qkv[(12+i)*18:(13+i)*18], c.qkv[from*18:(from+1)*18])
	}
	got := moved.outputs(t)
	for i, from := range order {
		for e := range 6 {
			if d := got[(12+i)*6+e] - alone[from*6+e]; math.Abs(d) > 1e-14 {
				t.Fatalf("document %d: off by %v", from, d)
			}
		}
	}
	for _, r := range []int{0, 1, 82, 84} {
		if got[r*6] != 0 {
			t.Errorf("padding row %d is %v", r, got[r*6:(r+1)*6])
		}
	}
}

func (c attentionCase) outputs(t *testing.T) []float64 {
	g := G.NewGraph()
	qkv := G.NewMatrix(g, tensor.Float64, G.WithName("qkv"), G.WithShape(c.rows, 3*c.width), G.WithValue(optest.Dense(tensor.Float64, c.qkv, c.rows, 3*c.width)))
	y, err := ops.Attention(qkv, optest.Ints(g, "offsets", c.offsets, len(c.offsets)), c.heads)
	if err != nil {
		t.Fatal(err)
	}
	return optest.Numbers(optest.Run(t, y))
}

func TestAttentionArgumentsThatDoNotFitAreErrors(t *testing.T) {
	g := G.NewGraph()
	qkv := G.NewMatrix(g, tensor.Float64, G.WithName("qkv"), G.WithShape(4, 12))
	offsets := optest.Ints(g, "offsets", []int{0, 4}, 2)
	for _, c := range []struct {
		qkv, offsets *G.Node
		heads        int
		want         string
	}{
		{nil, offsets, 2, "no qkv"},
		{offsets, offsets, 2, "qkv have shape (2): want 2 dimensions"},
		{G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(4, 13)), offsets, 1, "want [rows, 3·width]"},
		{qkv, offsets, 3, "3 heads: want a number that divides the width 4"},
		{qkv, offsets, 0, "0 heads"},
		{qkv, qkv, 2, "offsets have shape (4, 12)"},
		{qkv, optest.Ints(g, "one", []int{0}, 1), 2, "offsets have shape (1): want queries+1 of them"},
	} {
		if _, err := ops.Attention(c.qkv, c.offsets, c.heads); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	y, err := ops.Attention(qkv, optest.Ints(g, "bad", []int{0, 5}, 2), 2)
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New(tensor.WithShape(4, 12), tensor.WithBacking(make([]float64, 48)))
	if _, err := y.Op().Do(x, tensor.New(tensor.WithBacking([]int{0, 5}))); err == nil || !strings.Contains(err.Error(), "offsets[1] = 5 is outside of the 4 rows") {
		t.Errorf("error %v", err)
	}
	// A number that is not finite stays seen.
	for i := range x.Float64s() {
		x.Float64s()[i] = 1
	}
	x.Float64s()[12+4] = math.NaN() // in the k of a document, which all look at
	v, err := y.Op().Do(x, tensor.New(tensor.WithBacking([]int{0, 4})))
	if err != nil || !math.IsNaN(optest.Numbers(v)[0]+optest.Numbers(v)[12]) {
		t.Errorf("%v, error %v", v, err)
	}
}

func BenchmarkAttention(b *testing.B) {
	for _, s := range []struct{ lists, documents, width, heads int }{{32, 128, 128, 4}, {100, 20, 64, 2}, {1, 10000, 64, 2}} {
		b.Run(fmt.Sprintf("%dx%d/width%d", s.lists, s.documents, s.width), func(b *testing.B) {
			c := attentionCase{width: s.width, heads: s.heads, rows: s.lists * s.documents, offsets: []int{0}}
			for q := range s.lists {
				c.offsets = append(c.offsets, (q+1)*s.documents)
			}
			c.fill(1, 1)
			g := G.NewGraph()
			qkv := G.NewMatrix(g, tensor.Float32, G.WithName("qkv"), G.WithShape(c.rows, 3*c.width), G.WithValue(optest.Dense(tensor.Float32, c.qkv, c.rows, 3*c.width)))
			y := G.Must(ops.Attention(qkv, optest.Ints(g, "offsets", c.offsets, len(c.offsets)), c.heads))
			grads, err := G.Grad(G.Must(G.Sum(y)), qkv)
			if err != nil {
				b.Fatal(err)
			}
			optest.Benchmark(b, qkv, grads...)
		})
	}
}
