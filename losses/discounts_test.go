package losses_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/losses/internal/lossops"
)

// What the discounts make of Σ_k θ_k ρ_{y_k} are the metrics, here of one ranking
// with the labels 2, 0, 1, 0, 3 and a cutoff of 3.
func TestDiscounts(t *testing.T) {
	labels := []float64{2, 0, 1, 0, 3}
	for name, c := range map[string]struct {
		discounts []float64
		gain      func(label float64) float64
		want      float64
	}{
		"DCG@3":       {losses.DCGDiscounts(3), func(l float64) float64 { return math.Exp2(l) - 1 }, 3 + 1./2},
		"precision@3": {losses.PrecisionDiscounts(3), func(l float64) float64 { return min(l, 1) }, 2. / 3},
		"RBP@3":       {losses.RBPDiscounts(3, .8), func(l float64) float64 { return min(l, 1) }, .2 * (1 + .64)},
		// The label-weighted mean of the ranks 1, 3 and, for the one beyond, 4.
		"4 − ARP@3": {losses.ARPDiscounts(3), func(l float64) float64 { return l / 6 }, 4 - (2.*1+1*3+3*4)/6},
	} {
		sum := 0.0
		for k, theta := range c.discounts {
			sum += theta * c.gain(labels[k])
		}
		if math.Abs(sum-c.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", name, sum, c.want)
		}
	}
}

func TestParseDiscountsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"ndcg":     `number 1, "ndcg": want dcg, precision, arp, rbp`,
		"":         `number 1, ""`,
		"1,x,2":    `number 2, "x"`,
		"1,NaN,2":  `number 2, "NaN"`,
		"1,2":      "2 numbers for a cutoff of 3",
		"rbp(1)":   "want a persistence between 0 and 1",
		"rbp(0.5":  "want a persistence between 0 and 1",
		"rbp(NaN)": "want a persistence between 0 and 1",
	} {
		if _, err := losses.ParseDiscounts(text, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := losses.ParseDiscounts("dcg", 0); err == nil {
		t.Error("no error for a cutoff of 0")
	}
}

// Gains divided by the best value that the metric can have, for any discounts.
func TestNormalizedGains(t *testing.T) {
	f := newFixture(normal)
	for _, f.discounts = range [][]float64{losses.DCGDiscounts(4), losses.PrecisionDiscounts(2), losses.ARPDiscounts(20)} {
		b := f.batch(tensor.Float64)
		normalized, err := losses.NormalizedGains(b.Lists, b.Gains, f.discounts)
		if err != nil {
			t.Fatal(err)
		}
		best, err := lossops.TargetExposure(b.Lists, normalized, f.discounts)
		if err != nil {
			t.Fatal(err)
		}
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
