package plackett

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// PlacementsOf writes P(y_k = documents[i]), the probability that the document is at rank k, to
// out[i·cutoff + k−1]. It is [Expectation.Placements] for n different documents alone. For a dozen
// documents it costs less than one exposure; the cost rises with n². PlacementsOf returns the errors
// of [Expectation.Gradient], and an error for a negative cutoff and for documents that are repeated or
// out of range.
func (e *Expectation) PlacementsOf(scores []float64, documents []int, cutoff int, out []float64) error {
	if cutoff < 0 {
		return fmt.Errorf("the cutoff is %d: it must not be negative", cutoff)
	}
	if err := checkLength("out", len(out), len(documents)*cutoff); err != nil {
		return err
	}
	tolerance, err := e.begin(scores)
	if err != nil {
		return err
	}
	x := &e.quadrature
	x.apart = num.Sized(x.apart, len(documents))
	defer func() { x.apart, x.apartMass = x.apart[:0], 0 }()
	if err := x.setApart(scores, documents); err != nil {
		return err
	}
	clear(out)
	if len(documents) == 0 || cutoff == 0 {
		return nil
	}
	e.discount = num.Sized(e.discount, min(cutoff, len(scores)))
	x.discounts = e.discount // only their number matters
	x.prepare(tolerance, scores)
	x.placed = num.Sized(x.placed, len(documents)*len(x.discounts))
	clear(x.placed)
	x.integrate(nil, false)
	for i, d := range documents {
		a, _ := slices.BinarySearch(x.apart, x.places[d])
		for k, p := range x.placed[a*len(x.discounts) : (a+1)*len(x.discounts)] {
			out[i*cutoff+k] = p
		}
	}
	flushNegligible(out, 1)
	return x.err
}

// setApart sorts the documents and records the positions of the ones taken apart.
func (x *quadrature) setApart(scores []float64, documents []int) error {
	if len(documents) == 0 {
		return nil
	}
	for i, d := range documents {
		if d < 0 || d >= len(scores) {
			return fmt.Errorf("document %d of %d: want an index from 0", d, len(scores))
		}
		if slices.Contains(documents[:i], d) {
			return fmt.Errorf("document %d is given twice", d)
		}
	}
	x.sort(scores)
	x.places = num.Sized(x.places, len(scores))
	for i, d := range x.order {
		x.places[d] = i
	}
	for i, d := range documents {
		x.apart[i] = x.places[d]
	}
	slices.Sort(x.apart)
	return nil
}

// place adds to placed what one block of nodes contributes, and returns the probability that fewer than
// K documents have arrived at its end.
//
// The documents taken apart are the last to be multiplied, those from first on of apart. The
// polynomial A with a gain of 1 for one of them alone has at z^k its density at rank k+1.
func (x *quadrature) place() (left float64) {
	cutoff := len(x.discounts)
	x.ranks = min(cutoff-x.arrivedEnd, x.poolEnd-x.arrivedEnd)
	x.choosePool()
	first, _ := slices.BinarySearch(x.apart, x.arrivedEnd)
	end, _ := slices.BinarySearch(x.apart, x.poolEnd)
	n := end - first
	x.apartChances(x.apart[first:end])

	states := num.Sized(x.tapes[0].states, (max(chunk, n)+1)*x.ranks)
	x.tapes[0].states = states
	x.poolPolynomials(x.coefficients(x.arrivedEnd))
	for i := x.arrivedEnd; i < x.sweptEnd; i += chunk {
		if x.stopped() {
			return 0
		}
		to := min(i+chunk, x.sweptEnd)
		x.transit(i, to)
		x.forward(i, to)
		copy(x.row(states, 0), x.row(states, to-i))
	}

	gains := x.apartGains[:n]
	lanes.Forward(states, x.ranks, x.ranks, x.apartTransitions, gains, x.paired)
	for i := n - 1; i >= 0; i-- {
		gains[i] = 1
		lanes.Forward(states[i*x.ranks:], x.ranks, x.ranks, x.apartTransitions[i:], gains[i:], x.paired)
		gains[i] = 0
		placed := x.placed[(first+i)*cutoff+x.arrivedEnd:]
		for k, s := range x.row(states, n) {
			for l, c := range x.weights {
				placed[k] += c * s.A[l]
			}
		}
	}
	for _, s := range x.row(states, n) {
		left += s.P[lanes.Width-1]
	}
	if x.ranks < cutoff-x.arrivedEnd {
		left = 1 // later documents will take the other ranks
	}
	return left
}

// apartChances sets the transitions of the documents taken apart that may arrive in the block, and the
// mass of those in the pool.
func (x *quadrature) apartChances(apart []int) {
	n := len(apart)
	x.apartWeights, x.apartGains = num.Sized(x.apartWeights, n), num.Sized(x.apartGains, n)
	x.apartR, x.apartTransitions = num.Sized(x.apartR, n), num.Sized(x.apartTransitions, n)
	x.apartMass = 0
	largest := 0.0
	for i, at := range apart {
		x.apartWeights[i], x.apartGains[i] = x.w[at], 0
		largest = max(largest, x.w[at])
		if at >= x.sweptEnd {
			x.apartMass += x.w[at]
		}
	}
	_, halvings := math.Frexp(largest * x.times[lanes.Width-1] / lanes.Small)
	lanes.Expm1(x.apartR, x.apartWeights, &x.times, max(0, halvings))
	lanes.Transitions(x.apartTransitions, x.apartR, &x.times, x.apartWeights, x.continuation[:n])
}
