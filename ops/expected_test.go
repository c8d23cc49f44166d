package ops_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// expectedMetrics are the metric of the queries as one op, and as Σ ρ_d E_d.
var expectedMetrics = map[string]func(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error){
	"ExpectedMetric": ops.ExpectedMetric,
	"ExpectedExposure": func(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
		exposure, err := ops.ExpectedExposure(l, discounts)
		if err != nil {
			return nil, err
		}
		return ops.SumOverDocuments(l, G.Must(G.HadamardProd(gains, exposure)))
	},
}

// The independent vectors, through both ops, machines and dtypes.
func TestExpectedOpsHaveTheGoldenValues(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                     string
			Scores, Gains, Discounts []float64
			Value                    float64
			Lambda, Exposure         []float64
		}
	}
	testkit.Golden(t, "exact-large.json", &file)
	for _, c := range file.Cases {
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-6, tensor.Float32: 2e-6} {
			for name, metric := range expectedMetrics {
				for machine, run := range optest.Machines {
					g := G.NewGraph()
					l := ops.Lists{Scores: optest.Vector(g, "scores", dt, c.Scores)}
					perQuery, err := metric(l, optest.Vector(g, "gains", dt, c.Gains), c.Discounts)
					if err != nil {
						t.Fatal(err)
					}
					value, lambda, err := run(G.Must(G.Sum(perQuery)), l.Scores)
					if err != nil {
						t.Fatal(err)
					}
					if off := math.Abs(value[0]-c.Value) / c.Value; !(off <= tolerance) {
						t.Errorf("%s, %v: %s, %s machine: value %v, want %v", c.Name, dt, name, machine, value, c.Value)
					}
					if off := distance(lambda, c.Lambda); !(off <= tolerance) {
						t.Errorf("%s, %v: %s, %s machine: λ is off by %.2g of the largest", c.Name, dt, name, machine, off)
					}
				}
			}
			g := G.NewGraph()
			exposure, err := ops.ExpectedExposure(ops.Lists{Scores: optest.Vector(g, "scores", dt, c.Scores)}, c.Discounts)
			if err != nil {
				t.Fatal(err)
			}
			if off := distance(optest.Numbers(optest.Run(t, exposure)), c.Exposure); !(off <= tolerance) {
				t.Errorf("%s, %v: exposure is off by %.2g of the largest", c.Name, dt, off)
			}
		}
	}
}

// distance is the largest difference, over the largest number of want.
func distance(got, want []float64) float64 {
	largest, off := 0.0, 0.0
	for i, w := range want {
		largest = max(largest, math.Abs(w))
		if d := math.Abs(got[i] - w); !(d <= off) {
			off = d
		}
	}
	return off / largest
}

// Packed batches, with empty queries, padding, fewer documents than discounts, discounts
// that rise and gains of both signs, against the expectation of each query alone: for a
// weighted sum of metrics, and for a function of the exposures that is not linear.
func TestExpectedOpsEqualPackagePlackett(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := optest.DrawBatch(t)
		weights := make([]float64, b.Queries())
		wantValue, want := 0.0, make([]float64, len(b.Scores))
		squares, wantVJPs := 0.0, make([]float64, len(b.Scores))
		var e plackett.Expectation
		for q := range weights {
			weights[q] = float64(q) - 1.5
			from, to := b.Offsets[q], b.Offsets[q+1]
			m, err := e.Gradient(b.Scores[from:to], b.Gains[from:to], b.Discounts, want[from:to])
			if err != nil {
				t.Fatal(err)
			}
			wantValue += weights[q] * m
			exposure := make([]float64, to-from)
			if err := e.Exposure(b.Scores[from:to], b.Discounts, exposure); err != nil {
				t.Fatal(err)
			}
			incoming := make([]float64, to-from)
			for d, x := range exposure {
				want[from+d] *= weights[q]
				squares += b.Gains[from+d] * x * x
				incoming[d] = 2 * b.Gains[from+d] * x
			}
			if _, err := e.Gradient(b.Scores[from:to], incoming, b.Discounts, wantVJPs[from:to]); err != nil {
				t.Fatal(err)
			}
		}
		for machine, run := range optest.Machines {
			g := G.NewGraph()
			l, gains, _ := b.Nodes(g, tensor.Float64)
			perQuery, err := ops.ExpectedMetric(l, gains, b.Discounts)
			if err != nil {
				t.Fatal(err)
			}
			value, lambda, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(perQuery, optest.Vector(g, "weights", tensor.Float64, weights))))), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(value[0]-wantValue) > 1e-12*(1+math.Abs(wantValue)) || !slices.Equal(lambda, want) {
				t.Errorf("%s machine: metric %v with gradient %v, want %v with %v", machine, value, lambda, wantValue, want)
			}
			g = G.NewGraph()
			l, gains, _ = b.Nodes(g, tensor.Float64)
			exposure, err := ops.ExpectedExposure(l, b.Discounts)
			if err != nil {
				t.Fatal(err)
			}
			value, slopes, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(gains, G.Must(G.Square(exposure)))))), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(value[0]-squares) > 1e-12*(1+math.Abs(squares)) {
				t.Errorf("%s machine: Σ ρ E² = %v, want %v", machine, value, squares)
			}
			for d, w := range wantVJPs {
				if math.Abs(slopes[d]-w) > 1e-12*(1+math.Abs(w)) {
					t.Errorf("%s machine: dΣρE²/dm_%d = %v, want %v", machine, d, slopes[d], w)
				}
			}
		}
	})
}

