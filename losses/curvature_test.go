package losses_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// curvedQueries are queries whose ranks all count, with all that may happen to a curvature.
func curvedQueries() map[string]query {
	all := map[string]query{}
	for what, q := range map[string]query{
		"no ties":                {scores: []float64{.4, -.7, 1.2, .1, -.3}, labels: []float64{2, 0, 1, 4, 3}},
		"ties of gain":           {scores: []float64{.4, -.7, 1.2, .1, -.3}, labels: []float64{1, 0, 1, 0, 1}},
		"ties of gain and score": {scores: []float64{.4, -.7, .4, -.7, 1.2}, labels: []float64{1, 0, 1, 0, 2}},
		"ties of score":          {scores: []float64{.4, -.7, .4, -.7, 1.2}, labels: []float64{0, 3, 1, 2, 1}},
		"no gain":                {scores: []float64{.4, -.7, .4, .1, -.3}, labels: make([]float64, 5)},
		"gain of one document":   {scores: []float64{.4, -.7, 1.2, .1, -.3}, labels: []float64{0, 3, 0, 0, 0}},
		"one document":           {scores: []float64{.4}, labels: []float64{2}},
	} {
		n := len(q.scores)
		q.discounts, q.intents, q.groups = metrics.Discounts(n), fixture{scores: q.scores}.intents(), make([]int, n)
		for d, label := range q.labels {
			q.gains, q.groups[d] = append(q.gains, math.Exp2(label)-1), d%2
		}
		for weights, w := range map[string][]float64{
			"no weights": nil, "weights": {1, 4, 1, 2, .5}, "weights of 0": {2, 0, 1, 0, .5}, "only weights of 0": make([]float64, 5),
		} {
			if q.weights = w; w != nil {
				q.weights = w[:n]
			}
			all[what+", "+weights] = q
		}
	}
	return all
}

// saysNothing reports whether no document that counts has a gain.
func (q query) saysNothing() bool {
	for d, gain := range q.gains {
		if q.weight(d) > 0 && gain > 0 {
			return false
		}
	}
	return true
}

// half returns half a loss, and its gradient, as a function of the scores. order is the ranking that is given; nil: documents of
// weight 0 are last, and for listmle none is.
func (q query) half(t *testing.T, name string, order []int) func(scores []float64) (value float64, gradient []float64) {
	t.Helper()
	f := fixture{[]int{0, len(q.scores)}, q.scores, q.gains, q.labels, q.groups, q.discounts}
	b := f.batch(tensor.Float64)
	g, noise := b.Lists.Scores.Graph(), make([]float64, 2*len(q.scores))
	for i := range noise {
		noise[i] = math.Sin(float64(7 * i))
	}
	b.Noise = vector(g, "noise", tensor.Float64, noise)
	if order == nil && name != "listmle" {
		for d := range q.scores {
			order = append(order, d)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(min(q.weight(b), 1), min(q.weight(a), 1)) })
	}
	if order != nil {
		b.Rankings = ints(g, "rankings", order, 1, 1, len(order))
	}
	if q.weights != nil {
		b.DocumentWeights = vector(g, "weights", tensor.Float64, q.weights)
	}
	loss, err := losses.Parse("0.5*" + name)
	if err != nil {
		t.Fatal(err)
	}
	mean, err := losses.Mean(loss, b)
	if err != nil {
		t.Fatal(name, err)
	}
	grads, err := G.Grad(mean, b.Lists.Scores)
	if err != nil {
		t.Fatal(name, err)
	}
	value, gradient := new(G.Value), new(G.Value)
	G.Read(mean, value)
	G.Read(grads[0], gradient)
	vm := G.NewTapeMachine(g)
	t.Cleanup(func() { vm.Close() })
	return func(scores []float64) (float64, []float64) {
		copy(b.Lists.Scores.Value().Data().([]float64), scores)
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			t.Fatal(name, err)
		}
		return numbers(*value)[0], numbers(*gradient)
	}
}

