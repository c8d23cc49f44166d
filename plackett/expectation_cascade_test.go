package plackett

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/testkit"
)

// A cascadeList has what Cascade is given, or with relevant instead what AveragePrecision is given.
type cascadeList struct {
	scores, rewards, continuations, discounts, relevant []float64
}

// of returns what the list says by an Expectation.
func (c cascadeList) moments(t interface{ Fatal(...any) }, e *Expectation) testkit.Moments {
	m := testkit.Moments{Gradient: make([]float64, len(c.scores))}
	var err error
	if c.relevant != nil {
		m.Reward, err = e.AveragePrecision(c.scores, c.relevant, len(c.discounts), m.Gradient)
	} else {
		m.Reward, err = e.Cascade(c.scores, c.rewards, c.continuations, c.discounts, m.Gradient)
		m.Exposure = make([]float64, len(c.scores))
		err = errors.Join(err, e.CascadeExposure(c.scores, c.continuations, c.discounts, m.Exposure))
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// enumerated returns it by the definition, and the gradient as Σ_y π(y) r(y) ∂ log π(y)/∂m.
func (c cascadeList) enumerated(t interface{ Fatal(...any) }) testkit.Moments {
	docs := len(c.scores)
	m := testkit.Moments{Gradient: make([]float64, docs), Exposure: make([]float64, docs)}
	norm := 0.0
	for _, rel := range c.relevant {
		norm += rel
	}
	norm = max(1e-300, norm)
	placed := make([]bool, docs)
	softmax := map[int][]float64{}
	if err := testkit.Enumerate(c.scores, len(c.discounts), func(ranking []int, probability float64) {
		reward, going, found := 0.0, 1.0, 1.0
		for k, d := range ranking {
			if c.relevant != nil {
				reward += c.relevant[d] * found / float64(k+1) / norm
				found += c.relevant[d]
				continue
			}
			reward += c.discounts[k] * c.rewards[d] * going
			m.Exposure[d] += probability * c.discounts[k] * going
			going *= c.continuations[d]
		}
		m.Reward += probability * reward
		clear(placed)
		set := 0
		for _, chosen := range ranking {
			if softmax[set] == nil {
				softmax[set] = testkit.Chances(c.scores, placed)
			}
			for d, chance := range softmax[set] {
				m.Gradient[d] -= probability * reward * chance
			}
			m.Gradient[chosen] += probability * reward
			placed[chosen], set = true, set|1<<chosen
		}
	}); err != nil {
		t.Fatal(err)
	}
	return m
}

func (c cascadeList) scale() float64 {
	if c.relevant != nil {
		return 1
	}
	return list{gains: c.rewards, discounts: c.discounts}.scale()
}

// compare fails unless the two are within the tolerance of scale.
func (c cascadeList) compare(t interface{ Fatalf(string, ...any) }, what string, got, want testkit.Moments, tolerance float64) {
	off := max(distance(got.Gradient, want.Gradient), math.Abs(got.Reward-want.Reward)) / c.scale()
	exposure := 0.0
	if c.relevant == nil {
		exposure = distance(got.Exposure, want.Exposure) / (largest(c.discounts) + 1e-300)
	}
	if !(off <= tolerance && exposure <= tolerance) {
		t.Fatalf("%s: λ, R off by %.2g, exposure by %.2g of scale, allowed %.2g\n%+v", what, off, exposure, tolerance, c)
	}
}

// cascadeKinds are the metrics, by the labels 0 to 4 of documents, and cascades of no metric.
var cascadeKinds = map[string]func(label int, rng *rand.Rand) (reward, continuation float64){
	"err": func(l int, _ *rand.Rand) (float64, float64) { r := (math.Exp2(float64(l)) - 1) / 16; return r, 1 - r },
	"patience": func(l int, _ *rand.Rand) (float64, float64) {
		r := (math.Exp2(float64(l)) - 1) / 16
		return r, .8 * (1 - r)
	},
	"relevance": func(l int, _ *rand.Rand) (float64, float64) { r := float64(l / 3); return r, 1 - r },
	"all":       func(int, *rand.Rand) (float64, float64) { return 1, 0 },
	"none":      func(int, *rand.Rand) (float64, float64) { return 0, 1 },
	"alpha":     func(l int, _ *rand.Rand) (float64, float64) { r := float64(l / 3); return r, 1 - r/2 },
	"dcg":       func(l int, _ *rand.Rand) (float64, float64) { return float64(l), 1 },
	"any":       func(_ int, rng *rand.Rand) (float64, float64) { return rng.NormFloat64(), rng.Float64() },
	"ends": func(_ int, rng *rand.Rand) (float64, float64) {
		return rng.NormFloat64(), float64(rng.IntN(3)) / 2
	},
}

var cascadeDiscounts = map[string]func(k float64) float64{
	"1/k": func(k float64) float64 { return 1 / k },
	"1":   func(float64) float64 { return 1 },
	"dcg": func(k float64) float64 { return 1 / math.Log2(k+1) },
}

// newCascade returns a list of that kind, or for kind "ap" of average precision.
func newCascade(kind, discounts string, scores []float64, cutoff int, rng *rand.Rand) cascadeList {
	c := cascadeList{scores: scores, discounts: make([]float64, cutoff)}
	for k := range c.discounts {
		c.discounts[k] = cascadeDiscounts[discounts](float64(k + 1))
	}
	for range scores {
		label := rng.IntN(5)
		if kind == "ap" {
			c.relevant = append(c.relevant, float64(label/3))
			continue
		}
		a, x := cascadeKinds[kind](label, rng)
		c.rewards, c.continuations = append(c.rewards, a), append(c.continuations, x)
	}
	return c
}

// drawCascade makes lists whose scores are hard for a quadrature.
func drawCascade(t *rapid.T, most int) cascadeList {
	l := drawHardList(t, most)
	kinds, discounts := []string{"ap", "ap"}, []string{}
	for kind := range cascadeKinds {
		kinds = append(kinds, kind)
	}
	for name := range cascadeDiscounts {
		discounts = append(discounts, name)
	}
	slices.Sort(kinds)
	slices.Sort(discounts)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "labels"), 2))
	c := newCascade(rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.SampledFrom(discounts).Draw(t, "θ"), l.scores, len(l.discounts), rng)
	if c.relevant != nil && rapid.Bool().Draw(t, "shares") {
		for d := range c.relevant {
			c.relevant[d] = rng.Float64()
		}
	}
	return c
}

