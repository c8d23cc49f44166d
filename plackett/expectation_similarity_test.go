package plackett

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/testkit"
)

type similarList struct {
	scores, vectors []float64
	dimension       int
	discounts       []float64
}

func (l similarList) vector(d int) []float64 { return l.vectors[d*l.dimension : (d+1)*l.dimension] }

func (l similarList) scale() float64 {
	longest := 0.0
	for d := range l.scores {
		sum := 0.0
		for _, v := range l.vector(d) {
			sum += v * v
		}
		longest = max(longest, sum)
	}
	_, total := magnitudes(l.discounts)
	return longest * total
}

// reward is Σ_l φ_l v_{y_l}·Σ_{k<l} v_{y_k}.
func (l similarList) reward(ranking []int) (sum float64) {
	for k, d := range ranking {
		for _, e := range ranking[:k] {
			for i, v := range l.vector(d) {
				sum += l.discounts[k] * v * l.vector(e)[i]
			}
		}
	}
	return sum
}

func (l similarList) by(t interface{ Fatal(...any) }, e *Expectation) testkit.Moments {
	m := testkit.Moments{Gradient: make([]float64, len(l.scores))}
	var err error
	if m.Reward, err = e.Similarity(l.scores, l.vectors, l.dimension, l.discounts, m.Gradient); err != nil {
		t.Fatal(err)
	}
	return m
}

func enumerateReward(t interface{ Fatal(...any) }, scores []float64, cutoff int, reward func(ranking []int) float64) testkit.Moments {
	m := testkit.Moments{Gradient: make([]float64, len(scores))}
	placed := make([]bool, len(scores))
	if err := testkit.Enumerate(scores, cutoff, func(ranking []int, probability float64) {
		r := probability * reward(ranking)
		m.Reward += r
		clear(placed)
		for _, chosen := range ranking {
			for d, chance := range testkit.Chances(scores, placed) {
				m.Gradient[d] -= r * chance
			}
			m.Gradient[chosen] += r
			placed[chosen] = true
		}
	}); err != nil {
		t.Fatal(err)
	}
	return m
}

// drawSimilar makes lists that are hard for a quadrature, with vectors and discounts of any sign.
func drawSimilar(t *rapid.T, most int) similarList {
	hard := drawHardList(t, most)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed of the vectors"), 1))
	l := similarList{scores: hard.scores, dimension: rapid.IntRange(1, 5).Draw(t, "dimension"), discounts: hard.discounts}
	l.vectors = gaussian(rng, len(l.scores)*l.dimension, 1)
	switch rapid.SampledFrom([]string{"any", "any", "one-hot", "equal", "0"}).Draw(t, "vectors") {
	case "one-hot":
		clear(l.vectors)
		for d := range l.scores {
			l.vector(d)[rng.IntN(l.dimension)] = 1
		}
	case "equal":
		for d := range l.scores {
			copy(l.vector(d), l.vector(0))
		}
	case "0":
		clear(l.vector(0))
	}
	return l
}

func (l similarList) compare(t interface{ Fatalf(string, ...any) }, what string, got, want testkit.Moments, tolerance float64) {
	off, sum := max(distance(got.Gradient, want.Gradient), math.Abs(got.Reward-want.Reward)), 0.0
	for _, lambda := range got.Gradient {
		sum += lambda
	}
	if !(max(off, math.Abs(sum)) <= tolerance*l.scale()) {
		t.Fatalf("%s: λ, R off by %.2g, Σλ = %.2g of scale, allowed %.2g\n%+v", what, off/l.scale(), sum/l.scale(), tolerance, l)
	}
}

func TestSimilarityAgreesWithEnumeration(t *testing.T) {
	standard, tight := new(Expectation), &Expectation{Tolerance: tightest}
	check := func(t interface {
		Fatal(...any)
		Fatalf(string, ...any)
	}, l similarList) {
		want := enumerateReward(t, l.scores, len(l.discounts), l.reward)
		l.compare(t, "default tolerance", l.by(t, standard), want, defaultTolerance)
		l.compare(t, "tightest tolerance", l.by(t, tight), want, tightest)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, drawSimilar(t, 6)) })
	rng := rand.New(rand.NewPCG(7, 7))
	for _, cutoff := range []int{1, 3, 7, 9} {
		check(t, similarList{gaussian(rng, 7, 2), gaussian(rng, 7*3, 1), 3, gaussian(rng, cutoff, 1)})
	}
}

// Long lists have no enumeration: the default tolerance against the tightest.
func TestSimilarityKeepsItsTolerance(t *testing.T) {
	standard, tight := new(Expectation), &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawSimilar(t, 60)
		want := l.by(t, tight)
		l.compare(t, "default tolerance", l.by(t, standard), want, defaultTolerance)
		if value, err := standard.Similarity(l.scores, l.vectors, l.dimension, l.discounts, nil); err != nil || value != l.by(t, standard).Reward {
			t.Fatalf("the value alone is %v, %v; with the gradient %v", value, err, want.Reward)
		}
	})
}