// slope is the derivative of f by the score of a document, by differences. If ordered, documents of equal score keep the order of
// their rows.
func (q query) slope(d int, ordered bool, f func(scores []float64) float64) float64 {
	const h = 1e-4
	at := func(steps float64) float64 {
		moved := slices.Clone(q.scores)
		moved[d] += steps * h
		return f(moved)
	}
	switch {
	case ordered && slices.Contains(q.scores[:d], q.scores[d]):
		return (3*at(0) - 4*at(-1) + at(-2)) / (2 * h)
	case ordered && slices.Contains(q.scores[d+1:], q.scores[d]):
		return (-3*at(0) + 4*at(1) - at(2)) / (2 * h)
	}
	return (at(1) - at(-1)) / (2 * h)
}

// byRank reports whether pairs have weights by the ranks of their documents, which are constants for differentiation.
func byRank(name string) bool { return losses.WeightsOf(name) == "pairs" }

// The gradient of every loss that has a value of its own is its slope, also where documents are tied.
func TestGradientsAreSlopesOfValuesWithTies(t *testing.T) {
	for what, q := range curvedQueries() {
		for _, name := range losses.EntryNames() {
			surrogate := name == "policy-gradient" || name == "placement-policy-gradient"
			if losses.ExactOf(name) != name && !surrogate || losses.WeightsOf(name) == "ranks" && q.weights != nil {
				continue // estimates, and slopes that have weights alone
			}
			half := q.half(t, name, nil)
			_, gradient := half(q.scores)
			for d, got := range slices.Clone(gradient) {
				want := q.slope(d, byRank(name), func(scores []float64) float64 {
					value, _ := half(scores)
					return value
				})
				if !(math.Abs(got-want) <= 2e-5*(1+math.Abs(want))) { // pirank has a kink at ties of score
					t.Errorf("%s, %s: gradient[%d] is %v, by differences %v", name, what, d, got, want)
				}
			}
		}
	}
}

// A run with a gradient keeps the curvature that Curvature returns, and for a sum the sum; a run without a gradient keeps none.
func TestRunsKeepTheCurvatureOfTheirPass(t *testing.T) {
	kept := 0
	for what, q := range curvedQueries() {
		for _, name := range losses.EntryNames() {
			text := "0.5*" + name + "+2*ndcg-loss2"
			terms, err := losses.Terms(text)
			if err != nil {
				t.Fatal(err)
			}
			if !terms[0].KeepsCurvature() || q.weights != nil {
				continue
			}
			kept++
			n := len(q.scores)
			f := fixture{[]int{0, n}, q.scores, q.gains, q.labels, q.groups, q.discounts}
			b := f.batch(tensor.Float64)
			b.Curvature = make([]float64, n+1)
			loss, err := losses.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			mean, err := losses.Mean(loss, b)
			if err != nil {
				t.Fatal(name, err)
			}
			run := func() {
				vm := G.NewTapeMachine(mean.Graph())
				defer vm.Close()
				if err := vm.RunAll(); err != nil {
					t.Fatal(name, err)
				}
			}
			if run(); floats.Sum(b.Curvature) != 0 {
				t.Errorf("%s, %s: a run without a gradient keeps %v", name, what, b.Curvature)
			}
			if _, err = G.Grad(mean, b.Lists.Scores); err != nil {
				t.Fatal(name, err)
			}
			run()
			want := make([]float64, n+1)
			for _, term := range terms {
				in := metrics.Queries{Scores: q.scores, Discounts: q.discounts}
				for d := range n {
					in.Labels, in.Gains = append(in.Labels, float32(q.labels[d])), append(in.Gains, float32(q.gains[d]))
				}
				if _, err := term.Curvature(in, want[:n]); err != nil {
					t.Fatal(err)
				}
			}
			if !floats.EqualApprox(b.Curvature, want, 1e-12) {
				t.Errorf("%s, %s: kept %v, want %v", name, what, b.Curvature, want)
			}
		}
	}
	if kept < 7 {
		t.Errorf("%d losses and queries", kept)
	}
}

// orders are all orders of the documents by descending gain.
func (q query) orders() (all [][]int) {
	var place func(order []int)
	place = func(order []int) {
		if len(order) == len(q.gains) {
			all = append(all, slices.Clone(order))
			return
		}
		most := 0.0
		for d, gain := range q.gains {
			if !slices.Contains(order, d) {
				most = max(most, gain)
			}
		}
		for d, gain := range q.gains {
			if gain == most && !slices.Contains(order, d) {
				place(append(order[:len(order):len(order)], d))
			}
		}
	}
	place(nil)
	return all
}

