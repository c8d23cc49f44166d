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
	seen := make([]bool, len(r.Items))
	var left []int // items in the order in which a search from them ends
	wins := r.graph(func(above, below int32) (from, to int32) { return above, below })
	for root := range r.Items {
		left = wins.search(root, seen, left)
	}
	var classes [][]int
	clear(seen)
	losses := r.graph(func(above, below int32) (from, to int32) { return below, above })
	for _, root := range slices.Backward(left) { // Kosaraju's algorithm
		if class := losses.search(root, seen, nil); class != nil {
			slices.Sort(class)
			classes = append(classes, class)
		}
	}
	return classes
}

// A graph has the edges of item i in to[next[i]:next[i+1]].
type graph struct {
	to   []int32
	next []int
}

// graph returns a graph with an edge between an item and one just below it, with just enough pairs to connect the items
// as all pairs would.
func (r *Observations) graph(edge func(above, below int32) (from, to int32)) graph {
	next := make([]int, len(r.Items)+2)
	r.pairs(func(above, below int32) {
		from, _ := edge(above, below)
		next[from+2]++
	})
	for i := range r.Items {
		next[i+2] += next[i+1]
	}
	to := make([]int32, next[len(next)-1])
	r.pairs(func(above, below int32) {
		from, other := edge(above, below)
		to[next[from+1]] = other
		next[from+1]++
	})
	return graph{to, next[:len(r.Items)+1]}
}

// search appends the items that can be reached from a root and were not seen, each after those that it leads to.
func (g *graph) search(root int, seen []bool, ended []int) []int {
	if seen[root] {
		return ended
	}
	seen[root] = true
	type step struct{ item, next int }
	path := []step{{root, g.next[root]}}
	for len(path) > 0 {
		last := &path[len(path)-1]
		if last.next == g.next[last.item+1] {
			ended = append(ended, last.item)
			path = path[:len(path)-1]
			continue
		}
		to := int(g.to[last.next])
		if last.next++; !seen[to] {
			seen[to] = true
			path = append(path, step{to, g.next[to]})
		}
	}
	return ended
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
