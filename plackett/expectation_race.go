package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/order"
	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// race computes the integrals of an [Expectation]. Time runs from node to node of the
// quadrature, eight at a time. At the nodes of a block, documents, in descending order
// of their scores, are
//
//	[0, arrived)        sure to have arrived
//	[arrived, pooled)   followed one by one
//	[pooled, dormant)   followed together, by sums of powers of r_d = e^{w_d t} − 1,
//	                    which are small
//	[dormant, D)        sure not to have arrived
type race struct {
	check     func() error
	err       error // that check had: the computation is to end
	tolerance float64
	rules     map[int]*rule // by cutoff, for the tolerance

	order  []int     // of the documents, descending scores
	score  []float64 // in that order, as all that follows
	gain   []float64 // less the middle of the gains
	result []float64 // λ or the exposure

	discounts, drops []float64 // θ_k and Δ_k

	// The weights exp(m − reference), and w times gain, for documents from first to known,
	// beyond which they are 0. mass and squares have the sums of w and w² from a document on.
	reference       float64
	first, known    int
	w, v            []float64
	mass, squares   []float64
	arrived         int
	pooled, dormant int
	blocks          int // done so far

	ranks, terms int // that are left in a block, and the largest number of powers of its pool

	times, weights lanes.Vec // of the nodes
	r, scratch     []lanes.Vec
	sums           [maxTerms]lanes.Sum
	pairs          [maxTerms]lanes.Pair
	chances        []lanes.Chance
	states         []lanes.State // [documents of a part + 1, ranks] before each document
	starts         []lanes.State // [parts, ranks] before each part
	carried        []lanes.State // [ranks + 1]

	buckets [mostBuckets + 1]int // where each begins, when documents are sorted
}

// run computes the gradient of the expected metric and returns its value, or, with no gains,
// computes the exposures. What is negligible beside scale is 0.
func (x *race) run(tolerance, scale float64, scores, gains, discounts, out []float64) float64 {
	clear(out)
	x.blocks = 0
	cutoff := min(len(discounts), len(scores))
	for cutoff > 0 && discounts[cutoff-1] == 0 {
		cutoff--
	}
	if cutoff == 0 {
		return 0
	}
	x.discounts = discounts[:cutoff]
	x.drops = scratch.Sized(x.drops, cutoff)
	total := 0.0
	for k, theta := range x.discounts {
		total += theta
		x.drops[k] = theta
		if k+1 < cutoff {
			x.drops[k] -= discounts[k+1]
		}
	}
	x.sort(scores)
	docs := len(scores)
	middle := 0.0
	x.gain = scratch.Sized(x.gain, docs)
	clear(x.gain)
	if gains != nil {
		lowest, highest := extremes(gains)
		middle = lowest/2 + highest/2
		for i, d := range x.order {
			x.gain[i] = gains[d] - middle
		}
	}
	x.result = scratch.Sized(x.result, docs)
	clear(x.result)

	value := middle*total + x.integrate(x.rule(tolerance, cutoff), gains == nil)
	for i, d := range x.order {
		out[d] = x.result[i]
	}
	settle(out, scale)
	return value
}

func (x *race) rule(tolerance float64, cutoff int) *rule {
	if x.tolerance != tolerance {
		x.tolerance, x.rules = tolerance, map[int]*rule{}
	}
	r := x.rules[cutoff]
	if r == nil {
		r = newRule(cutoff, tolerance)
		x.rules[cutoff] = r
	}
	return r
}

// Documents are sorted into at most so many buckets, of a width in the score of
// 1/bucketsPerUnit.
const (
	mostBuckets    = 4096
	bucketsPerUnit = 8
)

