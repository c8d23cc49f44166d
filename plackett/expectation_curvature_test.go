package plackett

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// secondOrder has the second derivatives of R by the scores, d²R/dm_d², and what Curvature gives.
type secondOrder struct{ exact, lambda, curvature []float64 }

func (l list) secondOrder(t interface{ Fatal(...any) }, e *Expectation) secondOrder {
	docs := len(l.scores)
	s := secondOrder{make([]float64, docs), make([]float64, docs), make([]float64, docs)}
	if err := l.secondDerivatives(e, s.exact); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Curvature(l.scores, l.gains, l.discounts, s.lambda, s.curvature); err != nil {
		t.Fatal(err)
	}
	return s
}

// secondDerivatives writes d²R/dm_d² to out, the diagonal of the Hessian: in the notation of [Expectation],
//
//	Σ_j (ρ_d − ρ_j) ∫ (1 − w_d t) t f_d(t) f_j(t) Σ_k Δ_k P(N_{−d,−j}(t) = k−1) dt,
//
// λ_d with every time counted 1 − w_d t times, as f_d is the only factor that depends on m_d.
func (l list) secondDerivatives(e *Expectation, out []float64) error {
	return e.lessMoments(out, func(out []float64) error {
		_, err := e.Gradient(l.scores, l.gains, l.discounts, out)
		return err
	})
}

// pairWeights writes W_dj, the weight of ρ_d − ρ_j in λ_d, to out[d·D + j]: minus λ_d of a gain of 1 for j alone.
func (e *Expectation) pairWeights(scores, discounts, out []float64) error {
	docs := len(scores)
	for j := range docs {
		gains, row := make([]float64, docs), out[j*docs:(j+1)*docs]
		gains[j] = 1
		if _, err := e.Gradient(scores, gains, discounts, row); err != nil {
			return err
		}
		for d := range row {
			row[d] = -row[d]
		}
		row[j] = 0
	}
	return nil
}

// absGains makes gains that a curvature takes.
func (l list) absGains() {
	for d, g := range l.gains {
		l.gains[d] = math.Abs(g)
	}
}

func TestSecondDerivativesAreFiniteDifferences(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 15)
		exact := make([]float64, len(l.scores))
		if err := l.secondDerivatives(e, exact); err != nil {
			t.Fatal(err)
		}
		const h = 1e-3
		for d, m := range l.scores {
			l.scores[d] = m + h
			up := l.moments(t, e).Gradient[d]
			l.scores[d] = m - h
			down := l.moments(t, e).Gradient[d]
			l.scores[d] = m
			if slope := (up - down) / (2 * h); !(math.Abs(exact[d]-slope) <= 1e-6*l.scale()) {
				t.Fatalf("d²R/dm_%d² = %v, by differences %v", d, exact[d], slope)
			}
		}
	})
}

func TestCurvatureIsASumOverPairs(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 15)
		l.absGains()
		docs := len(l.scores)
		s, want := l.secondOrder(t, e), l.moments(t, e)
		if distance(s.lambda, want.Gradient) > 0 {
			t.Fatalf("λ = %v, by Gradient %v", s.lambda, want.Gradient)
		}
		w := make([]float64, docs*docs)
		if err := e.pairWeights(l.scores, l.discounts, w); err != nil {
			t.Fatal(err)
		}
		for d := range docs {
			sum := 0.0
			for j := range docs {
				sum += (l.gains[d] + l.gains[j]) * w[d*docs+j]
			}
			if !(math.Abs(s.curvature[d]-max(0, sum)) <= 1e-12*l.scale()) {
				t.Fatalf("c[%d] = %v, from the pairs %v", d, s.curvature[d], sum)
			}
		}
	})
}

// Where neither discounts nor their drops rise, the curvature bounds the second derivative.
func TestCurvatureBoundsSecondDerivatives(t *testing.T) {
	e := &Expectation{Tolerance: tightest}
	rapid.Check(t, func(t *rapid.T) {
		l := drawHardList(t, 15)
		l.absGains()
		docs := len(l.scores)
		l.discounts = rapid.SampledFrom([][]float64{dcg(docs), discountsOf("rbp", docs), {1}}).Draw(t, "convex discounts")
		s := l.secondOrder(t, e)
		for d, c := range s.curvature {
			if !(math.Abs(s.exact[d]) <= c+1e-12*l.scale()) {
				t.Fatalf("d²R/dm_%d² = %v, but c = %v", d, s.exact[d], c)
			}
		}
	})
}

// By sweeps and by products, both are within the tolerance of the results with the tightest tolerance.
func TestSecondOrderIsRightToTheTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, docs := range []int{3, 20, 100, 200} {
		for _, cutoff := range []int{1, 10, docs} {
			for _, sd := range []float64{0, .5, 2, 8} {
				l := list{scores: gaussian(rng, docs, sd), gains: gaussian(rng, docs, 1), discounts: dcg(cutoff)}
				l.absGains()
				got, want := l.secondOrder(t, new(Expectation)), l.secondOrder(t, &Expectation{Tolerance: tightest})
				off := max(distance(got.exact, want.exact), distance(got.curvature, want.curvature)) / l.scale()
				if !(off <= defaultTolerance) {
					t.Errorf("%d documents, cutoff %d, sd %v: off by %v", docs, cutoff, sd, off)
				}
			}
		}
	}
}

// Documents that are sure of their ranks have neither; ties have them, however far other scores are.
func TestSecondOrderIsFiniteForGaps(t *testing.T) {
	var e Expectation
	for _, gap := range []float64{60, 1000, 1e300} {
		l := list{scores: []float64{0, -gap, gap, gap}, gains: []float64{0, 7, 1, 3}, discounts: dcg(4)}
		s := l.secondOrder(t, &e)
		// Of a pair alone, λ = (ρ_i − ρ_j) Δ_1 σ(1 − σ), whose derivative is 0 at σ = 1/2.
		c := (1 + 3) * (1 - 1/math.Log2(3)) / 4
		near(t, "second derivative", s.exact, make([]float64, 4), 1e-7)
		near(t, "curvature", s.curvature, []float64{0, 0, c, c}, 1e-6)
	}
}

func TestCurvatureRejectsInvalidInput(t *testing.T) {
	two, out := []float64{1, 2}, make([]float64, 2)
	var e Expectation
	_, short := e.Curvature(two, two, two, out, out[:1])
	_, noLambda := e.Curvature(two, two, two, nil, out)
	_, negative := e.Curvature(two, []float64{1, -2}, two, out, make([]float64, 2))
	_, nan := e.Curvature(two, []float64{1, math.NaN()}, two, out, make([]float64, 2))
	for want, err := range map[string]error{
		"curvature: 1 numbers, want 2":                                   short,
		"the gain of document 1 is -2: gains must not be negative for a": negative,
		"the gain of document 1 is NaN":                                  nan,
		"lambda: 0 numbers, want 2":                                      noLambda,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
