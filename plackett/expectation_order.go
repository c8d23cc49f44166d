package plackett

import (
	"github.com/plrank/plrank/internal/order"
	"github.com/plrank/plrank/internal/scratch"
)

// Documents are sorted into at most so many buckets, of a width in the score of
// 1/bucketsPerUnit.
const (
	maxBuckets     = 4096
	bucketsPerUnit = 8
)

// sort sets order and score, descending. Scores that are not too far apart are sorted into
// buckets: nothing depends on the order within a bucket.
func (x *quadrature) sort(scores []float64) {
	docs := len(scores)
	x.order, x.score = scratch.Sized(x.order, docs), scratch.Sized(x.score, docs)
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
