package ranker

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/transforms"
)

// Unite returns models that number the texts of categories alike, as [Mix] wants them, and data that are read for all of them: as the
// first that is not a model of another library, and after these the texts that only others know, which are unseen to this one. Models
// of other libraries, whose files do not say them, have its gain, grade and columns. A model with texts in other columns keeps its
// texts, which Mix refuses. Unite returns an error for a forest that needs values changed first, and for a model with texts whose kind
// is not of this package.
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
		if !alike(m.file) {
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
		f := m.file
		number, other := !reflect.DeepEqual(f.Levels, levels) && alike(f), f.foreign != nil
		if !number && !other {
			continue
		}
		f, err := f.numbered(values, levels, numbers, number)
		if err != nil {
			return nil, err
		}
		if other {
			f.Gain, f.Grade, f.Columns = base.Gain, base.Grade, base.Columns
		}
		if united[i], err = New(f); err != nil {
			return nil, err
		}
	}
	return united, nil
}

// numbered returns a copy of the file; if it is to number the texts of categories anew, with these values by column.
func (f *File) numbered(values []map[string]int, levels [][]string, numbers []int, anew bool) (*File, error) {
	own := *f
	if !anew {
		return &own, nil
	}
	if f.Kind == MixtureKind {
		parts, err := f.parts()
		if err != nil {
			return nil, err
		}
		var weights []float64
		var models []*Model
		for _, p := range parts {
			part, err := p.file.numbered(values, levels, numbers, true)
			if err != nil {
				return nil, err
			}
			weights, models = append(weights, p.weight), append(models, &Model{file: part})
		}
		return Mix(weights, models...)
	}
	codes, err := own.renumberCategories(values)
	if err == nil && f.Kind == ForestKind {
		err = own.renumberSets(codes)
	} else if err == nil {
		err = own.renumberTables(codes)
	}
	own.Levels, own.NumberLevels = levels, numbers
	return &own, err
}

// renumberCategories gives the categories of the transform the values of their texts by column. It returns the new code of each old
// code by input of the model; forests of other libraries have no transform, and values for codes.
func (f *File) renumberCategories(values []map[string]int) (map[int][]int, error) {
	codes := map[int][]int{}
	if f.foreign != nil {
		for c, texts := range f.Levels {
			if codes[c] = []int{0}; texts == nil {
				delete(codes, c)
			}
			for _, text := range texts {
				codes[c] = append(codes[c], values[c][text])
			}
		}
		return codes, nil
	}
	t := *f.Transform
	t.Categories = slices.Clone(t.Categories)
	for i, category := range t.Categories {
		texts := f.Levels[category.Column]
		if texts == nil {
			continue
		}
		order := make([]int, len(category.Values)) // of old positions
		renumbered := make([]float32, len(order))
		for at, v := range category.Values {
			if v < 1 || int(v) > len(texts) {
				return nil, fmt.Errorf("ranker: category %d has the value %v, and %d texts", i, v, len(texts))
			}
			order[at], renumbered[at] = at, float32(values[category.Column][texts[int(v)-1]])
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(renumbered[a], renumbered[b]) })
		to := make([]int, category.Codes())
		for code := range transforms.FirstValue {
			to[code] = code
		}
		for at, from := range order {
			to[transforms.FirstValue+from] = transforms.FirstValue + at
		}
		slices.Sort(renumbered)
		t.Categories[i].Values = renumbered
		codes[t.Width()-len(t.Categories)+i] = to
	}
	f.Transform = &t
	return codes, nil
}

// renumberSets gives the sets of a forest new codes.
func (f *File) renumberSets(codes map[int][]int) error {
	ensemble, err := f.Forest()
	if err != nil {
		return err
	}
	changed := *ensemble
	changed.Trees = nil
	for _, t := range ensemble.Trees {
		nodes := slices.Clone(t.Nodes)
		for i, n := range nodes {
			to := codes[n.Column]
			if n.Set == nil || to == nil {
				continue
			}
			nodes[i].Set = make([]uint64, slices.Max(to)/64+1)
			for from, code := range to {
				if n.GoesLeft(float32(from)) {
					nodes[i].Set[code/64] |= 1 << (code % 64)
				}
			}
		}
		changed.Trees = append(changed.Trees, forest.Tree{Nodes: nodes, Leaves: t.Leaves})
	}
	return f.SetForest(&changed)
}

// renumberTables gives the vectors of embeddings new codes.
func (f *File) renumberTables(codes map[int][]int) error {
	f.Arrays = slices.Clone(f.Arrays)
	for i := range f.Transform.Categories {
		to := codes[f.Transform.Width()-len(f.Transform.Categories)+i]
		if to == nil {
			continue
		}
		at := slices.IndexFunc(f.Arrays, func(a Array) bool { return a.Name == model.Table(i) })
		if at < 0 || len(f.Arrays[at].Values)%len(to) != 0 {
			return fmt.Errorf("ranker: a model of kind %s: want a table of %d vectors named %s, to number its texts as another model does",
				f.Kind, len(to), model.Table(i))
		}
		values := slices.Clone(f.Arrays[at].Values)
		width := len(values) / len(to)
		for from, code := range to {
			copy(values[code*width:(code+1)*width], f.Arrays[at].Values[from*width:(from+1)*width])
		}
		f.Arrays[at].Values = values
	}
	return nil
}
