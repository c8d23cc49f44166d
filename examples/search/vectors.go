package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
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

// readVectors reads CSV without a header: the id of a product, or the text of a query in small letters, and the numbers of its vector.
// Queries that it lacks are searched by words alone.
func readVectors(path string) (*Vectors, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll() // which wants as many columns in every row
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	byKey := map[string][]float64{}
	for i, row := range rows {
		vector := make([]float64, len(row)-1)
		for d, text := range row[1:] {
			if vector[d], err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
			}
		}
		if length := floats.Norm(vector, 2); length-length != 0 {
			return nil, fmt.Errorf("%s:%d: want finite numbers", path, i+1)
		}
		if _, twice := byKey[row[0]]; twice {
			return nil, fmt.Errorf("%s:%d: %q has two vectors", path, i+1, row[0])
		}
		byKey[row[0]] = unit(vector)
	}
	if len(byKey) == 0 {
		return nil, fmt.Errorf("%s: no vectors", path)
	}
	return &Vectors{byKey, func(text string) []float64 { return byKey[strings.Join(strings.Fields(strings.ToLower(text)), " ")] }}, nil
}

// Cosine returns the cosine of a product to a vector of embed; 0 if one of the two has none.
func (v *Vectors) Cosine(query []float64, p *Product) float64 {
	if vector := v.products[p.ID]; query != nil && vector != nil {
		return floats.Dot(query, vector)
	}
	return 0
}
