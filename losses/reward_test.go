package losses_test

import (
	"math"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
)

// For a reward that is a sum over ranks the loss is policy-gradient-loo, value and
// gradient.
func TestRewardOfASumOverRanksIsPolicyGradientLOO(t *testing.T) {
	f := newFixture(normal)
	f.discounts = append(f.discounts, .3) // as many as the rankings have places
	loss := losses.Reward(func(gains []float64) float64 {
		sum := 0.0
		for k, gain := range gains[:min(len(gains), len(f.discounts))] {
			sum += f.discounts[k] * gain
		}
		return sum
	})
	for _, weights := range [][]float64{nil, with(24, 5, .5)} {
		b := sampled(t, f.batch(tensor.Float64))
		if weights != nil {
			b.DocumentWeights = vector(b.Lists.Scores.Graph(), "document weights", tensor.Float64, weights)
		}
		made, err := loss.Mean(b)
		if err != nil {
			t.Fatal(err)
		}
		other, err := losses.Parse("policy-gradient-loo")
		if err != nil {
			t.Fatal(err)
		}
		value, gradient := differentiate(t, made, b.Lists.Scores)
		b = sampled(t, f.batch(tensor.Float64))
		if weights != nil {
			b.DocumentWeights = vector(b.Lists.Scores.Graph(), "document weights", tensor.Float64, weights)
		}
		if made, err = losses.Mean(other, b); err != nil {
			t.Fatal(err)
		}
		want, slope := differentiate(t, made, b.Lists.Scores)
		if !close12(value, want) {
			t.Errorf("%v, policy-gradient-loo has %v", value, want)
		}
		for d := range slope {
			if !close12(gradient[d], slope[d]) {
				t.Errorf("gradient[%d] = %v, policy-gradient-loo has %v", d, gradient[d], slope[d])
			}
		}
	}
}

func TestRewardsThatAreWrongAreErrors(t *testing.T) {
	b := sampled(t, newFixture(normal).batch(tensor.Float64))
	if _, err := losses.Reward(nil).Mean(b); err == nil || !strings.Contains(err.Error(), "losses: no reward: the function is nil") {
		t.Errorf("error %v without a function", err)
	}
	loss, err := losses.Reward(func(gains []float64) float64 { return math.NaN() }).Mean(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evaluated(loss); err == nil || !strings.Contains(err.Error(), "query 0: sample 0: the reward is NaN") {
		t.Errorf("error %v for a reward that is NaN", err)
	}
	b.Gains = nil
	if _, err := losses.Reward(func(gains []float64) float64 { return 0 }).Mean(b); err == nil || !strings.Contains(err.Error(), "no gains") {
		t.Errorf("error %v without gains", err)
	}
}
