package ranker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/transforms"
)

// An Interaction is what two features add to the difference of two scores together, beyond what each adds alone: the interaction
// index of [forest.Shares]. Half of it is in the value of each.
type Interaction struct {
	Columns [2]int  `json:"features"`
	Value   float64 `json:"value"`
}

// A WeightedForest is a forest whose sum has a weight in the score of a model. Its inputs are the features [Model.FeatureIDs] in Columns.
type WeightedForest struct {
	*forest.Forest
	Weight  float64
	Columns []int
	file    *File
	inputs  func(features []float32) []float32 // of the documents of one query
}

// Category returns the raw value that a code in the sets of an input stands for, NaN for a missing one. It is not known for the code of
// all values that training did not see.
func (w *WeightedForest) Category(input, code int) (value float32, known bool) {
	t := w.file.Transform
	if w.file.foreign != nil {
		return w.file.foreign.Category(input, code), true
	}
	at := input - (t.Width() - len(t.Categories))
	switch {
	case at < 0:
		return float32(code), true
	case code == transforms.MissingValue:
		return float32(math.NaN()), true
	case code < transforms.FirstValue || code >= t.Categories[at].Codes():
		return 0, false
	}
	return t.Categories[at].Values[code-transforms.FirstValue], true
}

// Forests returns the forest that the model is, or the ones of a mixture, which must not be changed.
func (m *Model) Forests() []WeightedForest { return m.forests }

// ExplainsExactly reports whether the model is a forest or a mixture of forests, whose explanations are exact.
func (m *Model) ExplainsExactly() bool { return m.exact }

// explainTrees computes the explanation of a forest, see [Model.Explain]. The game of documents a and b compares a with b. With a
// background, query features that are not in S have their values in another query:
//
//	v(S) = f(a where S, b elsewhere) − f(b),
//
// both with the query features in S of this query, and those that are not of the other one. That is the difference of two games.
func (m *Model) explainTrees(ctx context.Context, features []float32, others []int, c Comparison, e *Explanation) error {
	width := m.file.Transform.Inputs
	if len(c.Background)%width != 0 {
		return fmt.Errorf("ranker: %d values of a background are not rows of %d features", len(c.Background), width)
	}
	if err := m.checkFeatures(c.Background); err != nil {
		return fmt.Errorf("%w, in the background", err)
	}
	shares := forest.Shares{Values: e.Values}
	if c.Interactions {
		shares.Pairs = map[[2]int]float64{}
	}
	elsewhere := m.elsewhere(features, c.Background)
	for _, f := range m.forests {
		row := func(inputs []float32, d int) []float32 { return inputs[d*f.Inputs : (d+1)*f.Inputs] }
		own := f.inputs(features)
		weight := f.Weight / float64(len(others)*len(elsewhere))
		players := make([]int, len(f.Columns))
		for i, column := range f.Columns {
			players[i] = m.blocks[column]
		}
		for i := range elsewhere {
			away := f.inputs(elsewhere[i])
			for _, b := range others {
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("ranker: %w", err)
				}
				shares.Add(f.Forest, row(own, c.Document), row(away, b), players, weight)
				if len(c.Background) > 0 {
					shares.Add(f.Forest, row(own, b), row(away, b), players, -weight)
				}
			}
		}
	}
	for columns, value := range shares.Pairs {
		if value != 0 {
			e.Interactions = append(e.Interactions, Interaction{columns, value})
		}
	}
	slices.SortFunc(e.Interactions, func(a, b Interaction) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)), slices.Compare(a.Columns[:], b.Columns[:]))
	})
	return nil
}

// elsewhere returns the features of a query with the query features of each row of a background: those whose values all documents
// of the query share. Without a background it returns the query itself.
func (m *Model) elsewhere(features, background []float32) [][]float32 {
	if len(background) == 0 {
		return [][]float32{features}
	}
	width := m.file.Transform.Inputs
	var list [][]float32
	for row := range slices.Chunk(background, width) {
		list = append(list, slices.Clone(features))
		for c, x := range row {
			if constant(features, c, width) {
				for i := c; i < len(features); i += width {
					list[len(list)-1][i] = x
				}
			}
		}
	}
	return list
}

// constant reports whether all documents have the same value in a column.
func constant(features []float32, column, width int) bool {
	for i := column; i < len(features); i += width {
		if x, y := features[i], features[column]; x != y && (x == x || y == y) {
			return false
		}
	}
	return true
}

// leaves returns the most leaves that an explanation of two documents visits.
func (m *Model) leaves(c Comparison) (leaves int) {
	for _, f := range m.forests {
		for i := range f.Trees {
			n := len(f.Trees[i].Leaves)
			if c.Interactions {
				depth := min(f.Trees[i].Depth(), len(m.used))
				n *= max(1, depth*(depth-1)/2)
			}
			leaves += n
		}
	}
	return leaves
}
