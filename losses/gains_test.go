package losses_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// Gains divided by the best value that the metric can have, for any discounts.
func TestNormalizedGainsHaveABestValueOf1(t *testing.T) {
	f := newFixture(normal)
	for _, f.discounts = range [][]float64{metrics.Discounts(4), discountsOf(t, "precision", 2), discountsOf(t, "arp", 20)} {
		b := f.batch(tensor.Float64)
		normalized, err := losses.NormalizedGains(b.Lists, b.Gains, f.discounts)
		if err != nil {
			t.Fatal(err)
		}
		best := losses.TargetExposure(b.Lists, normalized, f.discounts)
		got, target := evaluate(t, normalized), evaluate(t, best)
		for _, n := range []int{0, 2, 3, 4} {
			from, to := f.offsets[n], f.offsets[n+1]
			ideal, sum := f.query(n).ideal(), 0.0
			for d := from; d < to; d++ {
				sum += got[d] * target[d]
				if want := f.gains[d] / ideal; ideal > 0 && math.Abs(got[d]-want) > 1e-15*want {
					t.Errorf("gain %d: %v, want %v", d, got[d], want)
				}
			}
			if want := min(ideal, 1); math.Abs(sum-math.Ceil(want)) > 1e-14 {
				t.Errorf("query %d: the best value is %v", n, sum)
			}
			if ideal == 0 && slices.Max(got[from:to]) != 0 {
				t.Errorf("query %d has no gains, but normalized ones", n)
			}
		}
	}
}

// Where the ranking by gain is not the best one, gains are not normalized by what it earns: that may
// be less than nothing, and all signs would be turned.
func TestGainsAreNotNormalizedByDiscountsThatRise(t *testing.T) {
	f := newFixture(normal)
	for want, discounts := range map[string][]float64{"discount -1 of rank 2": {1, -1}, "discount 1 of rank 3": {.5, .5, 1}} {
		b := f.batch(tensor.Float64)
		b.Discounts = discounts
		_, err := losses.NormalizedGains(b.Lists, b.Gains, discounts)
		errs := map[string]error{"NormalizedGains": err}
		for _, name := range []string{"lambdarank", "ndcg-loss1", "ndcg-loss2", "ndcg-loss2pp", "ndcg-loss2k", "pirank", "neuralndcg"} {
			_, errs[name] = meanOf(name, b)
		}
		for name, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", name, err, want)
			}
		}
	}
}

func discountsOf(t *testing.T, name string, cutoff int) []float64 {
	o, err := metrics.ParseDiscounts(name, cutoff)
	if err != nil {
		t.Fatal(err)
	}
	return o.Discounts
}
