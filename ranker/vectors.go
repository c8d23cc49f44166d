package ranker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/transforms"
)

// Vectors returns the names and dimensions of the vectors that features are made of, nil if none is.
func (m *Model) Vectors() []transforms.Vector { return m.file.Vectors }

// Products returns the features that are made of vectors, by their names. A row has their values as any other.
func (m *Model) Products() []transforms.Product { return m.file.Products }

// Multiply sets the features that are products of vectors in rows of features, as they are for [Model.Score]. The function returns a
// vector of a document: of Vectors, by position; nil: it is missing. Multiply returns an error that names a vector of another
// dimension, or one with a number that is not finite.
func (m *Model) Multiply(features []float32, vector func(vector, document int) []float32) error {
	width := len(m.file.FeatureIDs)
	for d := range len(features) / width {
		for i, want := range m.file.Vectors {
			v := vector(i, d)
			if d > 0 && len(v) > 0 && len(v) == len(vector(i, d-1)) && &v[0] == &vector(i, d-1)[0] {
				continue // the query's
			}
			if v != nil && len(v) != want.Dimension {
				return fmt.Errorf("ranker: document %d: the vector %s has the dimension %d, want %d", d, want.Name, len(v), want.Dimension)
			}
			if sum := vek32.Sum(v); sum-sum == 0 {
				continue
			}
			if at := slices.IndexFunc(v, func(x float32) bool { return x-x != 0 }); at >= 0 {
				return fmt.Errorf("ranker: document %d: number %d of the vector %s is %v: want finite numbers", d, at, want.Name, v[at])
			}
		}
	}
	for i := range m.file.Products {
		p := &m.file.Products[i]
		a, b, err := p.Check(m.file.Vectors)
		if err != nil {
			return err
		}
		for d := range len(features) / width {
			features[d*width+m.columns[p.Name]] = p.Value(vector(a, d), vector(b, d))
		}
	}
	return nil
}

// Block returns the columns whose features explanations and importances take as one: of those that the model uses, all products of
// the same two vectors as the one of a column. Any other column is a block of its own.
func (m *Model) Block(column int) (block []int) {
	for _, c := range m.used {
		if m.blocks[c] == m.blocks[column] {
			block = append(block, c)
		}
	}
	if block == nil {
		return []int{column}
	}
	return block
}

// blocksOf returns the first column of the block of each column.
func blocksOf(f *File, used []int) []int {
	blocks, first := make([]int, len(f.FeatureIDs)), map[[2]string]int{}
	for c := range blocks {
		blocks[c] = c
	}
	for i, p := range f.Products {
		_, a, b, _ := transforms.ParseProduct(p.Name)
		c, vectors := len(blocks)-len(f.Products)+i, [2]string{min(a, b), max(a, b)}
		if _, found := slices.BinarySearch(used, c); !found {
			continue
		}
		if at, found := first[vectors]; found {
			blocks[c] = at
		} else {
			first[vectors] = c
		}
	}
	return blocks
}

// BlockName returns the names of the features of a [Model.Block], such as "cosine(q,d), dot(q,d)".
func (m *Model) BlockName(column int) string {
	var names []string
	for _, c := range m.Block(column) {
		names = append(names, m.FeatureName(c))
	}
	return strings.Join(names, ", ")
}
