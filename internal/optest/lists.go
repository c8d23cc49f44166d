package optest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
)

// A Batch is a packed batch.
type Batch struct {
	Scores, Gains, Discounts []float64
	Offsets, Places          []int
	Samples, Cutoff          int
}

// DrawBatch returns a random batch, with padding at both ends, empty queries and absent
// samples.
func DrawBatch(t *rapid.T) Batch {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	b := Batch{
		Samples: rapid.IntRange(1, 5).Draw(t, "samples"),
		Cutoff:  rapid.IntRange(1, 6).Draw(t, "cutoff"),
		Offsets: []int{rapid.IntRange(0, 2).Draw(t, "first row")},
	}
	for range rapid.IntRange(1, 5).Draw(t, "queries") {
		b.Offsets = append(b.Offsets, b.Offsets[len(b.Offsets)-1]+rapid.IntRange(0, 9).Draw(t, "documents"))
	}
	rows := b.Offsets[len(b.Offsets)-1] + rapid.IntRange(1, 3).Draw(t, "padding")
	spread := rapid.SampledFrom([]float64{0.5, 3, 300}).Draw(t, "spread")
	for range rows {
		b.Scores = append(b.Scores, spread*rng.NormFloat64())
		b.Gains = append(b.Gains, rng.NormFloat64())
	}
	for range b.Cutoff {
		b.Discounts = append(b.Discounts, rng.Float64())
	}
	for q := range b.Queries() {
		for i := range b.Samples {
			y := rng.Perm(b.Offsets[q+1] - b.Offsets[q])
			for k := range b.Cutoff {
				// Every query leaves out one of its samples.
				if k < len(y) && (b.Samples == 1 || i != q%b.Samples) {
					b.Places = append(b.Places, b.Offsets[q]+y[k])
				} else {
					b.Places = append(b.Places, -1)
				}
			}
		}
	}
	return b
}

// Queries returns the number of queries, empty ones included.
func (b Batch) Queries() int { return len(b.Offsets) - 1 }

// Lists is op.Lists, which can be assigned to ops.Lists.
type Lists = op.Lists

// Lists puts scores and offsets into a graph.
func (b Batch) Lists(g *G.ExprGraph, dt tensor.Dtype) Lists {
	return Lists{Scores: Vector(g, "scores", dt, b.Scores), Offsets: Ints(g, "offsets", b.Offsets, len(b.Offsets))}
}

// Nodes puts the batch into a graph.
func (b Batch) Nodes(g *G.ExprGraph, dt tensor.Dtype) (l Lists, gains, rankings *G.Node) {
	return b.Lists(g, dt), Vector(g, "gains", dt, b.Gains), Ints(g, "rankings", b.Places, b.Queries(), b.Samples, b.Cutoff)
}

// A ListFunc is a function on lists, some of gains and of groups, too.
type ListFunc func(l Lists, gains, groups *G.Node) (*G.Node, error)

// CheckVJPs checks derivatives by the scores by finite differences in some
// direction, on both machines, in float32 near to float64.
func CheckVJPs(t *testing.T, funcs map[string]ListFunc) {
	rapid.Check(t, func(t *rapid.T) {
		b := DrawBatch(t)
		groups, direction := make([]int, len(b.Scores)), make([]float64, len(b.Scores))
		// Scores a tenth apart at least: no ranks change within h.
		for rank, d := range num.DescendingOrder(nil, b.Scores) {
			place := len(b.Scores) - 1 - rank
			b.Scores[d] = .3*float64(place-len(b.Scores)/2) + .1*math.Sin(b.Gains[d])
			direction[d] = math.Cos(float64(7 * d))
			groups[d] = d%3 - 1
		}
		for d := range b.Gains {
			b.Gains[d] = math.Round(b.Gains[d])
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(funcs))).Draw(t, "name")
		evaluate := func(run Machine, dt tensor.Dtype, step float64) (float64, []float64) {
			moved := b
			moved.Scores = slices.Clone(b.Scores)
			for d := range direction {
				moved.Scores[d] += step * direction[d]
			}
			g := G.NewGraph()
			l := moved.Lists(g, dt)
			y, err := funcs[name](l, Vector(g, "gains", dt, b.Gains), Ints(g, "groups", groups, len(groups)))
			if err != nil {
				t.Fatal(err)
			}
			weights := make([]float64, y.Shape()[0])
			for i := range weights {
				weights[i] = math.Sin(float64(i + 1))
			}
			value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(Vector(g, "w", dt, weights), y)))), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			return value[0], gradient
		}
		const h = 1e-5
		_, gradient := evaluate(Tape, tensor.Float64, 0)
		_, other := evaluate(Lisp, tensor.Float64, 0)
		_, narrow := evaluate(Tape, tensor.Float32, 0)
		up, _ := evaluate(Tape, tensor.Float64, h)
		down, _ := evaluate(Tape, tensor.Float64, -h)
		slope, size := 0.0, 1.0
		for d, x := range gradient {
			slope += x * direction[d]
			size += math.Abs(x)
			if other[d] != x || math.Abs(narrow[d]-x) > 1e-5*(1+math.Abs(x)) {
				t.Fatalf("%s: d/dx_%d = %v by tape, %v by Lisp, %v in float32", name, d, x, other[d], narrow[d])
			}
		}
		if want := (up - down) / (2 * h); math.Abs(slope-want) > 1e-8*size {
			t.Fatalf("%s: slope %v, by differences %v", name, slope, want)
		}
	})
}

// CheckValue checks what a function gives for two queries of three documents, an
// empty one between them, and padding at both ends, in both dtypes:
//
//	scores   9 | 1 3 3 | −1 0 2 | 9
//	gains    9 | 0 3 3 | 1 0 7 | 9
//	groups   2 | 2 5 2 | −1 0 0 | 2
func CheckValue(t *testing.T, name string, f ListFunc, want ...float64) {
	t.Helper()
	b := Batch{
		Scores:  []float64{9, 1, 3, 3, -1, 0, 2, 9},
		Gains:   []float64{9, 0, 3, 3, 1, 0, 7, 9},
		Offsets: []int{1, 4, 4, 7},
	}
	groups := []int{2, 2, 5, 2, -1, 0, 0, 2}
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		g := G.NewGraph()
		y, err := f(b.Lists(g, dt), Vector(g, "gains", dt, b.Gains), Ints(g, "groups", groups, len(groups)))
		if err != nil {
			t.Fatal(err)
		}
		got := Numbers(Run(t, y))
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", name, got, want)
		}
		for i, w := range want {
			if math.Abs(got[i]-w) > 1e-6 {
				t.Errorf("%s: %v, want %v", name, got, want)
				break
			}
		}
	}
}

// CheckFault checks that an error with want in it comes of building or running a
// function of three documents, of scores 0 and gains 0, 1, 2 where they are nil.
func CheckFault(t *testing.T, want string, scores, gains []float64, f func(l Lists, gains *G.Node) (*G.Node, error)) {
	t.Helper()
	if scores == nil {
		scores = make([]float64, 3)
	}
	if gains == nil {
		gains = []float64{0, 1, 2}
	}
	g := G.NewGraph()
	l := Lists{Scores: Vector(g, "scores", tensor.Float64, scores)}
	_, err := f(l, Vector(g, "gains", tensor.Float64, gains))
	if err == nil {
		vm := G.NewTapeMachine(g)
		err = vm.RunAll()
		vm.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}