// alike reports whether documents of equal gain are equal.
func (q query) alike() bool {
	for d, gain := range q.gains {
		for j := range d {
			if q.gains[j] == gain && (q.scores[j] != q.scores[d] || q.weight(j) != q.weight(d)) {
				return false
			}
		}
	}
	return true
}

// sizes check the curvatures that are neither second derivatives nor bounds.
var sizes = map[string]func(t *testing.T, what string, q query, got []float64){
	"lambdaloss": func(t *testing.T, what string, q query, got []float64) {
		if want := q.curvature(t, "lambdaloss-deterministic"); !slices.Equal(got, want) {
			t.Errorf("lambdaloss, %s: %v, without noise %v", what, got, want)
		}
	},
	"listmle": func(t *testing.T, what string, q query, got []float64) {
		var all [][]float64
		for _, order := range q.orders() {
			all = append(all, q.seconds(t, "listmle", order))
		}
		for d, c := range got {
			var seconds []float64
			for _, one := range all {
				seconds = append(seconds, one[d])
			}
			mean := floats.Sum(seconds) / float64(len(seconds))
			if !(c >= floats.Min(seconds)-1e-6 && c <= floats.Max(seconds)+1e-6) || q.alike() && math.Abs(c-mean) > 1e-6 {
				t.Errorf("listmle, %s, document %d: %v, the mean over orders of ties is %v, of %v", what, d, c, mean, seconds)
			}
		}
	},
}

// seconds are the second derivatives of half a loss by the scores, by differences of its gradient.
func (q query) seconds(t *testing.T, name string, order []int) (all []float64) {
	half := q.half(t, name, order)
	for d := range q.scores {
		all = append(all, q.slope(d, byRank(name), func(scores []float64) float64 {
			_, gradient := half(scores)
			return gradient[d]
		}))
	}
	return all
}

// Every curvature of the table is the second derivative of its gradient, or a bound of its size, as the table says, or else a size
// that is checked by itself: with ties, weights, without gain, and of one document.
func TestCurvaturesAreOfTheirGradients(t *testing.T) {
	for what, q := range curvedQueries() {
		for _, name := range losses.EntryNames() {
			got, terms := q.curvature(t, name), losses.MustTerms(name)
			if got == nil {
				continue
			}
			for d, c := range got {
				nothing := q.weight(d) == 0 || q.saysNothing() && !terms[0].LabelFree
				if nothing && c != 0 || !(c >= 0 && c < 1e3) {
					t.Errorf("%s, %s, document %d: %v", name, what, d, c)
				}
			}
			if exact := losses.ExactOf(name); exact != name {
				if want := q.curvature(t, exact); !slices.Equal(got, want) {
					t.Errorf("%s, %s: %v, and %s has %v", name, what, got, exact, want)
				}
				continue
			}
			if check := sizes[name]; check != nil {
				if losses.KindOfCurvature(name) != "size" {
					t.Errorf("%s has a test of its own", name)
				}
				if !q.saysNothing() {
					check(t, what, q, got)
				}
				continue
			}
			seconds := q.seconds(t, name, nil)
			for d, c := range got {
				second := seconds[d]
				switch kind := losses.KindOfCurvature(name); {
				case kind == "second derivative" && math.Abs(c-second) <= 1e-6*(1+second):
				case kind == "bound" && c >= math.Abs(second)-1e-4:
				default:
					t.Errorf("%s, %s, document %d: %v is no %s, which is %v", name, what, d, c, kind, second)
				}
			}
		}
	}
}

// plain is the query on plain slices.
func (q query) plain() metrics.Queries {
	in := metrics.Queries{Scores: q.scores, Discounts: q.discounts, Intents: q.intents}
	for d, label := range q.labels {
		in.Labels = append(in.Labels, float32(label))
		if q.gains != nil {
			in.Gains = append(in.Gains, float32(q.gains[d]))
		}
		if q.weights != nil {
			in.Weights = append(in.Weights, float32(q.weights[d]))
		}
	}
	return in
}

