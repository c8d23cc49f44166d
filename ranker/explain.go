package ranker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plrank/plrank/internal/parallel"
)

// A Comparison says which scores [Model.Explain] compares.
type Comparison struct {
	Document, Other int // rows; an Other of [MeanOfQuery] is the mean of all scores of the query
	Permutations    int // of the features, 4 or more; 0: 1,000. Each document of a mean has 4 at least. Forests need none
	Seed            uint64

	// Interactions asks for interactions of features, and Background for the parts of query features, from raw rows of other queries. Only
	// forests have them, see [Model.ExplainsExactly].
	Interactions bool
	Background   []float32
}

// MeanOfQuery stands for the mean of the scores of a query.
const MeanOfQuery = -1

// An Explanation divides the difference of two scores among the features: Difference = Base + Σ Values.
type Explanation struct {
	Difference float64   `json:"difference"`
	Base       float64   `json:"base,omitempty"` // the part of the base scores, 0 for models that take none
	Values     []float64 `json:"values"`         // by column; of a block, see Model.Block, at its first column
	// Errors are standard errors of the values; nil if these are exact, or means over 2 to 99 orders, too few to tell.
	Errors []float64 `json:"standard_errors,omitempty"`
	Exact  bool      `json:"exact,omitempty"`  // the values are exact
	Blocks [][]int   `json:"blocks,omitempty"` // of several columns, whose value is at the first

	Interactions []Interaction `json:"interactions,omitempty"` // that are not 0, the largest first
}

const (
	defaultPermutations = 1000
	mostPermutations    = 1_000_000
	mostBatch           = 256 // documents that are scored at once
	ordersAtOnce        = 256 // whose values are in memory
	leastOrders         = 100 // with standard errors: values ± 1.96 of them then have the true ones about as often as they should
)

