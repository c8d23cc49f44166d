package losses_test

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

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// A fixture is a packed batch.
type fixture struct {
	offsets               []int
	scores, gains, labels []float64
	groups                []int
	discounts             []float64
}

// newFixture has queries of 3, 0, 1, 6 and 10 documents, the last without a relevant
// one, and four rows of padding with numbers in them.
func newFixture(score func(rng *rand.Rand, d int) float64) fixture {
	rng := rand.New(rand.NewPCG(4, 4))
	f := fixture{offsets: []int{0, 3, 3, 4, 10, 20}, discounts: []float64{1, .63, .5, .43}}
	for d := range 24 {
		f.scores = append(f.scores, score(rng, d))
		label := 0.0
		if d < 10 || d >= 20 {
			label = float64(rng.IntN(4))
		}
		f.labels = append(f.labels, label)
		f.gains = append(f.gains, math.Exp2(label)-1)
		f.groups = append(f.groups, rng.IntN(4)-1)
	}
	return f
}

func normal(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() }

// batch puts the fixture into a graph.
func (f fixture) batch(dt tensor.Dtype) losses.Batch { return f.batchIn(G.NewGraph(), "", dt) }

// batchIn puts it into a graph of others, with a prefix of its names.
func (f fixture) batchIn(g *G.ExprGraph, prefix string, dt tensor.Dtype) losses.Batch {
	return losses.Batch{
		Lists:  ops.Lists{Scores: vector(g, prefix+"scores", dt, f.scores), Offsets: ints(g, prefix+"offsets", f.offsets, len(f.offsets))},
		Gains:  vector(g, prefix+"gains", dt, f.gains),
		Labels: vector(g, prefix+"labels", dt, f.labels),
		Groups: ints(g, prefix+"groups", f.groups, len(f.groups)), Intents: ints(g, prefix+"intents", f.intents(), len(f.scores)),
		Logged: vector(g, prefix+"logged", dt, f.logged()),

		LoggedScores: vector(g, prefix+"logged scores", dt, f.loggedScores()),
		Discounts:    f.discounts,
	}
}

// intents are none, 0 1, 0, 2 and 1 in turn, whatever the labels.
func (f fixture) intents() []int {
	intents := make([]int, len(f.scores))
	for d := range intents {
		intents[d] = []int{0b000, 0b011, 0b001, 0b100, 0b010}[d%5]
	}
	return intents
}

// logged is an exposure that each document had in a log.
func (f fixture) logged() []float64 {
	logged := make([]float64, len(f.scores))
	for d := range logged {
		logged[d] = 1 + float64(d%5)
	}
	return logged
}

// loggedScores are the scores of the policy that was logged.
func (f fixture) loggedScores() []float64 {
	scores := make([]float64, len(f.scores))
	for d := range scores {
		scores[d] = .9 * math.Sin(float64(d))
	}
	return scores
}

// sampled gives the batch samplers.
func sampled(t *testing.T, b losses.Batch) losses.Batch {
	t.Helper()
	b.Sampler, b.Exposure = ops.NewSampler(8, 5, 1), ops.NewSampler(20, 5, 2)
	if err := b.Sampler.SetSamples(6); err != nil {
		t.Fatal(err)
	}
	return b
}

// meanOf is the mean over the queries of a loss by name.
func meanOf(name string, b losses.Batch) (*G.Node, error) {
	f, err := losses.Parse(name)
	if err != nil {
		return nil, err
	}
	return losses.Mean(f, b)
}

func build(t fataler, name string, b losses.Batch) *G.Node {
	t.Helper()
	loss, err := meanOf(name, b)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return loss
}

