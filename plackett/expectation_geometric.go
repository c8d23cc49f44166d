package plackett

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// A geometricSum approximates discounts by a short sum of geometric sequences,
//
//	θ_k ≈ Σ_m c_m z_m^{k−1},   k = 1 … n,
//
// under which an expectation over whole lists costs O(n) a node: docs/exact.md, section 5.
type geometricSum struct {
	discounts []float64 // the approximated ones
	tolerance float64

	c, z  []float64
	s     []float64 // −log z_m, ascending: the terms that last longest come first
	reach []float64 // min(n, 1/(1 − z_m)), which bounds Σ_k z_m^{k−1}

	largest, total float64 // max |θ|, Σ|θ|

	rule *rule
}

// termCounts lists the numbers of terms to try, in order.
var termCounts = []int{4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64}

// newGeometricSum returns the shortest sum that approximates the discounts well enough, without
// terms if there is none.
func newGeometricSum(discounts []float64, tolerance float64) *geometricSum {
	g := &geometricSum{discounts: slices.Clone(discounts), tolerance: tolerance}
	g.largest, g.total = magnitudes(discounts)
	if ratio := discounts[min(1, len(discounts)-1)] / discounts[0]; ratio > 0 && ratio <= 1 {
		if g.s, g.c = []float64{-math.Log(ratio)}, []float64{discounts[0]}; g.accepted() {
			return g
		}
	}
	for _, n := range termCounts {
		if g.fit(n); g.accepted() {
			return g
		}
	}
	g.c, g.s = nil, nil
	return g
}

// fit sets the terms to n of fixed s, with c by least squares over some of the ranks, of the
// least norm.
func (g *geometricSum) fit(n int) {
	const first, last = 0.05, 12 // of s·n and of s: from nearly constant to the first rank alone
	ranks := len(g.discounts)
	g.s = make([]float64, n)
	for m := range g.s {
		g.s[m] = first / float64(ranks) * math.Pow(last*float64(ranks)/first, float64(m)/float64(n-1))
	}
	var sample []int // of ranks, from 0
	for k := 0; k < ranks; k = max(k+1, k+k/50) {
		sample = append(sample, k)
	}
	a, b := mat.NewDense(len(sample), n, nil), mat.NewVecDense(len(sample), nil)
	for i, k := range sample {
		for m, s := range g.s {
			a.Set(i, m, math.Exp(-s*float64(k)))
		}
		b.SetVec(i, g.discounts[k]/g.largest)
	}
	var svd mat.SVD
	g.c = make([]float64, n)
	if !svd.Factorize(a, mat.SVDThin) {
		return // accepted then reports false
	}
	var c mat.VecDense
	svd.SolveVecTo(&c, b, max(1, svd.Rank(1e-15)))
	for m := range g.c {
		g.c[m] = c.AtVec(m) * g.largest
	}
}

// accepted reports whether the approximation leaves half of the tolerance to the quadrature and its
// terms are small enough not to cancel to rounding errors. If so, it completes the sum. With δ_k the
// errors of the discounts, an exposure is off by at most max |δ|, and λ_d by 2·max |ρ|·Σ|δ|.
func (g *geometricSum) accepted() bool {
	const stride = 64 // ranks between which powers are multiplied
	most, sum := 0.0, 0.0
	power := make([]float64, len(g.s))
	z := make([]float64, len(g.s))
	for m, s := range g.s {
		z[m] = math.Exp(-s)
	}
	for k, theta := range g.discounts {
		for m, s := range g.s {
			if k%stride == 0 {
				power[m] = g.c[m] * math.Exp(-s*float64(k))
			}
			theta -= power[m]
			power[m] *= z[m]
		}
		delta := math.Abs(theta)
		most, sum = max(most, delta), sum+delta
	}
	if !(most <= g.tolerance/2*g.largest && 2*sum <= g.tolerance/2*g.total) {
		return false
	}
	g.z, g.reach = z, make([]float64, len(g.s))
	for m, s := range g.s {
		g.reach[m] = float64(len(g.discounts))
		if s > 0 {
			g.reach[m] = min(g.reach[m], -1/math.Expm1(-s))
		}
	}
	const rounding = 1e-15
	if rounding*g.amplification() > g.tolerance/4 {
		return false
	}
	g.rule = newProductRule(g.tolerance / 2 / g.amplification())
	return true
}

