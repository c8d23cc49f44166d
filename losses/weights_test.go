package losses_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// weighted differentiates a loss of the fixture with the weights of documents, nil for none.
func (f fixture) weighted(t fataler, name string, weights []float64) (float64, []float64) {
	b := f.batch(tensor.Float64)
	b.Sampler, b.Exposure = ops.NewSampler(8, 5, 1), ops.NewSampler(20, 5, 2)
	if weights != nil {
		b.DocumentWeights = vector(b.Lists.Scores.Graph(), "document weights", tensor.Float64, weights)
	}
	return differentiate(t, build(t, name, b), b.Lists.Scores)
}

// run differentiates a loss of the fixture with the weights of documents and queries, nil
// for none.
func (f fixture) run(t fataler, name string, documents, queries []float64) (float64, []float64) {
	b := f.batch(tensor.Float64)
	g := b.Lists.Scores.Graph()
	b.Sampler, b.Exposure = ops.NewSampler(6, 5, 1), ops.NewSampler(20, 5, 2)
	if documents != nil {
		b.DocumentWeights = vector(g, "document weights", tensor.Float64, documents)
	}
	if queries != nil {
		b.QueryWeights = vector(g, "query weights", tensor.Float64, queries)
	}
	return differentiate(t, build(t, name, b), b.Lists.Scores)
}

func close12(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(a)+math.Abs(b)) }

// A loss is linear in the weights of the queries: a query of weight 2 counts as two, one
// of weight 0 not at all, and whatever the others weigh.
func TestLossesAreLinearInQueryWeights(t *testing.T) {
	f := newFixture(normal)
	for _, name := range losses.Names() {
		_, plain := f.run(t, name, nil, nil)
		var alone [5]float64
		for q := range alone {
			only := make([]float64, 5)
			only[q] = 1
			alone[q], _ = f.run(t, name, nil, only)
		}
		for _, weights := range [][]float64{{2, 0, 1, 0.5, 3}} {
			value, gradient := f.run(t, name, nil, weights)
			want := 0.0
			for q, w := range weights {
				want += w * alone[q]
				for d := f.offsets[q]; d < f.offsets[q+1]; d++ {
					if !close12(gradient[d], w*plain[d]) {
						t.Errorf("%s: gradient[%d] is %v with weight %v, %v without", name, d, gradient[d], w, plain[d])
					}
				}
			}
			if !close12(value, want) {
				t.Errorf("%s: %v, the sum of weight times loss is %v", name, value, want)
			}
		}
	}
}

// What does not sample has for a query of weight 2 what it has for the query twice: four
// of five queries have documents, so five of six.
func TestWeightOfTwoIsTheQueryTwice(t *testing.T) {
	f := newFixture(normal)
	twice := f
	twice.offsets = append(slices.Clone(f.offsets), 26)
	twice.scores = append(slices.Clone(f.scores[:20]), f.scores[4:10]...)
	twice.gains = append(slices.Clone(f.gains[:20]), f.gains[4:10]...)
	twice.labels = append(slices.Clone(f.labels[:20]), f.labels[4:10]...)
	twice.groups = append(slices.Clone(f.groups[:20]), f.groups[4:10]...)
	for name := range definitions {
		if name == "listmle" {
			continue // breaks ties by chance
		}
		value, _ := f.run(t, name, nil, []float64{1, 1, 1, 2, 1})
		want, _ := twice.run(t, name, nil, nil)
		if !close12(4*value, 5*want) {
			t.Errorf("%s: %v, with the query twice %v", name, 4*value, 5*want)
		}
		absent, _ := twice.run(t, name, nil, []float64{1, 1, 1, 1, 1, 0})
		if plain, _ := f.run(t, name, nil, nil); !close12(5*absent, 4*plain) {
			t.Errorf("%s: %v with a query of weight 0, %v without it", name, 5*absent, 4*plain)
		}
	}
}

// goesByPreference reports whether a loss wants documents of more gain, or of a higher label, to be
// above others, as all do but the losses of fairness, of similarity, of the distance from a log, and by intents, and
// how sure a metric is; and success, which is certain in short lists.
func goesByPreference(t fataler, name string) bool {
	terms, err := losses.Terms(name)
	if err != nil {
		t.Fatal(err)
	}
	return terms[0].Measure == "" && losses.WeightsOf(name) != "nothing" && !terms[0].Intents && !terms[0].Vectors && name != "exact-success" && !strings.HasPrefix(name, "deviation-")
}

