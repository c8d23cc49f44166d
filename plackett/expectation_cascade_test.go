package plackett

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A cascadeList has what Cascade is given, or with relevant instead what AveragePrecision is given.
type cascadeList struct {
	scores, rewards, continuations, discounts, relevant []float64
}

// of returns what the list says by an Expectation.
func (c cascadeList) of(t interface{ Fatal(...any) }, e *Expectation) Moments {
	m := Moments{Gradient: make([]float64, len(c.scores))}
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
func (c cascadeList) enumerated(t interface{ Fatal(...any) }) Moments {
	docs := len(c.scores)
	m := Moments{Gradient: make([]float64, docs), Exposure: make([]float64, docs)}
	norm := 0.0
	for _, rel := range c.relevant {
		norm += rel
	}
	norm = max(1e-300, min(norm, float64(len(c.discounts))))
	placed := make([]bool, docs)
	softmax := map[int][]float64{}
	if err := Enumerate(c.scores, len(c.discounts), func(ranking []int, probability float64) {
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
				softmax[set] = chances(c.scores, placed)
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
func (c cascadeList) compare(t interface{ Fatalf(string, ...any) }, what string, got, want Moments, tolerance float64) {
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
		c.compare(t, "default tolerance", c.of(t, standard), want, defaultTolerance)
		c.compare(t, "tightest tolerance", c.of(t, tight), want, 1e-12)
	})
	rng := rand.New(rand.NewPCG(8, 8))
	for kind := range cascadeKinds {
		c := newCascade(kind, "1/k", gaussian(rng, 7, 1.5), 7, rng)
		want := c.enumerated(t)
		c.compare(t, kind, c.of(t, tight), want, 1e-12)
	}
	for _, kind := range []string{"err", "any", "ap"} {
		c := newCascade(kind, "1/k", gaussian(rng, 8, 2), 8, rng)
		want := c.enumerated(t)
		c.compare(t, kind, c.of(t, standard), want, defaultTolerance)
		c.compare(t, kind, c.of(t, tight), want, 1e-12)
	}
}