// Explain divides the difference of the scores of two documents of a query among the features, by Shapley values.
// Features has the rows of all documents of the query, and base their base scores, as in [Model.ScoreOn]. The values of a forest,
// or of a mixture of forests, are exact: see [forest.Shares]. Those of other models are sampled.
//
// The players are the columns; products of the same two vectors are one, the first of them, see [Model.Block].
// Where the columns S have not been swapped between the documents a and b, and all others
// have,
//
//	v(S) = ½ (score of a − score of b),
//
// which is half of the difference for all columns and, with the signs reversed, for none. The swap leaves the values that a
// query has in each column, and so what a transform or a model sees of the other documents. If scores do not depend on other
// documents, the values equal the ones of the usual game that moves the features of b to their values in a (Lundberg & Lee
// 2017, with b as the background). Values are means over random orders of the columns (Castro, Gómez & Tejada 2009); as
// v of a set and of its complement are opposites, an order and its reverse, an antithetic pair, have the same
// contributions, and one of them is computed. The values and Base sum to the difference, whatever the number of permutations.
//
// The same seed gives the same values. Less than about 200 permutations have no standard errors. Explain returns the errors of
// [Model.ScoreOn], and an error for rows or numbers of permutations out of range.
func (m *Model) Explain(ctx context.Context, features, base []float32, c Comparison) (*Explanation, error) {
	scores, err := m.ScoreOn(ctx, nil, features, base)
	if err != nil {
		return nil, err
	}
	rows := len(scores)
	switch {
	case rows == 0:
		return nil, errors.New("ranker: a query without documents: want the document to explain, and another")
	case c.Document < 0 || c.Document >= rows:
		return nil, fmt.Errorf("ranker: document %d of a query of %d documents: want 0 to %d", c.Document, rows, rows-1)
	case c.Other != MeanOfQuery && (c.Other < 0 || c.Other >= rows):
		return nil, fmt.Errorf("ranker: other document %d of a query of %d documents: want 0 to %d, or MeanOfQuery", c.Other, rows, rows-1)
	case c.Permutations != 0 && c.Permutations < 4 || c.Permutations > mostPermutations:
		return nil, fmt.Errorf("ranker: %d permutations: want 4 to %d, or 0 for %d", c.Permutations, mostPermutations, defaultPermutations)
	case !m.exact && (c.Interactions || c.Background != nil):
		return nil, errors.New("ranker: interactions and the parts of query features are of forests, and of mixtures of forests")
	}
	others := []int{c.Other}
	if c.Other == MeanOfQuery {
		others = nil
		for d := range rows {
			others = append(others, d)
		}
	}
	e := &Explanation{Values: make([]float64, m.file.Transform.Inputs), Exact: m.exact}
	for _, b := range others {
		e.Difference += (scores[c.Document] - scores[b]) / float64(len(others))
		if base != nil {
			e.Base += (float64(base[c.Document]) - float64(base[b])) / float64(len(others))
		}
	}
	for column, first := range m.blocks {
		if first == column {
			continue
		}
		if block := m.Block(first); block[1] == column {
			e.Blocks = append(e.Blocks, block)
		}
	}
	if m.exact {
		err = m.explainTrees(ctx, features, others, c, e)
	} else {
		err = m.sample(ctx, scores, features, base, others, c, e)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// sample computes the values of an explanation from random orders, see [Model.Explain].
func (m *Model) sample(ctx context.Context, scores []float64, features, base []float32, others []int, c Comparison, e *Explanation) error {
	t := m.file.Transform
	g := &game{model: m, inputs: make([]float32, len(scores)*t.Width()), scores: scores, base: base, a: c.Document}
	g.spaces = make([]*space, parallel.Workers(ordersAtOnce))
	t.Query(g.inputs, features)
	g.setOutputs()
	e.Errors = make([]float64, t.Inputs)
	n, orders := float64(len(others)), c.orders(len(others))
	for _, b := range others {
		if err := g.play(ctx, b, orders, c.Seed, e); err != nil {
			return err
		}
	}
	for i := range e.Values {
		e.Values[i], e.Errors[i] = e.Values[i]/n, math.Sqrt(e.Errors[i])/n
	}
	if g.orders > 0 && g.orders < leastOrders {
		e.Errors = nil
	}
	return nil
}

// orders returns how many orders are computed for each of the other documents: each stands for its reverse, too, and two
// have a standard error.
func (c Comparison) orders(others int) int {
	return max(2, (cmp.Or(c.Permutations, defaultPermutations)/2+others-1)/others)
}

// Work is what the time of an explanation grows with.
type Work struct {
	Leaves    int // of forests, that are visited; with interactions, pairs of features above leaves
	Orders    int // of columns, for other models
	Passes    int // of the model
	Documents int // of all passes
}

// ExplainWork returns the work of [Model.Explain], at most. Columns in which two documents have the same value take part in no order.
// It returns no work for documents that the query does not have.
func (m *Model) ExplainWork(features []float32, c Comparison) (w Work) {
	width := m.file.Transform.Inputs
	rows := len(features) / width
	first, end := c.Other, c.Other+1
	if c.Other == MeanOfQuery {
		first, end = 0, rows
	}
	if c.Document < 0 || c.Document >= rows || first < 0 || end > rows {
		return w
	}
	if m.exact {
		w.Leaves = m.leaves(c) * (end - first) * max(1, 2*(len(c.Background)/width))
		return w
	}
	own, each := features[c.Document*width:], c.orders(end-first)
	differs := make([]int, width) // by the first column of a block: 1 + the last of the others
	for b := first; b < end; b++ {
		players := 0
		for _, column := range m.used {
			x, y, block := own[column], features[b*width+column], m.blocks[column]
			if x != y && (x == x || y == y) && differs[block] <= b {
				differs[block] = b + 1
				players++
			}
		}
		if players == 0 {
			continue
		}
		w.Orders += each
		if m.alone { // pairs in batches
			w.Passes, w.Documents = w.Passes+each*((2*players+mostBatch-1)/mostBatch), w.Documents+each*2*players
		} else {
			w.Passes, w.Documents = w.Passes+each*players, w.Documents+each*players*rows
		}
	}
	return w
}

// A game has the inputs of the documents of a query, and swaps some between document a and another.
type game struct {
	model  *Model
	inputs []float32 // rows × width
	scores []float64
	base   []float32
	a      int

	outputs [][]int  // the inputs of the model by raw column
	spaces  []*space // by worker
	orders  int      // that were played
	played  [ordersAtOnce]struct {
		columns []int     // in the order
		values  []float64 // v after each of them
	}
}

// A space has what one worker scores: whole queries, in which two documents change, or, if documents are scored alone, pairs.
type space struct {
	inputs     []float32
	scores     []float64
	own, other []float32 // the inputs of a pair
}

// setOutputs finds which inputs of the model each column has that scores depend on.
func (g *game) setOutputs() {
	t := g.model.file.Transform
	g.outputs = make([][]int, t.Inputs)
	at := 0
	add := func(column int) {
		if _, used := slices.BinarySearch(g.model.used, column); used {
			first := g.model.blocks[column]
			g.outputs[first] = append(g.outputs[first], at)
		}
		at++
	}
	for i := range t.Parts {
		for _, column := range t.PartColumns(i) {
			add(column)
		}
	}
	for _, c := range t.Categories {
		add(c.Column)
	}
}

// row returns the inputs of a document.
func (g *game) row(d int) []float32 {
	width := g.model.file.Transform.Width()
	return g.inputs[d*width : (d+1)*width]
}

// play adds the mean contributions of columns over a number of orders to the values of an explanation, and the squares of
// their standard errors to its errors.
func (g *game) play(ctx context.Context, b, orders int, seed uint64, e *Explanation) error {
	half := (g.scores[g.a] - g.scores[b]) / 2
	if g.base != nil {
		half -= (float64(g.base[g.a]) - float64(g.base[b])) / 2
	}
	var players []int
	for column, outputs := range g.outputs {
		if slices.ContainsFunc(outputs, func(i int) bool { return g.row(g.a)[i] != g.row(b)[i] }) {
			players = append(players, column)
		}
	}
	if len(players) == 0 {
		return nil
	}
	g.orders += orders
	sums, squares := make([]float64, len(g.outputs)), make([]float64, len(g.outputs))
	for first := 0; first < orders; first += ordersAtOnce {
		n := min(ordersAtOnce, orders-first)
		if err := parallel.Each(n, min(n, len(g.spaces)), func(worker, i int) (err error) {
			p := &g.played[i]
			p.columns = append(p.columns[:0], players...)
			rng := rand.New(rand.NewPCG(seed, uint64(b)*mostPermutations+uint64(first+i)))
			rng.Shuffle(len(p.columns), func(i, j int) { p.columns[i], p.columns[j] = p.columns[j], p.columns[i] })
			p.values, err = g.values(ctx, g.space(worker), p.values[:0], b, p.columns)
			return err
		}); err != nil {
			return err
		}
		for _, p := range g.played[:n] {
			before := -half
			for j, after := range p.values {
				if j == len(players)-1 {
					after = half // exactly
				}
				column := p.columns[j]
				sums[column] += after - before
				squares[column] += (after - before) * (after - before)
				before = after
			}
		}
	}
	n := float64(orders)
	for _, column := range players {
		mean := sums[column] / n
		e.Values[column] += mean
		e.Errors[column] += max(0, squares[column]/n-mean*mean) / (n - 1)
	}
	return nil
}

// space returns the space of a worker.
func (g *game) space(worker int) *space {
	if g.spaces[worker] == nil {
		width := g.model.file.Transform.Width()
		s := &space{own: make([]float32, width), other: make([]float32, width)}
		if g.model.alone {
			s.inputs, s.scores = make([]float32, mostBatch*width), make([]float64, mostBatch)
		} else {
			s.inputs, s.scores = slices.Clone(g.inputs), make([]float64, len(g.scores))
		}
		g.spaces[worker] = s
	}
	return g.spaces[worker]
}

// values appends to v its values after each of the columns has returned to its document. It looks at the context before
// each pass.
func (g *game) values(ctx context.Context, s *space, v []float64, b int, columns []int) ([]float64, error) {
	own, other := append(s.own[:0], g.row(b)...), append(s.other[:0], g.row(g.a)...) // of a and b, all columns swapped
	width := len(own)
	alone := g.model.alone
	rowA, rowB := g.a, b // in s.inputs
	if alone {           // all columns fill batches of pairs, however long the query is
		rowA, rowB = 0, 1
	}
	for i, column := range columns {
		for _, at := range g.outputs[column] {
			own[at], other[at] = other[at], own[at]
		}
		copy(s.inputs[rowA*width:], own)
		copy(s.inputs[rowB*width:], other)
		rows := len(s.scores)
		if alone {
			if rowA, rowB = rowA+2, rowB+2; rowA < rows && i < len(columns)-1 {
				continue
			}
			rows, rowA, rowB = rowA, 0, 1
		}
		err := ctx.Err()
		if err == nil {
			err = g.model.pass(ctx, s.scores[:rows], s.inputs[:rows*width])
		}
		if err != nil {
			return v, fmt.Errorf("ranker: %w", err)
		}
		if !alone {
			v = append(v, (s.scores[g.a]-s.scores[b])/2)
			continue
		}
		for r := 0; r < rows; r += 2 {
			v = append(v, (s.scores[r]-s.scores[r+1])/2)
		}
	}
	if !alone {
		copy(s.inputs[b*width:], g.row(b)) // for the next other document
	}
	return v, nil
}