func TestCascadesAgreeWithEnumeration(t *testing.T) {
	standard, tight := new(Expectation), &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCascade(t, 6)
		want := c.enumerated(t)
		c.compare(t, "default tolerance", c.moments(t, standard), want, defaultTolerance)
		c.compare(t, "tightest tolerance", c.moments(t, tight), want, 1e-12)
	})
	rng := rand.New(rand.NewPCG(8, 8))
	for kind := range cascadeKinds {
		c := newCascade(kind, "1/k", gaussian(rng, 7, 1.5), 7, rng)
		want := c.enumerated(t)
		c.compare(t, kind, c.moments(t, tight), want, 1e-12)
	}
	for _, kind := range []string{"err", "any", "ap"} {
		c := newCascade(kind, "1/k", gaussian(rng, 8, 2), 8, rng)
		want := c.enumerated(t)
		c.compare(t, kind, c.moments(t, standard), want, defaultTolerance)
		c.compare(t, kind, c.moments(t, tight), want, 1e-12)
	}
	loose := &Expectation{Tolerance: .5} // more documents than ranks arrive from one node to the next
	for range 200 {
		c := newCascade("ap", "1/k", gaussian(rng, 6, 3), 3, rng)
		c.compare(t, "loose tolerance", c.moments(t, loose), c.enumerated(t), .5*(1+.5+1./3))
	}
}

