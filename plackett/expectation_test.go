package plackett

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/testkit"
)

const tightest = 1e-13

// drawHardList makes lists that are hard for a quadrature: far outliers, ties, gains and
// discounts of any sign, rising discounts, cutoffs beyond the number of documents.
func drawHardList(t *rapid.T, most int) list {
	docs := rapid.IntRange(1, most).Draw(t, "documents")
	cutoff := rapid.OneOf(rapid.IntRange(1, docs+2), rapid.Just(docs), rapid.IntRange(1, min(docs, 12))).Draw(t, "cutoff")
	spread := rapid.SampledFrom([]float64{0, 0.1, 1, 3, 10, 30, 200}).Draw(t, "spread")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	outliers := rapid.SampledFrom([]float64{0, 0, 5, 20, 45, 1000, 1e6}).Draw(t, "outliers")
	ties := rapid.Bool().Draw(t, "ties")
	l := list{scores: make([]float64, docs), gains: make([]float64, docs), discounts: make([]float64, cutoff)}
	for d := range docs {
		l.scores[d] = spread * rng.NormFloat64()
		if ties {
			l.scores[d] = math.Round(l.scores[d])
		}
		if rng.IntN(4) == 0 {
			l.scores[d] += outliers * float64(rng.IntN(3)-1)
		}
		l.gains[d] = float64(rng.IntN(5))
	}
	switch kind := rapid.SampledFrom([]string{"DCG", "precision", "rising", "any"}).Draw(t, "discounts"); kind {
	case "DCG":
		l.discounts = dcg(cutoff)
	default:
		for k := range l.discounts {
			l.discounts[k] = map[string]float64{"precision": 1, "rising": float64(k), "any": rng.NormFloat64()}[kind]
		}
		if kind == "any" {
			for d := range l.gains {
				l.gains[d] = rng.NormFloat64()
			}
		}
	}
	return l
}

// moments is what an Expectation says about the list.
func (l list) moments(t interface{ Fatal(...any) }, e *Expectation) testkit.Moments {
	x := testkit.Moments{Gradient: make([]float64, len(l.scores)), Exposure: make([]float64, len(l.scores))}
	value, err := e.Gradient(l.scores, l.gains, l.discounts, x.Gradient)
	if err != nil {
		t.Fatal(err)
	}
	x.Reward = value
	if err := e.Exposure(l.scores, l.discounts, x.Exposure); err != nil {
		t.Fatal(err)
	}
	return x
}

// compare fails unless the two are within the tolerance of scale.
func (l list) compare(t interface{ Fatalf(string, ...any) }, what string, got, want testkit.Moments, tolerance float64) {
	gradient := distance(got.Gradient, want.Gradient) / l.scale()
	reward := math.Abs(got.Reward-want.Reward) / l.scale()
	exposure := distance(got.Exposure, want.Exposure) / (largest(l.discounts) + 1e-300)
	if !(gradient <= tolerance && reward <= tolerance && exposure <= tolerance) {
		t.Fatalf("%s: λ, R, exposure off by %.2g, %.2g, %.2g of scale, allowed %.2g", what, gradient, reward, exposure, tolerance)
	}
}

// distance is the largest difference, NaN where one is.
func distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

func largest(a []float64) float64 { return distance(a, make([]float64, len(a))) }

func TestExpectationAgreesWithEnumeration(t *testing.T) {
	standard, tight := new(Expectation), &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 6)
		want, err := testkit.EnumerateMoments(l.scores, l.gains, l.discounts)
		if err != nil {
			t.Fatal(err)
		}
		l.compare(t, "default tolerance", l.moments(t, standard), want, defaultTolerance)
		l.compare(t, "tightest tolerance", l.moments(t, tight), want, tightest)
	})
	// Eight documents, in all their 40320 orders.
	rng := rand.New(rand.NewPCG(8, 8))
	for _, spread := range []float64{0, 1, 5} {
		l := list{discounts: dcg(8)}
		for range 8 {
			l.scores, l.gains = append(l.scores, spread*rng.NormFloat64()), append(l.gains, float64(rng.IntN(5)))
		}
		want, err := testkit.EnumerateMoments(l.scores, l.gains, l.discounts)
		if err != nil {
			t.Fatal(err)
		}
		// The 40320 terms of the enumeration round to 2e-13 of their sum.
		l.compare(t, "eight documents", l.moments(t, tight), want, 5e-13)
	}
}

