// Package shards divides the training queries into shards, and sums up the gradients of these.
//
// A step takes queries from all shards, the gradient of each shard's queries is computed by
// itself, and these are summed up in one order (see [Fold]). The ranks share the shards: rank r of
// P has shards r, r+P, r+2P, … Whatever P is, the same numbers are computed from the same queries,
// and summed in the same order.
package shards

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plrank/plrank/internal/num"
)

// A Division says how the training queries are divided.
type Division struct {
	Shards int
	Batch  int // queries a step
	Seed   uint64

	Rank, Ranks int // of this process, and in all
}

// Order returns the order of the training queries in an epoch, given how many documents each query has:
// position i belongs to shard i mod Shards. A shard is a run of queries of the data, in an order of
// its own, but all have the same random order of sizes: in a step, one has about as many documents
// as another, and ranks hardly wait.
func (d Division) Order(epoch int, queries []int, documents func(query int) int) []int {
	order := make([]int, len(queries))
	each, more := len(queries)/d.Shards, len(queries)%d.Shards
	positions := rand.New(rand.NewPCG(^d.Seed, uint64(epoch))).Perm(each)
	from := 0
	for shard := range d.Shards {
		to := from + each
		if shard < more {
			to++
		}
		own := slices.Clone(queries[from:to])
		rng := rand.New(rand.NewPCG(d.Seed+uint64(shard)*num.SplitMixGamma, uint64(epoch)))
		rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		if d.Shards > 1 {
			arrange(own[:each], positions, documents, rng)
		}
		for i, q := range own {
			order[i*d.Shards+shard] = q
		}
		from = to
	}
	return order
}

// arrange gives each query the position of its rank by size. Sizes that differ by less than a
// few percent count as equal, so that it is not always the same queries that meet.
func arrange(queries, positions []int, documents func(query int) int, rng *rand.Rand) {
	const spread = 0.1
	size := map[int]float64{}
	for _, q := range queries {
		size[q] = float64(documents(q)) * (1 + spread*rng.Float64())
	}
	bySize := slices.SortedFunc(slices.Values(queries), func(p, q int) int { return cmp.Compare(size[p], size[q]) })
	for rank, position := range positions {
		queries[position] = bySize[rank]
	}
}

// Own returns the numbers of the shards of this rank.
func (d Division) Own() (own []int) {
	for shard := d.Rank; shard < d.Shards; shard += d.Ranks {
		own = append(own, shard)
	}
	return own
}

// Capacity returns the number of queries of a step that a shard can have.
func (d Division) Capacity() int { return (d.Batch + d.Shards - 1) / d.Shards }
