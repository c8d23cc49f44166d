package plackett

import (
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// A quadrature computes the integrals of an [Expectation]: docs/exact.md, sections 3 and 4. Time
// goes from node to node, eight nodes a block. Within a block the documents, in descending order
// of their scores, are
//
//	[0, arrivedEnd)         sure to have arrived
//	[arrivedEnd, sweptEnd)  swept over one by one
//	[sweptEnd, poolEnd)     pooled: taken together, by sums of powers of r_d = e^{w_d t} − 1, which are small
//	[poolEnd, D)            sure not to have arrived
type quadrature struct {
	check     func() error
	err       error // of check; it ends the computation
	tolerance float64
	rules     map[int]*rule           // by cutoff, for the tolerance
	sums      map[int][]*geometricSum // by the number of ranks

	order  []int     // of the documents, descending scores
	score  []float64 // in that order, as all that follows
	gain   []float64 // less the middle of the gains
	result []float64 // λ or the exposure

	discounts []float64

	// Of a cascade, by document in the order; continuations are 1 if there is none. See expectation_cascade.go.
	cascade                cascade
	continuation, relevant []float64
	paired                 []float64 // c of the factors 1 − c z of pairs, 0 without
	kept, found            float64   // Π continuation, and 1 + Σ relevant, of those before arrivedEnd

	similarity *similarity // adds up the blocks of [Expectation.Similarity]; nil: other methods do

	valueOnly bool      // only the value is wanted
	byRank    []float64 // the value of every rank without its discount is added to; nil: it is not
	moment    bool      // integrals have the factor w_d t: see [Expectation.Curvature]
	moments   []float64 // the result if moment is set

	// The weights w = exp(m − reference), and v = w times gain, of documents before weightEnd, beyond
	// which they are 0. mass and squares are the sums of w and w² from a document on.
	reference           float64
	weightEnd           int
	w, v, mass, squares []float64
	marked, more        []float64 // v times relevance, w times paired

	arrivedEnd, sweptEnd, poolEnd int

	estimating bool    // blocks are not computed: see [Expectation.ExposureTime]
	estimate   float64 // of the time, in nanoseconds

	blocks int // done so far
	ranks  int // left in a block
	powers int // of r that the pool of a block has at most

	times, weights      lanes.Vec // of the nodes
	r, scratch          []lanes.Vec
	powerSums           [maxPowers]lanes.Sum
	derivedSums         [maxPowers + 1]lanes.Sum // what average precision has beside them
	pairs               [maxPowers + 1]lanes.Pair
	ownPairs, morePairs [maxPowers + 1]lanes.Pair
	transitions         []lanes.Chance // q, p and t·f of every document
	tapes               [2]tape        // the second one of average precision: sums with the derivatives by ε
	backward, derived   []lanes.State  // [ranks + 1]: U, X and Y, and their derivatives
	terms, derivedTerms []lanes.Pair   // T and V of every term of a geometric sum
	live                int            // terms of it that are left

	buckets [maxBuckets + 1]int // where each begins, when documents are sorted
}

// A tape has what a forward sweep leaves behind.
type tape struct {
	states      []lanes.State // [documents of a part + 1, ranks]: P, B and A before each document
	checkpoints []lanes.State // [parts, ranks]: P, B and A before each part
}

// run computes the gradient of the expected metric and returns its value, or, with no gains,
// computes the exposures, by a geometric sum of the discounts, or with none by sweeps. Entries that
// are negligible relative to scale become 0. If out is nil, it computes the value alone.
func (x *quadrature) run(sum *geometricSum, tolerance, scale float64, scores, gains, out []float64) float64 {
	x.sort(scores)
	x.valueOnly = out == nil
	x.prepare(tolerance, scores)
	if x.moment {
		x.moments = num.Sized(x.moments, len(scores))
		clear(x.moments)
	}
	value := 0.0
	if gains != nil {
		middle := 0.0
		if x.cascade.continuations == nil && !x.cascade.dual() { // else the exposures do not add up to Σθ
			lowest, highest := extremes(gains)
			middle = lowest/2 + highest/2
		}
		for i, d := range x.order {
			x.gain[i] = gains[d] - middle
		}
		for _, theta := range x.discounts {
			value += theta
		}
		value *= middle
	}
	value += x.integrate(sum, gains == nil)
	if x.valueOnly {
		return value
	}
	result := x.result
	if x.moment {
		result = x.moments
	}
	for i, d := range x.order {
		out[d] = result[i]
	}
	flushNegligible(out, scale)
	return value
}

// prepare makes room for the documents, with gains and results of 0.
func (x *quadrature) prepare(tolerance float64, scores []float64) {
	x.gain, x.result = num.Sized(x.gain, len(scores)), num.Sized(x.result, len(scores))
	x.r, x.transitions = num.Sized(x.r, len(scores)), num.Sized(x.transitions, len(scores))
	clear(x.gain)
	clear(x.result)
	x.prepareCascade()
	if x.tolerance != tolerance {
		x.tolerance, x.rules = tolerance, map[int]*rule{}
	}
}

// rule returns the rule of a geometric sum, or of sweeps if it is nil.
func (x *quadrature) rule(sum *geometricSum) *rule {
	if sum != nil {
		return sum.rule
	}
	cutoff := len(x.discounts)
	if x.moment { // for one more factor t
		cutoff++
	}
	r := x.rules[cutoff]
	if r == nil {
		r = newRule(cutoff, x.tolerance)
		x.rules[cutoff] = r
	}
	return r
}

// geometric returns the sum of geometric sequences for discounts that count at every rank of the
// list, or have fallen to numbers too small for float64, nil if there is none. Lists of fewer than
// 32 documents are left to the sweeps. From that length on a sum costs several times less, and the
// factor grows with the list.
func (x *quadrature) geometric(tolerance float64, docs int, discounts []float64) *geometricSum {
	const fewest, tiny = 32, 1e-300
	last := math.Abs(x.discounts[len(x.discounts)-1])
	if docs < fewest || len(discounts) < docs || len(x.discounts) < docs && last > tiny {
		return nil
	}
	size := 1 // lists of similar length share a sum
	for size < docs {
		size *= 2
	}
	for size = min(size, len(discounts)); size > docs && discounts[size-1] == 0; {
		size--
	}
	const most = 4 // metrics in turn, such as DCG and average precision
	known := x.sums[size]
	i := slices.IndexFunc(known, func(g *geometricSum) bool {
		return g.tolerance == tolerance && slices.Equal(g.discounts, discounts[:size])
	})
	if i < 0 {
		if x.sums == nil {
			x.sums = map[int][]*geometricSum{}
		}
		i = min(len(known), most-1)
		known = append(known[:i], newGeometricSum(discounts[:size], tolerance))
		x.sums[size] = known
	}
	if g := known[i]; g.c != nil {
		return g
	}
	return nil
}

// setWeights sets the weights of the documents that have not arrived, relative to the first
// of them.
func (x *quadrature) setWeights() {
	const negligible = -700 // e^−700 is about the smallest normal number
	docs, first := len(x.score), x.arrivedEnd
	x.weightEnd, x.reference = docs, x.score[first]
	x.w, x.v, x.marked, x.more = num.Sized(x.w, docs), num.Sized(x.v, docs), num.Sized(x.marked, docs), num.Sized(x.more, docs)
	x.mass, x.squares = num.Sized(x.mass, docs+1), num.Sized(x.squares, docs+1)
	for i := first; i < docs; i++ {
		if x.score[i]-x.reference < negligible {
			x.weightEnd = i
			break
		}
		x.w[i] = math.Exp(x.score[i] - x.reference)
		x.v[i] = x.w[i] * x.gain[i]
		x.marked[i], x.more[i] = x.v[i]*x.relevant[i], x.w[i]*x.paired[i]
	}
	x.mass[x.weightEnd], x.squares[x.weightEnd] = 0, 0
	for i := x.weightEnd - 1; i >= first; i-- {
		x.mass[i] = x.mass[i+1] + x.w[i]
		x.squares[i] = x.squares[i+1] + x.w[i]*x.w[i]
	}
}

// rebase makes weights and times relative to the first document that has not arrived, before its
// weight gets too small.
func (x *quadrature) rebase() {
	if x.reference-x.score[x.arrivedEnd] <= 100 {
		return
	}
	shift := math.Exp(x.score[x.arrivedEnd] - x.reference)
	for l := range x.times {
		x.times[l] *= shift
	}
	x.setWeights()
}

// integrate adds up the blocks of nodes, and returns the value.
//
// Where scores are far apart, all documents that can have arrived may be sure to have arrived.
// Then nothing happens until the next ones, and time begins anew for them, with a unit of their own.
func (x *quadrature) integrate(sum *geometricSum, exposure bool) float64 {
	value := 0.0
	r := x.rule(sum)
	x.arrivedEnd, x.poolEnd, x.kept, x.found = 0, 0, 1, 1
	if sum != nil {
		x.live = len(sum.c)
	}
	for anew := true; ; {
		if anew {
			x.setWeights()
			unit := 1 / x.mass[x.arrivedEnd]
			for l, node := range r.nodes {
				x.times[l] = node * unit
			}
			x.weights = r.weights
		} else if x.arriveSurely() {
			return value
		}
		x.extendPool()
		if !anew && x.poolEnd == x.arrivedEnd {
			anew = true
			continue
		}
		part, left := x.block(sum, exposure)
		if x.stopped() {
			return 0
		}
		x.blocks++
		value += part
		if left*x.kept <= x.end() {
			return value
		}
		next := x.times[lanes.Width-1] * math.Exp(r.step)
		if anew {
			next = r.start / x.mass[x.arrivedEnd]
		}
		anew = false
		for l := range x.times {
			x.times[l], x.weights[l] = next*math.Exp(r.step*float64(l)), r.step
		}
	}
}

// end is what P(fewer than K have arrived) is at most at the end.
func (x *quadrature) end() float64 { return x.tolerance / 50 }

// arriveSurely counts the documents that are sure to have arrived at the first node of a block, and reports whether those are all
// that matter.
func (x *quadrature) arriveSurely() (all bool) {
	sure := 8 - math.Log(x.tolerance) // w_d t of documents that have arrived
	for x.arrivedEnd < x.weightEnd && x.w[x.arrivedEnd]*x.times[0] > sure {
		x.arrive()
	}
	if x.arrivedEnd >= min(len(x.discounts), len(x.score)) || x.kept == 0 {
		return true
	}
	x.rebase()
	return false
}

// extendPool adds the documents to the pool that can arrive by the last node of a block.
func (x *quadrature) extendPool() {
	never := 1e-6 * x.tolerance // Σ w_d t of those that have not arrived
	x.poolEnd = max(x.poolEnd, x.arrivedEnd)
	for x.poolEnd < x.weightEnd && x.mass[x.poolEnd]*x.times[lanes.Width-1] > never {
		x.poolEnd++
	}
}

// block adds to the result what one block of nodes contributes. It returns its part of the value, and the probability that fewer
// than K documents have arrived at its end.
func (x *quadrature) block(sum *geometricSum, exposure bool) (value, left float64) {
	for l, t := range x.times {
		x.weights[l] *= x.kept
		if x.moment {
			x.weights[l] *= t
		}
	}
	switch {
	case sum != nil:
		value, left = x.products(sum, exposure)
	case x.estimating:
		left = x.estimateBlock()
	case x.similarity != nil:
		value, left = x.similarity.block(x)
	default:
		value, left = x.sweep(exposure)
	}
	if x.moment { // w_d times the results, which have the factor t
		for i := x.arrivedEnd; i < x.poolEnd; i++ {
			x.moments[i] += x.w[i] * x.result[i]
			x.result[i] = 0
		}
	}
	return value, left
}

// Documents are sorted into at most maxBuckets buckets; each spans 1/bucketsPerUnit of the score.
const (
	maxBuckets     = 4096
	bucketsPerUnit = 8
)

// sort sets order and score, descending. Scores that are not too far apart are sorted into
// buckets: nothing depends on the order within a bucket.
func (x *quadrature) sort(scores []float64) {
	docs := len(scores)
	x.order, x.score = num.Sized(x.order, docs), num.Sized(x.score, docs)
	lowest, highest := extremes(scores)
	if last := (highest - lowest) * bucketsPerUnit; last < maxBuckets {
		starts := x.buckets[:int(last)+2]
		clear(starts)
		for _, m := range scores {
			starts[int((highest-m)*bucketsPerUnit)+1]++
		}
		for i := range len(starts) - 1 {
			starts[i+1] += starts[i]
		}
		for d, m := range scores {
			next := &starts[int((highest-m)*bucketsPerUnit)]
			x.order[*next], x.score[*next] = d, m
			*next++
		}
		return
	}
	x.order = num.DescendingOrder(x.order[:0], scores)
	for i, d := range x.order {
		x.score[i] = scores[d]
	}
}

// extremes returns the minimum and the maximum in one pass. It ignores NaN, which makes it several
// times as fast as min and max.
func extremes(x []float64) (lowest, highest float64) {
	lowest, highest = x[0], x[0]
	for _, v := range x {
		if v < lowest {
			lowest = v
		} else if v > highest {
			highest = v
		}
	}
	return lowest, highest
}
