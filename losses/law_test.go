package losses_test

import (
	"math"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
)

// Of one rank, success is a coin: S is the share of the relevant documents, and everything else a function of it.
func TestLawOfSuccessAtOneRank(t *testing.T) {
	f := one([]float64{.3, -.2, 1.1, .4}, []float64{3, 0, 0, 2}, 1)
	p := next(f.scores, nil)
	success := p[0] + p[3]
	slope := func(d int) float64 { // dS/dm
		if d == 0 || d == 3 {
			return p[d] * (1 - success)
		}
		return -p[d] * success
	}
	for name, c := range map[string]struct{ value, factor float64 }{
		"exact-success":      {-success, -1},
		"exact-success(1)":   {-success, -1},
		"exact-success(4)":   {math.Pow(1-success, 4) - 1, -4 * math.Pow(1-success, 3)},
		"exact-success(2.5)": {math.Pow(1-success, 2.5) - 1, -2.5 * math.Pow(1-success, 1.5)},
		"deviation-success":  {math.Sqrt(success * (1 - success)), (1 - 2*success) / 2 / math.Sqrt(success*(1-success))},
		"deviation-mrr":      {math.Sqrt(success * (1 - success)), (1 - 2*success) / 2 / math.Sqrt(success*(1-success))},
	} {
		value, gradient := f.run(t, name, nil, nil)
		if math.Abs(value-c.value) > 1e-7 {
			t.Errorf("%s: %v, want %v", name, value, c.value)
		}
		for d, got := range gradient {
			if want := c.factor * slope(d); math.Abs(got-want) > 1e-7 {
				t.Errorf("%s: gradient[%d] = %v, want %v", name, d, got, want)
			}
		}
	}
	// Of one rank the curvature is a bound on the second derivative.
	q := query{scores: f.scores, labels: f.labels, discounts: f.discounts}
	for d, c := range curvatureOf(t, "exact-success(4)", q) {
		second := slope(d) * (1 - 2*p[d])
		if d == 0 || d == 3 {
			second = p[d] * (1 - success) * (1 - 2*p[d]) // of S = 1 − Σ of the others
		}
		want := 4*math.Pow(1-success, 3)*second - 12*math.Pow(1-success, 2)*slope(d)*slope(d)
		if !(c >= math.Abs(want) && c < 1) {
			t.Errorf("curvature[%d] = %v, the second derivative is %v", d, c, want)
		}
	}
	const want = "losses: BestSuccess(0.5): want a number of draws from 1 to 1e6, such as BestSuccess(4)"
	if _, err := losses.Expected(losses.BestSuccess(.5), losses.Exact).Build(f.batch(tensor.Float64)); err == nil || err.Error() != want {
		t.Errorf("half a draw: %v", err)
	}
	if _, err := losses.Parse("exact-success(0)"); err == nil {
		t.Error("exact-success(0) is no error")
	}
}