// Long lists have no enumeration: the default tolerance against the tightest.
func TestExpectationKeepsItsTolerance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 150)
		want := l.moments(t, &Expectation{Tolerance: tightest})
		for _, tolerance := range []float64{1e-3, defaultTolerance, 1e-10} {
			l.compare(t, "tolerance", l.moments(t, &Expectation{Tolerance: tolerance}), want, tolerance)
		}
	})
}

func TestGradientSumsToZeroAndShiftsChangeNothing(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 60)
		got := l.moments(t, e)

		sum, exposure, discounts := 0.0, 0.0, 0.0
		for d := range l.scores {
			sum += got.Gradient[d]
			exposure += got.Exposure[d]
		}
		for _, theta := range l.discounts[:min(len(l.discounts), len(l.scores))] {
			discounts += theta
		}
		if !(math.Abs(sum) <= 1e-13*l.scale()) {
			t.Fatalf("Σλ = %v, want 0", sum)
		}
		if !(math.Abs(exposure-discounts) <= 1e-12*float64(len(l.scores))*largest(l.discounts)) {
			t.Fatalf("Σ exposure = %v, Σθ = %v", exposure, discounts)
		}
		reward := 0.0
		for d, g := range l.gains {
			reward += g * got.Exposure[d]
		}
		if !(math.Abs(reward-got.Reward) <= 1e-12*l.scale()) {
			t.Fatalf("R = %v, Σ ρ exposure = %v", got.Reward, reward)
		}

		moved := list{scores: slices.Clone(l.scores), gains: slices.Clone(l.gains), discounts: l.discounts}
		for d := range moved.scores {
			moved.scores[d] += 4096
			moved.gains[d] += 3
		}
		shifted := moved.moments(t, e)
		shifted.Reward -= 3 * discounts
		// Scores rounded to the unit in the last place of 4096 are other scores.
		moved.compare(t, "shifted", shifted, got, 1e-11)

		perm := rand.New(rand.NewPCG(7, 7)).Perm(len(l.scores))
		for d, to := range perm {
			moved.scores[to], moved.gains[to] = l.scores[d], l.gains[d]
		}
		permuted := moved.moments(t, e)
		back := testkit.Moments{Reward: permuted.Reward}
		for _, to := range perm {
			back.Gradient = append(back.Gradient, permuted.Gradient[to])
			back.Exposure = append(back.Exposure, permuted.Exposure[to])
		}
		l.compare(t, "permuted", back, got, 1e-13)
	})
}

// λ is the derivative of the value, and its product with weights the derivative of the exposure.
func TestExpectationGradientIsFiniteDifferences(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 20)
		for d := range l.scores {
			l.scores[d] = 3 * math.Tanh(l.scores[d])
		}
		lambda := l.moments(t, e).Gradient
		const h = 1e-3
		at := func(d int, shift float64) float64 {
			moved := l
			moved.scores = slices.Clone(l.scores)
			moved.scores[d] += shift
			return moved.moments(t, e).Reward
		}
		for d := range l.scores {
			want := (8*(at(d, h)-at(d, -h)) - (at(d, 2*h) - at(d, -2*h))) / (12 * h)
			if !(math.Abs(lambda[d]-want) <= 1e-9*l.scale()) {
				t.Fatalf("λ[%d] = %v, by differences %v", d, lambda[d], want)
			}
		}
	})
}

func TestPlacementsAreProbabilities(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 25)
		docs, cutoff := len(l.scores), len(l.discounts)
		p := make([]float64, docs*cutoff)
		if err := e.Placements(l.scores, cutoff, p); err != nil {
			t.Fatal(err)
		}
		exposure := l.moments(t, e).Exposure
		for d := range docs {
			sum := 0.0
			for k, theta := range l.discounts {
				sum += theta * p[d*cutoff+k]
			}
			if !(math.Abs(sum-exposure[d]) <= 1e-12*l.scaleOfDiscounts()) {
				t.Fatalf("document %d: Σ θ_k P(k) = %v, exposure %v", d, sum, exposure[d])
			}
		}
		for k := range cutoff {
			sum, want := 0.0, 1.0
			for d := range docs {
				sum += p[d*cutoff+k]
			}
			if k >= docs {
				want = 0
			}
			if !(math.Abs(sum-want) <= 1e-12) {
				t.Fatalf("rank %d: the probabilities add up to %v", k+1, sum)
			}
		}
	})
}

