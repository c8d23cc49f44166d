package metrics

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Values of three models for 20 queries, with ties and zeros as NDCG has them.
var (
	valuesA = []float64{.5, 1, .63093, 0, .38685, .91972, .5, 1, 1, .43068, .35621, .7, .25, .3, .61315, .8175, 1, .0, .63093, .5}
	valuesB = []float64{.43068, 1, .5, .38685, .38685, .63093, .5, .91972, .63093, .5, .35621, .65, 0, .3333, .5, .61315, 1, .0, .5, .63093}
	valuesC = []float64{.4, .9, .63093, .1, .38685, .7, .63093, .8, 1, .3, .2, .5, .3, .2, .5, .6, .9, .25, .4, .38685}
)

// The p-values come from SciPy 1.17.1: stats.ttest_rel(a, b), and stats.permutation_test((a, b),
// lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type='samples', n_resamples=np.inf,
// vectorized=True), which is exact.
func TestPairedTestsAgreeWithSciPy(t *testing.T) {
	for _, c := range []struct {
		a, b                []float64
		t, p, randomization float64
	}{
		{sleep1, sleep2, -4.062127683382037, 0.002832890197384273, 0.00390625},
		{valuesA, valuesB, 1.4691407318137069, 0.15815820274550077, 0.162841796875},
		{valuesA, valuesC, 2.4876071859924824, 0.022315395039088158, 0.02459716796875},
		{valuesB, valuesC, 0.47827111262335714, 0.6379142731279277, 0.634033203125},
	} {
		paired, err := PairedT(c.a, c.b)
		if err != nil || !near(paired.Statistic, c.t, 1e-12) || !near(paired.PValue, c.p, 1e-12) {
			t.Errorf("%+v, %v; want t = %v, p = %v", paired, err, c.t, c.p)
		}
		differences, err := Differences(c.a, c.b)
		if err != nil {
			t.Fatal(err)
		}
		if exact := (Bootstrap{Resamples: 1 << 20}).randomization(differences); exact != c.randomization {
			t.Errorf("p = %v, want %v", exact, c.randomization)
		}
		// Drawn: within four standard errors.
		const resamples = 8000
		drawn := Bootstrap{Resamples: resamples, Seed: 5}.randomization(differences)
		if sd := math.Sqrt(c.randomization * (1 - c.randomization) / resamples); math.Abs(drawn-c.randomization) > 4*sd {
			t.Errorf("p = %v, want %v ± %v", drawn, c.randomization, 4*sd)
		}
	}
}