// Both ops are right to their tolerance: value, exposure and gradient against the
// enumeration of all rankings.
func TestExpectedOpsEqualEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := optest.DrawBatch(t)
		for name, metric := range expectedMetrics {
			g := G.NewGraph()
			l, gains, _ := b.Nodes(g, tensor.Float64)
			perQuery, err := metric(l, gains, b.Discounts)
			if err != nil {
				t.Fatal(err)
			}
			value, lambda, err := optest.Tape(G.Must(G.Sum(perQuery)), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			sum, scale := 0.0, 0.0
			for _, theta := range b.Discounts {
				scale += math.Abs(theta)
			}
			scale *= max(slices.Max(b.Gains), -slices.Min(b.Gains))
			want := make([]float64, len(lambda))
			for q := range b.Queries() {
				from, to := b.Offsets[q], b.Offsets[q+1]
				if to-from > 6 {
					return // too many rankings for a test
				}
				m, err := testkit.EnumerateMoments(b.Scores[from:to], b.Gains[from:to], b.Discounts)
				if err != nil {
					t.Fatal(err)
				}
				sum += m.Reward
				copy(want[from:to], m.Gradient)
			}
			if math.Abs(value[0]-sum) > 1e-7*scale*float64(b.Queries()) {
				t.Errorf("%s: value %v, want %v", name, value, sum)
			}
			for d, w := range want {
				if math.Abs(lambda[d]-w) > 1e-7*scale {
					t.Errorf("%s: λ[%d] = %v, want %v", name, d, lambda[d], w)
				}
			}
		}
	})
}

// The gradient is the derivative of the value, by finite differences in some direction:
// of the metric, and of a function of the exposures that is not linear.
func TestExpectedGradientsAreFiniteDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	b := optest.Batch{Offsets: []int{1, 21, 21, 30}, Discounts: []float64{1, .63, -.2, .7}}
	var direction []float64
	for range 31 {
		b.Scores, b.Gains = append(b.Scores, 2*rng.NormFloat64()), append(b.Gains, rng.NormFloat64())
		direction = append(direction, rng.NormFloat64())
	}
	for name, build := range map[string]func(l ops.Lists, gains *G.Node) (*G.Node, error){
		"ExpectedMetric": func(l ops.Lists, gains *G.Node) (*G.Node, error) { return ops.ExpectedMetric(l, gains, b.Discounts) },
		"ExpectedExposure": func(l ops.Lists, gains *G.Node) (*G.Node, error) {
			exposure, err := ops.ExpectedExposure(l, b.Discounts)
			if err != nil {
				return nil, err
			}
			return G.HadamardProd(gains, G.Must(G.Cube(exposure)))
		},
	} {
		evaluate := func(step float64) (float64, []float64) {
			moved := b
			moved.Scores = slices.Clone(b.Scores)
			for d := range direction {
				moved.Scores[d] += step * direction[d]
			}
			g := G.NewGraph()
			l := moved.Lists(g, tensor.Float64)
			y, err := build(l, optest.Vector(g, "gains", tensor.Float64, b.Gains))
			if err != nil {
				t.Fatal(err)
			}
			value, gradient, err := optest.Tape(G.Must(G.Sum(y)), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			return value[0], gradient
		}
		const h = 1e-3
		_, gradient := evaluate(0)
		up, _ := evaluate(h)
		down, _ := evaluate(-h)
		slope := 0.0
		for d, x := range gradient {
			slope += x * direction[d]
		}
		// h² times a third derivative, and the tolerance of the values over h.
		if want := (up - down) / (2 * h); math.Abs(slope-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%s: slope %v, by differences %v", name, slope, want)
		}
	}
}

