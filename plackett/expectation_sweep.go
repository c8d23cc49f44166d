package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// maxStates bounds the number of states kept at a time to what a cache holds. More are kept in parts, of fewer states for
// each of the two tapes of average precision. Long lists keep more: the states of as many documents as the square root of
// their number.
const maxStates, maxDualStates = 8192, 3072

// sweep adds to the result what one block of nodes contributes. It returns its part of the value,
// and the probability that fewer than K documents have arrived at its end.
//
// The forward sweep starts with the polynomials P, B and A of the pool and multiplies them by one
// document after another; the backward sweep carries U, X and Y from the last rank back over the documents,
// and gives each its result. docs/exact.md, section 4, has the recurrences, lab/exact.md a worked example.
// Where there are many states, only those before every part are kept, and those within a part
// are computed again.
func (x *quadrature) sweep(exposure bool) (value, left float64) {
	x.ranks = min(len(x.discounts)-x.arrivedEnd, x.poolEnd-x.arrivedEnd)
	discounts := x.discounts[x.arrivedEnd:]
	x.choosePool()
	first, docs := x.arrivedEnd, x.sweptEnd-x.arrivedEnd
	for i := first; i < x.sweptEnd; i += chunk {
		x.transit(i, min(i+chunk, x.sweptEnd))
	}

	tapes, most := x.tapes[:1], maxStates
	if x.cascade.dual() {
		tapes, most = x.tapes[:], maxDualStates
	}
	part := max(1, docs)
	if docs*x.ranks > maxStates {
		part = max(most/x.ranks, int(math.Sqrt(float64(docs))))
	}
	for i := range tapes {
		tapes[i].states = num.Sized(tapes[i].states, (part+1)*x.ranks)
		tapes[i].checkpoints = num.Sized(tapes[i].checkpoints, (docs/part+1)*x.ranks)
	}
	x.poolPolynomials(x.coefficients(first))
	last := first // where the last part begins
	for i := first; i < x.sweptEnd; i += part {
		if x.stopped() {
			return 0, 0
		}
		last = i
		for _, t := range tapes {
			if i > first {
				copy(x.row(t.states, 0), x.row(t.states, part))
			}
			copy(x.row(t.checkpoints, (i-first)/part), x.row(t.states, 0))
		}
		x.forward(i, min(i+part, x.sweptEnd))
	}

	value, left = x.sweepEnd(x.row(tapes[len(tapes)-1].states, x.sweptEnd-last)[:x.coefficients(x.sweptEnd)])
	if x.valueOnly {
		return value, left
	}
	x.beginBackward(discounts, exposure)
	for i := last; i >= first; i -= part {
		if x.stopped() {
			return 0, 0
		}
		to := min(i+part, x.sweptEnd)
		if i < last {
			for _, t := range tapes {
				copy(x.row(t.states, 0), x.row(t.checkpoints, (i-first)/part))
			}
			x.forward(i, to)
		}
		x.backwards(i, to)
	}
	x.addPoolResults(x.coefficients(first))
	return value, left
}

// sweepEnd returns the value and the probability of sweep, given the states after the last document.
func (x *quadrature) sweepEnd(states []lanes.State) (value, left float64) {
	discounts := x.discounts[x.arrivedEnd:]
	for k := range states {
		left += states[k].P[lanes.Width-1]
		for l, c := range x.weights {
			value += c * discounts[k] * states[k].A[l]
			if x.byRank != nil {
				x.byRank[x.arrivedEnd+k] += c * states[k].A[l]
			}
		}
	}
	if x.ranks < len(discounts) {
		left = 1 // later documents will take the other ranks
	}
	return value, left
}

// row returns the states of row i.
func (x *quadrature) row(s []lanes.State, i int) []lanes.State { return s[i*x.ranks : (i+1)*x.ranks] }

// backwards carries the weights of powers back over the documents from i to before to, and adds their results.
func (x *quadrature) backwards(i, to int) {
	states, sums, n := x.tapes[0].states, x.tapes[1].states, x.coefficients(i)
	result, transitions := x.result[i:to], x.transitions[i:to]
	if x.cascade.dual() {
		lanes.BackwardDual(result, x.backward, x.derived, sums, states, x.ranks, n, transitions, x.relevant[i:to])
	} else {
		lanes.Backward(result, x.backward, states, x.ranks, n, transitions, x.gain[i:to], x.paired[i:to])
	}
}

