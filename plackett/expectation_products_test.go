package plackett

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
)

// wholeDiscounts are the discounts of metrics over whole lists.
var wholeDiscounts = map[string]func(k float64) float64{
	"dcg":       func(k float64) float64 { return 1 / math.Log2(k+1) },
	"1/k":       func(k float64) float64 { return 1 / k },
	"1/√k":      func(k float64) float64 { return 1 / math.Sqrt(k) },
	"rbp":       func(k float64) float64 { return math.Pow(.9, k-1) },
	"precision": func(float64) float64 { return 1 },
}

func discountsOf(name string, ranks int) []float64 {
	theta := make([]float64, ranks)
	for k := range theta {
		theta[k] = wholeDiscounts[name](float64(k + 1))
	}
	return theta
}

// A wholeResult has the value, λ and the exposure.
type wholeResult struct {
	value            float64
	lambda, exposure []float64
}

// wholeBy computes them by products, or by sweeps.
func wholeBy(t *testing.T, products bool, tolerance float64, scores, gains, theta []float64) wholeResult {
	t.Helper()
	var sum *geometricSum
	if products {
		if sum = newGeometricSum(theta, tolerance); sum.c == nil {
			t.Fatalf("no geometric sum of %d discounts at %v", len(theta), tolerance)
		}
	}
	_, total := magnitudes(theta)
	largest, _ := magnitudes(gains)
	x := quadrature{discounts: theta}
	r := wholeResult{lambda: make([]float64, len(scores)), exposure: make([]float64, len(scores))}
	x.run(sum, tolerance, total, scores, nil, r.exposure)
	r.value = x.run(sum, tolerance, largest*total, scores, gains, r.lambda)
	return r
}

// off is how far two results are from each other, over the scale of each part.
func (r wholeResult) off(other wholeResult, gains, theta []float64) float64 {
	largest, _ := magnitudes(gains)
	top, total := magnitudes(theta)
	worst := math.Abs(r.value-other.value) / (largest * total)
	for d := range r.lambda {
		worst = max(worst, math.Abs(r.lambda[d]-other.lambda[d])/(largest*total), math.Abs(r.exposure[d]-other.exposure[d])/top)
	}
	return worst
}

func gaussian(rng *rand.Rand, n int, sd float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = sd * rng.NormFloat64()
	}
	return x
}

func TestProductsAgreeWithSweeps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	agree := func(name string, docs int, sd float64) {
		scores, gains, theta := gaussian(rng, docs, sd), gaussian(rng, docs, 1), discountsOf(name, docs)
		want := wholeBy(t, false, smallestTolerance, scores, gains, theta)
		for tolerance, most := range map[float64]float64{defaultTolerance: 1e-7, smallestTolerance: 1e-12} {
			if off := wholeBy(t, true, tolerance, scores, gains, theta).off(want, gains, theta); !(off <= most) {
				t.Errorf("%s, %d documents, sd %v, tolerance %v: off by %v", name, docs, sd, tolerance, off)
			}
		}
	}
	deviations := []float64{0, .5, 2, 8}
	for name := range wholeDiscounts {
		for _, docs := range []int{1, 2, 3, 9, 32, 100} {
			for _, sd := range deviations {
				agree(name, docs, sd)
			}
		}
	}
	agree("dcg", 600, 1) // sweeps take time in proportion to the square
}

// Discounts that have fallen to 0 in float64 are no cutoff, and cost no sweeps.
func TestDiscountsThatUnderflowAreWholeLists(t *testing.T) {
	const docs, lasting = 1500, 60 // 2^−60 is 1e-18
	scores, theta := gaussian(rand.New(rand.NewPCG(3, 3)), docs, 1), make([]float64, docs)
	for k := range theta {
		theta[k] = math.Pow(.5, float64(k+1))
	}
	var e Expectation
	got, want := make([]float64, docs), make([]float64, docs)
	if err := e.Exposure(scores, theta, got); err != nil || theta[docs-1] != 0 || e.Terms() != 1 {
		t.Fatalf("%d terms, %v", e.Terms(), err)
	}
	if err := e.Exposure(scores, theta[:lasting], want); err != nil || e.Terms() != 0 {
		t.Fatalf("%d terms for a cutoff of %d, %v", e.Terms(), lasting, err)
	}
	near(t, "exposure", got, want, 2*defaultTolerance)
}

func TestProductsAgreeWithEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name := range wholeDiscounts {
		for docs := 1; docs <= 8; docs++ {
			scores, gains, theta := gaussian(rng, docs, 2), gaussian(rng, docs, 1), discountsOf(name, docs)
			m, err := testkit.EnumerateMoments(scores, gains, theta)
			if err != nil {
				t.Fatal(err)
			}
			want := wholeResult{m.Reward, m.Gradient, m.Exposure}
			if off := wholeBy(t, true, smallestTolerance, scores, gains, theta).off(want, gains, theta); !(off <= 1e-12) {
				t.Errorf("%s, %d documents: off by %v", name, docs, off)
			}
		}
	}
}

