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

// branch adds a node to a tree, and its children, which child adds: 0 is the left one. It returns the number of the node.
func branch(t *forest.Tree, n forest.Node, child func(side int) (int, error)) (id int, err error) {
	id = len(t.Nodes)
	t.Nodes = append(t.Nodes, n)
	left, err := child(0)
	if err != nil {
		return 0, err
	}
	right, err := child(1)
	t.Nodes[id].Left, t.Nodes[id].Right = left, right
	return id, err
}

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
