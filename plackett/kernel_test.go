package plackett

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/testkit"
)

// list is a random list of documents with rankings drawn from it.
type list struct {
	scores, gains, discounts []float64
	rankings                 [][]int
}

// drawList makes lists of up to most documents; spread is the standard deviation of the scores.
func drawList(t *rapid.T, most int) list {
	docs := rapid.IntRange(1, most).Draw(t, "documents")
	k := rapid.IntRange(1, most+2).Draw(t, "cutoff")
	n := rapid.IntRange(1, 8).Draw(t, "samples")
	spread := rapid.SampledFrom([]float64{0, 0.5, 1, 4, 20, 200}).Draw(t, "spread")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	l := list{
		scores:    make([]float64, docs),
		gains:     make([]float64, docs),
		discounts: make([]float64, k),
	}
	for d := range docs {
		l.scores[d] = spread * rng.NormFloat64()
		l.gains[d] = float64(rng.IntN(5)) * rng.NormFloat64()
	}
	for i := range l.discounts {
		l.discounts[i] = rng.Float64()
	}
	for range n {
		if rng.IntN(2) == 0 {
			l.rankings = append(l.rankings, rng.Perm(docs)) // any ranking, however improbable
		} else {
			l.rankings = append(l.rankings, gumbelSort(l.scores, 1, rng)[0])
		}
	}
	return l
}

func (l list) scale() float64 {
	gain, discount := 0.0, 0.0
	for _, g := range l.gains {
		gain = max(gain, math.Abs(g))
	}
	for _, d := range l.discounts {
		discount += math.Abs(d)
	}
	return gain*discount + 1e-300
}

func gradient(t interface{ Fatalf(string, ...any) }, e Estimator, l list, r Rankings) []float64 {
	var k Kernel
	lambda := make([]float64, len(l.scores))
	if _, err := k.Gradient(e, l.scores, l.gains, l.discounts, r, lambda); err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return lambda
}

func TestEstimatorsAreTheirDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t, 30)
		r := pack(l.rankings, len(l.scores)+rapid.IntRange(0, 3).Draw(t, "ranks without a document"), 0)
		for _, e := range estimators {
			want := estimate(e, l.scores, l.gains, l.discounts, l.rankings)
			for d, got := range gradient(t, e, l, r) {
				if !(math.Abs(got-want[d]) <= 1e-13*l.scale()) {
					t.Fatalf("%s: λ[%d] = %v, the definition gives %v: off by %.2g of scale", e, d, got, want[d], math.Abs(got-want[d])/l.scale())
				}
			}
		}
	})
}

func TestPLRank2IsAlgorithm1(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, docs := range []int{1, 2, 7, 50} {
		l := list{discounts: dcg(5)}
		for range docs {
			l.scores = append(l.scores, rng.NormFloat64())
			l.gains = append(l.gains, float64(rng.IntN(16)))
		}
		l.rankings = gumbelSort(l.scores, 20, rng)
		got := gradient(t, PLRank2, l, pack(l.rankings, docs, 0))
		near(t, fmt.Sprintf("%d documents", docs), got, algorithm1(l.scores, l.gains, l.discounts, l.rankings), 1e-12)
	}
}

// The mean of λ over all rankings is the gradient of the exact expectation. With
// more samples PL-Rank-RB's baseline couples them: all pairs are enumerated.
func TestEstimatorsAreUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, docs := range []int{1, 2, 3, 4, 5} {
		for _, cutoff := range []int{1, 2, 3, 7} {
			for _, spread := range []float64{0, 1, 5} {
				scores, gains := make([]float64, docs), make([]float64, docs)
				for d := range docs {
					scores[d] = spread * rng.NormFloat64()
					gains[d] = rng.NormFloat64()
				}
				x, err := testkit.EnumerateMoments(scores, gains, dcg(cutoff))
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range estimators {
					mean, _ := moments(t, e, scores, gains, dcg(cutoff))
					near(t, fmt.Sprintf("%s, D=%d K=%d", e, docs, cutoff), mean, x.Gradient, 1e-13)
				}
			}
		}
	}
}

