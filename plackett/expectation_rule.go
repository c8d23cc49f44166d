package plackett

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mat"

	"github.com/plrank/plrank/plackett/internal/lanes"
)

// A rule is a quadrature for ∫_0^∞ F(t) dt/t: the trapezoid rule in log t, with the step h and
// the nodes start·e^{nh} for all integers n.
//
// Its error is the sum of the integrand's Mellin transform at the multiples of 2π/h, and that is at
// most |Γ(k+iω)|/Γ(k) times the integral, for W_dj with k + 1 in place of k. The infinitely many
// nodes below the start are a discrete measure, in whose place the Gauss rule of that measure stands:
// its orthogonal polynomials are little q-Legendre with q = e^{−h}. docs/exact.md, section 3.
type rule struct {
	step  float64
	start float64 // of the nodes that are equally spaced, in units of 1/mass
	// The nodes of the Gauss rule in the same units, and their weights.
	nodes, weights lanes.Vec
}

// newRule returns the rule for sweeps of that cutoff.
func newRule(cutoff int, tolerance float64) *rule {
	return ruleOf(frequency(tolerance/2, gammaBound(float64(cutoff)+1)), tolerance)
}

// newProductRule returns the rule for geometric discounts, whatever their number: the Mellin transform of
// their integrands at ω is at most (1 + ω²/4)·e^{−ω·arctan(ω/2)} times the integral (docs/exact.md, section 5).
func newProductRule(tolerance float64) *rule {
	return ruleOf(frequency(tolerance/2, func(omega float64) float64 {
		return math.Log1p(omega*omega/4) - omega*math.Atan(omega/2)
	}), tolerance)
}

// ruleOf returns the rule with the step 2π/ω.
func ruleOf(omega, tolerance float64) *rule {
	r := &rule{step: 2 * math.Pi / omega}

	// The Jacobi matrix of the orthogonal polynomials on q^k, k ≥ 0, with masses q^k.
	const n = lanes.Width
	oneMinus := func(power int) float64 { return -math.Expm1(-r.step * float64(power)) } // 1 − q^power
	rising := func(i int) float64 {
		return math.Exp(-r.step*float64(i)) * oneMinus(i+1) * oneMinus(i+1) / (oneMinus(2*i+1) * oneMinus(2*i+2))
	}
	falling := func(i int) float64 {
		if i == 0 {
			return 0
		}
		return math.Exp(-r.step*float64(i)) * oneMinus(i) * oneMinus(i) / (oneMinus(2*i) * oneMinus(2*i+1))
	}
	total := 1 / oneMinus(1)
	norm := total // of the monic polynomial of degree n, squared
	jacobi := mat.NewSymDense(n, nil)
	for i := range n {
		jacobi.SetSym(i, i, rising(i)+falling(i))
		square := rising(i) * falling(i+1)
		norm *= square
		if i+1 < n {
			jacobi.SetSym(i, i+1, math.Sqrt(square))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(jacobi, true) {
		panic("plackett: no eigenvalues of a Jacobi matrix") // they always exist
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)

	// The error of the Gauss rule is h norm (2M)^{2n}/(2n)! (start·q)^{2n+1}, times up to
	// twelve for W_dj with its factor t.
	logFactorial, _ := math.Lgamma(2*n + 1)
	logRest := math.Log(r.step*norm) + 2*n*math.Ln2 - logFactorial
	end := math.Exp((math.Log(tolerance/16) - logRest) / (2*n + 1))
	r.start = end * math.Exp(r.step)
	for l, x := range eigen.Values(nil) {
		r.nodes[l] = end * x
		r.weights[l] = r.step * total * vectors.At(0, l) * vectors.At(0, l) / x
	}
	return r
}

// frequency returns the smallest ω, up to a thousandth, at which bound, a falling function, is at most
// log(tolerance).
func frequency(tolerance float64, bound func(omega float64) float64) float64 {
	most := math.Log(tolerance)
	low, high := 1.0, 2.0
	for bound(high) > most {
		low, high = high, 2*high
	}
	for high > 1.001*low {
		middle := (low + high) / 2
		if bound(middle) > most {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// gammaBound returns the function log |Γ(n+iω)|/Γ(n) of ω.
func gammaBound(n float64) func(omega float64) float64 {
	logGamma, _ := math.Lgamma(n)
	return func(omega float64) float64 { return logAbsGamma(complex(n, omega)) - logGamma }
}

// logAbsGamma returns log |Γ(z)| by Stirling's series, right to 1e-3 for |z| ≥ 2.
func logAbsGamma(z complex128) float64 {
	return real((z-0.5)*cmplx.Log(z)-z+1/(12*z)) + math.Log(2*math.Pi)/2
}
