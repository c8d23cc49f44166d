package reader

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/internal/text"
)

// Names are what the files of a collection share: the numbers of groups, and of the texts
// of categorical features by id.
type Names struct {
	Groups GroupNames
	Levels map[int]*text.Levels

	Vectors *VectorBlock
}

// NewNames are the names before the first file: the levels that the options fix.
func NewNames(o Options) *Names {
	n := &Names{Levels: map[int]*text.Levels{}, Vectors: newVectorBlock()}
	for i, levels := range o.Levels {
		if levels != nil {
			n.Levels[o.FeatureIDs[i]] = text.FixedLevels(levels, slices.Contains(o.NumberLevels, o.FeatureIDs[i]))
		}
	}
	return n
}

// Renumber gives the texts and groups of a chunk, which has numbered them by itself, the numbers of all. It counts the texts
// that are not among fixed levels.
func (n *Names) Renumber(c *Chunk, l *Layout, unknown text.Tally) error {
	for k, id := range l.Categorical {
		all := n.Levels[id]
		if all == nil {
			all = text.NewLevels()
			n.Levels[id] = all
		}
		names := c.Levels[k].Names
		numbers, times := make([]float32, 1+len(names)), make([]int, 1+len(names))
		for i, name := range names {
			numbers[1+i] = all.Value([]byte(name), l.form(k))
		}
		if len(all.Names) > text.MostLevels && !all.Fixed() {
			return fmt.Errorf("the categorical column %q has more than %d different texts: is it an amount, or an id of documents?",
				l.Names[id], text.MostLevels)
		}
		c.replace(id, func(v float32) float32 {
			times[int(v)]++
			return numbers[int(v)]
		})
		for i, name := range names {
			if numbers[1+i] == 0 {
				unknown.Add(id, name, times[1+i])
			}
		}
	}
	if l.IDs == nil { // LETOR text, which has numbers alone
		n.replaceNumbers(c, unknown)
	}
	groups := make([]int, len(c.GroupNames.Names))
	for i, name := range c.GroupNames.Names {
		groups[i] = n.Groups.Number([]byte(name))
	}
	for r, g := range c.Groups {
		if g >= 0 {
			c.Groups[r] = groups[g]
		}
	}
	return nil
}

// replaceNumbers replaces numbers by the levels that they stand for.
func (n *Names) replaceNumbers(c *Chunk, unknown text.Tally) {
	for id, levels := range n.Levels {
		values, times := map[float32]float32{}, map[float32]int{}
		c.replace(id, func(v float32) float32 {
			value, known := values[v]
			if !known {
				value = levels.NumberValue(v)
				values[v] = value
			}
			if value == 0 {
				times[v]++
			}
			return value
		})
		for v, times := range times {
			unknown.Add(id, strconv.FormatFloat(float64(v), 'f', -1, 32), times)
		}
	}
}

// LevelsOf are the texts of the features, for a dataset; nil if all are numbers. Numbers are the ids of features whose texts are.
func (n *Names) LevelsOf(ids []int) (list [][]string, numbers []int) {
	if len(n.Levels) == 0 {
		return nil, nil
	}
	list = make([][]string, len(ids))
	for i, id := range ids {
		if l := n.Levels[id]; l != nil {
			list[i] = append([]string{}, l.Names...)
			if l.Numbers {
				numbers = append(numbers, id)
			}
		}
	}
	return list, numbers
}
