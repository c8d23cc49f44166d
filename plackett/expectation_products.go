package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// products is for geometric sums of discounts what sweep is for others. Under θ_k = z^{k−1} a
// document before d counts z if it has arrived and 1 if not, so the expectation at a node is a
// product. With a_i = q_i + p_i z,
//
//	G = Π_i a_i,   V = Σ_i t f_i Π_{j≠i} a_j,   T = Σ_i ρ_i t f_i Π_{j≠i} a_j,
//
// the node adds h·t f_d G/a_d to E_d, h·T to R, and h·(1 − z)·t f_d (ρ_d V − T)/a_d to λ_d.
func (x *quadrature) products(g *geometricSum, exposure bool) (value, left float64) {
	from, to := x.arrivedEnd, x.poolEnd
	x.r, x.transitions = scratch.Sized(x.r, to-from), scratch.Sized(x.transitions, to-from)
	x.states, x.terms = scratch.Sized(x.states, x.live), scratch.Sized(x.terms, x.live)
	states, terms, z := x.states[:x.live], x.terms[:x.live], g.z[:x.live]
	for m, s := range g.s[:x.live] {
		power := math.Exp(-s * float64(from)) // of those that have arrived
		states[m] = lanes.State{}
		for l := range states[m].P {
			states[m].P[l] = power
		}
	}
	for i := from; i < to; i += chunk {
		if x.stopped() {
			return 0, 0
		}
		end := min(i+chunk, to)
		transitions := x.transitions[i-from : end-from]
		lanes.Transitions(transitions, x.exponentials(i, end), &x.times, x.w[i:end])
		lanes.Multiply(states, z, transitions, x.gain[i:end])
	}
	for m := range states {
		s, term := &states[m], &terms[m]
		once := -math.Expm1(-g.s[m]) // 1 − z
		for l, weight := range x.weights {
			weight *= g.c[m]
			value += weight * s.A[l]
			if exposure {
				term.A[l], term.B[l] = -weight*s.P[l], 0
			} else {
				term.A[l], term.B[l] = weight*once*s.A[l], weight*once*s.B[l]
			}
		}
	}
	for i := from; i < to; i += chunk {
		if x.stopped() {
			return 0, 0
		}
		end := min(i+chunk, to)
		lanes.Divide(x.result[i:end], terms, z, x.transitions[i-from:end-from], x.gain[i:end])
	}
	return value, x.rest(g, states)
}

// rest bounds what is still to come after a block, over max |θ| and Σ|θ|, and leaves out the terms
// that add next to nothing to it: those of small z end early.
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
