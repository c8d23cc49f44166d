package main

import (
	"strings"

	"gonum.org/v1/gonum/floats"
)

// Vectors are vectors of products and of texts. The place for a model of your own is embed.
type Vectors struct {
	products map[string][]float64 // by id, of length 1
	embed    func(text string) []float64
}

// newVectors makes the vectors of a shop: by latent semantic analysis of its texts, or from a file.
func newVectors(shop *Shop, file string) (*Vectors, error) {
	if file != "" {
		return readVectors(file)
	}
	texts := make([]string, len(shop.Products))
	for i, p := range shop.Products {
		texts[i] = strings.Join([]string{p.Title, p.Brand, p.Category, p.Description}, " ")
	}
	embed, err := newLSA(texts)
	if err != nil {
		return nil, err
	}
	products := map[string][]float64{}
	for i, p := range shop.Products {
		products[p.ID] = embed(texts[i])
	}
	return &Vectors{products, embed}, nil
}

// Cosine returns the cosine of a product to a vector of embed; 0 if one of the two has none.
func (v *Vectors) Cosine(query []float64, p *Product) float64 {
	if vector := v.products[p.ID]; query != nil && vector != nil {
		return floats.Dot(query, vector)
	}
	return 0
}