func TestEstimatorsOfTwoRankingsAreUnbiased(t *testing.T) {
	scores, gains, theta := []float64{0.3, -1, 1.2, 0}, []float64{3, -1, 0, 7}, dcg(3)
	x, err := testkit.EnumerateMoments(scores, gains, theta)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range estimators {
		var k Kernel
		mean, lambda, metric := make([]float64, 4), make([]float64, 4), 0.0
		err := testkit.Enumerate(scores, 3, func(first []int, p float64) {
			err := testkit.Enumerate(scores, 3, func(second []int, q float64) {
				value, err := k.Gradient(e, scores, gains, theta, pack([][]int{first, second}, 3, 0), lambda)
				if err != nil {
					t.Fatal(err)
				}
				metric += p * q * value
				for d := range mean {
					mean[d] += p * q * lambda[d]
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		near(t, e.String()+": gradient", mean, x.Gradient, 1e-13)
		near(t, e.String()+": metric", []float64{metric}, []float64{x.Reward}, 1e-13)
	}
}

func TestRBHasNoVarianceAtCutoff1(t *testing.T) {
	scores, gains := []float64{0.3, -1, 1.2, 0}, []float64{3, -1, 0, 7}
	if _, trace := moments(t, PLRankRB, scores, gains, dcg(1)); trace > 1e-14 {
		t.Errorf("variance %v, want 0", trace)
	}
}

// Laws that hold ranking by ranking.
func TestEstimatorsKeepTheirInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t, 20)
		docs := len(l.scores)
		r := pack(l.rankings, docs, 0)
		tolerance := 1e-12 * l.scale()
		for _, e := range estimators {
			lambda := gradient(t, e, l, r)

			sum := 0.0
			for _, x := range lambda {
				sum += x
			}
			// PL-Rank-2's sum is 0 in expectation only.
			if (e.Credit != Later || e.Expected) && math.Abs(sum) > tolerance {
				t.Errorf("%s: Σλ = %v, want 0", e, sum)
			}

			shifted := l
			shifted.scores = nil
			for _, m := range l.scores {
				shifted.scores = append(shifted.scores, m+64) // exact enough in floating point
			}
			if got := gradient(t, e, shifted, r); !alike(got, lambda, 1e-11*l.scale()*64) {
				t.Errorf("%s: λ changes with a shift of all scores: %v, %v", e, got, lambda)
			}

			// Relabel the documents.
			perm := rand.New(rand.NewPCG(7, 7)).Perm(docs)
			moved := list{scores: make([]float64, docs), gains: make([]float64, docs), discounts: l.discounts}
			want := make([]float64, docs)
			for d, to := range perm {
				moved.scores[to], moved.gains[to], want[to] = l.scores[d], l.gains[d], lambda[d]
			}
			for _, y := range l.rankings {
				z := make([]int, len(y))
				for k, d := range y {
					z[k] = perm[d]
				}
				moved.rankings = append(moved.rankings, z)
			}
			ties := e.Baseline && len(l.rankings) == 1 // the likeliest ranking breaks ties by position
			if got := gradient(t, e, moved, pack(moved.rankings, docs, 0)); !ties && !alike(got, want, tolerance) {
				t.Errorf("%s: not equivariant: %v, want %v", e, got, want)
			}

			// Absent samples and another base change nothing.
			sparse := pack([][]int{nil}, docs, 100)
			for _, y := range l.rankings {
				sparse.Documents = append(sparse.Documents, pack([][]int{y, nil}, docs, 100).Documents...)
			}
			if got := gradient(t, e, l, sparse); !alike(got, lambda, 0) {
				t.Errorf("%s: absent samples change λ", e)
			}
		}
		one, two := gradient(t, PLRank1, l, r), make([]float64, docs)
		// The placement policy gradient, Σ_k W_k (1[y_k=d] − P_k(d)), by the log-probabilities.
		w := make([]float64, len(r.Documents))
		for i, y := range l.rankings {
			reward := 0.0
			for k := min(docs, len(l.discounts)) - 1; k >= 0; k-- {
				reward += l.discounts[k] * l.gains[y[k]]
				w[i*docs+k] = reward / float64(len(l.rankings))
			}
		}
		var k Kernel
		if err := k.LogProbsGradient(l.scores, r, w, two); err != nil {
			t.Fatal(err)
		}
		if !alike(one, two, tolerance) {
			t.Errorf("PL-Rank-1 %v is not the placement policy gradient %v", one, two)
		}
	})
}

func alike(a, b []float64, tolerance float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= tolerance) {
			return false
		}
	}
	return len(a) == len(b)
}

