package losses_test

import (
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
)

// A loss learns from a query without a gain if and only if it says so: all others have no
// gradient there.
func TestLabelFreeQueriesTeachTheLossesOfTheTable(t *testing.T) {
	f := newFixture(normal)
	first, end := f.offsets[4], f.offsets[5] // of the query without a gain
	for _, name := range losses.Names() {
		b := sampled(t, f.batch(tensor.Float64))
		_, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
		learns := slices.ContainsFunc(gradient[first:end], func(v float64) bool { return v != 0 })
		terms, err := losses.Terms(name)
		if err != nil {
			t.Fatal(err)
		}
		if terms[0].LabelFree != learns {
			t.Errorf("%s: LabelFree is %t, the gradient of a query without a gain is %v", name, terms[0].LabelFree, gradient[first:end])
		}
	}
}

// The objective of a loss that estimates another is the other, whatever is drawn; of all
// others it is their own value.
func TestObjectiveIsTheExactLoss(t *testing.T) {
	exact := map[string]string{
		"plrank-rb": "plrank-exact", "plrank2": "plrank-exact", "policy-gradient": "plrank-exact", "placement-policy-gradient": "plrank-exact",
		"stochasticrank": "plrank-exact", "disparity(plrank2)": "disparity", "disparity(lambdaloss)": "disparity", "ee-l(plrank-rb)": "ee-l",
		"group-exposure(plrank-rb)": "group-exposure", "group-treatment(plrank-rb)": "group-treatment",
		"0.5*policy-gradient+2*disparity(plrank1)": "0.5*plrank-exact+2*disparity",
		"softmax": "softmax", "approxndcg(0.1)": "approxndcg(0.1)", "lambdaloss": "lambdaloss", "xe-ndcg": "xe-ndcg", "disparity": "disparity",
	}
	for name, want := range exact {
		value := func(read func(string) (losses.Func, error), name string) float64 {
			loss, err := read(name)
			if err != nil {
				t.Fatal(err)
			}
			b := sampled(t, newFixture(normal).batch(tensor.Float64))
			node, err := losses.Mean(loss, b)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := differentiate(t, node, b.Lists.Scores)
			return v
		}
		if got, want := value(losses.ParseExact, name), value(losses.Parse, want); got != want {
			t.Errorf("%s: the objective is %v, want %v", name, got, want)
		}
	}
	if _, err := losses.ParseExact("plrank3"); err == nil {
		t.Error("no error for an unknown loss")
	}
}

// The highest grade may be any number above 0: cross-entropy divides by it, ordinal has
// thresholds up to the first that is not below it.
func TestHighestGradeIsAnyNumber(t *testing.T) {
	value := func(name string, factor, highest float64) float64 {
		f := newFixture(normal)
		for i := range f.labels {
			f.labels[i] *= factor
		}
		b := f.batch(tensor.Float64)
		b.HighestGrade = highest
		v, _ := differentiate(t, build(t, name, b), b.Lists.Scores)
		return v
	}
	for _, factor := range []float64{0.1, 0.25, 0.7, 300} {
		if got, want := value("cross-entropy", factor, 3*factor), value("cross-entropy", 1, 3); math.Abs(got-want) > 1e-12 {
			t.Errorf("cross-entropy of labels up to %v is %v, want %v", 3*factor, got, want)
		}
	}
	for highest, thresholds := range map[float64]float64{0.3: 1, 1: 1, 2.1: 3, 0: 4} {
		if got, want := value("ordinal", 0.1, highest), value("ordinal", 0.1, thresholds); got != want {
			t.Errorf("ordinal up to %v is %v, want %v", highest, got, want)
		}
	}
	for _, name := range []string{"ordinal", "cross-entropy"} {
		for _, highest := range []float64{-1, math.NaN(), math.Inf(1)} {
			b := newFixture(normal).batch(tensor.Float64)
			b.HighestGrade = highest
			if _, err := meanOf(name, b); err == nil {
				t.Errorf("%s: no error for the highest grade %v", name, highest)
			}
		}
	}
}
