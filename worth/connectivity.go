package worth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Connectivity divides the items into classes that the rankings connect: within a class, every
// item is above every other one in some ranking, or reached from it by a path of such pairs,
// where tied items are above each other. They are the strongly connected components of the network
// of wins. A class comes before the classes that lose to it.
//
// Worths have a finite maximum-likelihood estimate only if there is one class (Hunter, Annals of
// Statistics 32, 2004, assumption 1). Without ties, one class is enough.
func Connectivity(r *Observations) [][]int {
	to, next := r.losses()
	const unseen = -1
	low := make([]int, len(r.Items)) // Tarjan's low link: the earliest item on the stack that can be reached
	number := make([]int, len(r.Items))
	for i := range number {
		number[i] = unseen
	}
	var (
		classes   [][]int
		open      []int // items without a class
		path      []int // of the search
		count     int
		inClass   = make([]bool, len(r.Items))
		enter     = func(i int) { number[i], low[i] = count, count; count++; open = append(open, i); path = append(path, i) }
		nextChild = slices.Clone(next[:len(r.Items)])
	)
	for root := range r.Items {
		if number[root] == unseen {
			enter(root)
		}
		for len(path) > 0 {
			i := path[len(path)-1]
			if at := nextChild[i]; at < next[i+1] {
				nextChild[i]++
				if child := int(to[at]); number[child] == unseen {
					enter(child)
				} else if !inClass[child] {
					low[i] = min(low[i], number[child])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1]
				low[parent] = min(low[parent], low[i])
			}
			if low[i] == number[i] {
				from := len(open) - 1
				for open[from] != i {
					from--
				}
				class := slices.Sorted(slices.Values(open[from:]))
				open = open[:from]
				for _, j := range class {
					inClass[j] = true
				}
				classes = append(classes, class)
			}
		}
	}
	slices.Reverse(classes) // Tarjan's algorithm ends a class after the classes that it leads to
	return classes
}

// losses returns a graph with an edge from an item to one just below it, with just enough pairs to connect the items
// as all pairs would: the edges of item i go to to[next[i]:next[i+1]].
func (r *Observations) losses() (to []int32, next []int) {
	next = make([]int, len(r.Items)+2)
	r.pairs(func(above, _ int32) { next[above+2]++ })
	for i := range r.Items {
		next[i+2] += next[i+1]
	}
	to = make([]int32, next[len(next)-1])
	r.pairs(func(above, below int32) {
		to[next[above+1]] = below
		next[above+1]++
	})
	return to, next[:len(r.Items)+1]
}

// pairs calls f with neighbours of the rankings. The items of a tie are a circle.
func (r *Observations) pairs(f func(above, below int32)) {
	for _, s := range r.spans {
		last := int32(-1) // an item of the place before
		for from, to := range r.places(s) {
			first := r.entries[from]
			if last >= 0 {
				f(last, first)
			}
			for e := from + 1; e < to; e++ {
				f(item(r.entries[e-1]), item(r.entries[e]))
			}
			if last = item(r.entries[to-1]); last != first {
				f(last, first)
			}
		}
		for _, rest := range r.entries[s.placed:s.to] {
			f(last, rest)
		}
	}
}

// DisconnectedError reports worths without a finite estimate, since no path of wins leads from some
// items to the others. Options.Prior is a remedy; another is to drop items.
type DisconnectedError struct {
	Items   []string
	Classes [][]int // of Connectivity
}

// Error names some items of the first or the last class, whichever is smaller.
func (e *DisconnectedError) Error() string {
	class, where := e.Classes[len(e.Classes)-1], "from %s to the others"
	if first := e.Classes[0]; len(first) < len(class) {
		class, where = first, "to %s from the others"
	}
	const most = 5
	names := make([]string, min(most, len(class)))
	for i := range names {
		names[i] = strconv.Quote(e.Items[class[i]])
	}
	list := strings.Join(names, ", ")
	if len(class) > most {
		list += fmt.Sprintf(" and %d more", len(class)-most)
	}
	return fmt.Sprintf("the worths have no finite estimate, since wins do not lead from every item to every other one: "+
		"none "+where+" (there are %d classes of items); set a prior, or leave items out", list, len(e.Classes))
}