// Whatever the weights, the better of two documents of equal scores is raised, or not lowered, and
// the worse one lowered, as without weights.
func TestBetterDocumentIsNotTrainedBelowAWorseOneByWeights(t *testing.T) {
	for _, name := range losses.Names() {
		if terms, _ := losses.Terms(name); !goesByPreference(t, name) || terms[0].Sampled && losses.WeightsOf(name) == "policy" {
			continue // an estimate has noise; plrank-exact has the same policy
		}
		for _, labels := range [][]float64{{4, 1}, {1, 4}, {1, 0}, {4, 3}} {
			better, worse := 0, 1
			if labels[1] > labels[0] {
				better, worse = 1, 0
			}
			f := one([]float64{2, 2}, labels, 2)
			_, plain := f.weighted(t, name, nil)
			for _, ofBetter := range []float64{1e-6, .01, .5, 100} {
				weights := []float64{1, 1}
				weights[better] = ofBetter
				_, got := f.weighted(t, name, weights)
				// What a document gets for its weight.
				if up, down := got[better]/weights[better], got[worse]/weights[worse]; up > down || (plain[better] < plain[worse] && up == down) {
					t.Errorf("%s, labels %v, weights %v: gradient %v, without weights %v", name, labels, weights, got, plain)
				}
				if plain[better] < 0 && !(got[better] < 0) || plain[worse] > 0 && !(got[worse] > 0) {
					t.Errorf("%s, labels %v, weights %v: gradient %v, without weights %v", name, labels, weights, got, plain)
				}
			}
		}
	}
}

// Descent brings three documents into the order of their gains, although the best weighs little.
func TestDescentOrdersByGainWhateverTheWeights(t *testing.T) {
	for _, name := range losses.Names() {
		if terms, _ := losses.Terms(name); !goesByPreference(t, name) || terms[0].Sampled || terms[0].LoggedScores {
			continue
		}
		switch name {
		case "pirank":
			continue // its gradient at a tie, with or without weights, may keep the tie
		case "exact-mrr", "exact-map":
			continue // two documents are relevant, and alike
		}
		f := one([]float64{0, 0, 0}, []float64{0, 1, 4}, 3)
		b := f.batch(tensor.Float64)
		b.DocumentWeights = vector(b.Lists.Scores.Graph(), "document weights", tensor.Float64, []float64{1, 1, .01})
		loss := build(t, name, b)
		grads, err := G.Grad(loss, b.Lists.Scores)
		if err != nil {
			t.Fatal(err)
		}
		vm := G.NewTapeMachine(loss.Graph())
		scores := b.Lists.Scores.Value().Data().([]float64)
		squares := make([]float64, len(scores))
		for range 200 {
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			for d, v := range numbers(grads[0].Value()) { // RMSprop: the weights say how much, not how fast
				squares[d] = .99*squares[d] + .01*v*v
				scores[d] -= .1 * v / (math.Sqrt(squares[d]) + 1e-12)
			}
			vm.Reset()
		}
		vm.Close()
		if !(scores[2] > scores[1] && scores[1] > scores[0]) {
			t.Errorf("%s: scores %v after descent, for labels 0, 1, 4", name, scores)
		}
	}
}

// Weights of 1 change no bit.
func TestDocumentWeightsOfOneAreNoWeights(t *testing.T) {
	f := newFixture(normal)
	for _, name := range append(losses.Names(), "plrank-exact+0.02*query-rmse(3)", "ranknet+0.1*lambdarank", "stochasticrank+lambdaloss") {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			run := func(weighted bool) (float64, []float64) {
				b := sampled(t, f.batch(dt))
				if weighted {
					b.DocumentWeights = vector(b.Lists.Scores.Graph(), "document weights", dt, slices.Repeat([]float64{1}, 24))
				}
				loss, err := losses.Parse(name)
				if err != nil {
					t.Fatal(err)
				}
				node, err := losses.Mean(loss, b)
				if err != nil {
					t.Fatal(err)
				}
				return differentiate(t, node, b.Lists.Scores)
			}
			value, gradient := run(true)
			if want, slope := run(false); value != want || !slices.Equal(gradient, slope) {
				t.Errorf("%s, %v: %v %v with weights of 1, %v %v without", name, dt, value, gradient, want, slope)
			}
		}
	}
}