// curvature is the curvature of half a loss, nil if it is not known.
func (q query) curvature(t *testing.T, name string) []float64 {
	t.Helper()
	half, out := losses.MustTerms("0.5 * " + name)[0], make([]float64, len(q.scores))
	known, err := half.Curvature(q.plain(), out)
	if err != nil || known != half.HasCurvature() || !known && floats.Norm(out, 1) > 0 {
		t.Fatal(name, known, out, err)
	}
	if !known {
		return nil
	}
	return out
}

// curvatureOf is the curvature of a loss of a query.
func curvatureOf(t *testing.T, name string, q query) []float64 {
	t.Helper()
	terms, err := losses.Terms(name)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(q.scores))
	known, err := terms[0].Curvature(q.plain(), out)
	if err != nil || !known {
		t.Fatal(name, known, err)
	}
	return out
}

// slopes are the first two derivatives, by differences, of what a policy is worth by the score of a document.
func (q query) slopes(d int, worth func(q query) float64) (first, second float64) {
	const h = 1e-3
	at := func(shift float64) float64 {
		moved := q
		moved.scores = slices.Clone(q.scores)
		moved.scores[d] += shift
		return worth(moved)
	}
	return (at(h) - at(-h)) / (2 * h), (at(h) - 2*at(0) + at(-h)) / (h * h)
}

// Where every rank counts, the curvatures of cascades bound the second derivatives over all rankings, and the one of average
// precision has the size of the derivative twice, but for what a relevant document is worth alone.
func TestCurvatureOfCascadesBoundsTheSecondDerivative(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	exact := cascadeLosses(t)
	for documents := 1; documents <= 6; documents++ {
		q := query{discounts: metrics.Discounts(documents)}
		for range documents {
			q.scores, q.labels = append(q.scores, 2*rng.NormFloat64()), append(q.labels, float64(rng.IntN(4)/2*rng.IntN(3)))
			q.intents = append(q.intents, rng.IntN(8))
		}
		all := 0.0
		for _, label := range q.labels {
			all += min(label, 1)
		}
		for _, name := range []string{"exact-mrr", "exact-map", "exact-err", "exact-success", "exact-alpha-ndcg", "exact-err-ia"} {
			for d, c := range curvatureOf(t, name, q) {
				lambda, second := q.slopes(d, exact[name])
				if !(math.Abs(second) <= c+1e-3) {
					t.Errorf("%s, %d documents: the second derivative by document %d is %v, but the curvature %v", name, documents, d, second, c)
				}
				if name != "exact-map" {
					continue
				}
				alone, _ := q.slopes(d, func(q query) float64 {
					return q.expected(t, func(y []int) (sum float64) {
						for k, d := range y {
							sum += min(q.labels[d], 1) / float64(k+1) / max(all, 1)
						}
						return sum
					})
				})
				if want := 2*math.Abs(lambda) - math.Abs(alone); math.Abs(c-want) > 1e-3 {
					t.Errorf("%s, %d documents: the curvature of document %d is %v, want %v", name, documents, d, c, want)
				}
			}
		}
	}
}

// Two documents of one intent are worth the same in any order; each loses what a swap would, and wins as much.
func TestCurvatureOfAlphaNDCGByHand(t *testing.T) {
	q := query{scores: []float64{.3, -.4}, labels: []float64{0, 0}, intents: []int{2, 2}, discounts: metrics.Discounts(2)}
	p := 1 / (1 + math.Exp(-.7))
	for name, alpha := range map[string]float64{"exact-alpha-ndcg": .5, "exact-alpha-ndcg(1)": 1, "exact-alpha-ndcg(.1)": .1} {
		second := (1 - alpha) / math.Log2(3)
		for d, c := range curvatureOf(t, name, q) {
			if want := 2 * (1 - second) / (1 + second) * p * (1 - p); math.Abs(c-want) > 1e-3 {
				t.Errorf("%s, document %d: %v, want %v", name, d, c, want)
			}
		}
	}
	q.intents = []int{0, 0}
	if c := curvatureOf(t, "exact-alpha-ndcg", q); c[0] != 0 || c[1] != 0 {
		t.Errorf("without intents: %v", c)
	}
}