// Every loss of the registry through everything that happens to a batch: empty
// queries, one document, D < K, all gains zero, ties, scores of ±500, padding. No
// NaN; no gradient for padding; moving all scores of a query changes nothing; the
// same numbers on both machines, and again for the same seed.
func TestEveryLossIsDefinedForEveryBatch(t *testing.T) {
	for kind, score := range map[string]func(rng *rand.Rand, d int) float64{
		"normal": normal,
		"ties":   func(*rand.Rand, int) float64 { return 2 },
		"huge":   func(_ *rand.Rand, d int) float64 { return 500 - 1000*float64(d%2) },
		"spread": func(_ *rand.Rand, d int) float64 { return 100 * float64(d*7%11-5) },
	} {
		f := newFixture(score)
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			for _, name := range losses.Names() {
				what := fmt.Sprintf("%s, %s scores, %v", name, kind, dt)
				b := sampled(t, f.batch(dt))
				value, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
				if math.IsNaN(value) || math.IsInf(value, 0) {
					t.Errorf("%s: loss %v", what, value)
				}
				size := 1e-3
				for d, x := range gradient {
					if math.IsNaN(x) || math.IsInf(x, 0) || d >= 20 && x != 0 {
						t.Errorf("%s: gradient[%d] = %v (rows from 20 on are padding)", what, d, x)
					}
					size = max(size, math.Abs(x))
				}
				tolerance := 1e-12 * size
				if dt == tensor.Float32 {
					tolerance = 1e-5 * size
				}
				// The pointwise losses know where zero is; of PL-Rank-2 and
				// StochasticRank, and perhaps of estimators to come, only the expectation does not.
				terms, _ := losses.Terms(name)
				unknown := terms[0].Sampled && !slices.Contains(old, name)
				if !losses.Pointwise(name) && !unknown && !slices.Contains([]string{"plrank2", "plrank2-loo", "stochasticrank", "disparity(plrank2)", "disparity(plrank2-loo)"}, name) {
					for q := range len(f.offsets) - 1 {
						sum := 0.0
						for _, x := range gradient[f.offsets[q]:f.offsets[q+1]] {
							sum += x
						}
						if math.Abs(sum) > 10*tolerance {
							t.Errorf("%s: the gradients of query %d sum up to %v", what, q, sum)
						}
					}
				}
				if kind == "normal" {
					b = sampled(t, f.batch(dt))
					if _, again := differentiate(t, build(t, name, b), b.Lists.Scores); !slices.Equal(gradient, again) {
						t.Errorf("%s: the same seed gives other gradients", what)
					}
				}
				b = sampled(t, f.batch(dt))
				for d, x := range lispGradient(t, build(t, name, b), b.Lists.Scores) {
					if !(math.Abs(x-gradient[d]) <= tolerance) {
						t.Errorf("%s: gradient[%d] = %v by tape, %v by Lisp", what, d, gradient[d], x)
					}
				}
			}
		}
	}
}

// A loss has the same gradient by itself and in a graph with all others, where it may be asked
// for again. (Losses with a parameter draw from samplers, which tell nodes of a graph apart.)
func TestGradientsAreTheSameInAGraphWithAllLosses(t *testing.T) {
	f := newFixture(normal)
	noise := make([]float64, 2*len(f.scores))
	for i := range noise {
		noise[i] = math.Sin(float64(7 * i))
	}
	given := func(g *G.ExprGraph, name string) losses.Batch {
		b := f.batchIn(g, name, tensor.Float64)
		b.Rankings = ints(g, name+"rankings", []int{2, 0, 1, -1, -1, -1, -1, -1, 3, -1, -1, -1, 4, 7, 9, 5, 13, 11, 19, 10}, 5, 1, 4)
		b.Noise = vector(g, name+"noise", tensor.Float64, noise)
		return b
	}
	all := G.NewGraph()
	want, got := map[string][]float64{}, map[string]*G.Value{}
	for _, name := range losses.Names() {
		if strings.Contains(name, "(") {
			continue
		}
		b := given(G.NewGraph(), name)
		_, want[name] = differentiate(t, build(t, name, b), b.Lists.Scores)
		b = given(all, name)
		loss := build(t, name, b)
		first, second := G.Must(gradient(loss, b.Lists.Scores)), G.Must(gradient(loss, b.Lists.Scores))
		if first != second {
			t.Errorf("%s: another gradient when asked again", name)
		}
		got[name] = new(G.Value)
		G.Read(second, got[name])
	}
	vm := G.NewTapeMachine(all)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	for name, value := range got {
		if x := numbers(*value); !slices.Equal(x, want[name]) {
			t.Errorf("%s: gradient %v in a graph with others, %v by itself", name, x, want[name])
		}
	}
}

