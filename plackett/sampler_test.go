package plackett

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/testkit"
)

// methodOf names the method that prepare picks, by the function it returns.
func methodOf(scores []float64, samples, cutoff int) string {
	var s Sampler
	s.stamp = make([]uint32, len(scores))
	if err := s.policy.reset(scores); err != nil {
		panic(err)
	}
	f := s.prepare(samples, min(cutoff, len(scores)))
	return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
}

// Every method draws every ranking with its probability: a chi-square test
// against enumeration. The draws are the same in every run of the test.
func TestDrawHasTheChancesOfThePolicy(t *testing.T) {
	const pkg = "github.com/plrank/plrank/plackett.(*Sampler)."
	for _, c := range []struct {
		method  string
		scores  []float64
		samples int // a call
		cutoff  int
	}{
		{"aliasDraw", []float64{0.5, -1, 0, 0.7, 0.1, -0.3, 0.9, 0, 0.2, -2, 1, 0.6}, 1000, 3},
		{"aliasDraw", []float64{9, -1, 0, 0.7, 0.1, -0.3, 0.9, 0}, 1000, 1},
		{"headTailDraw", []float64{0.5, -1, 4, 0.7, 3, -0.3, 0.9, 0, 0.2, -2, 1, 0.6}, 1000, 3},
		{"headTailDraw", []float64{0, 7, 14, -7, -14, 1, 8, 0.5}, 1000, 2},
		{"headTailDraw", []float64{0.5, -1, 1.5, 0.7}, 1000, 3},
		{"headTailDraw", []float64{0.5, -1, 1.5, 0.7, 2.5}, 1000, 9},
		{"headTailDraw", []float64{3, 0}, 1000, 2},
		{"linearRace", []float64{0.5, -1, 1.5, 0.7}, 2, 3},
		{"linearRace", []float64{0.5, -1, 1.5, 0.7}, 2, 9},
		{"linearRace", []float64{0.5, -1, 0, 0.7, 0.1, -0.3, 0.9, 0, 0.2, -2, 1, 0.6}, 2, 3},
		{"logRace", []float64{0.5, -900, 1.5, -900.5, 0.7, -901}, 1000, 5},
		// Scores so large that adding noise of the size of 1 loses it, all of them or some.
		{"logRace", []float64{1e15 + 0.5, 1e15, 1e15 + 1.5, -1, 1e15 - 0.25}, 1000, 4},
		{"logRace", []float64{1e16, 0.5, -1, 1.5, 0.7}, 1000, 5},
		{"logRace", []float64{0.5, -1e16, 1.5, -1e16 - 2, 0.7, -1e16 + 2}, 1000, 6},
		{"logRace", []float64{-math.MaxFloat64, 1e16 + 2, 1e16, math.MaxFloat64, 0.25, 1e300, 1, -1e300, -1e300}, 1000, 9},
		{"logRace", []float64{1e300, 1e300, 1e300, 0}, 2, 4},
		{"aliasDraw", []float64{1e16, 1e16, 1e16, 1e16 - 2, 1e16, 1e16, 1e16, 1e16}, 1000, 2},
		{"headTailDraw", []float64{-1e15 + 3, -1e15, -1e15 + 1.25}, 1000, 3},
		{"linearRace", []float64{1e15 + 0.5, 1e15 - 1, 1e15 + 1.5, 1e15 + 0.75}, 2, 3},
	} {
		t.Run(fmt.Sprintf("%s/D=%d/K=%d", c.method, len(c.scores), c.cutoff), func(t *testing.T) {
			t.Parallel()
			if got := methodOf(c.scores, c.samples, c.cutoff); got != pkg+c.method {
				t.Fatalf("drawn by %s, this case is meant for %s", got, c.method)
			}
			const total = 100_000
			counts := map[[9]int]float64{}
			var s Sampler
			places := make([]int, c.samples*c.cutoff)
			for step := range total / c.samples {
				if err := s.Draw(c.scores, Stream{11, uint64(step), 3}, Rankings{places, c.cutoff, 100}); err != nil {
					t.Fatal(err)
				}
				for ranking := range slices.Chunk(places, c.cutoff) {
					var key [9]int
					copy(key[:], ranking)
					counts[key]++
				}
			}
			chi2, cells := 0.0, 0.0
			restSeen, restExpected := float64(total), float64(total)
			err := testkit.Enumerate(c.scores, c.cutoff, func(y []int, p float64) {
				var key [9]int
				for k := range c.cutoff {
					key[k] = -1
					if k < len(y) {
						key[k] = 100 + y[k]
					}
				}
				if expected := p * total; expected >= 10 {
					chi2 += (counts[key] - expected) * (counts[key] - expected) / expected
					cells++
					restSeen -= counts[key]
					restExpected -= expected
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if restExpected > 1 {
				chi2 += (restSeen - restExpected) * (restSeen - restExpected) / restExpected
				cells++
			} else if restSeen > 30 {
				t.Errorf("%v rankings that are all but impossible", restSeen)
			}
			if p := 1 - (distuv.ChiSquared{K: cells - 1}).CDF(chi2); p < 1e-4 {
				t.Errorf("chi-square %v on %v cells: p = %.2g", chi2, cells, p)
			}
		})
	}
}

// Whatever the scores, every row is a ranking, and a shorter list ends in −1.
func TestDrawGivesRankings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t, 40)
		docs, cutoff := len(l.scores), len(l.discounts)
		samples := rapid.IntRange(0, 20).Draw(t, "draws")
		places := make([]int, samples*cutoff)
		var s Sampler
		if err := s.Draw(l.scores, Stream{1, 2, 3}, Rankings{places, cutoff, 7}); err != nil {
			t.Fatal(err)
		}
		for i := range samples {
			seen := map[int]bool{}
			for k, row := range places[i*cutoff : (i+1)*cutoff] {
				if k >= docs {
					if row != -1 {
						t.Fatalf("place %d of a list of %d is %d, want -1", k, docs, row)
					}
				} else if row < 7 || row >= 7+docs || seen[row] {
					t.Fatalf("row %d at place %d of %v", row, k, places[i*cutoff:(i+1)*cutoff])
				}
				seen[row] = true
			}
		}
	})
}