func (l list) scaleOfDiscounts() float64 {
	sum := 0.0
	for _, theta := range l.discounts {
		sum += math.Abs(theta)
	}
	return sum + 1e-300
}

func TestPairWeightsSumToTheGradient(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 15)
		docs := len(l.scores)
		w := make([]float64, docs*docs)
		if err := e.pairWeights(l.scores, l.discounts, w); err != nil {
			t.Fatal(err)
		}
		falling := slices.IsSortedFunc(append(slices.Clone(l.discounts), 0), func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		lambda := l.moments(t, e).Gradient
		for d := range docs {
			sum := 0.0
			for j := range docs {
				pair := w[d*docs+j]
				sum += (l.gains[d] - l.gains[j]) * pair
				if math.Abs(pair-w[j*docs+d]) > 1e-12*l.scaleOfDiscounts() || (falling && pair < -1e-13*l.scaleOfDiscounts()) {
					t.Fatalf("W[%d,%d] = %v, W[%d,%d] = %v", d, j, pair, j, d, w[j*docs+d])
				}
			}
			if !(math.Abs(sum-lambda[d]) <= 1e-12*l.scale()) {
				t.Fatalf("λ[%d] = %v, from the pairs %v", d, lambda[d], sum)
			}
		}
	})
}

// The mean of PL-Rank-RB over many steps is within its standard error of the exact gradient.
func TestExpectationIsTheMeanOfPLRankRB(t *testing.T) {
	const steps, samples, cutoff = 400, 100, 5
	scores, gains := benchmarkList(40, 1.5)
	exact, lambda := make([]float64, 40), make([]float64, 40)
	var e Expectation
	if _, err := e.Gradient(scores, gains, dcg(cutoff), exact); err != nil {
		t.Fatal(err)
	}
	var s Sampler
	var k Kernel
	sum, square := make([]float64, 40), make([]float64, 40)
	for step := range steps {
		r := NewRankings(samples, cutoff)
		if err := s.Draw(scores, Stream{Seed: 5, Step: uint64(step)}, r); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Gradient(PLRankRB, scores, gains, dcg(cutoff), r, lambda); err != nil {
			t.Fatal(err)
		}
		for d, x := range lambda {
			sum[d] += x
			square[d] += x * x
		}
	}
	chi := 0.0
	for d := range sum {
		mean := sum[d] / steps
		variance := (square[d]/steps - mean*mean) / (steps - 1)
		z := (mean - exact[d]) / math.Sqrt(variance)
		chi += z * z
		if math.Abs(z) > 4.5 {
			t.Errorf("λ[%d]: the mean of the estimates is %v, %.1f standard errors from %v", d, mean, z, exact[d])
		}
	}
	// The sum of 40 squares has the mean 40 and, if they were independent, the standard deviation √80.
	if chi > 40+6*math.Sqrt(80) {
		t.Errorf("the squared errors add up to %.1f in units of their variances, want about 40", chi)
	}
}

func TestExpectationAgreesWithGoldenVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                                       string
			Scores, Gains, Discounts, Lambda, Exposure []float64
			Value                                      float64
		}
	}
	testkit.Golden(t, "exact-large.json", &file)
	for _, c := range file.Cases {
		l := list{scores: c.Scores, gains: c.Gains, discounts: c.Discounts}
		for tolerance, allowed := range map[float64]float64{0: 1e-6, tightest: 1e-11} {
			got := l.moments(t, &Expectation{Tolerance: tolerance})
			lambda := distance(got.Gradient, c.Lambda) / largest(c.Lambda)
			exposure := distance(got.Exposure, c.Exposure) / largest(c.Exposure)
			value := math.Abs(got.Reward-c.Value) / math.Abs(c.Value)
			t.Logf("%s, tolerance %v: λ, exposure, value off by %.1g, %.1g, %.1g of the largest", c.Name, tolerance, lambda, exposure, value)
			if !(max(lambda, exposure, value) <= allowed) {
				t.Errorf("%s, tolerance %v: λ, exposure, value off by %.2g, %.2g, %.2g of the largest, allowed %.2g", c.Name, tolerance, lambda, exposure, value, allowed)
			}
		}
	}
}

