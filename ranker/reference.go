package ranker

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

// A Reference describes the documents that a model was trained on, for [Drift].
type Reference struct {
	// Columns describes the features, in the order of FeatureIDs. Those that the model does not use have no counts.
	Columns []Column `json:"columns"`
	// Scores describes the scores of the model; nil: not known, as of a mixture.
	Scores *Column `json:"scores,omitempty"`
}

// A Column describes the values of a feature, or scores, by bins. A number is in the bin of the first bound that is not below
// it, and those above all bounds have a bin. A text has a bin if it is frequent; then come a bin of other texts, and one of
// texts that training did not see. The last bin is of missing values.
type Column struct {
	Bounds []float64 `json:"bounds,omitempty"` // ascending; of numbers
	Texts  []string  `json:"texts,omitempty"`  // of a feature of texts, the frequent ones
	Counts []float64 `json:"counts,omitempty"` // of documents by bin
	// Effective has the numbers of documents drawn one by one that would say as much, as those of a query are alike: about the
	// shares of all bins, and about the means of the contrasts.
	Effective []float64 `json:"effective,omitempty"`
}

const (
	mostBounds     = 11
	mostTexts      = 20
	mostReferred   = 20_000 // documents behind a reference
	mostReferences = 4000   // features of a model that keeps one
)

// NewReference returns the reference of documents with these features [documents × width], by query: rows offsets[q] to
// offsets[q+1] belong to query q. It takes a sample of the queries if there are many documents. levels has the texts of
// features, as in [File]. Without documents, or with more than 4000 features in use, it returns nil.
func NewReference(used []bool, levels [][]string, features func(query int) []float32, offsets []int) *Reference {
	width, queries := len(used), len(offsets)-1
	n := 0
	for _, u := range used {
		if u {
			n++
		}
	}
	if queries < 1 || offsets[queries] == 0 || n > mostReferences {
		return nil
	}
	r := &Reference{Columns: make([]Column, width)}
	var rows []float32
	sizes := []int{0}
	for _, q := range num.Sample(max(1, queries*mostReferred/max(mostReferred, offsets[queries])), queries) {
		rows = append(rows, features(q)...)
		sizes = append(sizes, len(rows)/width)
	}
	if len(rows) == 0 {
		return r
	}
	parallel.For(width, parallel.Workers(width), func(_, c int) {
		if !used[c] {
			return
		}
		values := make([]float64, 0, len(rows)/width)
		for at := c; at < len(rows); at += width {
			values = append(values, float64(rows[at]))
		}
		var texts []string
		if levels != nil {
			texts = levels[c]
		}
		r.Columns[c] = newColumn(values, sizes, texts)
	})
	return r
}

// SetScores sets the reference of the scores, by query as in [NewReference].
func (r *Reference) SetScores(scores []float64, offsets []int) {
	if c := newColumn(scores, offsets, nil); len(c.Bounds) > 0 {
		r.Scores = &c
	}
}

// newColumn describes values by query.
func newColumn(values []float64, offsets []int, levels []string) (c Column) {
	if slices.ContainsFunc(values, func(x float64) bool { return math.IsInf(x, 0) }) {
		return c // which no model takes
	}
	present := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(present)
	single := 0.
	if levels != nil {
		c.Texts, single = frequent(present, levels)
	} else if n := len(present); n > 0 {
		for i := range mostBounds {
			c.Bounds = append(c.Bounds, present[i*(n-1)/(mostBounds-1)])
		}
		if distinct := slices.Compact(slices.Clone(present)); len(distinct) <= 2*mostBounds {
			c.Bounds = distinct
		}
		c.Bounds = slices.Compact(c.Bounds)
	}
	groups := newCounter(&c, levels)
	for q := range len(offsets) - 1 {
		for _, v := range values[offsets[q]:offsets[q+1]] {
			groups.add(q, v)
		}
	}
	c.Counts = groups.total
	if n := len(c.Texts); levels != nil {
		// A new document is as likely to have a text that was not seen as one of these had one that no other has (Good 1953).
		single = min(single, c.Counts[n])
		c.Counts[n] -= single
		c.Counts[n+1] += single
	}
	c.Effective = []float64{groups.effective()}
	for _, u := range c.contrasts() {
		c.Effective = append(c.Effective, groups.effectiveFor(u))
	}
	return c
}

// frequent returns the most frequent texts of levels, and how many occur once.
func frequent(present []float64, levels []string) (texts []string, single float64) {
	counts := make([]float64, len(levels))
	for _, v := range present {
		if v >= 1 && int(v) <= len(levels) {
			counts[int(v)-1]++
		}
	}
	for at, i := range num.DescendingOrder(nil, counts) {
		if at < mostTexts && counts[i] > 0 {
			texts = append(texts, levels[i])
		}
		if counts[i] == 1 {
			single++
		}
	}
	return texts, single
}

// A counter counts the values of a column by bin, and by group of queries, whose differences tell how alike the documents of a query are.
type counter struct {
	*Column
	levels []int // by level number, from 1: its bin; nil: numbers
	total  []float64
	by     [numberOfGroups][]float64
}

const numberOfGroups = 256

func newCounter(c *Column, levels []string) *counter {
	g := &counter{Column: c, total: make([]float64, len(c.Bounds)+2)}
	if levels != nil {
		n := len(c.Texts)
		g.levels, g.total = make([]int, len(levels)+1), make([]float64, n+3)
		g.levels[0] = n + 1
		for i, t := range levels {
			if g.levels[i+1] = slices.Index(c.Texts, t); g.levels[i+1] < 0 {
				g.levels[i+1] = n
			}
		}
	}
	return g
}