// Long lists have no enumeration: other tolerances against the tightest, products against sweeps.
func TestCascadesKeepTheirTolerance(t *testing.T) {
	tight := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCascade(t, 70)
		want := c.moments(t, tight)
		for _, tolerance := range []float64{1e-3, defaultTolerance, 1e-10} {
			c.compare(t, "tolerance", c.moments(t, &Expectation{Tolerance: tolerance}), want, tolerance)
		}
	})
	rng := rand.New(rand.NewPCG(3, 3))
	for i, kind := range append(slices.Sorted(maps.Keys(cascadeKinds)), "ap") {
		name := []string{"1/k", "1", "dcg"}[i%3]
		// A document more that comes last and is worth nothing makes the last discount a cutoff.
		const docs = 48
		whole := newCascade(kind, name, gaussian(rng, docs, float64(2*(i%2))), docs, rng)
		longer := cascadeList{append(slices.Clone(whole.scores), -1e4), append(slices.Clone(whole.rewards), 0), append(slices.Clone(whole.continuations), 1), whole.discounts, nil}
		if kind == "ap" {
			longer.relevant = append(slices.Clone(whole.relevant), 0)
		}
		e := new(Expectation)
		got, want := whole.moments(t, e), longer.moments(t, tight)
		if e.Terms() == 0 || tight.Terms() > 0 {
			t.Errorf("%s, %s: sums of %d and %d terms", kind, name, e.Terms(), tight.Terms())
		}
		whole.compare(t, kind+" "+name, got, testkit.Moments{Reward: want.Reward, Gradient: want.Gradient[:docs], Exposure: want.Exposure[:min(docs, len(want.Exposure))]}, defaultTolerance)
		if name != "1/k" && kind != "ap" {
			got = whole.moments(t, tight)
			whole.compare(t, kind+" "+name, got, testkit.Moments{Reward: want.Reward, Gradient: want.Gradient[:docs], Exposure: want.Exposure[:docs]}, 1e-12)
		}
	}
}

func TestCascadeGradientsSumToZeroAndShiftsChangeNothing(t *testing.T) {
	for _, tolerance := range []float64{defaultTolerance, tightest} {
		e := &Expectation{Tolerance: tolerance}
		rapid.Check(t, func(t *rapid.T) {
			c := drawCascade(t, 60)
			got := c.moments(t, e)
			sum := 0.0
			for _, x := range got.Gradient {
				sum += x
			}
			if !(math.Abs(sum) <= max(1e-12, tolerance/1000)*c.scale()) {
				t.Fatalf("Σλ = %v, want 0", sum)
			}
			value := 0.0
			for d, x := range got.Exposure {
				value += c.rewards[d] * x
			}
			if c.relevant == nil && !(math.Abs(value-got.Reward) <= max(1e-12, 4*tolerance)*c.scale()) {
				t.Fatalf("R = %v, Σ a E = %v", got.Reward, value)
			}
			alone, err := e.AveragePrecision(c.scores, c.relevant, len(c.discounts), nil)
			if c.relevant == nil {
				alone, err = e.Cascade(c.scores, c.rewards, c.continuations, c.discounts, nil)
			}
			if alone != got.Reward || err != nil {
				t.Fatalf("R = %v with λ, %v alone: %v", got.Reward, alone, err)
			}
			moved := c
			moved.scores = slices.Clone(c.scores)
			for d := range moved.scores {
				moved.scores[d] += 4096
			}
			c.compare(t, "shifted", moved.moments(t, e), got, max(1e-11, tolerance))
		})
	}
}

func TestCascadeGradientsAreFiniteDifferences(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCascade(t, 10)
		for d := range c.scores {
			c.scores[d] = 3 * math.Tanh(c.scores[d])
		}
		lambda := c.moments(t, e).Gradient
		at := func(d int, shift float64) float64 {
			moved := c
			moved.scores = slices.Clone(c.scores)
			moved.scores[d] += shift
			return moved.moments(t, e).Reward
		}
		const h = 1e-3
		for d := range c.scores {
			want := (8*(at(d, h)-at(d, -h)) - (at(d, 2*h) - at(d, -2*h))) / (12 * h)
			if !(math.Abs(lambda[d]-want) <= 1e-9*c.scale()) {
				t.Fatalf("λ[%d] = %v, by differences %v", d, lambda[d], want)
			}
		}
	})
}

// With continuations of 1 a cascade has the bits of the gradient.
func TestCascadesThatGoOnAreExpectedMetrics(t *testing.T) {
	e := new(Expectation)
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 80)
		ones := slices.Repeat([]float64{1}, len(l.scores))
		got := cascadeList{l.scores, l.gains, ones, l.discounts, nil}.moments(t, e)
		if want := l.moments(t, e); got.Reward != want.Reward || !slices.Equal(got.Gradient, want.Gradient) || !slices.Equal(got.Exposure, want.Exposure) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// Whatever the scores, users stop where the ranking is sure to make them.
