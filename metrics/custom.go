package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett"
)

// estimateCustom calls a user's function once or, if scores tie and their order is random,
// once for each of several orders. The number of orders depends on the number of queries alone.
func (m Measure) estimateCustom(in Queries) (QueryValues, error) {
	if m.perQuery == nil {
		return QueryValues{}, fmt.Errorf("metrics: measure %q: the function is nil", m.name)
	}
	if in.Scores != nil { // reject scores that are not finite: breakTies needs finite ones
		if err := in.visitQueries(func() func(query) error { return func(query) error { return nil } }); err != nil {
			return QueryValues{}, err
		}
	}
	offsets := in.offsets()
	queries, orders := len(offsets)-1, 1
	ties := !m.tieAware && in.Ties == TiesRandom && in.Scores != nil && hasTies(in.Scores, offsets)
	if ties { // many queries average out by themselves
		const least, most, enough = 4, 100, 10000
		orders = min(most, max(least, enough/queries))
	}
	over, ordered := make([]moments, queries), in
	for order := range orders {
		if ties {
			ordered.Scores = in.breakTies(offsets, uint64(order))
		}
		perQuery, err := m.perQuery(ordered)
		switch {
		case err != nil:
			return QueryValues{}, fmt.Errorf("metrics: measure %q: %w", m.name, err)
		case len(perQuery) != queries:
			return QueryValues{}, fmt.Errorf("metrics: measure %q: %d values for %d queries", m.name, len(perQuery), queries)
		}
		for q, v := range perQuery {
			over[q].add(v)
		}
	}
	e := QueryValues{make([]float64, queries), make([]float64, queries)}
	for q := range over {
		e.PerQuery[q] = over[q].mean
		if ties {
			e.StdErr[q] = over[q].stdErr()
		}
	}
	return e, nil
}

// hasTies reports whether documents of a query have equal scores.
func hasTies(scores []float64, offsets []int) bool {
	var sorted []float64
	for q, first := range offsets[:len(offsets)-1] {
		sorted = append(sorted[:0], scores[first:offsets[q+1]]...)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) < offsets[q+1]-first {
			return true
		}
	}
	return false
}

// breakTies returns the scores with equal ones of a query moved apart by as little as possible,
// in a random order. The probabilities of their policy change by 1e-10 at most, and all other
// scores keep their order.
func (in Queries) breakTies(offsets []int, order uint64) []float64 {
	scores := slices.Clone(in.Scores)
	var noise []float64
	var rows []int // ascending
	for q, first := range offsets[:len(offsets)-1] {
		list := scores[first:offsets[q+1]]
		noise = num.Sized(noise, len(list))
		plackett.Gumbel(plackett.Stream{Seed: in.Sampling.Seed, Step: in.Sampling.Step, Query: uint64(q)}, order, noise)
		rows = num.Sized(rows, len(list))
		for i := range rows {
			rows[i] = i
		}
		slices.SortFunc(rows, func(a, b int) int {
			return cmp.Or(cmp.Compare(list[a], list[b]), cmp.Compare(noise[a], noise[b]), cmp.Compare(a, b))
		})
		for i, row := range rows[min(1, len(rows)):] {
			list[row] = max(list[row], above(list[rows[i]]))
		}
		for i, row := range slices.Backward(rows) {
			most := math.MaxFloat64
			if i+1 < len(rows) {
				most = -above(-list[rows[i+1]])
			}
			list[row] = min(list[row], most)
		}
	}
	return scores
}

// above returns the smallest number above a score that is also further away than the subnormal
// numbers, which some arithmetic flushes to 0.
func above(score float64) float64 {
	const least = 1e-30
	return max(math.Nextafter(score, math.Inf(1)), score+least)
}
