package table

import (
	"fmt"

	"github.com/plrank/plrank/datasets/internal/text"
)

// MostLevels bounds the different texts of a categorical feature, in all splits: one that has
// more is an amount, or tells documents apart.
const MostLevels = 100_000

// Levels numbers the texts of a categorical feature from 1 on, in the order in which they come.
// Numbers count as text: 7, 7.0 and +7 are one.
type Levels struct {
	Names  []string
	number map[string]int // of names, and of other spellings of them
	fixed  bool           // there are no others
}

// FixedLevels are those of a model, which learns no others.
func FixedLevels(names []string) *Levels {
	l := &Levels{}
	for _, name := range names {
		l.add(name)
	}
	l.fixed = true
	return l
}

func (l *Levels) add(name string) int {
	if l.number == nil {
		l.number = map[string]int{}
	}
	l.Names = append(l.Names, name)
	l.number[name] = len(l.Names)
	return len(l.Names)
}

// Value is how a text is kept as the value of a feature: by its number. It is 0 for one that is
// not among fixed levels, and missing for none.
func (l *Levels) Value(word []byte) float32 {
	if n, known := l.number[string(word)]; known {
		return float32(n)
	}
	if len(word) == 0 || text.IsMissing(word) {
		return text.Missing
	}
	name := string(word)
	if exact, n, err := text.Exact(word); err == nil && n == len(word) {
		name = string(exact)
	}
	n, known := l.number[name]
	switch {
	case !known && l.fixed:
		return 0
	case !known:
		n = l.add(name)
	}
	if !l.fixed { // which may serve several goroutines
		l.number[string(word)] = n
	}
	return float32(n)
}

// Names are what the files of a collection share: the numbers of groups, and those of the texts
// of categorical features by id.
type Names struct {
	Groups GroupNames
	Levels map[int]*Levels
}

// NewNames are the names before the first file: the levels that the options fix.
func NewNames(o Options) *Names {
	n := &Names{Levels: map[int]*Levels{}}
	for i, levels := range o.Levels {
		if levels != nil {
			n.Levels[o.FeatureIDs[i]] = FixedLevels(levels)
		}
	}
	return n
}

// Renumber gives the texts of a chunk, which has numbered them by itself, the numbers of all.
func (n *Names) Renumber(c *Chunk, categorical []int, named func(id int) string) error {
	for k, id := range categorical {
		all := n.Levels[id]
		if all == nil {
			all = &Levels{}
			n.Levels[id] = all
		}
		numbers := make([]float32, 1+len(c.Levels[k].Names))
		for i, name := range c.Levels[k].Names {
			numbers[1+i] = all.Value([]byte(name))
		}
		if len(all.Names) > MostLevels {
			return fmt.Errorf("the categorical column %q has more than %d different texts: is it an amount, or an id of documents?", named(id), MostLevels)
		}
		at, width := locate([]int{id}, c.IDs)[0], len(c.IDs)
		for ; at < len(c.Values.Values); at += width {
			if v := c.Values.Values[at]; v == v {
				c.Values.Values[at] = numbers[int(v)]
			}
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
