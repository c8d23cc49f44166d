package datasets

import (
	"slices"

	"github.com/plrank/plrank/internal/memory"
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

// WithProduct returns d with another product for the one of the same name, such as one whose matrices are learned. The features are
// copied, and the values of the product are made anew. It returns an error if d has no feature of that name, or not its vectors.
func (d *Dataset) WithProduct(p transforms.Product) (*Dataset, error) {
	columns, err := d.Choose(p.Name)
	if err != nil {
		return nil, err
	}
	a, b, err := p.Check(d.vectors())
	if err != nil {
		return nil, err
	}
	own, width := *d, d.Width()
	own.Features, own.Products = slices.Clone(d.Features), slices.Clone(d.Products)
	memory.For(d.Queries(), func(q int) {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			own.Features[r*width+columns[0]] = p.Value(d.Vector(a, r), d.Vector(b, r))
		}
	})
	for i := range own.Products {
		if own.Products[i].Name == p.Name {
			own.Products[i] = p
		}
	}
	return &own, nil
}