func dcg(ranks int) []float64 {
	theta := make([]float64, ranks)
	for k := range theta {
		theta[k] = 1 / math.Log2(float64(k+2))
	}
	return theta
}

// Where every rank counts, products take the place of sweeps. Value, exposure and gradients are those
// of the same lists with one document more, which is last and has no gain, and whose rank does not
// count: those are computed by sweeps.
func TestExpectedOpsOfWholeLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const documents = 60
	whole, longer := optest.Batch{Offsets: []int{0}}, optest.Batch{Offsets: []int{0}}
	for range 3 {
		for range documents {
			score, gain := 2*rng.NormFloat64(), rng.NormFloat64()
			whole.Scores, whole.Gains = append(whole.Scores, score), append(whole.Gains, gain)
			longer.Scores, longer.Gains = append(longer.Scores, score), append(longer.Gains, gain)
		}
		longer.Scores, longer.Gains = append(longer.Scores, -1e4), append(longer.Gains, 0)
		whole.Offsets, longer.Offsets = append(whole.Offsets, len(whole.Scores)), append(longer.Offsets, len(longer.Scores))
	}
	var e plackett.Expectation
	if err := e.Exposure(whole.Scores[:documents], dcg(documents), make([]float64, documents)); err != nil || e.Terms() == 0 {
		t.Fatalf("no geometric sum: %v", err)
	}
	for name, build := range map[string]func(l ops.Lists, gains *G.Node) (*G.Node, error){
		"metric": func(l ops.Lists, gains *G.Node) (*G.Node, error) {
			return ops.ExpectedMetric(l, gains, dcg(documents))
		},
		"function of exposures": func(l ops.Lists, gains *G.Node) (*G.Node, error) {
			exposure, err := ops.ExpectedExposure(l, dcg(documents))
			if err != nil {
				return nil, err
			}
			return G.HadamardProd(gains, G.Must(G.Cube(exposure)))
		},
	} {
		evaluate := func(b optest.Batch) (value, gradient []float64) {
			g := G.NewGraph()
			l := b.Lists(g, tensor.Float64)
			y, err := build(l, optest.Vector(g, "gains", tensor.Float64, b.Gains))
			if err != nil {
				t.Fatal(err)
			}
			value, gradient, err = optest.Tape(G.Must(G.Sum(y)), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			return value, gradient
		}
		value, gradient := evaluate(whole)
		want, wantGradient := evaluate(longer)
		if !(math.Abs(value[0]-want[0]) <= 1e-5) {
			t.Errorf("%s: %v, by sweeps %v", name, value, want)
		}
		for i, v := range gradient {
			if w := wantGradient[i+i/documents]; !(math.Abs(v-w) <= 1e-5) {
				t.Errorf("%s: dF/dm_%d = %v, by sweeps %v", name, i, v, w)
			}
		}
	}
}

// The same bits for any number of cores.
func TestExpectedOpsGiveTheSameForAnyGOMAXPROCS(t *testing.T) {
	checkCores(t, []float64{1, .6, .5, .4, .3})
	checkCores(t, dcg(64)) // at every rank
}

func checkCores(t *testing.T, discounts []float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := twentyQueries(discounts)
	for name, metric := range expectedMetrics {
		var first []float64
		for _, procs := range []int{1, 2, 4} {
			runtime.GOMAXPROCS(procs)
			g := G.NewGraph()
			l, gains := b.Lists(g, tensor.Float32), optest.Vector(g, "gains", tensor.Float32, b.Gains)
			perQuery, err := metric(l, gains, b.Discounts)
			if err != nil {
				t.Fatal(err)
			}
			value, lambda, err := optest.Tape(G.Must(G.Sum(perQuery)), l.Scores)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = append(lambda, value...)
			}
			if !slices.Equal(append(lambda, value...), first) {
				t.Errorf("%s: other numbers with GOMAXPROCS=%d than with 1", name, procs)
			}
		}
	}
}

// twentyQueries are queries of up to 60 documents.
func twentyQueries(discounts []float64) optest.Batch {
	rng := rand.New(rand.NewPCG(1, 2))
	b := optest.Batch{Offsets: []int{0}, Discounts: discounts}
	for q := range 20 {
		b.Offsets = append(b.Offsets, b.Offsets[q]+rng.IntN(60))
	}
	for range b.Offsets[20] {
		b.Scores, b.Gains = append(b.Scores, rng.NormFloat64()), append(b.Gains, rng.Float64())
	}
	return b
}
