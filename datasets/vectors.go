package datasets

import (
	"reflect"
	"slices"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/transforms"
)

// Vectors holds each vector once. Select and Open share them between datasets.
type Vectors struct {
	Names      []string // such as the names of columns
	Dimensions []int
	Values     []float32 // of all vectors
}

// Vector returns a vector of a row, nil if it is missing. Its memory is shared.
func (d *Dataset) Vector(vector, row int) []float32 {
	at := d.VectorAt[row*len(d.Vectors.Names)+vector]
	if at < 0 {
		return nil
	}
	return d.Vectors.Values[at : at+d.Vectors.Dimensions[vector]]
}

// vectors returns the names and dimensions of the vectors.
func (d *Dataset) vectors() (list []transforms.Vector) {
	for i, name := range d.Vectors.Names {
		list = append(list, transforms.Vector{Name: name, Dimension: d.Vectors.Dimensions[i]})
	}
	return list
}

// WithProducts returns d with these products of its vectors as features, in place of its own. Features are copied. It returns
// an error if d has not the vectors of a product.
func (d *Dataset) WithProducts(products []transforms.Product) (*Dataset, error) {
	own, from := *d, []int(nil) // columns
	for c := range d.Width() {
		if !slices.ContainsFunc(d.Products, func(p transforms.Product) bool { return p.Name == d.FeatureName(c) }) {
			from = append(from, c)
		}
	}
	own.Products, own.FeatureIDs, own.FeatureNames, own.Levels = products, nil, nil, nil
	for _, c := range from {
		own.FeatureIDs, own.FeatureNames = append(own.FeatureIDs, d.FeatureIDs[c]), append(own.FeatureNames, d.FeatureName(c))
		if d.Levels != nil {
			own.Levels = append(own.Levels, d.Levels[c])
		}
	}
	sides := make([][2]int, len(products))
	for i := range products {
		a, b, err := products[i].Check(d.vectors())
		if err != nil {
			return nil, err
		}
		sides[i] = [2]int{a, b}
		own.FeatureIDs = append(own.FeatureIDs, text.MaxFeatureID-len(products)+1+i) // as they are read
		own.FeatureNames = append(own.FeatureNames, products[i].Name)
		if d.Levels != nil {
			own.Levels = append(own.Levels, nil)
		}
	}
	own.Features = make([]float32, d.Rows()*own.Width())
	memory.For(d.Queries(), func(q int) {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			row := own.Row(r)
			for i, c := range from {
				row[i] = d.Row(r)[c]
			}
			for i, side := range sides {
				row[len(from)+i] = products[i].Value(d.Vector(side[0], r), d.Vector(side[1], r))
			}
		}
	})
	return &own, nil
}

// WithProducts is [Dataset.WithProducts] of all splits.
func (s *Splits) WithProducts(products []transforms.Product) (*Splits, error) {
	own := *s
	for _, d := range []**Dataset{&own.Train, &own.Vali, &own.Test} {
		if *d == nil {
			continue
		}
		var err error
		if *d, err = (*d).WithProducts(products); err != nil {
			return nil, err
		}
	}
	return &own, nil
}

// ForModel returns d with the products of vectors that a model has, and d itself if they are the same.
func (d *Dataset) ForModel(m Model) (*Dataset, error) {
	if d.Products == nil || reflect.DeepEqual(d.Products, m.Products()) {
		return d, nil
	}
	return d.WithProducts(m.Products())
}
