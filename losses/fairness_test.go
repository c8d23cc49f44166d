package losses_test

import (
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// groupMeans are the exposures of the groups of a query by what they are divided by.
func groupMeans(q query, exposure []float64, merit func(d int) float64) (means []float64) {
	for group := range 10 {
		sum, by := 0.0, 0.0
		for d, g := range q.groups {
			if g == group {
				sum += exposure[d]
				by += merit(d)
			}
		}
		if by > 0 {
			means = append(means, sum/by)
		}
	}
	return means
}

// meanSquare is the mean of (x − y)² over pairs.
func meanSquare(x []float64) float64 {
	sum, n := 0.0, 0.0
	for i := range x {
		for j := range i {
			sum += (x[i] - x[j]) * (x[i] - x[j])
			n++
		}
	}
	return sum / max(n, 1)
}

// The fairness losses of one query from their definitions.
var fairness = map[string]func(q query, exposure []float64) float64{
	"disparity": func(q query, exposure []float64) float64 {
		sum, n := 0.0, float64(len(exposure))
		for d := range exposure {
			for other := range exposure {
				diff := exposure[other]*q.gains[d] - exposure[d]*q.gains[other]
				sum += diff * diff
			}
		}
		return sum / max(n*(n-1), 1)
	},
	"ee-l": func(q query, exposure []float64) float64 {
		sum, r := 0.0, ranks(q.gains)
		for d := range exposure {
			target, equal := 0.0, 0.0
			for other := range exposure {
				if q.gains[other] == q.gains[d] {
					target += q.theta(r[other])
					equal++
				}
			}
			sum += (exposure[d] - target/equal) * (exposure[d] - target/equal)
		}
		return sum
	},
	"group-exposure": func(q query, exposure []float64) float64 {
		return meanSquare(groupMeans(q, exposure, func(int) float64 { return 1 }))
	},
	"group-treatment": func(q query, exposure []float64) float64 {
		return meanSquare(groupMeans(q, exposure, func(d int) float64 { return q.gains[d] }))
	},
}

// fairnessLoss is a fairness loss on a given exposure.
func fairnessLoss(t *testing.T, name string, b losses.Batch, exposure *G.Node) *G.Node {
	t.Helper()
	loss, err := losses.OnExposure(name, b, exposure)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// The value of a packed batch is the mean of the definition over the queries, and the
// derivative by the exposures follows from the definition.
func TestFairnessLossesHaveTheirDefinitions(t *testing.T) {
	f := newFixture(normal)
	exposure := make([]float64, len(f.scores))
	for d := range exposure {
		exposure[d] = 1 / (2 + f.scores[d]*f.scores[d])
	}
	for name, definition := range fairness {
		value := func() float64 {
			sum := 0.0
			for _, n := range []int{0, 2, 3, 4} {
				sum += definition(f.query(n), exposure[f.offsets[n]:f.offsets[n+1]])
			}
			return sum / 4
		}
		b := f.batch(tensor.Float64)
		e := vector(b.Lists.Scores.Graph(), "exposure", tensor.Float64, exposure)
		got, gradient := differentiate(t, fairnessLoss(t, name, b, e), e)
		if want := value(); math.Abs(got-want) > 1e-13*(1+want) || want < 1e-3 {
			t.Errorf("%s: %v, the definition gives %v", name, got, want)
		}
		for d, x := range exposure {
			const h = 1e-4
			exposure[d] = x + h
			up := value()
			exposure[d] = x - h
			down := value()
			exposure[d] = x
			if want := (up - down) / (2 * h); math.Abs(gradient[d]-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%s: derivative by exposure %d is %v, by differences %v", name, d, gradient[d], want)
			}
		}
	}
}

// Queries of one document, without gains, of one group, or without any group are
// fair, to the last bit.
func TestFairQueriesHaveTheLoss0(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for name, fixtures := range map[string][]fixture{
			"disparity":       {{gains: []float64{7}}, {gains: []float64{0, 0, 0}}},
			"ee-l":            {{gains: []float64{7}}, {gains: []float64{0}}},
			"group-exposure":  {{gains: []float64{7}, groups: []int{0}}, {gains: make([]float64, 49), groups: make([]int, 49)}, {gains: []float64{1, 2}, groups: []int{-1, -1}}},
			"group-treatment": {{gains: []float64{7}, groups: []int{3}}, {gains: []float64{0, 0, 1.1, 3.3}, groups: []int{0, 0, 1, 1}}, {gains: []float64{0, 0}, groups: []int{0, 1}}},
		} {
			for i, f := range fixtures {
				n := len(f.gains)
				f.scores, f.labels, f.offsets, f.discounts = make([]float64, n), make([]float64, n), []int{0, n}, []float64{.7}
				if f.groups == nil {
					f.groups = make([]int, n)
				}
				b := f.batch(dt)
				exposure := make([]float64, n)
				for d := range exposure {
					exposure[d] = .7 / float64(d+1)
				}
				e := vector(b.Lists.Scores.Graph(), "exposure", dt, exposure)
				value, gradient := differentiate(t, fairnessLoss(t, name, b, e), e)
				if value != 0 || slices.ContainsFunc(gradient, func(x float64) bool { return x != 0 }) {
					t.Errorf("%s, query %d: %v with gradient %v, want 0", name, i, value, gradient)
				}
			}
		}
	}
}

// exposureSlopes is the derivative of a fairness loss of one query by the exposures,
// by differences: exact up to rounding, since all of them are quadratic.
func exposureSlopes(q query, exposure []float64, loss func(query, []float64) float64) []float64 {
	slopes := make([]float64, len(exposure))
	x := slices.Clone(exposure)
	for d := range x {
		const h = 1e-2
		x[d] = exposure[d] + h
		slopes[d] = loss(q, x) / (2 * h)
		x[d] = exposure[d] - h
		slopes[d] -= loss(q, x) / (2 * h)
		x[d] = exposure[d]
	}
	return slopes
}

// Enumeration of all pairs of rankings, one for the exposure and one for the gradient:
// the expectation of the gradient is the gradient of the exact F(E). With one ranking for
// both it has not: the bias of sharing them.
func TestSeparateRankingsAreUnbiasedAndSharedOnesAreNot(t *testing.T) {
	f := fixture{
		offsets: []int{0, 3}, scores: []float64{.3, -1, 1.2}, gains: []float64{3, 0, 1}, labels: []float64{2, 0, 1},
		groups: []int{0, 1, 1}, discounts: []float64{1, .63},
	}
	q := f.exact(t, 0)
	type drawn struct {
		places []int
		chance float64
	}
	var all []drawn
	if err := testkit.Enumerate(f.scores, 2, func(y []int, p float64) { all = append(all, drawn{slices.Clone(y), p}) }); err != nil {
		t.Fatal(err)
	}
	for name, definition := range fairness {
		slopes, err := testkit.EnumerateMoments(f.scores, exposureSlopes(q.query, q.Exposure, definition), f.discounts)
		if err != nil {
			t.Fatal(err)
		}
		gradient := func(forExposure, forGradient drawn) []float64 {
			b := f.batch(tensor.Float64)
			g := b.Lists.Scores.Graph()
			exposure, err := ops.Exposure(b.Lists, ints(g, "y", forExposure.places, 1, 1, 2), ints(g, "y'", forGradient.places, 1, 1, 2), f.discounts)
			if err != nil {
				t.Fatal(err)
			}
			_, gradient := differentiate(t, fairnessLoss(t, name, b, exposure), b.Lists.Scores)
			return gradient
		}
		separate, shared := make([]float64, 3), make([]float64, 3)
		for _, y := range all {
			for d, x := range gradient(y, y) {
				shared[d] += y.chance * x
			}
			for _, other := range all {
				for d, x := range gradient(y, other) {
					separate[d] += y.chance * other.chance * x
				}
			}
		}
		bias, size := 0.0, 0.0
		for d, want := range slopes.Gradient {
			if math.Abs(separate[d]-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("%s: E[gradient][%d] = %v from separate rankings, want %v", name, d, separate[d], want)
			}
			bias = max(bias, math.Abs(shared[d]-want))
			size = max(size, math.Abs(want))
		}
		if bias < .01*size {
			t.Errorf("%s: sharing the rankings has a bias of %v on gradients of %v: this test shows nothing", name, bias, size)
		}
		t.Logf("%s: largest gradient %.3g, bias of sharing one ranking %.3g", name, size, bias)
	}
}

// goldenBatch is one query of the independent vectors, with an exposure.
func goldenBatch(scores, gains, exposure, discounts []float64) (losses.Batch, *G.Node) {
	f := fixture{
		offsets: []int{0, len(scores)}, scores: scores, gains: gains, labels: make([]float64, len(scores)),
		groups: make([]int, len(scores)), discounts: discounts,
	}
	b := f.batch(tensor.Float64)
	return b, vector(b.Lists.Scores.Graph(), "exposure", tensor.Float64, exposure)
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	scale := 0.0
	for _, x := range want {
		scale = max(scale, math.Abs(x))
	}
	for d := range want {
		if !(math.Abs(got[d]-want[d]) <= tolerance*scale) {
			t.Errorf("%s: [%d] = %v, want %v", what, d, got[d], want[d])
		}
	}
}

// One fairness step of the independent vectors: from an exposure to the gains that
// lower the disparity, and from these to λ.
func TestFairnessStepIsTheGoldenOne(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                  string
			Theta, Labels, Scores []float64
			Rankings              [][]int
			Samples               int       `json:"num_samples"`
			Gains                 []float64 `json:"q_eps"`
			PLRank1               []float64 `json:"lambda_plrank1"`
			PLRank2               []float64 `json:"lambda_plrank2"`
			Exposure              []float64 `json:"exposure_plain"`
			Rank1Exposure         []float64 `json:"exposure_rank1_exact"`
			Disparity             float64   `json:"disparity_squared_plain"`
		}
	}
	testkit.Golden(t, "fairness.json", &file)
	for _, c := range file.Cases {
		b, exposure := goldenBatch(c.Scores, c.Labels, c.Exposure, c.Theta)
		value, _ := differentiate(t, fairnessLoss(t, "disparity", b, exposure), exposure)
		near(t, c.Name+": disparity", []float64{value}, []float64{c.Disparity}, 1e-12)

		// Their gains are from an exposure whose first rank is exact.
		b, exposure = goldenBatch(c.Scores, c.Labels, c.Rank1Exposure, c.Theta)
		_, gradient := differentiate(t, fairnessLoss(t, "disparity", b, exposure), exposure)
		for d := range gradient {
			gradient[d] = -gradient[d]
		}
		near(t, c.Name+": gains", gradient, c.Gains, 1e-12)

		k := min(len(c.Theta), len(c.Scores))
		var places []int
		for _, y := range c.Rankings[:c.Samples] {
			places = append(places, y[:k]...)
		}
		for name, want := range map[string][]float64{"plrank1": c.PLRank1, "plrank2": c.PLRank2} {
			b, _ := goldenBatch(c.Scores, gradient, c.Exposure, c.Theta)
			b.Rankings = ints(b.Lists.Scores.Graph(), "rankings", places, 1, c.Samples, k)
			_, lambda := differentiate(t, build(t, name, b), b.Lists.Scores)
			for d := range lambda {
				lambda[d] = -lambda[d]
			}
			near(t, c.Name+": "+name, lambda, want, 1e-12)
		}
	}
}