// The exposure is the gradient of R with respect to the gains, and unbiased.
func TestExposureIsUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, spread := range []float64{0, 1, 3} {
		scores := make([]float64, 5)
		for d := range scores {
			scores[d] = spread * rng.NormFloat64()
		}
		x, err := testkit.EnumerateMoments(scores, make([]float64, 5), dcg(3))
		if err != nil {
			t.Fatal(err)
		}
		var k Kernel
		mean, out := make([]float64, 5), make([]float64, 5)
		err = testkit.Enumerate(scores, 3, func(y []int, p float64) {
			if err := k.Exposure(scores, dcg(3), Rankings{Documents: y, Cutoff: 3}, out); err != nil {
				t.Fatal(err)
			}
			for d := range out {
				mean[d] += p * out[d]
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "exposure", mean, x.Exposure, 1e-13)
	}
}

func TestLogProbsAreLogarithmsOfShares(t *testing.T) {
	var k Kernel
	for _, scores := range [][]float64{{0.3, -1, 1.2, 0}, {500, -500, 0, 200}, {0, 0, 0, 0}} {
		err := testkit.Enumerate(scores, 3, func(y []int, p float64) {
			out := make([]float64, 8)
			r := pack([][]int{nil, y}, 4, 0)
			if err := k.LogProbs(scores, r, out); err != nil {
				t.Fatal(err)
			}
			if got := out[4] + out[5] + out[6]; p > 0 && math.Abs(got-math.Log(p)) > 1e-12*(1+math.Abs(got)) {
				t.Errorf("log π(%v) = %v, want %v", y, got, math.Log(p))
			}
			if out[0] != 0 || out[7] != 0 {
				t.Errorf("places not taken have log-probabilities: %v", out)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLogProbsGradientIsFiniteDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t, 12)
		for d := range l.scores {
			l.scores[d] = math.Tanh(l.scores[d]) * 3
		}
		docs := len(l.scores)
		r := pack(l.rankings, docs, 0)
		w := make([]float64, len(r.Documents))
		for i := range w {
			w[i] = math.Sin(float64(i))
		}
		var k Kernel
		value := func() float64 {
			out := make([]float64, len(w))
			if err := k.LogProbs(l.scores, r, out); err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i := range out {
				sum += w[i] * out[i]
			}
			return sum
		}
		got := make([]float64, docs)
		if err := k.LogProbsGradient(l.scores, r, w, got); err != nil {
			t.Fatal(err)
		}
		for d := range docs {
			const h = 1e-5
			m := l.scores[d]
			l.scores[d] = m + h
			up := value()
			l.scores[d] = m - h
			down := value()
			l.scores[d] = m
			if want := (up - down) / (2 * h); math.Abs(got[d]-want) > 1e-7*(1+math.Abs(want)) {
				t.Errorf("d/dm_%d = %v, by differences %v", d, got[d], want)
			}
		}
	})
}

// Without λ, values have the same bits as with it.
func TestValuesAloneEqualValuesWithGradients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 60)
		lambda, rankings := make([]float64, len(l.scores)), NewRankings(9, len(l.discounts))
		var k Kernel
		var e Expectation
		if err := new(Sampler).Draw(l.scores, Stream{Seed: 1}, rankings); err != nil {
			t.Fatal(err)
		}
		check := func(what string, value func(lambda []float64) (float64, error)) {
			want, err := value(lambda)
			if got, failed := value(nil); got != want || err != nil || failed != nil {
				t.Errorf("%s: %v (%v) alone, %v (%v) with the gradient", what, got, failed, want, err)
			}
		}
		for _, estimator := range estimators {
			check(estimator.String(), func(lambda []float64) (float64, error) {
				return k.Gradient(estimator, l.scores, l.gains, l.discounts, rankings, lambda)
			})
		}
		check("exactly", func(lambda []float64) (float64, error) {
			return e.Gradient(l.scores, l.gains, l.discounts, lambda)
		})
	})
}