func TestCascadesOfGapsAreExact(t *testing.T) {
	var e Expectation
	for _, gap := range []float64{60, 700, 1e6, 1e300, 1.7e308} {
		scores := []float64{0, -gap, gap, gap / 2} // ranks 3, 4, 1, 2
		c := cascadeList{scores, []float64{1, 7, 3, 2}, []float64{.25, .5, .5, .5}, []float64{1, .5, .25, .125}, nil}
		got := c.moments(t, &e)
		near(t, "exposure", got.Exposure, []float64{.0625, .125 / 16, 1, .25}, 1e-9)
		near(t, "value", []float64{got.Reward}, []float64{3 + .5 + .0625 + 7*.125/16}, 1e-9)
		near(t, "λ", got.Gradient, make([]float64, 4), 1e-9)
		ap := cascadeList{scores: scores, relevant: []float64{1, 1, 0, 1}, discounts: make([]float64, 4)}
		got = ap.moments(t, &e)
		near(t, "average precision", []float64{got.Reward}, []float64{(1./2 + 2./3 + 3./4) / 3}, 1e-9)
		near(t, "λ", got.Gradient, make([]float64, 4), 1e-9)
	}
}

func TestCascadesOfHardlyAnythingAreExact(t *testing.T) {
	var e Expectation
	lambda := []float64{5}
	for _, stop := range []float64{0, 1} {
		v, err := e.Cascade([]float64{3}, []float64{2}, []float64{stop}, []float64{.5, 7}, lambda)
		if !(math.Abs(v-1) <= 1e-7) || err != nil || lambda[0] != 0 {
			t.Errorf("one document: %v, %v, %v", v, lambda, err)
		}
	}
	if v, err := e.Cascade(nil, nil, nil, []float64{1}, nil); v != 0 || err != nil {
		t.Errorf("no documents: %v, %v", v, err)
	}
	if v, err := e.AveragePrecision(nil, nil, 3, nil); v != 0 || err != nil {
		t.Errorf("no documents: %v, %v", v, err)
	}
	if v, err := e.AveragePrecision([]float64{1}, []float64{0}, 3, lambda); v != 0 || err != nil || lambda[0] != 0 {
		t.Errorf("nothing relevant: %v, %v", v, err)
	}
	for _, cutoff := range []int{0, 1, 2, 3, 9} {
		out := []float64{5, 5, 5}
		v, err := e.AveragePrecision([]float64{1, 0, 2}, []float64{1, 1, 1}, cutoff, out)
		want := 1.0
		if cutoff > 0 {
			want = min(1, float64(cutoff)/3)
		}
		if !(math.Abs(v-want) <= 1e-7) || !(largest(out) <= 1e-7) || err != nil {
			t.Errorf("everything relevant, cutoff %d: %v, %v, %v", cutoff, v, out, err)
		}
	}
	whole, _ := e.AveragePrecision([]float64{1, 0, 2}, []float64{1, 0, 0}, 3, nil)
	if v, err := e.AveragePrecision([]float64{1, 0, 2}, []float64{1, 0, 0}, 0, nil); v != whole || err != nil {
		t.Errorf("cutoff 0: %v, %v, want %v", v, err, whole)
	}
}