// The streams of different seeds, steps and queries differ; the same gives the
// same, whatever was drawn before.
func TestStreamsDiffer(t *testing.T) {
	scores := make([]float64, 50)
	seen := map[string]string{}
	var s Sampler
	for seed := range uint64(3) {
		for step := range uint64(3) {
			for query := range uint64(3) {
				places := make([]int, 3*5)
				for range 2 {
					if err := s.Draw(scores, Stream{seed, step, query}, Rankings{places, 5, 0}); err != nil {
						t.Fatal(err)
					}
					key, what := fmt.Sprint(places), fmt.Sprint(seed, step, query)
					if other, ok := seen[key]; ok && other != what {
						t.Errorf("(seed, step, query) %s draws as %s does", what, other)
					}
					seen[key] = what
				}
			}
		}
	}
	if len(seen) != 27 {
		t.Errorf("%d different draws of 27 streams", len(seen))
	}
}

// Gumbel noise on compact scores draws from their policy, however large the scores are.
func TestCompactKeepsThePolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.OneOf(
			rapid.Float64Range(-3, 3), rapid.Float64Range(-1e3, 1e3),
			rapid.Map(rapid.Float64Range(-3, 3), func(x float64) float64 { return 1e15 + x }),
			rapid.SampledFrom([]float64{1e16, 1e16 + 2, -1e16, 1e300, math.MaxFloat64, -math.MaxFloat64}),
		), 1, 6).Draw(t, "scores")
		compact := make([]float64, len(scores))
		Compact(scores, compact)
		if largest, _ := magnitudes(compact); largest > 1<<20 {
			t.Errorf("%v of %v", compact, scores)
		}
		chance := map[string]float64{}
		if err := testkit.Enumerate(scores, 6, func(y []int, p float64) { chance[fmt.Sprint(y)] = p }); err != nil {
			t.Fatal(err)
		}
		err := testkit.Enumerate(compact, 6, func(y []int, p float64) {
			if want := chance[fmt.Sprint(y)]; math.Abs(p-want) > 1e-12 {
				t.Errorf("%v: π(%v) = %v, want %v", scores, y, p, want)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// With gaps of 1000 the order of the groups is certain.
func TestDrawOfHugeGapsIsSure(t *testing.T) {
	scores := []float64{-500, 500, -500, 500, -500}
	places := make([]int, 200*5)
	var s Sampler
	if err := s.Draw(scores, Stream{1, 1, 1}, Rankings{places, 5, 0}); err != nil {
		t.Fatal(err)
	}
	firsts := map[int]int{}
	for y := range slices.Chunk(places, 5) {
		if y[0]%2 != 1 || y[1]%2 != 1 {
			t.Fatalf("ranking %v puts a document that is 1000 behind first", y)
		}
		firsts[y[2]]++
	}
	for _, d := range []int{0, 2, 4} {
		if firsts[d] < 30 { // of 200, expected 67
			t.Errorf("document %d comes third %d times of 200: ties below the gap are not even", d, firsts[d])
		}
	}
}

func TestEnumerateVisitsEveryRankingOnce(t *testing.T) {
	sum, n := 0.0, 0
	err := testkit.Enumerate([]float64{1, 2, 3, 4}, 2, func(y []int, p float64) { sum += p; n++ })
	if err != nil || n != 12 || math.Abs(sum-1) > 1e-14 {
		t.Errorf("%d rankings of probability %v, error %v", n, sum, err)
	}
	if err := testkit.Enumerate(make([]float64, 50), 10, func([]int, float64) {}); err == nil {
		t.Error("no error for a list too long to enumerate")
	}
}