// beginBackward sets U, X and Y at the end. For exposures, Y begins with the discounts, and gains have no effect.
func (x *quadrature) beginBackward(discounts []float64, exposure bool) {
	x.backward = num.Sized(x.backward, x.ranks+1)
	clear(x.backward)
	x.derived = num.Sized(x.derived, x.ranks+1)
	clear(x.derived)
	for k, theta := range discounts[:x.ranks] {
		drop := theta
		if k+1 < len(discounts) && !x.cascade.pairs {
			drop -= discounts[k+1]
		}
		for l, c := range x.weights {
			if exposure {
				x.backward[k].A[l] = -c * theta
			} else {
				x.backward[k].P[l] = c * drop
			}
		}
	}
}

// stopped reports whether the computation is to end.
func (x *quadrature) stopped() bool {
	if x.err == nil && x.check != nil {
		x.err = x.check()
	}
	return x.err != nil
}

// coefficients returns the number of coefficients of P before document i.
func (x *quadrature) coefficients(i int) int {
	return min(x.ranks, x.poolEnd-x.sweptEnd+i-x.arrivedEnd+1)
}

// forward sets the rows of states after the first by the documents from i to before to.
func (x *quadrature) forward(i, to int) {
	states := x.tapes[0].states
	lanes.Forward(states, x.ranks, x.coefficients(i), x.transitions[i:to], x.gain[i:to], x.paired[i:to])
	if x.cascade.dual() {
		lanes.ForwardDual(x.tapes[1].states, states, x.ranks, x.coefficients(i), x.transitions[i:to], x.relevant[i:to])
	}
}

// transit sets the transitions of documents from i to before to, and returns them.
func (x *quadrature) transit(i, to int) []lanes.Chance {
	lanes.Transitions(x.transitions[i:to], x.exponentials(i, to), &x.times, x.w[i:to], x.continuation[i:to])
	return x.transitions[i:to]
}

// exponentials sets r of documents from i to before to, and returns them.
func (x *quadrature) exponentials(i, to int) []lanes.Vec {
	// Those after i may have a larger weight by a bucket's width.
	largest := x.w[i] * x.times[lanes.Width-1] * math.Exp(1./bucketsPerUnit)
	_, halvings := math.Frexp(largest / lanes.Small)
	lanes.Expm1(x.r[i:to], x.w[i:to], &x.times, max(0, halvings))
	return x.r[i:to]
}

// thinned sets r of documents from i to before to times their continuations, and returns them.
func (x *quadrature) thinned(i, to int) []lanes.Vec {
	r := x.exponentials(i, to)
	if x.cascade.continuations != nil {
		lanes.Scale(r, x.continuation[i:to])
	}
	return r
}

// maxPowers is the largest number of powers that documents are pooled with: exact for
// at most that many ranks, and for r_d up to about 1/4 if there are more.
const maxPowers = 16

// chunk is the number of documents that are pooled with the same number of powers.
const chunk = 32

// choosePool sets the first document that is pooled, and the largest number of powers. The
// series of a pool alternate: they may cancel to what rounding errors allow.
//
// For as many powers as there are ranks, they cancel from r^(K−1) for the largest r. For fewer,
// the coefficients of z^k come from such as are exp(k² Σr²/(Σr)²) times as large, or exp(Σr²)
// altogether.
func (x *quadrature) choosePool() {
	last := x.times[lanes.Width-1]
	growth := x.tolerance / 1e-14
	x.powers = min(x.ranks, maxPowers)
	limit := math.Pow(growth, 1/float64(x.ranks)) / 2 // of r
	if x.powers < x.ranks {
		limit = math.Pow(x.tolerance/x.margin(), 1/float64(x.powers))
	}
	limit = math.Log1p(limit) / last // of the weight
	x.sweptEnd = x.arrivedEnd
	for x.sweptEnd < x.poolEnd && x.w[x.sweptEnd] > limit {
		x.sweptEnd++
	}
	for ; x.powers < x.ranks && x.sweptEnd < x.poolEnd; x.sweptEnd++ {
		sum := last * (x.mass[x.sweptEnd] - x.mass[x.poolEnd])
		squares := last * last * (x.squares[x.sweptEnd] - x.squares[x.poolEnd])
		ratio := min(1, float64(x.ranks)/sum)
		underflow := sum > 500 && x.ranks > 100 // of e^−sum, though e^−sum sum^k/k! counts
		if squares*ratio*ratio <= math.Log(growth)/2 && !underflow {
			return
		}
	}
}

