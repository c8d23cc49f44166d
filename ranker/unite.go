package ranker

import (
	"reflect"
	"slices"

	"github.com/plrank/plrank/forest"
)

// Unite returns models that number the texts of categories alike, as [Mix] wants them, and data that are read for all of them: as the
// first that is not a model of another library, and after these the texts that only such forests know. Models of other libraries,
// whose files do not say them, have its gain, grade and columns. A model with texts in other columns, or with other numbers and not
// of another library, keeps its texts, which Mix refuses. Unite returns an error for a forest that needs values changed first.
func Unite(models ...*Model) ([]*Model, error) {
	base := models[0].file
	for _, m := range models {
		if base.foreign != nil && m.file.foreign == nil {
			base = m.file
		}
	}
	levels, numbers := slices.Clone(base.Levels), slices.Clone(base.NumberLevels)
	values := make([]map[string]int, len(levels)) // by text
	for c, texts := range base.Levels {
		if texts != nil {
			levels[c], values[c] = []string{}, map[string]int{}
		}
	}
	alike := func(f *File) bool { // so that only texts may differ
		return slices.EqualFunc(f.Levels, levels, func(a, b []string) bool { return (a == nil) == (b == nil) })
	}
	for _, m := range append([]*Model{{file: base}}, models...) {
		if !alike(m.file) || m.file != base && m.file.foreign == nil {
			continue
		}
		numbers = slices.DeleteFunc(numbers, func(id int) bool { return !slices.Contains(m.file.NumberLevels, id) })
		for c, texts := range m.file.Levels {
			for _, text := range texts {
				if values[c][text] == 0 {
					levels[c] = append(levels[c], text)
					values[c][text] = len(levels[c])
				}
			}
		}
	}
	united := slices.Clone(models)
	for i, m := range models {
		f := *m.file
		begins := func(all, texts []string) bool { return len(texts) <= len(all) && slices.Equal(texts, all[:len(texts)]) }
		other := f.foreign != nil
		number := !reflect.DeepEqual(f.Levels, levels) && alike(&f) && (other || slices.EqualFunc(levels, f.Levels, begins))
		if !number && !other {
			continue
		}
		if number {
			if other {
				if err := f.renumber(values); err != nil {
					return nil, err
				}
			}
			f.Levels, f.NumberLevels = levels, numbers
		}
		if other {
			f.Gain, f.Grade, f.Columns = base.Gain, base.Grade, base.Columns
		}
		var err error
		if united[i], err = New(&f); err != nil {
			return nil, err
		}
	}
	return united, nil
}

// renumber makes the forest of another library one of ours, whose categories have the values of their texts by column.
func (f *File) renumber(values []map[string]int) error {
	ensemble, err := f.Forest()
	if err != nil {
		return err
	}
	changed := *ensemble
	changed.Trees = nil
	for _, t := range ensemble.Trees {
		nodes := slices.Clone(t.Nodes)
		for i := range nodes {
			n := nodes[i]
			if n.Set == nil || f.Levels[n.Column] == nil {
				continue
			}
			nodes[i].Set = make([]uint64, len(values[n.Column])/64+1)
			for v, text := range f.Levels[n.Column] {
				if to := values[n.Column][text]; n.GoesLeft(float32(v + 1)) {
					nodes[i].Set[to/64] |= 1 << (to % 64)
				}
			}
		}
		changed.Trees = append(changed.Trees, forest.Tree{Nodes: nodes, Leaves: t.Leaves})
	}
	return f.SetForest(&changed)
}