// add counts a value, and returns its bin.
func (g *counter) add(group int, v float64) (bin int) {
	switch {
	case v != v:
		bin = len(g.total) - 1
	case g.levels == nil:
		bin = sort.SearchFloat64s(g.Bounds, v)
	case v >= 0 && int(v) < len(g.levels):
		bin = g.levels[int(v)]
	default:
		bin = g.levels[0]
	}
	if group %= numberOfGroups; g.by[group] == nil {
		g.by[group] = make([]float64, len(g.total))
	}
	g.total[bin]++
	g.by[group][bin]++
	return bin
}

// effective returns the effective number of documents: with V_b the variance of the share p_b between groups, and B bins,
// (B − 1) / Σ_b V_b/p_b (Rao & Scott, JASA 1981). It is at most the number of documents.
func (g *counter) effective() float64 {
	n, bins, sum := floats.Sum(g.total), -1., 0.
	var sizes [numberOfGroups]float64
	for i, own := range g.by {
		sizes[i] = floats.Sum(own)
	}
	for b, x := range g.total {
		if x == 0 {
			continue
		}
		bins++
		for i, own := range g.by {
			if own != nil {
				d := own[b] - x/n*sizes[i]
				sum += d * d / (n * x)
			}
		}
	}
	if bins < 1 || sum == 0 {
		return n
	}
	return min(n, bins/sum)
}

// freedom returns the degrees of freedom of effective numbers: the groups with documents, less one.
func (g *counter) freedom() float64 {
	free := -1.
	for _, own := range g.by {
		if own != nil {
			free++
		}
	}
	return free
}

// contrasts returns three weights of the bins of numbers, with the mean 0: the position u of a bin among the reference, its squared
// distance from the middle, and log(1 − u), by which a factor is seen best where values are exponential (Savage 1956). The missing
// values have 0. Texts have one, which is 1 for those that training did not see.
func (c *Column) contrasts() (all [][]float64) {
	present := c.Counts[:max(0, len(c.Counts)-1)]
	n := floats.Sum(present)
	if n == 0 {
		return nil
	}
	if c.Bounds == nil {
		unseen := make([]float64, len(c.Counts))
		unseen[len(unseen)-2] = 1
		return [][]float64{unseen}
	}
	all = [][]float64{make([]float64, len(c.Counts)), make([]float64, len(c.Counts)), make([]float64, len(c.Counts))}
	below := 0.
	for b, x := range present {
		u := (below + x/2) / n
		below += x
		all[0][b], all[1][b], all[2][b] = u, (u-.5)*(u-.5), math.Log(1-min(u, 1-1e-6))
	}
	for _, weights := range all {
		floats.AddConst(-floats.Dot(present, weights[:len(present)])/n, weights[:len(present)])
	}
	return all
}

// effectiveFor is effective for the mean of weights of the bins.
func (g *counter) effectiveFor(weights []float64) float64 {
	n := floats.Sum(g.total)
	mean, variance, sum := 0., 0., 0.
	for b, x := range g.total {
		mean += x / n * weights[b]
	}
	for b, x := range g.total {
		variance += x / n * (weights[b] - mean) * (weights[b] - mean)
	}
	for _, own := range g.by {
		d := 0.
		for b, x := range own {
			d += x * (weights[b] - mean)
		}
		sum += d * d
	}
	if sum == 0 || variance == 0 {
		return n
	}
	return min(n, variance*n*n/sum)
}

// check returns an error if a reference does not fit a file.
func (r *Reference) check(f *File) error {
	if r == nil {
		return nil
	}
	if len(r.Columns) != len(f.FeatureIDs) {
		return fmt.Errorf("a reference of %d features for %d feature ids", len(r.Columns), len(f.FeatureIDs))
	}
	for i := range r.Columns {
		if err := r.Columns[i].check(f.Levels != nil && f.Levels[i] != nil); err != nil {
			return fmt.Errorf("the reference of feature %d: %w", f.FeatureIDs[i], err)
		}
	}
	if r.Scores != nil {
		return r.Scores.check(false)
	}
	return nil
}

func (c *Column) check(ofText bool) error {
	bins := len(c.Bounds) + 2
	if ofText {
		bins = len(c.Texts) + 3
	}
	bad := func(x float64) bool { return !(x >= 0) || math.IsInf(x, 0) }
	switch {
	case c.Counts == nil:
		return nil
	case len(c.Counts) != bins || ofText != (c.Bounds == nil) && len(c.Bounds) > 0 || !ofText && c.Texts != nil || floats.Sum(c.Counts) == 0:
		return fmt.Errorf("%d counts for %d bounds and %d texts", len(c.Counts), len(c.Bounds), len(c.Texts))
	case slices.ContainsFunc(c.Counts, bad) || slices.ContainsFunc(c.Effective, bad) || len(c.Effective) == 0 ||
		len(c.Effective) > 1+len(c.contrasts()):
		return errors.New("counts that are not finite, or negative")
	case !slices.IsSorted(c.Bounds) || slices.ContainsFunc(c.Bounds, math.IsNaN):
		return errors.New("bounds that do not ascend")
	}
	return nil
}

// Value returns the number below which a share of the documents is, by the bounds.
func (c *Column) Value(share float64) float64 {
	present := c.Counts[:len(c.Bounds)]
	n := floats.Sum(present)
	below := 0.
	for b, x := range present {
		if share*n <= below+x || b == len(present)-1 {
			if b == 0 || x == 0 || len(c.Bounds) != mostBounds { // fewer or more are all values that there are
				return c.Bounds[b]
			}
			return c.Bounds[b-1] + (c.Bounds[b]-c.Bounds[b-1])*min(1, (share*n-below)/x)
		}
		below += x
	}
	return 0
}
