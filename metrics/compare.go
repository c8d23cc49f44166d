package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/internal/parallel"
)

// Comparison compares two runs, A and B, by the values of one measure for the same queries.
type Comparison struct {
	A, B       int      // numbers of the runs
	Difference Interval // of the mean of A − B

	T, Randomization                 Test
	AdjustedT, AdjustedRandomization float64 // the p-values by Holm over all comparisons

	Wins, Ties, Losses int // queries for which A is better than B, as good, and worse
}

// Compare compares every two of several runs by the values of a measure, [runs][queries], as
// [Measure.PerQuery] followed by [LabelFree.Counted] gives them. It computes intervals of the
// differences, the paired t-test and Fisher's randomization test, with p-values that are
// adjusted over all pairs of runs. The order of the pairs is 0 and 1, 0 and 2, …, 1 and 2, ….
// Values that agree to 12 digits tie. The settings apply to the intervals; their number of
// resamples and seed also apply to the randomization test. Compare returns an error for fewer
// than two runs, and the errors of [PairedT] and [Bootstrap.MeanInterval].
func Compare(m Measure, runs [][]float64, settings Bootstrap) ([]Comparison, error) {
	if len(runs) < 2 {
		return nil, fmt.Errorf("metrics: a comparison needs two or more runs, not %d", len(runs))
	}
	var pairs []Comparison
	for a := range runs {
		for b := a + 1; b < len(runs); b++ {
			pairs = append(pairs, Comparison{A: a, B: b})
		}
	}
	err := parallel.Each(len(pairs), parallel.Workers(len(pairs)), func(_, i int) error {
		p := &pairs[i]
		if err := p.compare(m, runs[p.A], runs[p.B], settings); err != nil {
			return fmt.Errorf("%w (runs %d and %d)", err, p.A, p.B)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var ts, randomizations []float64
	for _, p := range pairs {
		ts, randomizations = append(ts, p.T.PValue), append(randomizations, p.Randomization.PValue)
	}
	ts, errT := Holm(ts)
	randomizations, errR := Holm(randomizations)
	for i := range pairs {
		pairs[i].AdjustedT, pairs[i].AdjustedRandomization = ts[i], randomizations[i]
	}
	return pairs, errors.Join(errT, errR)
}

// compare computes everything except the adjusted p-values, which need all comparisons.
func (c *Comparison) compare(m Measure, a, b []float64, settings Bootstrap) (err error) {
	if c.T, err = PairedT(a, b); err != nil {
		return err
	}
	differences, err := Differences(a, b)
	if err != nil {
		return err
	}
	if c.Difference, err = settings.MeanInterval(differences); err != nil {
		return err
	}
	least := rounding(a, b)
	for q, d := range differences {
		switch {
		case math.Abs(d) <= least:
			c.Ties++
		case m.Better(a[q], b[q]):
			c.Wins++
		default:
			c.Losses++
		}
	}
	c.Randomization, err = Randomization{Resamples: settings.Resamples, Seed: settings.Seed}.Test(a, b)
	return err
}

// Randomization holds the settings of Fisher's randomization test of paired values. Its zero
// value draws 10,000 resamples.
type Randomization struct {
	Resamples int    // 0: 10,000
	Seed      uint64 // of the resamples
}

// Test tests paired values a and b. If both models are equally good, the two values of a query
// could as well be exchanged, which changes the sign of their difference. The p-value is the
// share of the 2^n choices of signs that put the mean difference at least as far from 0 as the
// observed one (Fisher 1935; Smucker, Allan & Carterette, CIKM 2007). n is the number of pairs
// that differ by more than rounding. If 2^n is at most Resamples, all choices are counted, as
// in SciPy. Otherwise Resamples choices are drawn, and if c of them are as far from 0, the
// p-value is (c + 1) / (Resamples + 1) (Phipson & Smyth 2010). Without a difference it is 1.
// Test returns the errors of [PairedT], except that any number of pairs is valid, and an error
// for a negative Resamples.
func (r Randomization) Test(a, b []float64) (Test, error) {
	r.Resamples = cmp.Or(r.Resamples, 10000)
	if r.Resamples < 0 {
		return Test{}, fmt.Errorf("metrics: %d resamples: want one or more", r.Resamples)
	}
	d, err := Differences(a, b)
	if err != nil {
		return Test{}, err
	}
	test := Test{PValue: 1}
	if len(d) > 0 {
		test.Difference = stat.Mean(d, nil)
		test.Statistic = test.Difference
	}
	equal := rounding(a, b)
	d = slices.DeleteFunc(d, func(x float64) bool { return math.Abs(x) <= equal })
	test.Pairs = len(d)
	least := math.Abs(floats.Sum(d)) - 1e-12*floats.Norm(d, 1) // rounding does not count
	if ways := 1 << min(len(d), 62); ways <= r.Resamples {
		way := uint64(0)
		test.PValue = float64(countFar(d, least, ways, func() uint64 { way++; return way })) / float64(ways)
		return test, nil
	}
	far := countFar(d, least, r.Resamples, rand.NewPCG(r.Seed, 0).Uint64)
	test.PValue = float64(far+1) / float64(r.Resamples+1)
	return test, nil
}

// countFar returns how many of n signed sums of d are at least least away from 0. The signs of
// each sum come from bits, 64 at a time.
func countFar(d []float64, least float64, n int, bits func() uint64) (count int) {
	for range n {
		sum, signs := 0.0, uint64(0)
		for i, x := range d {
			if i%64 == 0 {
				signs = bits()
			}
			sum += math.Float64frombits(math.Float64bits(x) ^ signs<<63)
			signs >>= 1
		}
		if math.Abs(sum) >= least {
			count++
		}
	}
	return count
}
