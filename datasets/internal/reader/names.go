package reader

import (
	"fmt"

	"github.com/plrank/plrank/internal/text"
)

// Names are what the files of a collection share: the numbers of groups, and of the texts
// of categorical features by id.
type Names struct {
	Groups GroupNames
	Levels map[int]*text.Levels
}

// NewNames are the names before the first file: the levels that the options fix.
func NewNames(o Options) *Names {
	n := &Names{Levels: map[int]*text.Levels{}}
	for i, levels := range o.Levels {
		if levels != nil {
			n.Levels[o.FeatureIDs[i]] = text.FixedLevels(levels)
		}
	}
	return n
}

// Renumber gives the texts and groups of a chunk, which has numbered them by itself, the numbers of all.
func (n *Names) Renumber(c *Chunk, categorical []int, named func(id int) string) error {
	for k, id := range categorical {
		all := n.Levels[id]
		if all == nil {
			all = &text.Levels{}
			n.Levels[id] = all
		}
		numbers := make([]float32, 1+len(c.Levels[k].Names))
		for i, name := range c.Levels[k].Names {
			numbers[1+i] = all.Value([]byte(name))
		}
		if len(all.Names) > text.MostLevels {
			return fmt.Errorf("the categorical column %q has more than %d different texts: is it an amount, or an id of documents?", named(id), text.MostLevels)
		}
		at, width := locate([]int{id}, c.IDs)[0], len(c.IDs)
		for ; at < len(c.Values.Values); at += width {
			if v := c.Values.Values[at]; v == v {
				c.Values.Values[at] = numbers[int(v)]
			}
		}
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

// LevelsOf are the texts of the features, for a dataset; nil if all are numbers.
func (n *Names) LevelsOf(ids []int) [][]string {
	if len(n.Levels) == 0 {
		return nil
	}
	list := make([][]string, len(ids))
	for i, id := range ids {
		if l := n.Levels[id]; l != nil {
			list[i] = append([]string{}, l.Names...)
		}
	}
	return list
}