// Three comparisons of 20 queries by hand: of the p-values of SciPy above, the smallest counts
// three times, the next one twice.
func TestCompareAdjustsOverAllPairs(t *testing.T) {
	ndcg, err := ParseMeasure("ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Compare(ndcg, [][]float64{valuesA, valuesB, valuesC}, Bootstrap{Resamples: 1 << 18})
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []Comparison{
		{A: 0, B: 1, T: PValue{Holm: 2 * 0.15815820274550077}, Randomization: PValue{Holm: 2 * 0.162841796875}, Wins: 10, Ties: 6, Losses: 4},
		{A: 0, B: 2, T: PValue{Holm: 3 * 0.022315395039088158}, Randomization: PValue{Holm: 3 * 0.02459716796875}, Wins: 13, Ties: 3, Losses: 4},
		{A: 1, B: 2, T: PValue{Holm: 0.6379142731279277}, Randomization: PValue{Holm: 0.634033203125}, Wins: 12, Ties: 2, Losses: 6},
	} {
		is := got[i]
		if is.A != want.A || is.B != want.B || is.Wins != want.Wins || is.Ties != want.Ties || is.Losses != want.Losses {
			t.Errorf("%+v, want %+v", is, want)
		}
		if !near(is.T.Holm, want.T.Holm, 1e-12) || !near(is.Randomization.Holm, want.Randomization.Holm, 1e-12) {
			t.Errorf("%+v, want %+v", is, want)
		}
		if d := is.Difference; !(d.Low < d.Mean && d.Mean < d.High) || (d.Low > 0) != (is.T.P < .05) {
			t.Errorf("the interval %+v, p = %v", d, is.T.P)
		}
	}
	// A rank is better if it is smaller, and 1e-16 does not count as a difference.
	arp, err := ParseMeasure("arp")
	if err != nil {
		t.Fatal(err)
	}
	ranks, err := Compare(arp, [][]float64{{1, 2, 3.1, 4}, {2, 1, 3.1000000000000005, 5}}, Bootstrap{})
	if err != nil || ranks[0].Wins != 2 || ranks[0].Ties != 1 || ranks[0].Losses != 1 {
		t.Errorf("%+v, %v", ranks, err)
	}
}

func TestComparisonsAreTheSameOnAnyNumberOfCores(t *testing.T) {
	runs := [][]float64{valuesA, valuesB, valuesC}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want, err := Compare(Measure{}, runs, Bootstrap{Resamples: 500, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(4)
	if got, err := Compare(Measure{}, runs, Bootstrap{Resamples: 500, Seed: 3}); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestComparisonErrorsNameTheRuns(t *testing.T) {
	nan := math.NaN()
	for want, c := range map[string]struct {
		runs      [][]float64
		resamples int
	}{
		"two or more runs, not 1":                               {[][]float64{{1, 2}}, 0},
		"two or more pairs, not 1 (runs 0 and 1)":               {[][]float64{{1}, {2}}, 0},
		"cannot pair 3 values with 2: they must be of the same": {[][]float64{{1, 2, 3}, {1, 2}}, 0},
		"query 1: NaN and 2 have no finite difference; LabelFr": {[][]float64{{1, nan}, {1, 2}}, 0},
		"-1 resamples": {[][]float64{{1, 2}, {2, 1}}, -1},
	} {
		if got, err := Compare(Measure{}, c.runs, Bootstrap{Resamples: c.resamples}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %+v, %v; want %q", c.runs, got, err, want)
		}
	}
	if p := (Bootstrap{}).randomization([]float64{0, 0}); p != 1 {
		t.Errorf("without a difference: p = %v", p)
	}
}

// Of 2000 pairs of equally good models, 4 to 6 % differ at the level of .05, by either test. The
// values are clustered, bounded and skewed, as NDCG is.
func TestTypeIErrorIsTheLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	value := func(difficulty float64) float64 {
		return min(1, max(0, math.Round(8*(difficulty+0.3*rng.NormFloat64()))/8))
	}
	const nulls = 2000
	ts, randomizations := 0, 0
	for i := range nulls {
		a, b := make([]float64, 50), make([]float64, 50)
		for q := range a {
			difficulty := math.Pow(rng.Float64(), 2)
			a[q], b[q] = value(difficulty), value(difficulty)
		}
		paired, err1 := PairedT(a, b)
		differences, err2 := Differences(a, b)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if paired.PValue <= .05 {
			ts++
		}
		if (Bootstrap{Resamples: 999, Seed: uint64(i)}).randomization(differences) <= .05 {
			randomizations++
		}
	}
	t.Logf("type I error at .05: t-test %v, randomization %v", float64(ts)/nulls, float64(randomizations)/nulls)
	for name, errors := range map[string]int{"t-test": ts, "randomization": randomizations} {
		if errors < .04*nulls || errors > .06*nulls {
			t.Errorf("%s: %d of %d nulls at p ≤ .05, want 80 to 120", name, errors, nulls)
		}
	}
}

// The exact p-value is the share of the signs that are as far out, counted in whole numbers.
func TestExactRandomizationCountsTheSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.IntRange(-4, 4), 0, 9).Draw(t, "differences")
		a, sum := make([]float64, len(d)), 0
		for i, v := range d {
			a[i] = 0.1 * float64(v) // their sums are rounded
			sum += v
		}
		far := 0
		for signs := range 1 << len(d) {
			other := 0
			for i, v := range d {
				if signs>>i&1 == 1 {
					v = -v
				}
				other += v
			}
			if max(other, -other) >= max(sum, -sum) {
				far++
			}
		}
		got := Bootstrap{}.randomization(a)
		if want := float64(far) / float64(int(1)<<len(d)); got != want {
			t.Errorf("%v: p = %v, want %v", d, got, want)
		}
	})
}