// A document of weight 0 is not moved, and does not move others, whatever its label and score. (In
// losses with ranks by score, or the ideal DCG, these are of all documents.)
func TestDocumentOfWeightZeroHasNoTerm(t *testing.T) {
	for _, name := range losses.Names() {
		base, _, _ := strings.Cut(name, "(")
		fair := slices.Contains([]string{"disparity", "ee-l", "group-treatment", "group-exposure", "exposure-risk"}, base) // of the exposure of all documents
		none, still := newFixture(normal).run(t, name, make([]float64, 24), nil)
		if none != 0 || slices.ContainsFunc(still, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s: %v, gradient %v where all weights are 0", name, none, still)
		}
		byAll := losses.WeightsOf(name) == "pairs" && name != "ranknet" && name != "hinge" || losses.WeightsOf(name) == "ranks" // ranks, ideal
		for _, row := range []int{1, 5} {                                                                                       // of a query with fewer documents than ranks that count, and of one with more
			run := func(label, score float64) (float64, []float64) {
				f := newFixture(normal)
				f.labels[row], f.gains[row], f.scores[row] = label, math.Exp2(label)-1, score
				return f.run(t, name, with(24, row, 0), nil)
			}
			value, gradient := run(3, .1)
			if gradient[row] != 0 && !fair {
				t.Errorf("%s: gradient %v for a document of weight 0", name, gradient[row])
			}
			if fair || byAll || base == "listmle" {
				continue
			}
			again, slope := run(0, -.7)
			if !close12(value, again) {
				t.Errorf("%s: %v, with another label of a document of weight 0 %v", name, value, again)
			}
			for d := range slope {
				if math.Abs(slope[d]-gradient[d]) > 1e-12 {
					t.Errorf("%s: gradient[%d] is %v, with another label of a document of weight 0 %v", name, d, gradient[d], slope[d])
				}
			}
		}
	}
}

// In a policy, a document of weight 0 is not there: it earns nothing, also not at the ranks that are left for it.
func TestDocumentOfWeightZeroIsNotInThePolicy(t *testing.T) {
	for _, name := range losses.Names() {
		if losses.WeightsOf(name) != "policy" || losses.MustTerms(name)[0].Sampled {
			continue
		}
		q := one([]float64{.3, -.2, 1.1, .4}, []float64{3, 2, 1, 2}, 4) // the second has two intents
		value, gradient := q.run(t, name, []float64{1, 0, 1, 1}, nil)
		b := q.batch(tensor.Float64)
		all := func(x *G.Node) []float64 { return x.Value().Data().([]float64) }
		g := G.NewGraph()
		without := func(what string, x *G.Node) *G.Node {
			return vector(g, what, tensor.Float64, slices.Delete(slices.Clone(all(x)), 1, 2))
		}
		b.Intents, b.Groups = ints(g, "intents", slices.Delete(q.intents(), 1, 2), 3), ints(g, "groups", slices.Delete(slices.Clone(q.groups), 1, 2), 3)
		b.Gains, b.Labels, b.LoggedScores = without("gains", b.Gains), without("labels", b.Labels), without("logged scores", b.LoggedScores)
		b.Lists = ops.Lists{Scores: without("scores", b.Lists.Scores)}
		want, slopes := differentiate(t, build(t, name, b), b.Lists.Scores)
		const exact = 1e-6 // the quadrature's; the mean weight multiplies the loss
		if math.Abs(value-.75*want) > exact {
			t.Errorf("%s: %v with a document of weight 0, %v without it", name, value, .75*want)
		}
		for i, d := range []int{0, 2, 3} {
			if math.Abs(gradient[d]-.75*slopes[i]) > exact {
				t.Errorf("%s: gradient[%d] is %v with a document of weight 0, %v without it", name, d, gradient[d], .75*slopes[i])
			}
		}
	}
}

// Weights of very different sizes, and of 0, give in float32 what they give in float64.
func TestWeightsOfAllSizesInFloat32(t *testing.T) {
	f := newFixture(func(rng *rand.Rand, _ int) float64 { return float64(float32(rng.NormFloat64())) })
	weights := []float64{1e-10, 1, 0, 3, 1, 0, 1e6, 1e-6, 2, 1, 0, 1, 2, .5, 4, 1, 0, 1e-9, 3, 1, 7, 7, 7, 7}
	for _, name := range losses.Names() {
		if terms, _ := losses.Terms(name); terms[0].Sampled || name == "listmle" {
			continue // draws differ
		}
		run := func(dt tensor.Dtype) []float64 {
			b := sampled(t, f.batch(dt))
			b.DocumentWeights = vector(b.Lists.Scores.Graph(), "document weights", dt, weights)
			_, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
			return gradient
		}
		got, want := run(tensor.Float32), run(tensor.Float64)
		for q := range 5 {
			size := 1e-12
			for _, v := range want[f.offsets[q]:f.offsets[q+1]] {
				size = max(size, math.Abs(v))
			}
			for d := f.offsets[q]; d < f.offsets[q+1]; d++ {
				if !(math.Abs(got[d]-want[d]) <= 1e-4*size) {
					t.Errorf("%s: gradient[%d] is %v, in float64 %v", name, d, got[d], want[d])
				}
			}
		}
	}
}