// With v = rel and φ = 1/k the similarity is what average precision has besides precision: two ways to the same number, on long lists.
func TestSimilarityIsAPartOfAveragePrecision(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	e := Expectation{Tolerance: tightest}
	for _, docs := range []int{2, 30, 100, 300} {
		for _, cutoff := range []int{2, 10, 40} {
			for _, spread := range []float64{0, 1, 4} {
				l := similarList{scores: gaussian(rng, docs, spread), dimension: 1}
				relevant := 0.0
				for range docs {
					l.vectors = append(l.vectors, rng.Float64())
					relevant += l.vectors[len(l.vectors)-1]
				}
				for k := range cutoff {
					l.discounts = append(l.discounts, 1/float64(k+1))
				}
				want, once := testkit.Moments{Gradient: make([]float64, docs)}, make([]float64, docs)
				var err, err2 error
				want.Reward, err = e.AveragePrecision(l.scores, l.vectors, cutoff, want.Gradient)
				value, err2 := e.Gradient(l.scores, l.vectors, l.discounts, once)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				want.Reward = want.Reward*relevant - value
				for d := range once {
					want.Gradient[d] = want.Gradient[d]*relevant - once[d]
				}
				l.compare(t, fmt.Sprint(docs, " documents, cutoff ", cutoff, ", spread ", spread), l.by(t, &e), want, 1e-11)
			}
		}
	}
}

// Laws, where the answer is known: one rank has no pairs, equal vectors no gradient over whole lists, and a list whose scores are shifted,
// or whose documents and vectors are permuted, has the same similarity.
func TestSimilarityHasItsLaws(t *testing.T) {
	var e Expectation
	rapid.Check(t, func(t *rapid.T) {
		l := drawSimilar(t, 40)
		want := l.by(t, &e)
		shifted := l
		shifted.scores = slices.Clone(l.scores)
		floats.AddConst(8, shifted.scores)
		l.compare(t, "shifted", shifted.by(t, &e), want, 2*defaultTolerance)
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1)).Perm(len(l.scores))
		permuted, turned := l, testkit.Moments{Reward: want.Reward, Gradient: make([]float64, len(l.scores))}
		permuted.scores, permuted.vectors = make([]float64, len(l.scores)), make([]float64, len(l.vectors))
		for i, d := range order {
			permuted.scores[i], turned.Gradient[i] = l.scores[d], want.Gradient[d]
			copy(permuted.vector(i), l.vector(d))
		}
		l.compare(t, "permuted", permuted.by(t, &e), turned, 2*defaultTolerance)
		l.discounts = l.discounts[:1]
		if got := l.by(t, &e); got.Reward != 0 || largest(got.Gradient) != 0 {
			t.Fatalf("one rank: %+v, want 0", got)
		}
	})
	l := similarList{scores: []float64{1, -2, .5, 7}, vectors: []float64{3, 4, 3, 4, 3, 4, 3, 4}, dimension: 2, discounts: []float64{1, 1, 1, 1, 1}}
	want := testkit.Moments{Reward: 25 * (1 + 2 + 3), Gradient: make([]float64, 4)}
	l.compare(t, "equal vectors", l.by(t, &Expectation{Tolerance: tightest}), want, tightest)
}

// Of equal vectors every ranking has the same similarity: the value is known on long lists.
func TestSimilarityOfEqualVectorsIsKnown(t *testing.T) {
	standard, tight := new(Expectation), &Expectation{Tolerance: tightest}
	check := func(t interface {
		Fatal(...any)
		Fatalf(string, ...any)
	}, l similarList) {
		want := testkit.Moments{Gradient: make([]float64, len(l.scores))}
		for k, phi := range l.discounts[:min(len(l.discounts), len(l.scores))] {
			want.Reward += phi * float64(k)
		}
		l.compare(t, "default tolerance", l.by(t, standard), want, defaultTolerance)
		l.compare(t, "tightest tolerance", l.by(t, tight), want, 4*tightest)
	}
	equal := func(l list) similarList {
		return similarList{l.scores, slices.Repeat([]float64{1}, len(l.scores)), 1, l.discounts}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, equal(drawHardList(t, 60))) })
	// Nine documents are pooled where eight powers of z are read.
	scores := append(make([]float64, 9), 45, -45, -45)
	check(t, equal(list{scores: scores, discounts: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}))
}

func TestSimilaritySaysWhatIsWrong(t *testing.T) {
	var e Expectation
	for want, f := range map[string]func() (float64, error){
		"vectors of dimension 0: it must be 1 or more": func() (float64, error) { return e.Similarity([]float64{1}, nil, 0, []float64{1}, nil) },
		"vectors: 3 numbers, want 4": func() (float64, error) {
			return e.Similarity([]float64{1, 2}, []float64{1, 2, 3}, 2, []float64{1}, nil)
		},
		"the vector component of document 1 is NaN: vector components must be finite": func() (float64, error) {
			return e.Similarity([]float64{1, 2}, []float64{1, 2, math.NaN(), 1}, 2, []float64{1}, nil)
		},
		"lambda: 1 numbers, want 2": func() (float64, error) {
			return e.Similarity([]float64{1, 2}, []float64{1, 2}, 1, []float64{1}, []float64{1})
		},
		"max |vector|² · Σ |discount| is +Inf: it must be at most 1e+300": func() (float64, error) {
			return e.Similarity([]float64{1, 2}, []float64{1e200, 2}, 1, []float64{1, 1}, nil)
		},
		"the score of document 0 is +Inf: scores must be finite": func() (float64, error) {
			return e.Similarity([]float64{math.Inf(1)}, []float64{1}, 1, []float64{1}, nil)
		},
	} {
		if _, err := f(); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	stop := errors.New("stop")
	e.Check = func() error { return stop }
	if _, err := e.Similarity([]float64{1, 2}, []float64{1, 2}, 1, []float64{1, 1}, nil); err != stop {
		t.Errorf("%v, want the error of Check", err)
	}
}