func TestExpectationOfSmallListsAgreesWithGoldenVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                  string
			Scores, Labels, Theta []float64
			Reward                float64
			Gradient, Exposure    []float64
			ExposureJacobian      [][]float64 `json:"exposure_jacobian"`
		}
	}
	testkit.Golden(t, "exact.json", &file)
	e := &Expectation{Tolerance: tightest}
	for _, c := range file.Cases {
		l := list{scores: c.Scores, gains: c.Labels, discounts: c.Theta}
		l.compare(t, c.Name, l.moments(t, e), testkit.Moments{Reward: c.Reward, Gradient: c.Gradient, Exposure: c.Exposure}, tightest)
		for d, row := range c.ExposureJacobian {
			l.gains = make([]float64, len(c.Scores))
			l.gains[d] = 1
			near(t, c.Name+": exposure Jacobian", l.moments(t, e).Gradient, row, 1e-13)
		}
	}
}

func TestExpectationOfHugeListsIsExact(t *testing.T) {
	for _, docs := range []int{10_000, 100_000} {
		l := list{discounts: dcg(10)}
		l.scores, l.gains = benchmarkList(docs, 2)
		l.compare(t, "huge", l.moments(t, new(Expectation)), l.moments(t, &Expectation{Tolerance: tightest}), defaultTolerance)
		// All tied: every document is as likely at every rank.
		clear(l.scores)
		want := l.scaleOfDiscounts() / float64(docs)
		for d, x := range l.moments(t, new(Expectation)).Exposure {
			if !(math.Abs(x-want) <= 1e-7*want) {
				t.Fatalf("%d tied documents: exposure[%d] = %v, want %v", docs, d, x, want)
			}
		}
	}
}

// Whatever the scores, documents that are sure of their ranks have their exposure.
func TestExpectationOfGapsIsExact(t *testing.T) {
	var e Expectation
	for _, gap := range []float64{60, 700, 745, 1000, 1e6, 1e300, 1.7e308} {
		l := list{scores: []float64{0, -gap, gap, gap / 2}, gains: []float64{0, 7, 1, 3}, discounts: []float64{1, 0.5, 0.25, 0.125}}
		got := l.moments(t, &e)
		near(t, "exposure", got.Exposure, []float64{0.25, 0.125, 1, 0.5}, 1e-9)
		near(t, "λ", got.Gradient, make([]float64, 4), 1e-9)
		near(t, "value", []float64{got.Reward}, []float64{1 + 1.5 + 7*0.125}, 1e-9)
	}
}

func TestExpectationOfNoDocumentsIsZero(t *testing.T) {
	var e Expectation
	if v, err := e.Gradient(nil, nil, dcg(5), nil); v != 0 || err != nil {
		t.Errorf("no documents: %v, %v", v, err)
	}
	for _, discounts := range [][]float64{nil, {0, 0}} {
		lambda := []float64{5, 5}
		if v, err := e.Gradient([]float64{1, 2}, []float64{3, 4}, discounts, lambda); v != 0 || err != nil || lambda[0] != 0 || lambda[1] != 0 {
			t.Errorf("discounts %v: %v, %v, %v", discounts, v, lambda, err)
		}
	}
	lambda := []float64{5}
	if v, err := e.Gradient([]float64{7}, []float64{3}, dcg(5), lambda); math.Abs(v-3) > 1e-7 || err != nil || lambda[0] != 0 {
		t.Errorf("one document: %v, %v, %v", v, lambda, err)
	}
}