func TestCascadesRejectInvalidInput(t *testing.T) {
	two, ok := []float64{1, 2}, []float64{0, 1}
	var e Expectation
	cascade := func(scores, rewards, continuations, discounts, lambda []float64) error {
		_, err := e.Cascade(scores, rewards, continuations, discounts, lambda)
		return err
	}
	precision := func(scores, relevant []float64, cutoff int, lambda []float64) error {
		_, err := e.AveragePrecision(scores, relevant, cutoff, lambda)
		return err
	}
	nan := math.NaN()
	for want, err := range map[string]error{
		"rewards: 1 numbers, want 2":                                    cascade(two, two[:1], ok, two, nil),
		"continuations: 1 numbers, want 2":                              cascade(two, two, ok[:1], two, nil),
		"continuations: 0 numbers, want 2":                              e.CascadeExposure(two, nil, two, two),
		"exposure: 1 numbers, want 2":                                   e.CascadeExposure(two, ok, two, two[:1]),
		"lambda: 1 numbers, want 2":                                     cascade(two, two, ok, two, two[:1]),
		"the score of document 1 is NaN":                                cascade([]float64{0, nan}, two, ok, two, nil),
		"the reward of document 1 is +Inf":                              cascade(two, []float64{0, math.Inf(1)}, ok, two, nil),
		"the discount of rank 0 is NaN":                                 cascade(two, two, ok, []float64{nan}, nil),
		"the continuation of document 0 is NaN: it must be from 0 to 1": cascade(two, two, []float64{nan, 0}, two, nil),
		"the continuation of document 1 is -1: it must be from 0 to 1":  cascade(two, two, []float64{0, -1}, two, nil),
		"the continuation of document 1 is 1.5: it must be from 0 to 1": e.CascadeExposure(two, []float64{0, 1.5}, two, two),
		"the relevance of document 1 is 2: it must be from 0 to 1":      precision(two, two, 1, nil),
		"relevant: 1 numbers, want 2":                                   precision(two, ok[:1], 1, nil),
		"lambda: 0 numbers, want 2":                                     precision(two, ok, 1, []float64{}),
		"the cutoff is -1: it must not be negative":                     precision(two, ok, -1, nil),
		"max |gain| · Σ |discount| is":                                  cascade(two, []float64{1e200, 0}, ok, []float64{1e200}, nil),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	// After an error, gradients are those of DCG again.
	clean, used := make([]float64, 2), make([]float64, 2)
	var other Expectation
	if _, err := e.Gradient(two, ok, two, used); err != nil {
		t.Fatal(err)
	}
	if other.Gradient(two, ok, two, clean); !slices.Equal(clean, used) {
		t.Errorf("λ = %v after other calls, want %v", used, clean)
	}
	stop := errors.New("stop")
	for _, cutoff := range []int{10, 500} {
		e := Expectation{Check: func() error { return stop }}
		scores := make([]float64, 500)
		if _, err := e.AveragePrecision(scores, scores, cutoff, scores); err != stop {
			t.Errorf("Check returned %v, AveragePrecision %v", stop, err)
		}
	}
}

func TestCascadeSecondDerivativesAreFiniteDifferences(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCascade(t, 12)
		second := make([]float64, len(c.scores))
		err := e.lessMoments(second, func(out []float64) (err error) {
			if c.relevant == nil {
				_, err = e.Cascade(c.scores, c.rewards, c.continuations, c.discounts, out)
			} else {
				_, err = e.AveragePrecision(c.scores, c.relevant, len(c.discounts), out)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		const h = 1e-3
		for d, m := range c.scores {
			c.scores[d] = m + h
			up := c.moments(t, e).Gradient[d]
			c.scores[d] = m - h
			down := c.moments(t, e).Gradient[d]
			c.scores[d] = m
			if want := (up - down) / (2 * h); !(math.Abs(second[d]-want) <= 1e-5*c.scale()) {
				t.Fatalf("d²R/dm² of document %d is %v, by differences %v", d, second[d], want)
			}
		}
	})
}

// c_d is twice what the document's own place gains by its score, less λ_d, and not negative where discounts do not rise.
func TestCascadeCurvatureIsPositive(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCascade(t, 12)
		if c.relevant != nil {
			return
		}
		docs := len(c.scores)
		for d, a := range c.rewards {
			c.rewards[d] = math.Abs(a)
		}
		lambda, curvature, second := make([]float64, docs), make([]float64, docs), make([]float64, docs)
		value, err := e.CascadeCurvature(c.scores, c.rewards, c.continuations, c.discounts, lambda, curvature)
		want := c.moments(t, e)
		if err != nil || value != want.Reward || !slices.Equal(lambda, want.Gradient) {
			t.Fatalf("R = %v, λ = %v: %v, want %v", value, lambda, err, want)
		}
		for d := range docs {
			only := make([]float64, docs)
			only[d] = c.rewards[d] // the metric of this document alone: dR/dm_d is a_d dE_d/dm_d
			if _, err := e.Cascade(c.scores, only, c.continuations, c.discounts, second); err != nil {
				t.Fatal(err)
			}
			if want := 2*second[d] - lambda[d]; !(math.Abs(curvature[d]-want) <= 1e-12*c.scale()) || want < -1e-12*c.scale() {
				t.Fatalf("curvature %v, want %v", curvature[d], want)
			}
		}
	})
}
