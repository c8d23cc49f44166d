package plackett

import (
	"math"
	"math/bits"
	"time"

	"github.com/plrank/plrank/plackett/internal/lanes"
)

// What the parts of an exposure take on a core with AVX-512, in nanoseconds. BenchmarkExposureTime compares their sum with
// the time that is measured.
const (
	documentTime = 22 // to make room for a document, and its weight
	compareTime  = 5  // to sort scores that are too far apart for buckets
	blockTime    = 700
	pooledTime   = 8  // a document in the pool of a block
	stateTime    = 5  // a document that a block sweeps over, for each rank
	againTime    = 10 // the same if states are computed again
)

// ExposureTime returns about how long [Expectation.Exposure] takes on one core with AVX-512 if not all ranks count. That
// depends on the scores, by more than ten times. ExposureTime goes through the blocks of nodes without computing
// them, and returns the errors of Exposure.
func (e *Expectation) ExposureTime(scores, discounts []float64) (time.Duration, error) {
	docs := len(scores)
	if _, err := e.begin(scores); err != nil || docs == 0 || len(discounts) == 0 {
		return 0, err
	}
	x := &e.quadrature
	x.discounts = discounts[:min(len(discounts), docs)]
	x.sort(scores)
	x.prepare(defaultTolerance, scores)
	x.estimate = documentTime * float64(docs)
	if x.score[0]-x.score[docs-1] > maxBuckets/bucketsPerUnit {
		x.estimate += compareTime * float64(docs*bits.Len(uint(docs)))
	}
	x.estimating = true
	x.integrate(nil, true)
	x.estimating = false
	return time.Duration(x.estimate), x.err
}

// estimateBlock adds the time of a block. It returns 0 if as many documents as there are ranks have surely arrived at its
// end, and otherwise 1.
func (x *quadrature) estimateBlock() (left float64) {
	x.ranks = min(len(x.discounts)-x.arrivedEnd, x.poolEnd-x.arrivedEnd)
	x.choosePool()
	swept, pooled := x.sweptEnd-x.arrivedEnd, x.poolEnd-x.sweptEnd
	missing := max(0, x.ranks-pooled-1) // coefficients of the first document; the next one misses one fewer
	absent := min(swept, missing)
	states := swept*x.ranks - absent*missing + absent*absent/2
	x.estimate += blockTime + pooledTime*float64(pooled)
	if states <= maxStates {
		x.estimate += stateTime * float64(states)
	} else {
		x.estimate += againTime * float64(states)
	}
	// The number of documents that have arrived has this mean and at most this variance.
	last := x.times[lanes.Width-1]
	mean := last * (x.mass[x.sweptEnd] - x.mass[x.poolEnd])
	variance := mean
	for _, w := range x.w[x.arrivedEnd:x.sweptEnd] {
		away := math.Exp(-w * last)
		mean, variance = mean+1-away, variance+away*(1-away)
	}
	const surely = 6.5 // standard deviations
	if x.ranks == len(x.discounts)-x.arrivedEnd && mean-float64(x.ranks) > surely*math.Sqrt(variance) {
		return 0
	}
	return 1
}