// margin returns the factor by which the first power left out must be below the tolerance: as many
// documents may have arrived as there are ranks, or a few more.
func (x *quadrature) margin() float64 { return float64(8 * (x.ranks + 1)) }

// powersFrom returns the number of powers that document i and the ones after it need.
func (x *quadrature) powersFrom(i int) int {
	r := math.Expm1(x.w[i] * x.times[lanes.Width-1])
	n := 1
	for rest := r * x.margin(); n < x.powers && rest > x.tolerance; n++ {
		rest *= r
	}
	return n
}

// poolPolynomials sets n coefficients of P, B and A to the polynomials of the pool, where Π (1 + r_d z) is the
// exponential of a series in the power sums of r_d.
func (x *quadrature) poolPolynomials(n int) {
	s := x.tapes[0].states[:n]
	for l, t := range x.times {
		s[0].P[l] = 0
		if mass := t * (x.mass[x.sweptEnd] - x.mass[x.poolEnd]); mass < 600 {
			s[0].P[l] = math.Exp(-mass)
		}
	}
	x.scratch = num.Sized(x.scratch, chunk)
	sums := x.powerSums[:x.powers]
	clear(sums)
	var derived []lanes.Sum
	if x.cascade.dual() {
		derived = x.derivedSums[:x.powers+1]
		clear(derived)
	}
	for i := x.sweptEnd; i < x.poolEnd; i += chunk {
		to := min(i+chunk, x.poolEnd)
		powers := x.powersFrom(i)
		r := x.thinned(i, to)
		if x.cascade.pairs {
			powers = min(powers+1, len(sums))
		}
		lanes.Sums(sums[:powers], r, x.scratch, x.w[i:to], x.v[i:to], x.more[i:to])
		if derived != nil {
			lanes.Sums(derived[:powers+1], r, x.scratch, x.marked[i:to], x.relevant[i:to], x.more[i:to])
		}
	}
	sign := 1.0
	for j := range sums {
		sum := &sums[j]
		for l, t := range x.times {
			sum.Power[l] *= sign
			sum.W[l] *= sign * t
			sum.V[l] *= sign * t
			if derived != nil {
				// r^j has the derivative j·rel·r^j.
				from, to := &derived[j], sign*float64(j)
				from.Power[l] = sign * derived[j+1].V[l]
				from.V[l] = to * t * from.W[l]
				from.W[l] = float64(j) * sum.V[l]
			}
		}
		sign = -sign
	}
	lanes.Series(s, sums)
	if x.cascade.dual() {
		lanes.SeriesDual(x.tapes[1].states[:n], s, sums, derived[:len(sums)], x.found)
	}
}

// addPoolResults adds the results of the documents of the pool, whose polynomials have n coefficients. A
// series in −r_d takes each of them out of the pool.
func (x *quadrature) addPoolResults(n int) {
	s := x.tapes[0].states[:n]
	if x.sweptEnd == x.poolEnd {
		return
	}
	pairs := x.pairs[:min(x.powers, len(s))+1] // one more, for the factor 1 − c z: 0 if there is none
	pairs[len(pairs)-1] = lanes.Pair{}
	lanes.Correlate(pairs[:min(len(pairs), len(s))], x.backward, s)
	var derived []lanes.Pair // of the document's own part
	if x.cascade.dual() {
		derived = x.derivedPairs(pairs, n)
	}
	for j := range pairs {
		for l, t := range x.times {
			pairs[j].A[l] *= t
			pairs[j].B[l] *= t
		}
	}
	for i := x.sweptEnd; i < x.poolEnd; i += chunk {
		to := min(i+chunk, x.poolEnd)
		powers := min(len(pairs), x.powersFrom(i)+1)
		lanes.Horner(x.result[i:to], pairs[:powers], x.r[i:to], x.w[i:to], x.gain[i:to], x.paired[i:to])
		if derived != nil {
			lanes.Horner(x.result[i:to], derived[:powers], x.r[i:to], x.v[i:to], x.gain[i:to], x.paired[i:to])
		}
	}
}
