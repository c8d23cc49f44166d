package variance

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// Of the first 2^m points of a scrambled Sobol' sequence each interval of length 2^−m has
// one, in every dimension; of the first four points in the first two dimensions each
// quarter of the square. Every point by itself is uniform.
func TestSobolPointsAreStratified(t *testing.T) {
	const n, dimensions = 64, 256
	mean := make([]float64, n)
	for seed := range uint64(40) {
		points := make([]float64, n*dimensions)
		sobol(rand.New(rand.NewPCG(seed, 1)), n, dimensions, points)
		for j := range dimensions {
			seen := map[int]bool{}
			for i := range n {
				x := points[i*dimensions+j]
				if !(x > 0 && x < 1) {
					t.Fatalf("coordinate %v", x)
				}
				seen[int(x*n)] = true
				mean[i] += x / (40 * dimensions)
			}
			if len(seen) != n {
				t.Fatalf("dimension %d: %d of %d intervals have a point", j, len(seen), n)
			}
		}
		quarters := map[[2]bool]bool{}
		for i := range 4 {
			quarters[[2]bool{points[i*dimensions] < 0.5, points[i*dimensions+1] < 0.5}] = true
		}
		if len(quarters) != 4 {
			t.Errorf("seed %d: the first four points are in %d quarters", seed, len(quarters))
		}
	}
	for i, m := range mean {
		if math.Abs(m-0.5) > 5*math.Sqrt(1./12/40/dimensions) {
			t.Errorf("point %d has a mean of %v", i, m)
		}
	}
}

// Ratios of a set against the probabilities of all orders in which it can be drawn.
func TestLeaveOneOutRatiosByEnumeration(t *testing.T) {
	// set is the probability that a set is drawn without replacement, from rates whose
	// sum is mass.
	var set func(rates []float64, mass float64) float64
	set = func(rates []float64, mass float64) float64 {
		if len(rates) == 0 {
			return 1
		}
		sum := 0.0
		for i, p := range rates {
			sum += p / mass * set(slices.Delete(slices.Clone(rates), i, i+1), mass-p)
		}
		return sum
	}
	for _, chances := range [][]float64{{0.3, 0.2}, {0.9, 0.05, 0.01}, {1e-9, 3e-9, 2e-9, 1e-9}, {0.25, 0.25, 0.25, 0.2499999}, {0.2, 0.3, 0.5}} {
		ratio, without := leaveOneOut(chances)
		for i, p := range chances {
			others := slices.Delete(slices.Clone(chances), i, i+1)
			one := set(others, 1-p)
			if want := one / set(chances, 1); math.Abs(ratio[i]/want-1) > 1e-6 {
				t.Errorf("%v: R(S,%d) = %v, want %v", chances, i, ratio[i], want)
			}
			for j, q := range chances {
				if j == i {
					continue
				}
				rest := slices.Delete(slices.Clone(others), slices.Index(others, q), slices.Index(others, q)+1)
				if want := set(rest, 1-p-q) / one; math.Abs(without[i][j]/want-1) > 1e-6 {
					t.Errorf("%v: R_%d(S,%d) = %v, want %v", chances, i, j, without[i][j], want)
				}
			}
		}
	}
}

// The rankings are different, and the first is drawn with its probability.
func TestRankingsWithoutReplacementDiffer(t *testing.T) {
	scores := []float64{0.3, -1.1, 0.8, 0, 40} // the last is sure to come first
	const draws = 20000
	counts := map[[2]int]float64{}
	for i := range uint64(draws) {
		set := withoutReplacement(rand.New(rand.NewPCG(i, 1)), scores, 2, 3)
		seen := map[[2]int]bool{}
		for y := range slices.Chunk(set.Documents, 2) {
			seen[[2]int(y)] = true
		}
		if len(seen) != 3 || len(set.Documents) != 6 {
			t.Fatalf("%v", set.Documents)
		}
		counts[[2]int(set.Documents[:2])]++
	}
	err := testkit.Enumerate(scores, 2, func(y []int, p float64) {
		if got := counts[[2]int(y)] / draws; math.Abs(got-p) > 5*math.Sqrt(p/draws)+1e-6 {
			t.Errorf("%v: %v of the draws, want %v", y, got, p)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// All methods are unbiased except those with a baseline of rankings that are not
// independent, whose bias can be seen.
func TestOnlyDependentBaselinesAreBiased(t *testing.T) {
	all := append(Estimators(), Competitors()...)
	for _, l := range tiny {
		copies := slices.Repeat([]List{l}, 1000) // each has rankings of its own
		mean := Mean(measure(t, copies, metrics.Discounts(2), Options{Methods: all, Samples: 3, Repeats: 20, Seed: 5}))
		for _, m := range all {
			bias, stdErr := mean.Bias(m.Name)
			biased := m.Name == plackett.PLRankRB.String()+"/qmc"
			switch {
			case biased && bias < 2*stdErr, !biased && math.Abs(bias) > 4*stdErr+1e-20:
				t.Errorf("%d documents, %s: squared bias %.3g ± %.2g", len(l.Scores), m.Name, bias, stdErr)
			case stdErr > 0.05:
				t.Errorf("%d documents, %s: %.3g ± %.2g says little", len(l.Scores), m.Name, bias, stdErr)
			}
		}
	}
}

// Where all rankings are in the set, nothing is random; a ranking by itself has no baseline.
func TestUnorderedSetOfAllRankingsIsExact(t *testing.T) {
	o := Options{Methods: Competitors()[:1], Samples: 6, Repeats: 3}
	for _, traces := range measure(t, tiny[:1], metrics.Discounts(3), o) {
		if trace, _ := traces.Trace("unordered-set"); trace > 1e-25 {
			t.Errorf("trace %v", trace)
		}
		if bias, _ := traces.Bias("unordered-set"); math.Abs(bias) > 1e-20 {
			t.Errorf("bias %v", bias)
		}
	}
	o.Samples = 1
	if _, err := Measure(t.Context(), tiny, metrics.Discounts(3), o); err == nil || !strings.Contains(err.Error(), "want 2 samples or more") {
		t.Error(err)
	}
}