// For losses that count copies, a document of weight 2 is the document twice, in a query that counts
// as the documents do on average.
func TestDocumentOfWeightTwoIsTheDocumentTwice(t *testing.T) {
	scores, labels, weights := []float64{.3, -.2, 1.1, .4}, []float64{3, 0, 1, 2}, []float64{2, 3, 1, 2}
	f := one(scores, labels, 4)
	var copies fixture
	copies.offsets, copies.discounts = []int{0, 8}, f.discounts
	for d, w := range weights {
		for range int(w) {
			copies.scores, copies.gains, copies.labels = append(copies.scores, scores[d]), append(copies.gains, f.gains[d]), append(copies.labels, labels[d])
			copies.groups = append(copies.groups, 0)
		}
	}
	for _, name := range []string{"ranknet", "hinge", "softmax", "listnet", "partial-listmle", "query-rmse"} {
		b, c := f.batch(tensor.Float64), copies.batch(tensor.Float64)
		b.DocumentWeights = vector(b.Lists.Scores.Graph(), "document weights", tensor.Float64, weights)
		value, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
		want, slopes := differentiate(t, build(t, name, c), c.Lists.Scores)
		if name != "partial-listmle" && name != "query-rmse" { // sums over documents
			_, mean := relative(weights)
			value /= mean
			for d := range gradient {
				gradient[d] /= mean
			}
		}
		list := losses.WeightsOf(name) == "copies" // has the logarithm of the mean in its value
		if !list && !close12(value, want) {
			t.Errorf("%s: %v, with the documents in copies %v", name, value, want)
		}
		at := 0
		for d, w := range weights {
			sum := 0.0
			for range int(w) {
				sum += slopes[at]
				at++
			}
			if !close12(gradient[d], sum) {
				t.Errorf("%s: gradient[%d] is %v, its copies have %v", name, d, gradient[d], sum)
			}
		}
	}
}

// In losses of policies a weight multiplies e^m: the logarithm is added to the score, and gains
// stay what they are.
func TestLogarithmsOfDocumentWeightsAreAddedToScoresOfPolicies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(losses.Names()).Filter(func(name string) bool { return losses.WeightsOf(name) == "policy" && name != "prpo" }).Draw(t, "loss")
		f := newFixture(normal)
		weights := rapid.SliceOfN(rapid.SampledFrom([]float64{.5, 1, 2, 3}), 24, 24).Draw(t, "weights")
		value, gradient := f.run(t, name, weights, nil)
		means := make([]float64, 5)
		for q := range means {
			var over []float64
			over, means[q] = relative(weights[f.offsets[q]:f.offsets[q+1]])
			for d, w := range over {
				f.scores[f.offsets[q]+d] += math.Log(w)
			}
		}
		want, slopes := f.run(t, name, nil, means)
		if !close12(value, want) {
			t.Errorf("%s: %v, with other scores %v", name, value, want)
		}
		for d := range gradient {
			if !close12(gradient[d], slopes[d]) {
				t.Errorf("%s: gradient[%d] is %v, with other scores %v", name, d, gradient[d], slopes[d])
			}
		}
	})
}

// A loss that keeps a policy near the policy of a log has the same ratios of exposure with weights, which both
// policies have.
func TestWeightsLeaveAPolicyNearItsLog(t *testing.T) {
	f := newFixture(normal)
	copy(f.scores, f.loggedScores())
	_, gradient := f.run(t, "prpo", with(24, 5, 8), nil)
	_, slopes := f.run(t, "plrank-exact", with(24, 5, 8), nil)
	for d := range gradient {
		if !close12(gradient[d], slopes[d]) {
			t.Errorf("gradient[%d] is %v at the policy of the log, of the metric %v", d, gradient[d], slopes[d])
		}
	}
}

