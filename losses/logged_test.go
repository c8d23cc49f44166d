package losses_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/plackett"
)

// safety has the losses, and their definitions by the exposure of the policy, the gains, and the
// exposure in an impression of the log, which had 20, of one query.
var safety = map[string]struct {
	loss       losses.Func
	definition func(exposure, gains, former []float64) float64
}{
	"exposure-risk": {byName("exposure-risk"), func(exposure, _, former []float64) float64 {
		z, sum := 0.0, 0.0
		for d, e := range exposure {
			z += e
			sum += e * e / (20 * former[d])
		}
		return math.Sqrt(z * (1 - .95) / .95 * sum)
	}},
	"prpo": {byName("prpo(0.6)"), func(exposure, gains, former []float64) float64 {
		sum := 0.0
		for d, e := range exposure {
			ratio := e / former[d]
			if gains[d] >= 0 {
				sum -= gains[d] * former[d] * min(ratio, 1/.6)
			} else {
				sum -= gains[d] * former[d] * max(ratio, .6)
			}
		}
		return sum
	}},
}

func byName(name string) losses.Func {
	f, err := losses.Parse(name)
	if err != nil {
		panic(err)
	}
	return f
}

// loggedAs is a fixture's exposure in an impression of the log, and in 20 of them. Every third
// gain becomes negative.
func loggedAs(t *testing.T, f *fixture) (former, logged []float64) {
	e := plackett.Expectation{Tolerance: 1e-13}
	former, logged = make([]float64, len(f.scores)), make([]float64, len(f.scores))
	scores := f.loggedScores()
	for q := range len(f.offsets) - 1 {
		from, to := f.offsets[q], f.offsets[q+1]
		if err := e.Exposure(scores[from:to], f.discounts, former[from:to]); err != nil {
			t.Fatal(err)
		}
	}
	for d := range logged {
		logged[d] = 20 * former[d]
		if d%3 == 0 {
			f.gains[d] = -1.5
		}
	}
	return former, logged
}

// The value of a packed batch is the mean of the definition over the queries, and the gradient
// by the scores is that by finite differences.
func TestSafetyLossesHaveTheirDefinitions(t *testing.T) {
	f := newFixture(normal)
	former, logged := loggedAs(t, &f)
	e := plackett.Expectation{Tolerance: 1e-13}
	for name, c := range safety {
		value := func() float64 {
			sum := 0.0
			for _, q := range []int{0, 2, 3, 4} {
				from, to := f.offsets[q], f.offsets[q+1]
				exposure := make([]float64, to-from)
				if err := e.Exposure(f.scores[from:to], f.discounts, exposure); err != nil {
					t.Fatal(err)
				}
				sum += c.definition(exposure, f.gains[from:to], former[from:to])
			}
			return sum / 4
		}
		b := f.batch(tensor.Float64)
		b.Logged = vector(b.Lists.Scores.Graph(), "own logged", tensor.Float64, logged)
		loss, err := losses.Mean(c.loss, b)
		if err != nil {
			t.Fatal(err)
		}
		got, gradient := differentiate(t, loss, b.Lists.Scores)
		if want := value(); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %v, the definition gives %v", name, got, want)
		}
		for d := range f.offsets[len(f.offsets)-1] {
			const h = 1e-4
			x := f.scores[d]
			f.scores[d] = x + h
			up := value()
			f.scores[d] = x - h
			down := value()
			f.scores[d] = x
			if want := (up - down) / (2 * h); math.Abs(gradient[d]-want) > 1e-6 {
				t.Errorf("%s: the derivative by score %d is %v, by differences %v", name, d, gradient[d], want)
			}
		}
	}
}

// Without a limit PRPO is minus the expected metric; with ε = 1 nothing is gained by leaving
// the exposure of the log.
func TestPRPOIsTheMetricWithinItsLimits(t *testing.T) {
	f := newFixture(normal)
	loggedAs(t, &f)
	run := func(loss losses.Func, scores []float64) (float64, []float64) {
		own := f
		own.scores = scores
		b := own.batch(tensor.Float64)
		l, err := losses.Mean(loss, b)
		if err != nil {
			t.Fatal(err)
		}
		return differentiate(t, l, b.Lists.Scores)
	}
	metric, slope := run(losses.Expected(losses.DCG, losses.Exact).Build, f.scores)
	wide, same := run(byName("prpo(1e-9)"), f.scores)
	if math.Abs(metric-wide) > 1e-6 {
		t.Errorf("prpo without limits is %v, minus the metric %v", wide, metric)
	}
	for d := range slope {
		if math.Abs(slope[d]-same[d]) > 1e-6 {
			t.Errorf("derivative %d of prpo is %v, of the metric %v", d, same[d], slope[d])
		}
	}
	if tight, _ := run(byName("prpo(1)"), f.scores); tight < metric {
		t.Errorf("prpo(1) earns more (%v) than the metric (%v)", tight, metric)
	}
	// At the policy of the log itself all ratios are 1.
	metric, _ = run(losses.Expected(losses.DCG, losses.Exact).Build, f.loggedScores())
	if tight, _ := run(byName("prpo(1)"), f.loggedScores()); math.Abs(tight-metric) > 1e-7 { // the tolerance of the exposure
		t.Errorf("prpo(1) at the policy of the log is %v, minus the metric %v", tight, metric)
	}
}

// Queries that were never logged have no risk, and no NaN.
func TestSafetyLossesAreFinite(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for name, c := range safety {
			f := newFixture(func(_ *rand.Rand, d int) float64 { return 500 * math.Sin(float64(d)) })
			b := f.batch(dt)
			logged := make([]float64, len(f.scores))
			for d := 10; d < 15; d++ {
				logged[d] = 3
			}
			b.Logged = vector(b.Lists.Scores.Graph(), "own logged", dt, logged)
			far := make([]float64, len(f.scores))
			for d := range far {
				far[d] = 1000 * float64(d%3)
			}
			b.LoggedScores = vector(b.Lists.Scores.Graph(), "far scores", dt, far)
			loss, err := losses.Mean(c.loss, b)
			if err != nil {
				t.Fatal(err)
			}
			value, gradient := differentiate(t, loss, b.Lists.Scores)
			for d, g := range append(gradient, value) {
				if math.IsNaN(g) || math.IsInf(g, 0) {
					t.Errorf("%s in %v: derivative %d is %v", name, dt, d, g)
				}
			}
		}
	}
}

func TestSafetyLossErrors(t *testing.T) {
	for name, want := range map[string]string{
		"exposure-risk(1)":  "want a level between 0 and 1, such as exposure-risk(0.95)",
		"prpo(0)":           "want a ratio above 0 and up to 1, such as prpo(0.5)",
		"prpo(epsilon=0.1)": "want a ratio above 0 and up to 1, such as prpo(0.5)",
	} {
		if _, err := losses.Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	f := newFixture(normal)
	b := f.batch(tensor.Float64)
	b.Logged = vector(b.Lists.Scores.Graph(), "own logged", tensor.Float64, append([]float64{-1}, make([]float64, len(f.scores)-1)...))
	loss, err := losses.Mean(byName("exposure-risk"), b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evaluated(loss); err == nil || !strings.Contains(err.Error(), "the logged exposure is -1") {
		t.Errorf("error %v for a negative exposure", err)
	}
}