func TestKernelRejectsInvalidInput(t *testing.T) {
	var k Kernel
	lambda := make([]float64, 3)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := k.Gradient(PLRank2, []float64{0, bad, 1}, make([]float64, 3), dcg(2), Rankings{Documents: []int{0, 1}, Cutoff: 2}, lambda)
		var score *NumberError
		if !errors.As(err, &score) || score.Position != 1 {
			t.Errorf("score %v: error %v, want a NumberError at position 1", bad, err)
		}
		var s Sampler
		if err := s.Draw([]float64{0, bad, 1}, Stream{}, NewRankings(1, 2)); !errors.As(err, &score) {
			t.Errorf("sampling with score %v: error %v, want a NumberError", bad, err)
		}
	}
	two, lambda2 := []float64{0, 1}, make([]float64, 2)
	y := Rankings{Documents: []int{0, 1}, Cutoff: 2}
	gradient := func(gains, discounts []float64, y Rankings, lambda []float64) error {
		_, err := k.Gradient(PLRankRB, two, gains, discounts, y, lambda)
		return err
	}
	for want, err := range map[string]error{
		"the gain of document 1 is NaN":                          gradient([]float64{0, math.NaN()}, two, y, lambda2),
		"the discount of rank 1 is +Inf":                         gradient(two, []float64{0, math.Inf(1)}, y, lambda2),
		"gains: 1 numbers, want 2":                               gradient(two[:1], two, y, lambda2),
		"lambda: 3 numbers, want 2":                              gradient(two, two, y, lambda),
		"rankings: 2 entries is not a multiple of the cutoff 3":  gradient(two, two, Rankings{[]int{0, 1}, 3, 0}, lambda2),
		"rankings: 2 entries is not a multiple of the cutoff -1": gradient(two, two, Rankings{[]int{0, 1}, -1, 0}, lambda2),
		"exposure: 3 numbers, want 2":                            k.Exposure(two, two, y, lambda),
		"the discount of rank 0 is NaN":                          k.Exposure(two, []float64{math.NaN()}, y, lambda2),
		"log-probabilities: 3 numbers, want 2":                   k.LogProbs(two, y, lambda),
		"weights: 3 numbers, want 2":                             k.LogProbsGradient(two, y, lambda, lambda2),
		"the weight of entry 0 is NaN":                           k.LogProbsGradient(two, y, []float64{math.NaN(), 0}, lambda2),
		"rewards: 3 numbers, want 2":                             RewardsToGo(two, two, y, lambda),
		"entry 5 is outside the list":                            RewardsToGo(two, two, Rankings{[]int{0, 5}, 2, 0}, lambda2),
		"follows the ranking's end":                              RewardsToGo(two, two, Rankings{[]int{-1, 1}, 2, 0}, lambda2),
		"rankings: 5 entries is not a multiple of the cutoff 2":  new(Sampler).Draw(two, Stream{}, Rankings{make([]int, 5), 2, 0}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	for name, places := range map[string][]int{
		"twice":        {5, 5},
		"below":        {4, 5},
		"beyond":       {5, 8},
		"after a gap":  {-1, 5},
		"negative":     {5, -2},
		"beyond first": {8, -1},
	} {
		_, err := k.Gradient(PLRank2, []float64{0, 1, 2}, make([]float64, 3), dcg(2), Rankings{Documents: places, Cutoff: 2, Base: 5}, lambda)
		var ranking *RankingError
		if !errors.As(err, &ranking) {
			t.Errorf("%s: error %v, want a RankingError", name, err)
		}
	}
}

// Empty lists, absent rankings and a cutoff of 0 give zeros.
func TestNoDocumentsOrRankingsGiveZero(t *testing.T) {
	var k Kernel
	for _, e := range estimators {
		lambda := []float64{7, 7}
		metric, err := k.Gradient(e, []float64{1, 2}, []float64{3, 4}, dcg(2), Rankings{Documents: []int{-1, -1, -1, -1}, Cutoff: 2}, lambda)
		if err != nil || metric != 0 || lambda[0] != 0 || lambda[1] != 0 {
			t.Errorf("%s, no ranking present: %v, %v, %v", e, metric, lambda, err)
		}
		if _, err := k.Gradient(e, nil, nil, dcg(2), Rankings{Documents: []int{-1, -1}, Cutoff: 2}, nil); err != nil {
			t.Errorf("%s, no documents: %v", e, err)
		}
		if _, err := k.Gradient(e, []float64{1}, []float64{1}, nil, Rankings{Documents: []int{0}, Cutoff: 1}, lambda[:1]); err != nil || lambda[0] != 0 {
			t.Errorf("%s, no discounts: %v, %v", e, lambda, err)
		}
	}
}

func TestKernelDoesNotAllocate(t *testing.T) {
	scores, gains := benchmarkList(200, 3)
	places := make([]int, 100*5)
	lambda := make([]float64, len(scores))
	var s Sampler
	var k Kernel
	step := func() {
		if err := s.Draw(scores, Stream{1, 2, 3}, Rankings{Documents: places, Cutoff: 5}); err != nil {
			t.Fatal(err)
		}
		for _, e := range estimators {
			if _, err := k.Gradient(e, scores, gains, dcg5, Rankings{Documents: places, Cutoff: 5}, lambda); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.Exposure(scores, dcg5, Rankings{Documents: places, Cutoff: 5}, lambda); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if n := testing.AllocsPerRun(10, step); n > 0 {
		t.Errorf("%v allocations a step, want none", n)
	}
}

var dcg5 = dcg(5)
