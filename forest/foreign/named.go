package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/forest"
)

// columns numbers features by their names, in the order in which they come.
type columns struct {
	names  []string
	number map[string]int
}

func (c *columns) column(name string) int {
	i, known := c.number[name]
	if !known {
		if c.number == nil {
			c.number = map[string]int{}
		}
		i = len(c.names)
		c.names, c.number[name] = append(c.names, name), i
	}
	return i
}

// use makes these the features of the forest.
func (m *Model) use(c *columns) {
	m.Names, m.Forest.Inputs = c.names, len(c.names)
}

// weigh makes a linear model of the weights of features.
func (m *Model) weigh(weights map[string]float64) error {
	maps.DeleteFunc(weights, func(_ string, w float64) bool { return w == 0 })
	m.Names = slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b)) // ids ascend
	})
	if m.Forest.Inputs = len(m.Names); m.Names == nil {
		return errors.New("no feature has a weight")
	}
	for _, name := range m.Names {
		m.Weights = append(m.Weights, weights[name])
	}
	for _, w := range append([]float64{m.Bias}, m.Weights...) {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return fmt.Errorf("a weight is %v, want a finite number", w)
		}
	}
	return nil
}

// grow adds a tree to the forest. read returns a node of the file's tree, from its root on, as one of a forest, and its left and right
// child; a leaf has none, and its value as threshold. Leaves are multiplied by the weight.
func grow[N any](m *Model, weight float64, root N, read func(N) (n forest.Node, children []N, err error)) error {
	type place struct {
		from   N
		parent int
		right  bool // child of the parent
	}
	var t forest.Tree
	for open := []place{{root, -1, false}}; len(open) > 0; {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		n, children, err := read(p.from)
		if err != nil {
			return m.inTree(err)
		}
		id := len(t.Nodes)
		if children == nil {
			id = ^len(t.Leaves)
			t.Leaves = append(t.Leaves, n.Threshold*weight)
		} else {
			t.Nodes = append(t.Nodes, n)
			open = append(open, place{children[1], id, true}, place{children[0], id, false})
		}
		switch {
		case p.parent < 0:
		case p.right:
			t.Nodes[p.parent].Right = id
		default:
			t.Nodes[p.parent].Left = id
		}
	}
	m.Forest.Trees = append(m.Forest.Trees, t)
	return nil
}

// inTree names the next tree in an error.
func (m *Model) inTree(err error) error { return fmt.Errorf("tree %d: %w", len(m.Forest.Trees), err) }

// A javaFloat is a finite float in JSON, which Java also takes from a text, such as "0.5" or "1f".
type javaFloat struct {
	v     float32
	given bool
}

// UnmarshalJSON reads a number or a text.
func (f *javaFloat) UnmarshalJSON(text []byte) (err error) {
	f.given = true
	f.v, err = float32Of(strings.Trim(string(text), `"`))
	return err
}

// float32Of reads a finite float as Java writes it.
func float32Of(word string) (float32, error) {
	word = strings.TrimRight(strings.TrimSpace(word), "fFdD")
	v, err := strconv.ParseFloat(word, 32)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%.40q, want a finite number", word)
	}
	return float32(v), nil
}