// The value of a loss has the same bits whether or not its gradient is asked for.
func TestLossesAreTheSameWithoutAGradient(t *testing.T) {
	f := newFixture(normal)
	for _, name := range losses.Names() {
		alone := sampled(t, f.batch(tensor.Float64))
		second := sampled(t, f.batch(tensor.Float64))
		want, _ := differentiate(t, build(t, name, second), second.Lists.Scores)
		if got := evaluate(t, build(t, name, alone)); got[0] != want {
			t.Errorf("%s: %v, and %v with the gradient", name, got[0], want)
		}
	}
}

func gradient(loss, scores *G.Node) (*G.Node, error) {
	grads, err := G.Grad(loss, scores)
	if err != nil {
		return nil, err
	}
	return grads[0], nil
}

// Scores that are not finite make the run return an error that says where. In padding they do not
// matter.
func TestScoresThatAreNotFiniteAreErrors(t *testing.T) {
	for _, name := range losses.Names() {
		b := sampled(t, newFixture(normal).batch(tensor.Float64))
		value, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			f := newFixture(normal)
			f.scores[22] = bad
			b = sampled(t, f.batch(tensor.Float64))
			padded, paddedGradient := differentiate(t, build(t, name, b), b.Lists.Scores)
			if padded != value || !slices.Equal(paddedGradient, gradient) {
				t.Errorf("%s: %v, %v with %v in padding, want %v, %v", name, padded, paddedGradient, bad, value, gradient)
			}

			f.scores[5] = bad
			_, err := evaluated(build(t, name, sampled(t, f.batch(tensor.Float64))))
			if want := fmt.Sprintf("query 3, row 5: the score is %v", bad); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v with a score of %v, want one with %q", name, err, bad, want)
			}
		}
	}
}

// The same bits for any number of cores.
func TestResultsDoNotDependOnGOMAXPROCS(t *testing.T) {
	f := newFixture(normal)
	results := map[string][]float64{}
	for _, procs := range []int{1, 4} {
		before := runtime.GOMAXPROCS(procs)
		for _, name := range losses.Names() {
			b := sampled(t, f.batch(tensor.Float64))
			value, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
			result := append(gradient, value)
			if procs == 1 {
				results[name] = result
			} else if !slices.Equal(result, results[name]) {
				t.Errorf("%s: %v with GOMAXPROCS=%d, %v with 1", name, result, procs, results[name])
			}
		}
		runtime.GOMAXPROCS(before)
	}
}

// Every loss on a graph without offsets, of one query, and of one document.
func TestOffsetsMayBeLeftOutForASingleQuery(t *testing.T) {
	for _, documents := range []int{1, 5} {
		f := newFixture(normal)
		f.scores, f.gains, f.labels, f.groups = f.scores[:documents], f.gains[:documents], f.labels[:documents], f.groups[:documents]
		for _, name := range losses.Names() {
			b := sampled(t, f.batch(tensor.Float64))
			b.Lists.Offsets = nil
			loss := build(t, name, b)
			value, gradient := differentiate(t, loss, b.Lists.Scores)

			f.offsets = []int{0, documents}
			b = sampled(t, f.batch(tensor.Float64))
			wantValue, want := differentiate(t, build(t, name, b), b.Lists.Scores)
			if value != wantValue || !slices.Equal(gradient, want) {
				t.Errorf("%s, %d documents: %v, %v without offsets, %v, %v with", name, documents, value, gradient, wantValue, want)
			}
			if documents == 1 && !losses.Pointwise(name) && math.Abs(gradient[0]) > 1e-15 {
				t.Errorf("%s: gradient %v for a document alone", name, gradient)
			}
			b = sampled(t, f.batch(tensor.Float64))
			b.Lists.Offsets = nil
			for d, x := range lispGradient(t, build(t, name, b), b.Lists.Scores) {
				if math.Abs(x-gradient[d]) > 1e-12 {
					t.Errorf("%s, %d documents: gradient[%d] = %v by tape, %v by Lisp", name, documents, d, gradient[d], x)
				}
			}
		}
	}
}

