package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett"
)

// callCustom calls a user's function. If the order of equal scores is random, it returns the mean over several orders, whose number
// depends on the number of queries alone: many average out by themselves.
func (m Measure) callCustom(in Queries) ([]float64, error) {
	if m.perQuery == nil {
		return nil, fmt.Errorf("metrics: measure %q: the function is nil", m.name)
	}
	queries, orders := len(in.offsets())-1, 1
	if in.Scores != nil { // reject scores that are not finite: breakTies needs finite ones
		if err := in.visitQueries(func() func(query) error { return func(query) error { return nil } }); err != nil {
			return nil, err
		}
		if in.Ties == TiesRandom && !m.tieAware {
			orders = max(4, min(100, 10000/max(1, queries)))
		}
	}
	mean, ordered := make([]float64, queries), in
	for order := 0; order < orders; order++ {
		if orders > 1 {
			if ordered.Scores = in.breakTies(uint64(order)); slices.Equal(ordered.Scores, in.Scores) {
				orders = 1 // there are no ties
			}
		}
		perQuery, err := m.perQuery(ordered)
		switch {
		case err != nil:
			return nil, fmt.Errorf("metrics: measure %q: %w", m.name, err)
		case len(perQuery) != queries:
			return nil, fmt.Errorf("metrics: measure %q: %d values for %d queries", m.name, len(perQuery), queries)
		}
		floats.Add(mean, perQuery)
	}
	for q := range mean {
		mean[q] /= float64(orders)
	}
	return mean, nil
}

// breakTies returns the scores with equal ones of a query moved apart by as little as possible,
// in a random order. All other scores keep their order.
func (in Queries) breakTies(order uint64) []float64 {
	scores, offsets := slices.Clone(in.Scores), in.offsets()
	var noise []float64
	var rows []int // ascending
	for q, first := range offsets[:len(offsets)-1] {
		list := scores[first:offsets[q+1]]
		noise, rows = num.Sized(noise, len(list)), rows[:0]
		plackett.Gumbel(plackett.Stream{Query: uint64(q)}, order, noise)
		for i := range list {
			rows = append(rows, i)
		}
		slices.SortFunc(rows, func(a, b int) int { return cmp.Or(cmp.Compare(list[a], list[b]), cmp.Compare(noise[a], noise[b])) })
		for i := 1; i < len(rows); i++ {
			const least = 1e-30 // further than the subnormal numbers, which some arithmetic flushes to 0
			below := list[rows[i-1]]
			list[rows[i]] = max(list[rows[i]], math.Nextafter(below, math.MaxFloat64), below+least)
		}
	}
	return scores
}