// Gradients of an expectation add up to 0, are the derivatives of its values, and do not change where all scores do.
func TestProductsFollowTheLawsOfExpectations(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const docs, step = 200, 1e-4
	scores, gains, theta := gaussian(rng, docs, 2), gaussian(rng, docs, 1), discountsOf("dcg", docs)
	at := func(scores []float64) wholeResult { return wholeBy(t, true, smallestTolerance, scores, gains, theta) }
	r := at(scores)
	sum := 0.0
	for _, v := range r.lambda {
		sum += v
	}
	_, total := magnitudes(theta)
	if math.Abs(sum) > 1e-13*total {
		t.Errorf("Σλ = %v", sum)
	}
	shifted := slices.Clone(scores)
	for i := range shifted {
		shifted[i] += 1024
	}
	if off := at(shifted).off(r, gains, theta); off > 1e-12 {
		t.Errorf("shifted by 1024: off by %v", off)
	}
	for _, d := range []int{0, 50, 199} {
		up, down := slices.Clone(scores), slices.Clone(scores)
		up[d], down[d] = up[d]+step, down[d]-step
		if slope := (at(up).value - at(down).value) / (2 * step); math.Abs(slope-r.lambda[d]) > 1e-8*total {
			t.Errorf("λ of document %d is %v, the slope %v", d, r.lambda[d], slope)
		}
	}
}

// Whole lists whose scores are as far apart as numbers can be, or equal, and gains of any size.
func TestWholeListsOfExtremesAreFinite(t *testing.T) {
	const docs = 64
	theta := discountsOf("dcg", docs)
	rng := rand.New(rand.NewPCG(7, 8))
	for name, scores := range map[string][]float64{
		"normal": gaussian(rng, docs, 1), "equal": make([]float64, docs),
		"gaps of 1000": spaced(docs, 1000), "gaps of 1e300": spaced(docs, 1e300), "1e300 times normal": gaussian(rng, docs, 1e300),
		"two groups": append(gaussian(rng, docs/2, 1), slices.Repeat([]float64{1e5}, docs/2)...),
	} {
		for _, size := range []float64{1, 1e100, 1e-100} {
			gains := gaussian(rng, docs, size)
			want := wholeBy(t, false, smallestTolerance, scores, gains, theta)
			e := Expectation{}
			got := wholeResult{lambda: make([]float64, docs), exposure: make([]float64, docs)}
			var err error
			if got.value, err = e.Gradient(scores, gains, theta, got.lambda); err == nil {
				err = e.Exposure(scores, theta, got.exposure)
			}
			if off := got.off(want, gains, theta); err != nil || !(off <= 1e-7) {
				t.Errorf("%s, gains of %v: off by %v, %v", name, size, off, err)
			}
		}
	}
}

func spaced(n int, gap float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = -gap * float64(i)
	}
	return x
}

func TestWhichDiscountsAreGeometricSums(t *testing.T) {
	for name := range wholeDiscounts {
		for _, ranks := range []int{2, 32, 1000, 100_000} {
			g := newGeometricSum(discountsOf(name, ranks), defaultTolerance)
			if g.c == nil || len(g.c) > 40 || (name == "rbp" || name == "precision") && len(g.c) != 1 {
				t.Errorf("%s, %d ranks: %d terms", name, ranks, len(g.c))
			}
		}
	}
	if g := newGeometricSum(discountsOf("dcg", 1000), smallestTolerance); g.c == nil {
		t.Error("dcg at the tightest tolerance: none")
	}
	cut, alternating := discountsOf("dcg", 100), make([]float64, 100)
	clear(cut[50:])
	for k := range alternating {
		alternating[k] = 1 - 2*float64(k%2)
	}
	for name, theta := range map[string][]float64{"cut": cut, "alternating": alternating} {
		if g := newGeometricSum(theta, defaultTolerance); g.c != nil {
			t.Errorf("%s: %d terms", name, len(g.c))
		}
	}
}

// Lists of different lengths share a sum, and repeated calls allocate nothing.
func TestProductsAreReused(t *testing.T) {
	theta := discountsOf("dcg", 500)
	rng := rand.New(rand.NewPCG(9, 10))
	var e Expectation
	lists := [][]float64{gaussian(rng, 300, 1), gaussian(rng, 400, 1), gaussian(rng, 33, 1)}
	run := func() {
		for _, scores := range lists {
			if _, err := e.Gradient(scores, scores, theta, make([]float64, 512)[:len(scores)]); err != nil {
				t.Fatal(err)
			}
		}
	}
	run()
	if len(e.quadrature.sums) != 2 {
		t.Errorf("%d sums, want one to 500 ranks and one to 64", len(e.quadrature.sums))
	}
	precision := func() {
		for _, scores := range lists {
			if _, err := e.AveragePrecision(scores, make([]float64, 512)[:len(scores)], 0, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	precision()
	inTurn := func() { run(); precision() }
	if n := testing.AllocsPerRun(10, inTurn); n > 2*float64(len(lists)) { // the results and relevances
		t.Errorf("%v allocations", n)
	}
	sweep := quadrature{discounts: theta[:300]}
	sweep.run(nil, defaultTolerance, 1, lists[0], lists[0], make([]float64, 300))
	if _, err := e.Gradient(lists[0], lists[0], theta, make([]float64, 300)); err != nil || e.quadrature.blocks >= sweep.blocks {
		t.Errorf("%d blocks of nodes by products, %d by sweeps: %v", e.quadrature.blocks, sweep.blocks, err)
	}
}

func TestProductsAreStopped(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	e := Expectation{Check: func() error {
		if calls++; calls > 3 {
			return stop
		}
		return nil
	}}
	scores := make([]float64, 1000)
	if _, err := e.Gradient(scores, scores, discountsOf("dcg", 1000), make([]float64, 1000)); !errors.Is(err, stop) {
		t.Errorf("%v after %d calls", err, calls)
	}
}