// sort sets order and score, descending. Scores that are not too far apart are sorted into
// buckets: nothing depends on the order within a bucket.
func (x *race) sort(scores []float64) {
	docs := len(scores)
	x.order, x.score = scratch.Sized(x.order, docs), scratch.Sized(x.score, docs)
	lowest, highest := extremes(scores)
	if last := (highest - lowest) * bucketsPerUnit; last < mostBuckets {
		starts := x.buckets[:int(last)+2]
		clear(starts)
		for _, m := range scores {
			starts[int((highest-m)*bucketsPerUnit)+1]++
		}
		for i := range len(starts) - 1 {
			starts[i+1] += starts[i]
		}
		for d, m := range scores {
			at := &starts[int((highest-m)*bucketsPerUnit)]
			x.order[*at], x.score[*at] = d, m
			*at++
		}
		return
	}
	x.order = order.Descending(x.order[:0], scores)
	for i, d := range x.order {
		x.score[i] = scores[d]
	}
}

func extremes(s []float64) (lowest, highest float64) {
	lowest, highest = s[0], s[0]
	for _, x := range s {
		if x < lowest {
			lowest = x
		}
		if x > highest {
			highest = x
		}
	}
	return lowest, highest
}

// refer sets the weights of the documents that have not arrived, relative to the first
// of them.
func (x *race) refer() {
	const negligible = -700 // e^−700 is about the smallest normal number
	docs := len(x.score)
	x.first, x.known, x.reference = x.arrived, docs, x.score[x.arrived]
	x.w, x.v = scratch.Sized(x.w, docs), scratch.Sized(x.v, docs)
	x.mass, x.squares = scratch.Sized(x.mass, docs+1), scratch.Sized(x.squares, docs+1)
	for i := x.first; i < docs; i++ {
		if x.score[i]-x.reference < negligible {
			x.known = i
			break
		}
		x.w[i] = math.Exp(x.score[i] - x.reference)
		x.v[i] = x.w[i] * x.gain[i]
	}
	x.mass[x.known], x.squares[x.known] = 0, 0
	for i := x.known - 1; i >= x.first; i-- {
		x.mass[i] = x.mass[i+1] + x.w[i]
		x.squares[i] = x.squares[i+1] + x.w[i]*x.w[i]
	}
}

// integrate adds up the blocks of nodes, and returns the value.
//
// Where scores are far apart, all documents that can have arrived may be sure to have arrived.
// Then the race is idle, and a new one starts for the others, with its own unit of time.
func (x *race) integrate(r *rule, exposure bool) float64 {
	sure := 8 - math.Log(x.tolerance) // w_d t of documents that have arrived
	never := 1e-6 * x.tolerance       // Σ w_d t of those that have not begun
	end := x.tolerance / 50           // P(fewer than K have arrived), when all is done
	value := 0.0
	x.arrived, x.dormant = 0, 0
	last := lanes.Width - 1
	for idle := true; ; {
		if idle {
			x.refer()
			unit := 1 / x.mass[x.arrived]
			for l := range lanes.Width {
				x.times[l], x.weights[l] = r.nodes[l]*unit, r.weights[l]
			}
		} else {
			for x.arrived < x.known && x.w[x.arrived]*x.times[0] > sure {
				x.arrived++
			}
			if x.arrived == len(x.discounts) || x.arrived == len(x.score) {
				return value
			}
			if x.reference-x.score[x.arrived] > 100 {
				shift := math.Exp(x.score[x.arrived] - x.reference)
				for l := range x.times {
					x.times[l] *= shift
				}
				x.refer()
			}
		}
		x.dormant = max(x.dormant, x.arrived)
		for x.dormant < x.known && x.mass[x.dormant]*x.times[last] > never {
			x.dormant++
		}
		if !idle && x.dormant == x.arrived {
			idle = true
			continue
		}
		part, left := x.block(exposure)
		if x.stopped() {
			return 0
		}
		x.blocks++
		value += part
		if left <= end {
			return value
		}
		next := x.times[last] * math.Exp(r.step)
		if idle {
			next = r.start / x.mass[x.arrived]
		}
		idle = false
		for l := range x.times {
			x.times[l], x.weights[l] = next*math.Exp(r.step*float64(l)), r.step
		}
	}
}
