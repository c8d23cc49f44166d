package plackett_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/plackett"
)

// Three answers to a prompt. People like the second best, then the first.
func ExampleKernel_PreferenceLoss() {
	answers := plackett.Preference{
		LogProbs:  []float64{-31.2, -40.1, -35.5}, // under the model that learns
		Reference: []float64{-30.7, -42.4, -35.9},
		Beta:      0.1,
		Ranking:   []int{1, 0, 2},
	}
	var kernel plackett.Kernel
	gradient := make([]float64, 3)
	loss, err := kernel.PreferenceLoss(answers, gradient)
	if err != nil {
		panic(err)
	}
	fmt.Printf("loss %.3f, gradient %.4f\n", loss, gradient)
	// Output:
	// loss 1.688, gradient [-0.0230 -0.0613 0.0843]
}

func loss(t rapid.TB, p plackett.Preference, gradient []float64) float64 {
	t.Helper()
	value, err := new(plackett.Kernel).PreferenceLoss(p, gradient)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// The loss is the formula written out, and the gradient its differences.
func TestPreferenceLossIsItsFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "answers")
		logs := rapid.SliceOfN(rapid.Float64Range(-60, 0), k, k)
		p := plackett.Preference{LogProbs: logs.Draw(t, "log π"), Beta: rapid.Float64Range(0.01, 2).Draw(t, "β")}
		if rapid.Bool().Draw(t, "reference") {
			p.Reference = logs.Draw(t, "log π_ref")
		}
		p.Ranking = rapid.Permutation(sequence(k)).Draw(t, "ranking")[:rapid.IntRange(1, k).Draw(t, "ranked")]
		formula := func() (sum float64) {
			reward := func(d int) float64 {
				if p.Reference == nil {
					return p.Beta * p.LogProbs[d]
				}
				return p.Beta * (p.LogProbs[d] - p.Reference[d])
			}
			chosen := map[int]bool{}
			for _, best := range p.Ranking {
				all := 0.0
				for d := range k {
					if !chosen[d] {
						all += math.Exp(reward(d) - reward(best))
					}
				}
				sum += math.Log(all)
				chosen[best] = true
			}
			return sum
		}
		gradient := make([]float64, k)
		if got, want := loss(t, p, gradient), formula(); math.Abs(got-want) > 1e-12*(1+want) {
			t.Fatalf("loss %v, want %v", got, want)
		}
		for d, log := range p.LogProbs {
			const h = 1e-4
			p.LogProbs[d] = log + h
			up := formula()
			p.LogProbs[d] = log - h
			down := formula()
			p.LogProbs[d] = log
			if want := (up - down) / (2 * h); math.Abs(gradient[d]-want) > 1e-6*(1+math.Abs(want)) {
				t.Fatalf("gradient %v, answer %d has the difference %v", gradient, d, want)
			}
		}
	})
}

func sequence(n int) (s []int) {
	for i := range n {
		s = append(s, i)
	}
	return s
}

// Of two answers it is the loss of DPO, −log σ(β(…)), also far beyond where exp overflows.
func TestPreferenceOfTwoIsTheLogisticLoss(t *testing.T) {
	for _, gap := range []float64{0, 0.3, -2, 40, -40, 1000, -1e6, 1e300} {
		p := plackett.Preference{LogProbs: []float64{-20, -20 - gap}, Reference: []float64{-20, -20}, Beta: 0.5, Ranking: []int{0, 1}}
		gap = 0.5 * (p.LogProbs[0] - p.LogProbs[1])
		gradient := make([]float64, 2)
		got, want := loss(t, p, gradient), max(0, -gap)+math.Log1p(math.Exp(-math.Abs(gap)))
		slope := -0.5 / (1 + math.Exp(gap))
		if math.Abs(got-want) > 1e-15*(1+want) || math.Abs(gradient[0]-slope) > 1e-15 || math.Abs(gradient[0]+gradient[1]) > 1e-15 {
			t.Errorf("gap %v: loss %v and gradient %v, want %v and %v", gap, got, gradient, want, slope)
		}
	}
}

func TestPreferenceLossRejectsInvalidInput(t *testing.T) {
	logs, nan := []float64{-1, -2}, math.NaN()
	for _, c := range []struct {
		p        plackett.Preference
		gradient []float64
		want     string
	}{
		{plackett.Preference{LogProbs: logs}, nil, "the ranking is empty"},
		{plackett.Preference{LogProbs: logs, Ranking: []int{0, 2}}, nil, "answer 2: there are 2 answers"},
		{plackett.Preference{LogProbs: logs, Ranking: []int{-1}}, nil, "answer -1"},
		{plackett.Preference{LogProbs: logs, Ranking: []int{1, 1}}, nil, "placed twice"},
		{plackett.Preference{LogProbs: logs, Ranking: []int{1}, Beta: -1}, nil, "β is -1"},
		{plackett.Preference{LogProbs: logs, Ranking: []int{1}, Beta: nan}, nil, "β is NaN"},
		{plackett.Preference{LogProbs: logs, Ranking: []int{1}, Reference: []float64{1}}, nil, "1 numbers, want 2"},
		{plackett.Preference{LogProbs: []float64{0, nan}, Ranking: []int{1}}, nil, "reward of answer 1 is NaN"},
		{plackett.Preference{LogProbs: []float64{-math.MaxFloat64, 0}, Ranking: []int{1}, Beta: 2}, nil, "reward of answer 0 is -Inf"},
		{plackett.Preference{LogProbs: logs, Ranking: []int{1}}, make([]float64, 3), "3 numbers, want 2"},
	} {
		if _, err := new(plackett.Kernel).PreferenceLoss(c.p, c.gradient); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error with %q", c.p, err, c.want)
		}
	}
}
