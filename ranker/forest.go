package ranker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/sparse"
)

// ForestKind is the Kind of files of forests, see [File.SetForest].
const ForestKind = "forest"

// forestSettings are the Settings of a forest.
type forestSettings struct {
	Inputs int     `json:"inputs"`
	Bias   float64 `json:"bias,omitempty"`
	Single bool    `json:"single,omitempty"`
}

func settingsOf(ensemble *forest.Forest) forestSettings {
	return forestSettings{ensemble.Inputs, ensemble.Bias, ensemble.Single}
}

// The columns of the array of nodes. Words is the number of 32-bit words of a set; −1: the node goes by the threshold.
const (
	nodeColumn = iota
	nodeThreshold
	nodeWords
	nodeMissingLeft
	nodeZeroMissing
	nodeLeft
	nodeRight
	nodeWidth
)

// SetForest stores a forest in the file. Its inputs are the outputs of the transform, whose part raw keeps features as they are,
// including missing values. The arrays are trees [trees, 2], the numbers of nodes and leaves of each; nodes, a row each, with columns,
// thresholds and children as in [forest.Node]; leaves; the sets of the nodes, one after another, in words of 32 bits; and the
// gains of the nodes, if they are known.
func (f *File) SetForest(ensemble *forest.Forest) error {
	if err := ensemble.Check(); err != nil {
		return err
	}
	settings, err := json.Marshal(settingsOf(ensemble))
	if err != nil {
		return err
	}
	var trees, nodes, leaves, sets, gains []float64
	known := false
	for _, t := range ensemble.Trees {
		trees = append(trees, float64(len(t.Nodes)), float64(len(t.Leaves)))
		leaves = append(leaves, t.Leaves...)
		for _, n := range t.Nodes {
			row := make([]float64, nodeWidth)
			row[nodeColumn], row[nodeLeft], row[nodeRight] = float64(n.Column), float64(n.Left), float64(n.Right)
			row[nodeThreshold] = max(-math.MaxFloat64, min(math.MaxFloat64, n.Threshold))
			row[nodeMissingLeft], row[nodeZeroMissing] = number(n.MissingLeft), number(n.ZeroMissing)
			for _, word := range n.Set {
				sets = append(sets, float64(uint32(word)), float64(word>>32))
			}
			if row[nodeWords] = -1; n.Set != nil {
				row[nodeThreshold], row[nodeWords] = 0, float64(2*len(n.Set))
			}
			nodes, gains, known = append(nodes, row...), append(gains, float64(n.Gain)), known || n.Gain != 0
		}
	}
	f.Kind, f.Settings, f.Dtype, f.Arrays, f.foreign, f.source = ForestKind, settings, "float64", nil, nil, nil
	for _, a := range []Array{
		{"trees", []int{len(ensemble.Trees), 2}, trees}, {"nodes", []int{len(nodes) / nodeWidth, nodeWidth}, nodes},
		{"leaves", []int{len(leaves)}, leaves}, {"sets", []int{len(sets)}, sets}, {"gains", []int{len(gains)}, gains},
	} {
		if len(a.Values) > 0 && (known || a.Name != "gains") { // a file has no empty arrays
			f.Arrays = append(f.Arrays, a)
		}
	}
	return nil
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Forest returns the forest of a file of kind [ForestKind]. It returns an error if the arrays or the transform do not fit, or
// if the forest is of another library and needs values that are not the raw ones.
func (f *File) Forest() (*forest.Forest, error) {
	if f.foreign != nil {
		return f.foreign.Plain()
	}
	var s forestSettings
	if err := json.Unmarshal(f.Settings, &s); err != nil {
		return nil, fmt.Errorf("the settings of the forest: %w", err)
	}
	if s.Inputs != f.Transform.Width() {
		return nil, fmt.Errorf("a forest of %d inputs and a transform that gives %d do not fit", s.Inputs, f.Transform.Width())
	}
	arrays := map[string]*cursor{
		"trees": {width: 2}, "nodes": {width: nodeWidth}, "leaves": {width: 1},
		"sets": {width: 1}, "gains": {width: 1},
	}
	for _, a := range f.Arrays {
		c := arrays[a.Name]
		if c == nil || len(a.Values)%c.width != 0 {
			return nil, fmt.Errorf("array %q of shape %v is none of a forest", a.Name, a.Shape)
		}
		c.left = a.Values
	}
	ensemble := &forest.Forest{Inputs: s.Inputs, Bias: s.Bias, Single: s.Single}
	withGains := arrays["gains"].left != nil // files of older versions have none
	for len(arrays["trees"].left) > 0 {
		tree := arrays["trees"].take(1)
		nodes, leaves := arrays["nodes"].take(tree[0]), arrays["leaves"].take(tree[1])
		if nodes == nil || leaves == nil {
			return nil, fmt.Errorf("tree %d has %v nodes and %v leaves: want as many as there are", len(ensemble.Trees), tree[0], tree[1])
		}
		t := forest.Tree{Leaves: leaves}
		for row := range slices.Chunk(nodes, nodeWidth) {
			n, err := nodeOf(row, arrays["sets"])
			if err != nil {
				return nil, fmt.Errorf("tree %d, node %d: %w", len(ensemble.Trees), len(t.Nodes), err)
			}
			if withGains {
				gain := arrays["gains"].take(1)
				if gain == nil || !(gain[0] >= 0 && gain[0] <= math.MaxFloat32) {
					return nil, fmt.Errorf("tree %d, node %d: the gain is %v, want a float32 of 0 or more for each node",
						len(ensemble.Trees), len(t.Nodes), gain)
				}
				n.Gain = float32(gain[0])
			}
			t.Nodes = append(t.Nodes, n)
		}
		ensemble.Trees = append(ensemble.Trees, t)
	}
	for _, c := range arrays {
		if len(c.left) > 0 {
			return nil, errors.New("nodes, leaves, sets or gains are left over after the last tree")
		}
	}
	return ensemble, ensemble.Check()
}

// A cursor takes rows from an array, one after another.
type cursor struct {
	width int
	left  []float64
}

// take returns that many rows, or nil if there are not as many.
func (c *cursor) take(rows float64) []float64 {
	if !(rows >= 0 && rows <= float64(len(c.left)/c.width)) || rows != math.Trunc(rows) {
		return nil
	}
	n := int(rows) * c.width
	if n == 0 {
		return []float64{} // of an array that may be missing
	}
	row := c.left[:n:n]
	c.left = c.left[n:]
	return row
}

func nodeOf(row []float64, sets *cursor) (n forest.Node, err error) {
	for i, v := range row {
		if i != nodeThreshold && (v != math.Trunc(v) || math.Abs(v) > math.MaxInt32) {
			return n, fmt.Errorf("%v in column %d: want a whole number", v, i)
		}
	}
	n = forest.Node{
		Column: int(row[nodeColumn]), Threshold: row[nodeThreshold], MissingLeft: row[nodeMissingLeft] != 0,
		ZeroMissing: row[nodeZeroMissing] != 0,
		Left:        int(row[nodeLeft]), Right: int(row[nodeRight]),
	}
	if row[nodeWords] < 0 {
		return n, nil
	}
	words := sets.take(row[nodeWords])
	if words == nil || len(words)%2 != 0 {
		return n, fmt.Errorf("a set of %v words: want an even number, and as many as there are", row[nodeWords])
	}
	n.Set = make([]uint64, 0, len(words)/2)
	for half := range slices.Chunk(words, 2) {
		low, high := uint64(half[0]), uint64(half[1])
		if float64(low) != half[0] || float64(high) != half[1] || low|high > math.MaxUint32 {
			return n, fmt.Errorf("the words %v of a set: want whole numbers of 32 bits", half)
		}
		n.Set = append(n.Set, high<<32|low)
	}
	return n, nil
}

// rowsAtOnce are scored between two looks at the context.
const rowsAtOnce = 1024

// forestScorer is the scorer of the file of a forest.
func (f *File) forestScorer() (s scorer, err error) {
	w := WeightedForest{Weight: 1, Columns: f.Transform.Outputs(), file: f}
	plain, err := f.Forest()
	var score func(scores []float64, x []float32)
	switch {
	case f.foreign != nil:
		w.Forest, w.inputs, score = f.foreign.Forest, f.foreign.Inputs, f.foreign.Score
	case err != nil:
		return s, err
	default:
		w.Forest, score = plain, plain.Compile().Score
		w.inputs = func(features []float32) []float32 {
			inputs := make([]float32, len(features)/f.Transform.Inputs*f.Transform.Width())
			f.Transform.Query(inputs, features)
			return inputs
		}
	}
	s = scorer{transform: f.Transform, alone: true, exact: true, forests: []WeightedForest{w}}
	s.pass = func(ctx context.Context, scores []float64, x []float32) error {
		for len(scores) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(scores), rowsAtOnce)
			score(scores[:n], x[:n*w.Inputs])
			scores, x = scores[n:], x[n*w.Inputs:]
		}
		return nil
	}
	s.gains, s.splits = make([]float64, f.Transform.Inputs), make([]int, f.Transform.Inputs)
	for _, t := range w.Trees {
		for _, n := range t.Nodes {
			c := w.Columns[n.Column]
			s.gains[c] += float64(n.Gain)
			s.splits[c]++
		}
	}
	for c, n := range s.splits {
		if n > 0 {
			s.used = append(s.used, c)
		}
	}
	if plain != nil && f.Transform.KeepsZeros() && f.Transform.Raw() {
		s.sparse = sparseForest(plain, w.Columns, f.Transform.Inputs)
	}
	return s, nil
}

// sparseForest returns the pass of a forest for sparse documents. It makes them dense in the columns that its trees ask for. Raw are
// the columns of its inputs.
func sparseForest(ensemble *forest.Forest, raw []int, width int) model.SparsePass {
	var scorer *forest.Scorer
	var places []int32
	used := 0
	compile := sync.OnceFunc(func() {
		small, columns := ensemble.Compact()
		for i, c := range columns {
			columns[i] = raw[c]
		}
		scorer, places, used = small.Compile(), sparse.Places(columns, width), len(columns)
	})
	return func(ctx context.Context, scores []float64, rows *sparse.Rows) error {
		compile()
		x := make([]float32, min(len(scores), sparseAtOnce)*used)
		for from := 0; from < len(scores); from += sparseAtOnce {
			if err := ctx.Err(); err != nil {
				return err
			}
			to := min(from+sparseAtOnce, len(scores))
			part := rows.Cut(from, to)
			part.Dense(x[:(to-from)*used], used, places)
			scorer.Score(scores[from:to], x[:(to-from)*used])
		}
		return nil
	}
}

// sparseAtOnce are scored as dense documents.
const sparseAtOnce = 64
