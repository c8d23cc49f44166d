package plackett

import (
	"math"

	"github.com/plrank/plrank/plackett/internal/lanes"
)

// maxOrder is the largest number of powers that documents are pooled with: exact for
// as many ranks, and for r_d up to about 1/4 where there are more.
const maxOrder = 16

// chunk is the number of documents that are pooled with the same number of powers.
const chunk = 32

// block adds what one block of nodes has to the result. It returns its part of the value,
// and the probability that fewer than cutoff documents have arrived at its end.
//
// The documents at hand multiply a polynomial in z, P, whose coefficients are the
// probabilities that so many have arrived, by q_d + p_d z each; B and A have one
// document, or one times its gain, marked to arrive just now. The other way run U, from
// Δ_k, and X and Y, which are to U as B and A to P. All terms are positive.
// A pool comes first: there Π (1 + r_d z) is the exponential of a series in the power sums
// of r_d, and one document is taken out again by a series in −r_d.
func (x *race) block(exposure bool) (value, left float64) {
	ranks := min(len(x.discounts)-x.arrived, x.dormant-x.arrived)
	discounts, drops := x.discounts[x.arrived:][:ranks], x.drops[x.arrived:][:ranks]
	order := x.pool(ranks)
	pool := x.dormant - x.pooled

	first, docs := x.arrived, x.pooled-x.arrived
	size := func(i int) int { return min(ranks, pool+i+1) } // of P before document i of those at hand

	x.r, x.scratch = grow(x.r, x.dormant-first), grow(x.scratch, chunk)
	x.chances = grow(x.chances, docs)
	for i := first; i < x.pooled; i += chunk {
		to := min(i+chunk, x.pooled)
		lanes.Expm1(x.r[i-first:to-first], x.w[i:to], &x.times, x.halvings(i))
	}

	// Forward.
	part := docs // documents in a part
	if most := 8192; docs*ranks > most {
		part = min(docs, max(most/ranks, int(math.Sqrt(float64(docs)))))
	}
	x.states = grow(x.states, (part+1)*ranks)
	row := func(i int) []lanes.State { return x.states[i*ranks : (i+1)*ranks] }
	x.fill(order, row(0)[:size(0)], exposure)
	parts := 1
	if part > 0 {
		parts = (docs + part - 1) / part
	}
	x.starts = grow(x.starts, parts*ranks)
	forward := func(from, to int) {
		at, end := first+from, first+to
		lanes.Forward(x.states, ranks, size(from), x.chances[from:to], x.r[from:to], &x.times, x.w[at:end], x.gain[at:end])
	}
	for p := range parts {
		from, to := p*part, min((p+1)*part, docs)
		if p > 0 {
			copy(row(0), row(part))
		}
		copy(x.starts[p*ranks:(p+1)*ranks], row(0))
		forward(from, to)
	}
	end := row(docs - (parts-1)*part)[:size(docs)]
	for k := range end {
		left += end[k].P[lanes.Width-1]
		for l, c := range x.weights {
			value += c * discounts[k] * end[k].A[l]
		}
	}

	if ranks < len(x.discounts)-x.arrived {
		left = 1 // documents that have not begun to arrive will take the other ranks
	}

	// Backward.
	x.carried = grow(x.carried, ranks+1)
	clear(x.carried)
	for k := range ranks {
		for l, c := range x.weights {
			if exposure {
				x.carried[k].A[l] = -c * discounts[k]
			} else {
				x.carried[k].P[l] = c * drops[k]
			}
		}
	}
	for p := parts - 1; p >= 0; p-- {
		from, to := p*part, min((p+1)*part, docs)
		if p < parts-1 {
			copy(row(0), x.starts[p*ranks:(p+1)*ranks])
			forward(from, to)
		}
		lanes.Backward(x.result[first+from:first+to], x.carried, x.states, ranks, size(from), x.chances[from:to], x.gain[first+from:first+to])
	}
	if parts > 1 {
		copy(row(0), x.starts[:ranks])
	}
	x.drain(order, row(0)[:size(0)])
	return value, left
}

