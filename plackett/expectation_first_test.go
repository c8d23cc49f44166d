package plackett

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// paid is the discount at the rank of the first relevant document.
func paid(relevant, discounts []float64) func(ranking []int) float64 {
	return func(ranking []int) float64 {
		for k, d := range ranking[:min(len(ranking), len(discounts))] {
			if relevant[d] == 1 {
				return discounts[k]
			}
		}
		return 0
	}
}

// enumerateDeviation gives mean, standard deviation and its derivatives over all rankings.
func enumerateDeviation(t interface{ Fatal(...any) }, scores []float64, pay func(ranking []int) float64) (mean, deviation float64, slopes []float64) {
	first := enumerateReward(t, scores, len(scores), pay)
	second := enumerateReward(t, scores, len(scores), func(y []int) float64 { return (pay(y) - first.Reward) * (pay(y) - first.Reward) })
	deviation = math.Sqrt(second.Reward)
	for d := range second.Gradient {
		second.Gradient[d] /= max(2*deviation, 1e-300)
	}
	return first.Reward, deviation, second.Gradient
}

func TestDeviationAgreesWithEnumeration(t *testing.T) {
	var e Expectation
	rng := rand.New(rand.NewPCG(9, 9))
	for docs := 1; docs <= 7; docs++ {
		for range 12 {
			scores, relevant := gaussian(rng, docs, []float64{0, .5, 1, 3, 6}[rng.IntN(5)]), make([]float64, docs)
			for d := range relevant {
				relevant[d] = float64(rng.IntN(3) / 2)
			}
			discounts := make([]float64, 1+rng.IntN(docs+1))
			for k := range discounts {
				discounts[k] = []float64{1, 1 / float64(k+1)}[docs%2]
			}
			mean, deviation, slopes := enumerateDeviation(t, scores, paid(relevant, discounts))
			lambda := make([]float64, docs)
			gotMean, got, err := e.Deviation(scores, relevant, discounts, lambda)
			if err != nil || !(math.Abs(gotMean-mean) <= 1e-12 && math.Abs(got-deviation) <= 1e-12) {
				t.Errorf("mean %v, deviation %v, %v; want %v, %v of %v %v %v", gotMean, got, err, mean, deviation, scores, relevant, discounts)
			}
			if deviation > 1e-4 && !(distance(lambda, slopes) <= 1e-12/deviation) {
				t.Errorf("λ %v, want %v of %v %v %v", lambda, slopes, scores, relevant, discounts)
			}
		}
	}
}

// Long lists have no enumeration: by finite differences, and by the cascades of θ and θ².
func TestDeviationHasItsDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	e := Expectation{Tolerance: tightest}
	for _, docs := range []int{10, 100} {
		scores, relevant, discounts := gaussian(rng, docs, 1), make([]float64, docs), []float64{1, 1. / 2, 1. / 3, 1. / 4, 1. / 5}
		continuations, squares := make([]float64, docs), make([]float64, 5)
		for d := range relevant {
			relevant[d] = float64(rng.IntN(4) / 3)
			continuations[d] = 1 - relevant[d]
		}
		for k, theta := range discounts {
			squares[k] = theta * theta
		}
		lambda := make([]float64, docs)
		mean, deviation, err := e.Deviation(scores, relevant, discounts, lambda)
		first, err2 := e.Cascade(scores, relevant, continuations, discounts, nil)
		second, err3 := e.Cascade(scores, relevant, continuations, squares, nil)
		if err != nil || err2 != nil || err3 != nil || math.Abs(mean-first) > 1e-12 || math.Abs(deviation-math.Sqrt(second-first*first)) > 1e-12 {
			t.Errorf("mean %v, deviation %v; by cascades %v, %v; %v %v %v", mean, deviation, first, math.Sqrt(second-first*first), err, err2, err3)
		}
		for d := range 10 {
			const h = 1e-4
			at := func(x float64) float64 {
				moved := slices.Clone(scores)
				moved[d] += x
				_, deviation, err := e.Deviation(moved, relevant, discounts, nil)
				if err != nil {
					t.Fatal(err)
				}
				return deviation
			}
			if slope := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h); math.Abs(slope-lambda[d]) > 1e-9 {
				t.Errorf("%d documents: λ[%d] = %v, by differences %v", docs, d, lambda[d], slope)
			}
		}
	}
}

func TestFirstRelevantAgreesWithEnumeration(t *testing.T) {
	standard, tight := new(Expectation), &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 6)
		relevant, law := make([]float64, len(l.scores)), make([]float64, len(l.discounts))
		for d, g := range l.gains {
			relevant[d] = float64(int(math.Abs(g)) % 2)
		}
		for tolerance, e := range map[float64]*Expectation{defaultTolerance: standard, tightest: tight} {
			if err := e.FirstRelevant(l.scores, relevant, law); err != nil {
				t.Fatal(err)
			}
			for k, p := range law {
				only := make([]float64, k+1)
				only[k] = 1
				if want := enumerateReward(t, l.scores, len(l.scores), paid(relevant, only)).Reward; !(math.Abs(p-want) <= tolerance) {
					t.Fatalf("P(first at rank %d) = %v, want %v", k+1, p, want)
				}
			}
		}
	})
	const want = "the relevance of document 1 is 0.5: it must be 0 or 1"
	if _, _, err := standard.Deviation([]float64{1, 2}, []float64{1, .5}, []float64{1}, nil); err == nil || err.Error() != want {
		t.Errorf("a share: error %v, want %s", err, want)
	}
}

// Quantiles of the reciprocal rank, where it is 1, ½, ⅓ and 0 with .5, .2, .1 and .2.
func TestQuantilesOfTheReciprocalRank(t *testing.T) {
	law, discounts := []float64{.5, .2, .1}, []float64{1, .5, 1. / 3, .25}
	for p, want := range map[float64]float64{0: 0, .1: 0, .19: 0, .25: 1. / 3, .35: .5, .49: .5, .51: 1, 1: 1} {
		if got := Quantile(law, discounts, p); got != want {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
}