// Gradient descent on each loss lowers its own objective: of the losses for an
// expected metric minus that metric, exactly; of the fairness losses their value at
// the exact exposure; of the others, their value.
func TestGradientDescentLowersTheObjective(t *testing.T) {
	f := fixture{
		offsets: []int{0, 5, 9}, scores: make([]float64, 9),
		labels: []float64{0, 2, 1, 0, 3, 1, 0, 0, 2}, groups: []int{0, 0, 1, 1, 2, 0, 1, 0, 1},
		discounts: []float64{1, .63, .5},
	}
	for d, label := range f.labels {
		f.gains = append(f.gains, math.Exp2(label)-1)
		f.scores[d] = []float64{.4, -.3, .1}[d%3]
	}
	exact := func(f fixture, measure func(q exactQuery) float64) float64 {
		sum := 0.0
		for q := range len(f.offsets) - 1 {
			sum += measure(f.exact(t, q))
		}
		return sum / 2
	}
	expected := func(f fixture) float64 { return exact(f, func(q exactQuery) float64 { return -q.Reward }) }
	objectives := map[string]func(fixture) float64{
		"plrank-exact": expected, "lambdaloss": expected,
	}
	for _, name := range losses.EntryNames() {
		if losses.ExactOf(name) == "plrank-exact" {
			objectives[name] = expected
		}
	}
	for name, measure := range fairness {
		objectives[name] = func(f fixture) float64 {
			return exact(f, func(q exactQuery) float64 { return measure(q.query, q.Exposure) })
		}
	}
	for _, name := range losses.Names() {
		if base, _, by := strings.Cut(name, "("); by {
			objectives[name] = objectives[base]
		}
	}
	for _, name := range losses.Names() {
		f := f
		if name == "exact-success" || name == "deviation-success" {
			f.discounts = f.discounts[:1] // else it is certain
		}
		sampler, exposure := ops.NewSampler(50, 3, 1), ops.NewSampler(200, 3, 2)
		step := func(f fixture) (float64, []float64) {
			b := f.batch(tensor.Float64)
			b.Sampler, b.Exposure = sampler, exposure
			return differentiate(t, build(t, name, b), b.Lists.Scores)
		}
		objective := objectives[name]
		if objective == nil {
			objective = func(f fixture) float64 {
				value, _ := step(f)
				return value
			}
		}
		now := f
		now.scores = slices.Clone(f.scores)
		before := objective(now)
		for range 4 {
			_, gradient := step(now)
			for d := range now.scores {
				now.scores[d] -= .8 * gradient[d]
			}
		}
		least := .01
		if strings.HasPrefix(name, "deviation-") {
			least = .0001 // it is flat near its largest value
		}
		if after := objective(now); !(after < before-least*math.Abs(before)) {
			t.Errorf("%s: %v after descent, from %v", name, after, before)
		}
	}
}

// old are the names that there are in configurations of older runs.
var old = []string{
	"approxndcg", "cross-entropy", "disparity", "disparity(lambdaloss)", "disparity(placement-policy-gradient)", "disparity(plrank-rb)", "disparity(plrank1)", "disparity(plrank1-loo)",
	"disparity(plrank2)", "disparity(plrank2-expected)", "disparity(plrank2-loo)", "disparity(policy-gradient)", "disparity(policy-gradient-loo)", "ee-l", "ee-l(plrank-rb)",
	"group-exposure", "group-exposure(plrank-rb)", "group-treatment", "group-treatment(plrank-rb)", "gumbel-approxndcg", "hinge", "lambdaloss", "lambdaloss-deterministic", "lambdarank", "listmle", "listnet", "mse",
	"ndcg-loss1", "ndcg-loss2", "ndcg-loss2k", "ndcg-loss2pp", "neuralndcg", "ordinal", "pirank", "placement-policy-gradient", "plrank-exact", "plrank-rb", "plrank1", "plrank1-loo", "plrank2", "plrank2-expected", "plrank2-loo",
	"policy-gradient", "policy-gradient-loo", "ranknet", "softmax", "stochasticrank", "xe-ndcg",
}

func TestNamesInOlderConfigurationsAreKnown(t *testing.T) {
	if _, err := losses.Parse("plrank3"); err == nil || !strings.Contains(err.Error(), "plrank2") {
		t.Errorf("error %v, want one that lists the nearest names", err)
	}
	names := losses.Names()
	for _, name := range old {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing in the names %v", name, names)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names %v are not in order, or some are there twice", names)
	}
}

