package metrics

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/parallel"
)

// Comparison compares two runs, A and B, by the values of one measure for the same queries.
type Comparison struct {
	A, B       int      // numbers of the runs
	Difference Interval // of the mean of A − B

	T, Randomization PValue // of the paired t-test, and of Fisher's randomization test

	Wins, Ties, Losses int // queries for which A is better than B, as good, and worse
}

// PValue is the p-value of a test, as it is and adjusted by [Holm] over all comparisons.
type PValue struct {
	P    float64 `json:"p"`
	Holm float64 `json:"holm"`
}

// Compare compares every two of several runs by the values of a measure, [runs][queries], as
// [Measure.PerQuery] followed by [LabelFree.Counted] gives them. It computes intervals of the
// differences, the paired t-test and Fisher's randomization test. The order of the pairs is 0
// and 1, 0 and 2, …, 1 and 2, ….
//
// If both runs are equally good, the two values of a query could as well be exchanged, which
// changes the sign of their difference. The p-value of the randomization test is the share of
// the 2^n choices of signs that put the mean difference at least as far from 0 as the observed
// one (Fisher 1935; Smucker, Allan & Carterette, CIKM 2007). n is the number of queries that do
// not tie. If 2^n is at most Resamples, all choices are counted, as in SciPy. Otherwise
// Resamples choices are drawn, and if c of them are as far from 0, the p-value is
// (c + 1) / (Resamples + 1) (Phipson & Smyth 2010). Without a difference it is 1.
//
// The settings apply to the intervals; their number of resamples and seed also apply to the
// randomization test. Compare returns an error for fewer than two runs, and the errors of
// [PairedT] and [Bootstrap.MeanInterval].
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
	for _, test := range []func(*Comparison) *PValue{
		func(c *Comparison) *PValue { return &c.T }, func(c *Comparison) *PValue { return &c.Randomization },
	} {
		var p []float64
		for i := range pairs {
			p = append(p, test(&pairs[i]).P)
		}
		adjusted, err := Holm(p)
		if err != nil {
			return nil, err
		}
		for i := range pairs {
			test(&pairs[i]).Holm = adjusted[i]
		}
	}
	return pairs, nil
}

// compare computes everything except the adjusted p-values, which need all comparisons.
func (c *Comparison) compare(m Measure, a, b []float64, settings Bootstrap) error {
	t, err := PairedT(a, b)
	if err != nil {
		return err
	}
	differences, err := Differences(a, b)
	if err != nil {
		return err
	}
	if c.Difference, err = settings.MeanInterval(differences); err != nil {
		return err
	}
	for _, d := range differences {
		switch {
		case d == 0:
			c.Ties++
		case m.Better(d, 0):
			c.Wins++
		default:
			c.Losses++
		}
	}
	c.T.P, c.Randomization.P = t.PValue, settings.randomization(differences)
	return nil
}

// randomization returns the p-value of Fisher's randomization test of differences, see [Compare].
func (b Bootstrap) randomization(differences []float64) float64 {
	resamples := cmp.Or(b.Resamples, 10000)
	d := slices.DeleteFunc(slices.Clone(differences), func(x float64) bool { return x == 0 })
	least := math.Abs(floats.Sum(d)) - 1e-12*floats.Norm(d, 1) // rounding does not count
	if ways := 1 << min(len(d), 62); ways <= resamples {
		way := uint64(0)
		return float64(countFar(d, least, ways, func() uint64 { way++; return way })) / float64(ways)
	}
	far := countFar(d, least, resamples, rand.NewPCG(b.Seed, 0).Uint64)
	return float64(far+1) / float64(resamples+1)
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