// Disparity and its derivatives by exposure and by score, by enumeration.
func TestDisparityIsTheGoldenOne(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                            string
			Scores, Labels, Theta, Exposure []float64
			Disparity                       float64
			ByExposure                      []float64 `json:"disparity_dE"`
			Gradient                        []float64 `json:"disparity_gradient"`
		}
	}
	testkit.Golden(t, "exact.json", &file)
	for _, c := range file.Cases {
		b, exposure := goldenBatch(c.Scores, c.Labels, c.Exposure, c.Theta)
		value, gradient := differentiate(t, fairnessLoss(t, "disparity", b, exposure), exposure)
		near(t, c.Name+": disparity", []float64{value}, []float64{c.Disparity}, 1e-12)
		near(t, c.Name+": by exposure", gradient, c.ByExposure, 1e-12)
		exact, err := testkit.EnumerateMoments(c.Scores, gradient, c.Theta)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.Name+": by score", exact.Gradient, c.Gradient, 1e-11)
	}
}

// Every estimator, given the gains of the disparity from one ranking, on another one:
// its expectation is the gradient of the disparity, by enumeration of all pairs.
func TestEveryEstimatorIsUnbiasedOnDisparityGains(t *testing.T) {
	f := fixture{
		offsets: []int{0, 3}, scores: []float64{.3, -1, 1.2}, gains: []float64{3, 0, 1}, labels: []float64{2, 0, 1},
		groups: make([]int, 3), discounts: []float64{1, .63},
	}
	q := f.exact(t, 0)
	want, err := testkit.EnumerateMoments(f.scores, exposureSlopes(q.query, q.Exposure, fairness["disparity"]), f.discounts)
	if err != nil {
		t.Fatal(err)
	}
	for name, estimator := range map[string]losses.Func{
		"plrank1": estimated(plackett.PLRank1), "plrank2": estimated(plackett.PLRank2), "plrank-rb": estimated(plackett.PLRankRB),
		"policy-gradient": estimated(plackett.PolicyGradient), "placement-policy-gradient": byPlacement,
	} {
		mean := make([]float64, 3)
		err := testkit.Enumerate(f.scores, 2, func(y []int, p float64) {
			y = slices.Clone(y)
			err := testkit.Enumerate(f.scores, 2, func(other []int, chance float64) {
				b := f.batch(tensor.Float64)
				g := b.Lists.Scores.Graph()
				exposure := G.Must(ops.Exposure(b.Lists, ints(g, "y", y, 1, 1, 2), nil, f.discounts))
				gains := G.Must(losses.DisparityGains(b.Lists, b.Gains, exposure))
				loss := G.Must(losses.Mean(estimator, losses.Batch{
					Lists: b.Lists, Gains: gains, Rankings: ints(g, "y'", slices.Clone(other), 1, 1, 2), Discounts: f.discounts,
				}))
				_, gradient := differentiate(t, loss, b.Lists.Scores)
				for d, x := range gradient {
					mean[d] += p * chance * x
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, mean, want.Gradient, 1e-12)
	}
}

// disparity(plrank-rb) has the gradient of disparity for sampled exposure, and LambdaLoss takes its gains as
// constants, though they are made of scores: its gradient by name is the one with the
// numbers of the gains put in.
func TestDisparityByALossTakesGainsAsConstants(t *testing.T) {
	f := newFixture(normal)
	gradient := func(name string) []float64 {
		b := sampled(t, f.batch(tensor.Float64))
		_, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
		return gradient
	}
	b := sampled(t, f.batch(tensor.Float64))
	forGradient, err := ops.Rankings(b.Lists, b.Sampler)
	if err != nil {
		t.Fatal(err)
	}
	sampledExposure := G.Must(ops.Exposure(b.Lists, G.Must(ops.Rankings(b.Lists, b.Exposure)), forGradient, b.Discounts))
	_, want := differentiate(t, fairnessLoss(t, "disparity", b, sampledExposure), b.Lists.Scores)
	near(t, "disparity(plrank-rb)", gradient("disparity(plrank-rb)"), want, 1e-12)

	b = sampled(t, f.batch(tensor.Float64))
	if forGradient, err = ops.Rankings(b.Lists, b.Sampler); err != nil {
		t.Fatal(err)
	}
	exposure := G.Must(ops.Exposure(b.Lists, G.Must(ops.Rankings(b.Lists, b.Exposure)), forGradient, b.Discounts))
	var gains G.Value
	G.Read(G.Must(losses.DisparityGains(b.Lists, b.Gains, exposure)), &gains)
	vm := G.NewTapeMachine(b.Lists.Scores.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	got := gradient("disparity(lambdaloss)")
	f.gains = slices.Clone(gains.Data().([]float64))
	b = sampled(t, f.batch(tensor.Float64))
	G.Must(ops.Rankings(b.Lists, b.Sampler)) // as the exposure has it: the noise is what the sampler draws second
	_, want = differentiate(t, build(t, "lambdaloss", b), b.Lists.Scores)
	near(t, "disparity(lambdaloss)", got, want, 1e-12)
}