func TestExpectationRejectsInvalidInput(t *testing.T) {
	two := []float64{1, 2}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		wrong := []float64{1, bad}
		for what, f := range map[string]func(e *Expectation) error{
			"score":    func(e *Expectation) error { _, err := e.Gradient(wrong, two, two, make([]float64, 2)); return err },
			"gain":     func(e *Expectation) error { _, err := e.Gradient(two, wrong, two, make([]float64, 2)); return err },
			"discount": func(e *Expectation) error { return e.Exposure(two, wrong, make([]float64, 2)) },
		} {
			var number *NumberError
			if err := f(new(Expectation)); !errors.As(err, &number) || number.What != what || number.Position != 1 {
				t.Errorf("%s %v: error %v", what, bad, err)
			}
		}
	}
	var e Expectation
	var length *LengthError
	_, short := e.Gradient(two, two, two, make([]float64, 1))
	_, gains := e.Gradient(two, two[:1], two, make([]float64, 2))
	for name, err := range map[string]error{
		"lambda": short, "gains": gains,
		"exposure":   e.Exposure(two, two, make([]float64, 3)),
		"placements": e.Placements(two, 2, make([]float64, 3)),
	} {
		if !errors.As(err, &length) {
			t.Errorf("%s: error %v, want a LengthError", name, err)
		}
	}
	for _, scores := range [][]float64{nil, two} {
		if err := e.Placements(scores, -1, nil); err == nil || err.Error() != "the cutoff is -1: it must not be negative" {
			t.Errorf("cutoff -1 for %d documents: error %v", len(scores), err)
		}
	}
	for _, tolerance := range []float64{-1, 1e-14, 1, math.NaN(), math.Inf(1)} {
		e := Expectation{Tolerance: tolerance}
		if err := e.Exposure(two, two, make([]float64, 2)); err == nil || !strings.Contains(err.Error(), "tolerance") {
			t.Errorf("tolerance %v: error %v", tolerance, err)
		}
	}
}

func TestExpectationDoesNotAllocate(t *testing.T) {
	scores, gains := benchmarkList(200, 3)
	lambda, placements := make([]float64, 200), make([]float64, 200*5)
	var e Expectation
	step := func() {
		for _, docs := range []int{200, 3, 50} {
			if _, err := e.Gradient(scores[:docs], gains[:docs], dcg5, lambda[:docs]); err != nil {
				t.Fatal(err)
			}
			if err := e.Exposure(scores[:docs], dcg5, lambda[:docs]); err != nil {
				t.Fatal(err)
			}
			if err := e.Placements(scores[:docs], 5, placements[:docs*5]); err != nil {
				t.Fatal(err)
			}
		}
	}
	step()
	if n := testing.AllocsPerRun(10, step); n > 0 {
		t.Errorf("%v allocations a step, want none", n)
	}
}

// An error of Check ends the computation, wherever it comes; the next one is whole.
func TestExpectationIsStopped(t *testing.T) {
	const docs, cutoff = 300, 60
	scores, discounts := make([]float64, docs), make([]float64, cutoff)
	for d := range scores {
		scores[d] = float64(d%7) - float64(d/100)*50 // pools, and several starts of the race
	}
	for k := range discounts {
		discounts[k] = 1 / float64(k+1)
	}
	var whole Expectation
	calls := 0
	whole.Check = func() error { calls++; return nil }
	want := make([]float64, docs)
	if err := whole.Exposure(scores, discounts, want); err != nil || calls < 20 {
		t.Fatal(calls, err)
	}
	end := errors.New("the end")
	var e Expectation
	got := make([]float64, docs)
	for at := 1; at <= calls; at++ {
		left := at
		e.Check = func() error {
			if left--; left < 0 {
				t.Fatal("asked again after an error")
			}
			if left == 0 {
				return end
			}
			return nil
		}
		if err := e.Exposure(scores, discounts, got); err != end {
			t.Fatalf("stopped at call %d: %v", at, err)
		}
	}
	e.Check = nil
	if err := e.Exposure(scores, discounts, got); err != nil || !slices.Equal(got, want) {
		t.Error("another result after those that were stopped", err)
	}
}

// Exposures with discounts of 1 are probabilities, also of documents that are shown in any case.
func TestExposureStaysWithinTheDiscounts(t *testing.T) {
	var e Expectation
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		scores, shown := make([]float64, 1+rng.IntN(8)), make([]float64, 0, 9)
		for d := range scores {
			scores[d] = 5 * rng.NormFloat64()
		}
		for range scores {
			shown = append(shown, 1)
		}
		for _, shown := range [][]float64{shown, shown[:1], append(shown, 1)} {
			exposure := make([]float64, len(scores))
			if err := e.Exposure(scores, shown, exposure); err != nil {
				t.Fatal(err)
			}
			for d, p := range exposure {
				if !(p >= 0 && p <= 1) {
					t.Errorf("%v, %d ranks: document %d is shown with probability %v", scores, len(shown), d, p)
				}
			}
		}
	}
}