// amplification returns how much larger the terms, which alternate in sign, are than their sum.
func (g *geometricSum) amplification() float64 {
	exposure, gradient := 0.0, 0.0
	for m, c := range g.c {
		exposure += math.Abs(c)
		gradient += math.Abs(c) * g.reach[m]
	}
	return max(1, exposure/g.largest, gradient/g.total)
}

// products adds to the result what one block of nodes contributes, as sweep does, for geometric sums
// of discounts. Under θ_k = z^{k−1} a document other than d contributes the factor z if it has
// arrived and 1 if not, so the expectation at a node is a product. With a_i = q_i + p_i z,
//
//	G = Π_i a_i,   V = Σ_i t f_i Π_{j≠i} a_j,   T = Σ_i ρ_i t f_i Π_{j≠i} a_j,
//
// the node adds h·t f_d G/a_d to E_d, h·T to R, and h·(1 − z)·t f_d (ρ_d V − T)/a_d to λ_d.
func (x *quadrature) products(g *geometricSum, exposure bool) (value, left float64) {
	from, to := x.arrivedEnd, x.poolEnd
	dual := x.cascade.dual()
	states, sums := x.beginProducts(g)
	for i := from; i < to; i += chunk {
		if x.stopped() {
			return 0, 0
		}
		end := min(i+chunk, to)
		if dual {
			lanes.MultiplyDual(sums, states, g.z[:x.live], x.transit(i, end), x.relevant[i:end])
		} else {
			lanes.Multiply(states, g.z[:x.live], x.transit(i, end), x.gain[i:end], x.paired[i:end])
		}
	}
	if !dual {
		sums = states
	}
	value = x.productTerms(g, states, sums, exposure)
	terms, derived := x.terms[:x.live], x.derivedTerms[:x.live]
	for i := from; i < to && !x.valueOnly; i += chunk {
		if x.stopped() {
			return 0, 0
		}
		end := min(i+chunk, to)
		if dual {
			lanes.DivideDual(x.result[i:end], terms, derived, g.z[:x.live], x.transitions[i:end], x.relevant[i:end])
		} else {
			lanes.Divide(x.result[i:end], terms, g.z[:x.live], x.transitions[i:end], x.gain[i:end], x.paired[i:end])
		}
	}
	return value, x.rest(g, sums)
}

// beginProducts makes the states of the terms that are left, with the documents that have arrived.
func (x *quadrature) beginProducts(g *geometricSum) (states, sums []lanes.State) {
	var tapes [2][]lanes.State
	for i := range tapes {
		x.tapes[i].states = num.Sized(x.tapes[i].states, x.live)
		tapes[i] = x.tapes[i].states[:x.live]
		clear(tapes[i])
	}
	for m, s := range g.s[:x.live] {
		power := math.Exp(-s * float64(x.arrivedEnd))
		for l := range lanes.Width {
			tapes[0][m].P[l], tapes[1][m].P[l] = power, x.found*power
		}
	}
	return tapes[0], tapes[1]
}

// productTerms sets T and V of every term, and returns a block's part of the value.
func (x *quadrature) productTerms(g *geometricSum, states, sums []lanes.State, exposure bool) (value float64) {
	x.terms, x.derivedTerms = num.Sized(x.terms, x.live), num.Sized(x.derivedTerms, x.live)
	for m := range sums {
		s, term, derived := &sums[m], &x.terms[m], &x.derivedTerms[m]
		once := -math.Expm1(-g.s[m]) // 1 − z
		if x.cascade.pairs {
			once = 1
		}
		for l, weight := range x.weights {
			weight *= g.c[m]
			value += weight * s.A[l]
			if exposure {
				term.A[l], term.B[l] = -weight*s.P[l], 0
			} else {
				term.A[l], term.B[l] = weight*once*s.A[l], weight*once*s.B[l]
				derived.A[l], derived.B[l] = weight*once*states[m].A[l], weight*once*states[m].B[l]
			}
		}
	}
	return value
}

// rest bounds what later blocks can add, relative to max |θ| and Σ|θ|, and drops the terms whose part
// is negligible: terms of small z end early.
func (x *quadrature) rest(g *geometricSum, states []lanes.State) (left float64) {
	live := 0
	for m := range states {
		c := math.Abs(g.c[m]) * states[m].P[lanes.Width-1]
		// Π over all documents but one is at most 1/z times as much.
		part := max(c/g.largest, c*g.reach[m]/g.total) * math.Exp(min(g.s[m], 50))
		if part > x.tolerance/1000 {
			live = m + 1
		}
		left += part
	}
	x.live = live
	return left
}
