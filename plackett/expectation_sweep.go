package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// maxStates bounds the states that are kept at a time, to what a cache holds, unless there
// are so many that the square root of the documents has more.
const maxStates = 8192

// sweep adds to the result what one block of nodes contributes. It returns its part of the value,
// and the probability that fewer than K documents have arrived at its end.
//
// The forward sweep multiplies the polynomials P, B and A by one document after another, from
// those of the pool on; the backward sweep carries U, X and Y from the last rank back over the documents,
// and gives each its result. docs/exact.md, section 4, has the recurrences and a worked example.
// Where there are many states, only those before every part are kept, and those within a part
// are computed again.
func (x *quadrature) sweep(exposure bool) (value, left float64) {
	x.ranks = min(len(x.discounts)-x.arrivedEnd, x.poolEnd-x.arrivedEnd)
	discounts, drops := x.discounts[x.arrivedEnd:][:x.ranks], x.drops[x.arrivedEnd:][:x.ranks]
	x.choosePool()
	first, docs := x.arrivedEnd, x.sweptEnd-x.arrivedEnd
	x.r = scratch.Sized(x.r, x.poolEnd-first)
	for i := first; i < x.sweptEnd; i += chunk {
		x.exponentials(i, min(i+chunk, x.sweptEnd))
	}

	part := max(1, docs)
	if docs*x.ranks > maxStates {
		part = max(maxStates/x.ranks, int(math.Sqrt(float64(docs))))
	}
	x.transitions = scratch.Sized(x.transitions, docs)
	x.states = scratch.Sized(x.states, (part+1)*x.ranks)
	x.checkpoints = scratch.Sized(x.checkpoints, (docs/part+1)*x.ranks)
	row := func(i int) []lanes.State { return x.states[i*x.ranks : (i+1)*x.ranks] }
	start := func(i int) []lanes.State { return x.checkpoints[(i-first)/part*x.ranks:][:x.ranks] }
	x.poolPolynomials(row(0)[:x.coefficients(first)], exposure)
	last := first // where the last part begins
	for i := first; i < x.sweptEnd; i += part {
		if x.stopped() {
			return 0, 0
		}
		if last = i; i > first {
			copy(row(0), row(part))
		}
		copy(start(i), row(0))
		x.forward(i, min(i+part, x.sweptEnd))
	}

	end := row(x.sweptEnd - last)[:x.coefficients(x.sweptEnd)]
	for k := range end {
		left += end[k].P[lanes.Width-1]
		for l, c := range x.weights {
			value += c * discounts[k] * end[k].A[l]
		}
	}
	if x.ranks < len(x.discounts)-x.arrivedEnd {
		left = 1 // documents that have not begun to arrive will take the other ranks
	}

	x.backward = scratch.Sized(x.backward, x.ranks+1)
	clear(x.backward)
	for k := range x.ranks {
		for l, c := range x.weights {
			if exposure {
				x.backward[k].A[l] = -c * discounts[k]
			} else {
				x.backward[k].P[l] = c * drops[k]
			}
		}
	}
	for i := last; i >= first; i -= part {
		if x.stopped() {
			return 0, 0
		}
		to := min(i+part, x.sweptEnd)
		if i < last {
			copy(row(0), start(i))
			x.forward(i, to)
		}
		lanes.Backward(x.result[i:to], x.backward, x.states, x.ranks, x.coefficients(i), x.transitions[i-first:to-first], x.gain[i:to])
	}
	x.addPoolResults(row(0)[:x.coefficients(first)])
	return value, left
}

// stopped asks whether the computation is to end.
func (x *quadrature) stopped() bool {
	if x.err == nil && x.check != nil {
		x.err = x.check()
	}
	return x.err != nil
}

// coefficients is the number of coefficients of P before document i.
func (x *quadrature) coefficients(i int) int {
	return min(x.ranks, x.poolEnd-x.sweptEnd+i-x.arrivedEnd+1)
}

// forward sets the states after the first row to those of documents from i to before to.
func (x *quadrature) forward(i, to int) {
	chances, r := x.transitions[i-x.arrivedEnd:to-x.arrivedEnd], x.r[i-x.arrivedEnd:to-x.arrivedEnd]
	lanes.Forward(x.states, x.ranks, x.coefficients(i), chances, r, &x.times, x.w[i:to], x.gain[i:to])
}

// exponentials sets r of documents from i to before to, and returns them.
func (x *quadrature) exponentials(i, to int) []lanes.Vec {
	// Those after i may have a larger weight by a bucket's width.
	largest := x.w[i] * x.times[lanes.Width-1] * math.Exp(1./bucketsPerUnit)
	_, halvings := math.Frexp(largest / lanes.Small)
	r := x.r[i-x.arrivedEnd : to-x.arrivedEnd]
	lanes.Expm1(r, x.w[i:to], &x.times, max(0, halvings))
	return r
}
