package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// mostStates bounds the states that are kept at a time, to what a cache holds, unless there
// are so many that the square root of the documents has more.
const mostStates = 8192

// block adds to the result what one block of nodes has. It returns its part of the value,
// and the probability that fewer than K documents have arrived at its end.
//
// A polynomial P, whose coefficients are the probabilities that so many documents have
// arrived, begins as that of the pool. The other documents multiply it by q_d + p_d z, one
// after another; B and A have one document, or one times its gain, that arrives just now.
// Back run U, from Δ_k, and X and Y, which are to U as B and A are to P. All terms are
// positive. Where there are many states, only those before every part are kept, and those
// within a part are computed again.
func (x *race) block(exposure bool) (value, left float64) {
	x.ranks = min(len(x.discounts)-x.arrived, x.dormant-x.arrived)
	discounts, drops := x.discounts[x.arrived:][:x.ranks], x.drops[x.arrived:][:x.ranks]
	x.split()
	first, docs := x.arrived, x.pooled-x.arrived
	x.r = scratch.Sized(x.r, x.dormant-first)
	for i := first; i < x.pooled; i += chunk {
		x.exponentials(i, min(i+chunk, x.pooled))
	}

	part := max(1, docs)
	if docs*x.ranks > mostStates {
		part = max(mostStates/x.ranks, int(math.Sqrt(float64(docs))))
	}
	x.chances = scratch.Sized(x.chances, docs)
	x.states = scratch.Sized(x.states, (part+1)*x.ranks)
	x.starts = scratch.Sized(x.starts, (docs/part+1)*x.ranks)
	row := func(i int) []lanes.State { return x.states[i*x.ranks : (i+1)*x.ranks] }
	start := func(i int) []lanes.State { return x.starts[(i-first)/part*x.ranks:][:x.ranks] }
	x.fill(row(0)[:x.size(first)], exposure)
	last := first // where the last part begins
	for i := first; i < x.pooled; i += part {
		if x.stopped() {
			return 0, 0
		}
		if last = i; i > first {
			copy(row(0), row(part))
		}
		copy(start(i), row(0))
		x.forward(i, min(i+part, x.pooled))
	}

	end := row(x.pooled - last)[:x.size(x.pooled)]
	for k := range end {
		left += end[k].P[lanes.Width-1]
		for l, c := range x.weights {
			value += c * discounts[k] * end[k].A[l]
		}
	}
	if x.ranks < len(x.discounts)-x.arrived {
		left = 1 // documents that have not begun to arrive will take the other ranks
	}

	x.carried = scratch.Sized(x.carried, x.ranks+1)
	clear(x.carried)
	for k := range x.ranks {
		for l, c := range x.weights {
			if exposure {
				x.carried[k].A[l] = -c * discounts[k]
			} else {
				x.carried[k].P[l] = c * drops[k]
			}
		}
	}
	for i := last; i >= first; i -= part {
		if x.stopped() {
			return 0, 0
		}
		to := min(i+part, x.pooled)
		if i < last {
			copy(row(0), start(i))
			x.forward(i, to)
		}
		lanes.Backward(x.result[i:to], x.carried, x.states, x.ranks, x.size(i), x.chances[i-first:to-first], x.gain[i:to])
	}
	x.drain(row(0)[:x.size(first)])
	return value, left
}

// stopped asks whether the computation is to end.
func (x *race) stopped() bool {
	if x.err == nil && x.check != nil {
		x.err = x.check()
	}
	return x.err != nil
}

// size is the number of coefficients of P before document i.
func (x *race) size(i int) int {
	return min(x.ranks, x.dormant-x.pooled+i-x.arrived+1)
}

// forward sets the states after the first row to those of documents from i to before to.
func (x *race) forward(i, to int) {
	chances, r := x.chances[i-x.arrived:to-x.arrived], x.r[i-x.arrived:to-x.arrived]
	lanes.Forward(x.states, x.ranks, x.size(i), chances, r, &x.times, x.w[i:to], x.gain[i:to])
}

// exponentials sets r of documents from i to before to, and returns them.
func (x *race) exponentials(i, to int) []lanes.Vec {
	// Those after i may have a larger weight by a bucket's width.
	largest := x.w[i] * x.times[lanes.Width-1] * math.Exp(1./bucketsPerUnit)
	_, halvings := math.Frexp(largest / lanes.Small)
	r := x.r[i-x.arrived : to-x.arrived]
	lanes.Expm1(r, x.w[i:to], &x.times, max(0, halvings))
	return r
}