// A loss that lacks what it needs says what.
func TestMissingFieldIsNamed(t *testing.T) {
	for _, c := range []struct {
		take func(*losses.Batch)
		want string
		fine []string // the losses that do without
	}{
		{func(b *losses.Batch) { b.Lists.Scores = nil }, "no scores", nil},
		{func(b *losses.Batch) { b.Gains = nil }, "no gains", []string{"listnet", "mse", "query-rmse", "ordinal", "cross-entropy", "group-exposure", "group-exposure(plrank-rb)"}},
		{func(b *losses.Batch) { b.Labels = nil }, "no labels: Batch.Labels is nil", []string{"*", "listnet", "mse", "query-rmse", "ordinal", "cross-entropy"}},
		{func(b *losses.Batch) { b.Groups = nil }, "no groups: Batch.Groups is nil", []string{"*", "group-exposure", "group-treatment", "group-exposure(plrank-rb)", "group-treatment(plrank-rb)"}},
		{func(b *losses.Batch) { b.Discounts = nil }, "no discounts", []string{"softmax", "xe-ndcg", "listnet", "listmle", "ranknet", "hinge", "approxndcg", "gumbel-approxndcg", "mse", "query-rmse", "ordinal", "cross-entropy"}},
		{func(b *losses.Batch) { b.Sampler = nil }, "no sampler", []string{"softmax", "listnet", "listmle", "ranknet", "hinge", "lambdarank", "ndcg-loss1",
			"ndcg-loss2", "ndcg-loss2k", "ndcg-loss2pp", "lambdaloss-deterministic", "approxndcg", "neuralndcg", "pirank", "mse", "query-rmse", "ordinal", "cross-entropy",
			"plrank-exact", "disparity", "ee-l", "group-exposure", "group-treatment"}},
		{func(b *losses.Batch) { b.Exposure = nil }, "", []string{"*"}},
	} {
		for _, name := range losses.Names() {
			b := sampled(t, newFixture(normal).batch(tensor.Float64))
			c.take(&b)
			f, err := losses.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			loss, err := losses.Mean(f, b)
			if terms, _ := losses.Terms(name); c.want == "no sampler" && terms[0].Sampled != (err != nil) {
				t.Errorf("%s: Sampled is %t, without a sampler: %v", name, terms[0].Sampled, err)
			}
			fine := slices.Contains(c.fine, name) != slices.Contains(c.fine, "*") // after a * are the losses that do not
			if !slices.Contains(old, name) {                                      // either will do
				fine = err == nil
			}
			switch {
			case fine && err != nil:
				t.Errorf("%s: %v", name, err)
			case fine:
				differentiate(t, loss, b.Lists.Scores)
			case err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "losses: "+name+": "):
				t.Errorf("%s: error %v, want one with %q", name, err, c.want)
			}
		}
	}
	b := newFixture(normal).batch(tensor.Float64)
	for _, wrong := range []*G.Node{
		vector(b.Lists.Scores.Graph(), "short", tensor.Float64, make([]float64, 3)),
		vector(b.Lists.Scores.Graph(), "narrow", tensor.Float32, make([]float64, 24)),
	} {
		b.Labels = wrong
		if _, err := meanOf("mse", b); err == nil || !strings.Contains(err.Error(), "losses: mse: labels ") {
			t.Errorf("error %v for labels that do not fit", err)
		}
	}
}

// A query of a fixture.
type query struct {
	scores, gains, labels []float64
	weights               []float64 // nil: all are 1
	groups                []int
	discounts             []float64
	intents               []int
}

func (f fixture) query(q int) query {
	from, to := f.offsets[q], f.offsets[q+1]
	return query{f.scores[from:to], f.gains[from:to], f.labels[from:to], nil, f.groups[from:to], f.discounts, f.intents()[from:to]}
}

// exactQuery is a query with its expectations by enumeration.
type exactQuery struct {
	query
	testkit.Moments
}

func (f fixture) exact(t *testing.T, n int) exactQuery {
	t.Helper()
	q := f.query(n)
	x, err := testkit.EnumerateMoments(q.scores, q.gains, q.discounts)
	if err != nil {
		t.Fatal(err)
	}
	return exactQuery{q, x}
}
