package shards

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// documents is how many documents a query has.
func documents(offsets []int) func(query int) int {
	return func(q int) int { return offsets[q+1] - offsets[q] }
}

// An epoch has every query once; position i is of shard i mod S, whose queries stand
// together in the data; and an epoch differs from the next one in the order alone.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, shards := rapid.IntRange(0, 40).Draw(rt, "queries"), rapid.IntRange(1, 12).Draw(rt, "shards")
		division := Division{Shards: shards, Batch: 1, Seed: rapid.Uint64().Draw(rt, "seed"), Ranks: 1}
		var queries []int
		offsets := []int{0}
		for q := range 3 * n {
			offsets = append(offsets, offsets[q]+rapid.IntRange(0, 9).Draw(rt, "documents"))
			if q%3 == 0 {
				queries = append(queries, q)
			}
		}
		order := division.Order(rapid.IntRange(0, 5).Draw(rt, "epoch"), queries, documents(offsets))
		if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, queries) {
			rt.Fatalf("%v is not an order of %v", order, queries)
		}
		next := 0
		for shard := range shards {
			var own []int
			for i := shard; i < n; i += shards {
				own = append(own, order[i])
			}
			slices.Sort(own)
			if !slices.Equal(own, queries[next:next+len(own)]) {
				rt.Fatalf("shard %d of %d has %v, want those from %d on", shard, shards, own, next)
			}
			next += len(own)
		}
	})
}

// The shards have about as many documents in a step as each other, much closer than queries
// that are drawn at random; steps and epochs differ.
func TestShardsAreBalanced(t *testing.T) {
	const shards, each, batch = 8, 500, 32
	rng := rand.New(rand.NewPCG(1, 1))
	offsets := []int{0}
	division := Division{Shards: shards, Batch: batch, Ranks: 1}
	var queries []int
	var sum, squares float64
	for q := range shards * each {
		n := 1 + rng.ExpFloat64()*100
		sum, squares = sum+n, squares+n*n
		queries = append(queries, q)
		offsets = append(offsets, offsets[q]+int(n))
	}
	mean := sum / (shards * each)
	variance := squares/(shards*each) - mean*mean // of a query
	within, between := 0.0, 0.0                   // of the queries that a shard has in a step
	order := division.Order(0, queries, documents(offsets))
	const steps = shards * each / batch
	for step := range steps {
		var counts [shards]float64
		all := 0.0
		for at, q := range order[step*batch : (step+1)*batch] {
			counts[at%shards] += float64(offsets[q+1] - offsets[q])
			all += float64(offsets[q+1]-offsets[q]) / shards
		}
		for _, n := range counts {
			within += (n - all) * (n - all) / (shards * steps)
		}
		between += (all - batch/shards*mean) * (all - batch/shards*mean) / steps
	}
	if random := variance * batch / shards; within > random/8 || between < random/2 {
		t.Errorf("the variance of the documents of a shard is %.0f within a step, %.0f between steps; at random both are about %.0f", within, between, random)
	}
	if slices.Equal(order, division.Order(1, queries, documents(offsets))) {
		t.Error("two epochs have one order")
	}
	together := 0 // of the queries of the first shard, whose neighbour in the next epoch is the same
	neighbour := map[int]int{}
	for i := 0; i < len(order); i += shards {
		neighbour[order[i]] = order[i+1]
	}
	again := division.Order(1, queries, documents(offsets))
	for i := 0; i < len(again); i += shards {
		if neighbour[again[i]] == again[i+1] {
			together++
		}
	}
	if together > each/5 {
		t.Errorf("%d of %d queries have the same neighbour in the next epoch", together, each)
	}
}

// Fold adds by the tree that its comment describes, whether every P-th vector is folded
// before or not.
func TestFold(t *testing.T) {
	var tree func(v []float32, at, step int) float32
	tree = func(v []float32, at, step int) float32 {
		if at+step >= len(v) {
			return v[at]
		}
		return tree(v, at, 2*step) + tree(v, at+step, 2*step)
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-1e3, 1e3), 1, 40).Draw(rt, "numbers")
		vectors := func() (list [][]float32) {
			for _, x := range v {
				list = append(list, []float32{x})
			}
			return list
		}
		all := vectors()
		Fold(all)
		if want := tree(v, 0, 1); all[0][0] != want {
			rt.Fatalf("%v, want %v", all[0][0], want)
		}
		for ranks := 1; ranks <= len(v); ranks *= 2 {
			again := vectors()
			var sums [][]float32
			for rank := range ranks {
				var own [][]float32
				for i := rank; i < len(v); i += ranks {
					own = append(own, again[i])
				}
				Fold(own)
				sums = append(sums, own[0])
			}
			Fold(sums)
			if sums[0][0] != all[0][0] {
				rt.Fatalf("%d ranks: %v, want %v", ranks, sums[0][0], all[0][0])
			}
		}
	})
}