// A document without a rank lowers recall and NDCG by what it would have counted, and is worth no
// more than one that is not there; documents of equal scores are still in random order.
func TestUnrankedDocumentsHaveNoRank(t *testing.T) {
	in := Queries{ // ranking: 0, then 1 and 2; 3 and 4 were not found
		Scores: []float64{3, 2, 2, 9, 0}, Labels: []float32{0, 1, 0, 2, 0}, Offsets: []int{0, 5},
		Unranked: []bool{false, false, false, true, true},
	}
	second, third := 1/math.Log2(3), 0.5
	for name, want := range map[string]float64{
		"dcg":           (second + third) / 2,
		"ndcg@2":        second / 2 / (3 + second),
		"ndcg@3":        (second + third) / 2 / (3 + second),
		"ndcg@5":        (second + third) / 2 / (3 + second),
		"p@5":           0.2,
		"recall":        0.5,
		"map":           (1./2 + 1./3) / 2 / 2,
		"mrr":           (1./2 + 1./3) / 2,
		"hits@1":        0,
		"err(max=2)":    0.25 * (1./2 + 1./3) / 2,
		"arp":           (2*6 + 2.5) / 3,
		"pair-accuracy": (0.5 + 1 + 0.5) / 7, // 1 and 2 tie, 1 is above 4, 3 and 4 tie
	} {
		m, err := ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.PerQuery(in)
		if err != nil || !near(got[0], want, 1e-12) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
	}
	for _, name := range []string{"expected-ndcg@3", "ee-d"} {
		m, err := ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		in.Discounts = Discounts(3)
		if _, err := m.PerQuery(in); err == nil || !strings.Contains(err.Error(), name+" needs the score of every document") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Exposure(in); err == nil || !strings.Contains(err.Error(), "some are unranked") {
		t.Error(err)
	}
	in.Unranked = in.Unranked[:2]
	if _, err := Means(in, nil); err == nil || !strings.Contains(err.Error(), "2 entries of Unranked but 5 labels") {
		t.Error(err)
	}
}

// Where the ranks that count are all taken, unranked documents are as those at the end.
func TestUnrankedDocumentsCountAsIfAtTheEnd(t *testing.T) {
	var measures []Measure
	for _, name := range Names() {
		m, err := ParseMeasure(name + "@2")
		if err != nil {
			continue // one without a cutoff
		}
		measures = append(measures, m)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "ranked")
		labels := rapid.SliceOfN(rapid.Float32Range(0, 3), n, n+4).Draw(t, "labels")
		in := Queries{Labels: labels, Ties: Ties(rapid.IntRange(0, 1).Draw(t, "ties")), HighestGrade: 3}
		end := Queries{Labels: labels, Ties: in.Ties, HighestGrade: 3}
		for d := range labels {
			labels[d] = float32(math.Round(float64(labels[d])))
			score := float64(rapid.IntRange(0, 3).Draw(t, "score"))
			in.Scores, in.Unranked = append(in.Scores, score), append(in.Unranked, d >= n)
			if d >= n {
				score = -1
			}
			end.Scores = append(end.Scores, score)
		}
		in.Intents, end.Intents = intentsOf(labels), intentsOf(labels)
		got, err1 := Means(in, measures)
		want, err2 := Means(end, measures)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for i, m := range measures {
			if math.IsNaN(got[i]) != math.IsNaN(want[i]) || math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%v: %v, want %v", m, got[i], want[i])
			}
		}
	})
}