// The fairness losses have weights in their sums.
func TestFairnessLossesWeighDocuments(t *testing.T) {
	f := newFixture(normal)
	weights := []float64{.5, 2, 0, 3, 1, 0, .25, 3, 2, 1, 0, 1, 2, .5, 4, 1, 0, 0, 3, 1, 7, 7, 7, 7}
	for name, lossOf := range map[string]func(q exactQuery) float64{
		"disparity": func(q exactQuery) float64 {
			sum, n := 0.0, float64(len(q.scores))
			for d, e := range q.Exposure {
				for j, other := range q.Exposure {
					gap := other*q.gains[d] - e*q.gains[j]
					sum += q.weight(d) * q.weight(j) * gap * gap
				}
			}
			return sum / max(1, n*(n-1))
		},
		"ee-l": func(q exactQuery) float64 {
			sum := 0.0
			for d, e := range q.Exposure {
				target, like := 0.0, 0.0 // documents of the same gain share their ranks
				for j, gain := range q.gains {
					if gain == q.gains[d] {
						like++
						target += q.theta(ranks(q.gains)[j])
					}
				}
				sum += q.weight(d) * (e - target/like) * (e - target/like)
			}
			return sum
		},
		"group-treatment": func(q exactQuery) float64 {
			var each []float64
			for g := range 4 {
				exposure, gain := 0.0, 0.0
				for d, group := range q.groups {
					if group == g {
						exposure += q.weight(d) * q.Exposure[d]
						gain += q.weight(d) * q.gains[d]
					}
				}
				if gain > 0 {
					each = append(each, exposure/gain)
				}
			}
			sum, pairs := 0.0, 0.0
			for i, x := range each {
				for _, y := range each[:i] {
					sum += (x - y) * (x - y)
					pairs++
				}
			}
			return sum / max(1, pairs)
		},
	} {
		want := 0.0
		for _, n := range []int{0, 2, 3, 4} { // query 1 is empty
			q := f.exact(t, n)
			var mean float64
			q.weights, mean = relative(weights[f.offsets[n]:f.offsets[n+1]])
			want += mean * lossOf(q) / 4
		}
		if value, _ := f.run(t, name, weights, nil); math.Abs(value-want) > 1e-9*(1+want) {
			t.Errorf("%s: %v, want %v", name, value, want)
		}
	}
}

// Weights of another shape are an error when the loss is built; those that are negative or
// not finite one of the run.
func TestWeightsThatAreWrongAreErrors(t *testing.T) {
	f := newFixture(normal)
	for _, c := range []struct {
		documents, queries []float64
		build, run         string
	}{
		{documents: make([]float64, 3), build: "document weights have 3 rows, scores have"},
		{queries: make([]float64, 3), build: "query weights"},
		{documents: with(24, 5, -1), run: "query 3, row 5: the document weight is -1"},
		{documents: with(24, 5, math.NaN()), run: "query 3, row 5: the document weight is NaN"},
		{queries: with(5, 3, math.Inf(1)), run: "query 3: the query weight is +Inf"},
		{queries: with(5, 3, -2), run: "query 3: the query weight is -2"},
		{documents: with(24, 22, math.NaN()), queries: with(5, 1, math.NaN())}, // padding and an empty query
	} {
		for _, name := range losses.Names() {
			b := sampled(t, f.batch(tensor.Float64))
			g := b.Lists.Scores.Graph()
			if c.documents != nil {
				b.DocumentWeights = vector(g, "document weights", tensor.Float64, c.documents)
			}
			if c.queries != nil {
				b.QueryWeights = vector(g, "query weights", tensor.Float64, c.queries)
			}
			loss, err := meanOf(name, b)
			if c.build != "" {
				if err == nil || !strings.Contains(err.Error(), c.build) {
					t.Errorf("%s: error %v, want one with %q", name, err, c.build)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, err = evaluated(loss)
			if c.run == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.run) {
				t.Errorf("%s: error %v, want one with %q", name, err, c.run)
			}
		}
	}
}

// with returns n ones, with x at position at.
func with(n, at int, x float64) []float64 {
	s := slices.Repeat([]float64{1}, n)
	s[at] = x
	return s
}

// The parameter of query-rmse multiplies labels.
func TestQueryRMSEHasAScaleOfLabels(t *testing.T) {
	f := newFixture(normal)
	doubled := f
	doubled.labels = slices.Clone(f.labels)
	for d := range doubled.labels {
		doubled.labels[d] *= 2
	}
	want, slope := doubled.run(t, "query-rmse", nil, nil)
	if value, gradient := f.run(t, "query-rmse(2)", nil, nil); value != want || !slices.Equal(gradient, slope) {
		t.Errorf("%v %v, want %v %v as with labels twice as high", value, gradient, want, slope)
	}
	if once, _ := f.run(t, "query-rmse", nil, nil); once == want {
		t.Error("the scale changes nothing")
	}
}
