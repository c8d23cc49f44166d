package losses_test

import (
	"math"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// lagrangian is Σ_t μ_t (least_t − share_t) of one query, by enumeration of all rankings.
func lagrangian(scores, discounts []float64, groups []int, list []losses.Target) (sum float64) {
	all, shares := 0.0, map[int]float64{}
	for k := range min(len(discounts), len(scores)) {
		all += discounts[k]
	}
	testkit.Enumerate(scores, min(len(discounts), len(scores)), func(ranking []int, p float64) {
		for k, d := range ranking {
			shares[groups[d]] += p * discounts[k] / all
		}
	})
	for _, t := range list {
		sum += t.Multiplier * (t.Least - shares[t.Group])
	}
	return sum
}

// The loss has the value and the gradient of the Lagrangian's terms, and a curvature that is at least the second derivative; other
// multipliers count from the next run on.
func TestTargetsAreTermsOfALagrangian(t *testing.T) {
	list := []losses.Target{{Group: 0, Least: .3, Multiplier: 2}, {Group: 1, Least: .6, Multiplier: .5}}
	scores, groups := []float64{.3, -1.2, 2, .3, -.4}, []int{0, 1, -1, 0, 1}
	discounts := metrics.Discounts(5)
	f := fixture{[]int{0, len(scores)}, scores, make([]float64, 5), make([]float64, 5), groups, discounts}
	b := f.batch(tensor.Float64)
	o := losses.Targets(list)
	mean, err := o.Mean(b)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		value, gradient := differentiate(t, mean, b.Lists.Scores)
		if want := lagrangian(scores, discounts, groups, list); math.Abs(value-want) > 1e-7 {
			t.Errorf("the loss is %v, by enumeration %v", value, want)
		}
		in := metrics.Queries{Scores: scores, Groups: groups, Discounts: discounts, Labels: make([]float32, 5)}
		curvature := make([]float64, 5)
		if known, err := o.Curvature(in, curvature); !known || err != nil {
			t.Fatal(known, err)
		}
		const h = 1e-4
		for d, s := range scores {
			at := func(x float64) float64 {
				scores[d] = x
				defer func() { scores[d] = s }()
				return lagrangian(scores, discounts, groups, list)
			}
			if want := (at(s+h) - at(s-h)) / (2 * h); math.Abs(gradient[d]-want) > 1e-7 {
				t.Errorf("the derivative by score %d is %v, by differences %v", d, gradient[d], want)
			}
			if second := math.Abs(at(s+h)-2*at(s)+at(s-h)) / (h * h); curvature[d] < second-1e-6 || curvature[d] > 100*second+1 {
				t.Errorf("the curvature by score %d is %v, the second derivative %v", d, curvature[d], second)
			}
		}
		list[0].Multiplier, list[1].Multiplier = 0, 7
	}
}
