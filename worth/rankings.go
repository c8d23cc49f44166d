package worth

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Ranking is one observation. Items are numbers in [Observations.Items].
//
// A full ranking has a place for every item. A partial one has places for some, and says nothing
// about the others. In a top-k ranking, and in a choice from a set, the other items of the set are
// the Rest. A comparison of two items is a ranking with two places.
type Ranking struct {
	Places [][]int // the items of every place, best place first; several items at one place are tied
	Rest   []int   // items after all places, in unknown order
	Weight float64 // how often it was observed; zero is once
}

// Observations holds observed rankings of items. The zero value has none and is ready for use. It may
// be read by several goroutines at a time if none of them adds.
type Observations struct {
	Items    []string // the names of the items, by number
	Warnings []string // what was odd about the file that they were read from

	numbers map[string]int
	entries []int32 // the items of all rankings, best first, then the rest; ^item is at the place of the one before it
	spans   []span  // of every ranking
	weight  float64 // the sum of the spans'
	seen    []int   // of every item the number, from 1, of the last ranking that has it
}

// A span is one ranking in the entries.
type span struct {
	from, placed, to int // [from, placed) are at places, [placed, to) are the rest
	weight           float64
}

// Item returns the number of the item with that name. A new name becomes a new item.
func (r *Observations) Item(name string) int {
	if r.numbers == nil || len(r.numbers) != len(r.Items) {
		r.numbers = make(map[string]int, len(r.Items))
		for i, known := range r.Items {
			r.numbers[known] = i
		}
	}
	i, known := r.numbers[name]
	if !known {
		i = len(r.Items)
		r.Items = append(r.Items, name)
		r.numbers[name] = i
	}
	return i
}

// Len returns the number of rankings.
func (r *Observations) Len() int { return len(r.spans) }

// At returns ranking i, with a weight that is not zero.
func (r *Observations) At(i int) Ranking {
	s := r.spans[i]
	ranking := Ranking{Weight: s.weight}
	items := make([]int, s.to-s.from)
	for i, e := range r.entries[s.from:s.to] {
		items[i] = int(item(e))
	}
	for from, to := range r.places(s) {
		ranking.Places = append(ranking.Places, slices.Clip(items[from-s.from:to-s.from]))
	}
	if s.placed < s.to {
		ranking.Rest = items[s.placed-s.from:]
	}
	return ranking
}

// item returns the item of an entry.
func item(entry int32) int32 { return entry ^ entry>>31 }

// largestWeight of all rankings leaves room for their log-likelihood and the sums of its derivatives.
const largestWeight = 1e300

// errOneItem is returned for a ranking that carries no information.
var errOneItem = errors.New("a ranking of one item says nothing: want two or more, counting those it was chosen from")

// Add adds a ranking. It returns an error and adds nothing if an item occurs twice or has no name, a place has
// no items, there are fewer than two items in all, the weight is negative or not finite, or the weights of all
// rankings sum to more than 1e300, beyond which sums over the rankings would overflow.
func (r *Observations) Add(ranking Ranking) error {
	weight := cmp.Or(ranking.Weight, 1)
	if !(weight > 0) || math.IsInf(weight, 0) {
		return fmt.Errorf("the weight is %v: it must be positive and finite", ranking.Weight)
	}
	if r.weight+weight > largestWeight {
		return fmt.Errorf("the weight is %v: with it, the weights of all rankings sum to more than %v", weight, largestWeight)
	}
	s := span{from: len(r.entries), weight: weight}
	err := r.appendEntries(ranking, &s)
	if err == nil && s.to-s.from < 2 {
		err = errOneItem
	}
	if err != nil {
		for _, e := range r.entries[s.from:] {
			r.seen[item(e)] = 0
		}
		r.entries = r.entries[:s.from]
		return err
	}
	r.spans = append(r.spans, s)
	r.weight += weight
	return nil
}

// appendEntries appends the items of a ranking, and sets where they end.
func (r *Observations) appendEntries(ranking Ranking, s *span) error {
	if len(ranking.Places) == 0 {
		return errors.New("a ranking needs one place or more")
	}
	for i, place := range ranking.Places {
		if len(place) == 0 {
			return fmt.Errorf("place %d has no items", i+1)
		}
		for j, number := range place {
			if err := r.see(number); err != nil {
				return err
			}
			if j > 0 {
				number = ^number
			}
			r.entries = append(r.entries, int32(number))
		}
	}
	s.placed = len(r.entries)
	for _, number := range ranking.Rest {
		if err := r.see(number); err != nil {
			return err
		}
		r.entries = append(r.entries, int32(number))
	}
	s.to = len(r.entries)
	return nil
}

// see marks an item as part of the ranking that is being added.
func (r *Observations) see(number int) error {
	if number < 0 || number >= min(len(r.Items), math.MaxInt32) {
		return fmt.Errorf("item %d has no name: there are %d items, from 0", number, len(r.Items))
	}
	if missing := len(r.Items) - len(r.seen); missing > 0 {
		r.seen = append(r.seen, make([]int, missing)...)
	}
	if r.seen[number] == len(r.spans)+1 {
		return fmt.Errorf("item %q is in the ranking twice", r.Items[number])
	}
	r.seen[number] = len(r.spans) + 1
	return nil
}

// dropUnranked drops the items that are in no ranking.
func (r *Observations) dropUnranked() {
	numbers := make([]int32, len(r.Items)) // new ones, from 1
	for _, e := range r.entries {
		numbers[item(e)] = 1
	}
	var items []string
	for i, ranked := range numbers {
		if ranked != 0 {
			items = append(items, r.Items[i])
			numbers[i] = int32(len(items))
		}
	}
	for i, e := range r.entries {
		r.entries[i] = (numbers[item(e)] - 1) ^ e>>31
	}
	r.Items, r.numbers, r.seen = items, nil, nil
}

// withGhost returns the rankings with one more item, the hidden item of a prior: every other item has a
// win and a loss against it, each of that weight.
func (r *Observations) withGhost(weight float64) *Observations {
	n := len(r.Items)
	g := &Observations{
		entries: append(make([]int32, 0, len(r.entries)+4*n), r.entries...),
		spans:   append(make([]span, 0, len(r.spans)+2*n), r.spans...),
	}
	for i := range n {
		at := len(g.entries)
		g.entries = append(g.entries, int32(i), int32(n), int32(n), int32(i))
		g.spans = append(g.spans, span{at, at + 2, at + 2, weight}, span{at + 2, at + 4, at + 4, weight})
	}
	return g
}

// tieOrders returns the sizes of the ties, ascending.
func (r *Observations) tieOrders() []int {
	var orders []int
	for n, left := range r.sizes() {
		if n > 1 && left > 0 {
			orders = append(orders, n)
		}
	}
	return orders
}

// sizes returns, for every number of items that a place has, how many were left at most when it was filled.
func (r *Observations) sizes() []int {
	left := make([]int, 2)
	for _, s := range r.spans {
		for from, to := range r.places(s) {
			n := to - from
			if n >= len(left) {
				left = append(left, make([]int, n+1-len(left))...)
			}
			left[n] = max(left[n], s.to-from)
		}
	}
	return left
}

// places yields where in the entries the places of a ranking begin and end, the best first.
func (r *Observations) places(s span) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, to := s.from, s.from; from < s.placed; from = to {
			for to++; to < s.placed && r.entries[to] < 0; to++ {
			}
			if !yield(from, to) {
				return
			}
		}
	}
}
