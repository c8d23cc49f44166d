package forest

import (
	"cmp"
	"slices"

	"github.com/plrank/plrank/internal/num"
)

// Categories that are more than bins have a number for each level, by document, and no histogram: a leaf sums its documents where a split
// is looked for. Levels are sorted by the values that they would have as leaves, smoothed, and merged at quantiles into a few bins, whose
// best cut is the best set.
//
// The gain of such a set is large in noise, too. In symmetric trees, a document is therefore counted in the bin in which its level would be
// without the documents of its fold, which are of other queries and its own. So the gain is about what new queries would have. At a single
// leaf, documents are too few for that, and all count: that finds who likes what where levels have many documents (lab/recipe.md).

// folds is the number of parts of the queries, drawn for each tree.
const folds = 4

// mostMerged is the number of bins into which levels are merged.
const mostMerged = 61

// setFolds draws the folds of a tree, if there are columns with levels.
func (g *Grower) setFolds() {
	if !slices.ContainsFunc(g.binned.columns, func(c column) bool { return c.wide != nil }) {
		return
	}
	g.fold = num.Sized(g.fold, g.binned.rows)
	stream, query := g.random(ofFolds), 0
	for i := range g.fold {
		for query+1 < len(g.config.Queries) && g.config.Queries[query+1] <= i {
			query++
		}
		if g.config.Queries == nil {
			query = i
		}
		g.fold[i] = uint8(num.SplitMixNext(stream+uint64(query)*num.SplitMixGamma) % folds)
	}
}

// byFold returns the sums of the documents of leaves by fold and level.
func (g *Grower) byFold(c *column, leaves ...*leaf) (sums [folds][]uint64) {
	for k := range folds {
		sums[k] = make([]uint64, c.bins())
	}
	for _, l := range leaves {
		for _, row := range l.rows {
			sums[g.fold[row]][c.wide[row]] += g.pairs[row]
		}
	}
	return sums
}

// merge sets the histograms of a search to the histograms of merged levels. It returns the levels in their order, and where the
// merged bins end.
func (g *Grower) merge(s *search, c *column) (order []uint32, ends []int) {
	n := c.bins()
	all, total, sum := g.byFold(c, s.leaves...), make([]uint64, n), uint64(0)
	for _, sums := range all {
		for level, pair := range sums {
			total[level] += pair
			sum += pair
		}
	}
	_, weight := parts(sum)
	prior := g.l2 + smooth*weight/float64(s.documents)
	value := func(pair uint64, prior float64) float64 {
		s, w := parts(pair)
		return s / (w + prior)
	}
	values, sides := make([]float64, n), [3][]uint32{} // below, at and above 0, where those without a document are
	for level := 1; level < n; level++ {
		values[level] = value(total[level], prior)
		side := 1 + cmp.Compare(values[level], 0)
		sides[side] = append(sides[side], uint32(level))
	}
	for _, side := range sides {
		slices.SortStableFunc(side, func(a, b uint32) int { return cmp.Compare(values[a], values[b]) })
	}
	order = slices.Concat(sides[:]...)
	var cuts []float64
	passed, next := 0., weight/mostMerged
	for i, level := range order[:len(order)-1] {
		_, w := parts(total[level])
		if passed += w; passed >= next && values[level] < values[order[i+1]] && len(cuts) < mostMerged-1 {
			ends, cuts = append(ends, i+1), append(cuts, values[level])
			next = passed + (weight-passed)/float64(mostMerged-len(cuts))
		}
	}
	ends = append(ends, len(order))
	for j, l := range s.leaves {
		s.histograms[j] = make([]uint64, len(ends)+1)
		for k, sums := range g.byFold(c, l) {
			for level, pair := range sums {
				if pair == 0 {
					continue
				}
				at := 0 // missing
				if level > 0 {
					v := values[level]
					if g.config.Leaves == 0 {
						v = value(total[level]-all[k][level], prior*(folds-1)/folds)
					}
					at, _ = slices.BinarySearch(cuts, v)
					at++
				}
				s.histograms[j][at] += pair
			}
		}
	}
	return order, ends
}

// seeming returns the gain of the best split by the documents themselves, which is larger than by other folds: levels of noise have
// little else.
func (g *Grower) seeming(s *search) float64 {
	sum := -s.base
	for _, l := range s.leaves {
		v := g.values(l, g.left(l, &s.best), s.best.column)
		sum += g.score(v.pair, v.left, v.leftInherited) + g.score(l.pair-v.pair, v.right, v.rightInherited)
	}
	return sum
}