// pool sets the first document that is pooled, and returns the largest number of powers.
func (x *race) pool(ranks int) (order int) {
	last := x.times[lanes.Width-1]
	order = min(ranks, maxOrder)
	// Series with alternating signs cancel; rounding errors grow by growth at most.
	growth := x.tolerance / 1e-14
	limit := math.Pow(growth, 1/float64(ranks)) / 2
	if order < ranks {
		limit = math.Pow(x.tolerance/float64(8*(ranks+1)), 1/float64(order))
	}
	limit = math.Log1p(limit) / last
	c := x.arrived
	for c < x.dormant && x.w[c] > limit {
		c++
	}
	for ; order < ranks && c < x.dormant; c++ {
		// The series for e_k(r) cancels to its value from one that is exp(k² Σr²/(Σr)²)
		// times as large, or exp(Σr²) of all of it. And P_0 must not underflow.
		sum, square := last*(x.mass[c]-x.mass[x.dormant]), last*last*(x.squares[c]-x.squares[x.dormant])
		ratio := min(1, float64(ranks)/sum)
		if square*ratio*ratio <= math.Log(growth)/2 && (sum < 500 || ranks < 100) {
			break
		}
	}
	x.pooled = c
	return order
}

// powers returns how many powers say all about document i and those after it.
func (x *race) powers(i, order, ranks int) int {
	r := math.Expm1(x.w[i] * x.times[lanes.Width-1])
	error := r * float64(8*(ranks+1))
	n := 1
	for n < order && error > x.tolerance {
		error *= r
		n++
	}
	return n
}

// halvings returns those that the e^x − 1 of document i and the ones after it need.
func (x *race) halvings(i int) int {
	most := x.w[i] * x.times[lanes.Width-1] * math.Exp(1./bucketsPerUnit)
	_, exponent := math.Frexp(most / lanes.Small)
	return max(0, exponent)
}

// fill sets P, B and A to those of the pool.
func (x *race) fill(order int, s []lanes.State, exposure bool) {
	for l, t := range x.times {
		s[0].P[l] = 0
		if e := t * (x.mass[x.pooled] - x.mass[x.dormant]); e < 600 {
			s[0].P[l] = math.Exp(-e)
		}
	}
	clear(x.sums[:order])
	ranks := min(len(x.discounts)-x.arrived, x.dormant-x.arrived)
	for i := x.pooled; i < x.dormant; i += chunk {
		to := min(i+chunk, x.dormant)
		r := x.r[i-x.arrived : to-x.arrived]
		lanes.Expm1(r, x.w[i:to], &x.times, x.halvings(i))
		lanes.Sums(x.sums[:x.powers(i, order, ranks)], r, x.scratch, x.w[i:to], x.v[i:to])
	}
	sign := 1.0
	for j := range order {
		sum := &x.sums[j]
		for l, t := range x.times {
			sum.Power[l] *= sign
			if exposure {
				sum.W[l], sum.V[l] = 0, 0
			} else {
				sum.W[l] *= sign * t
				sum.V[l] *= sign * t
			}
		}
		sign = -sign
	}
	lanes.Series(s, x.sums[:order])
}

// drain adds the results of the documents of the pool.
func (x *race) drain(order int, s []lanes.State) {
	if x.pooled == x.dormant {
		return
	}
	order = min(order, len(s))
	pairs := x.pairs[:order]
	lanes.Correlate(pairs, x.carried, s)
	for j := range pairs {
		for l, t := range x.times {
			pairs[j].A[l] *= t
			pairs[j].B[l] *= t
		}
	}
	ranks := min(len(x.discounts)-x.arrived, x.dormant-x.arrived)
	for i := x.pooled; i < x.dormant; i += chunk {
		to := min(i+chunk, x.dormant)
		n := min(order, x.powers(i, order, ranks))
		lanes.Horner(x.result[i:to], pairs[:n], x.r[i-x.arrived:to-x.arrived], x.w[i:to], x.gain[i:to])
	}
}
