package main

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// dimensions is the length of a vector: less than there are words, so that words of one meaning share dimensions.
const dimensions = 40

// newLSA returns a function that turns texts into vectors of length 1, or nil, by latent semantic analysis (Deerwester et al. 1990):
// words that come with the same words get similar vectors. It runs anywhere; a language model knows more.
func newLSA(texts []string) (func(text string) []float64, error) {
	rows, rare := map[string]int{}, []float64{} // by word; by row
	for _, text := range texts {
		for _, word := range wordsOf(text) {
			if _, known := rows[word]; !known {
				rows[word], rare = len(rows), append(rare, 0)
			}
			rare[rows[word]]++
		}
	}
	for row, n := range rare {
		rare[row] = math.Log(float64(len(texts)+1) / n)
	}
	weigh := func(text string) []float64 {
		weights := make([]float64, len(rows))
		for _, word := range wordsOf(text) {
			if row, known := rows[word]; known {
				weights[row] = rare[row]
			}
		}
		return weights
	}
	terms := mat.NewDense(len(rows), len(texts), nil)
	for column, text := range texts {
		terms.SetCol(column, weigh(text))
	}
	svd, axes := new(mat.SVD), new(mat.Dense)
	if !svd.Factorize(terms, mat.SVDThinU) {
		return nil, errors.New("no singular values of the words of the products")
	}
	svd.UTo(axes) // the most important first
	first := axes.Slice(0, len(rows), 0, min(dimensions, len(rows), len(texts)))
	return func(text string) []float64 {
		var vector mat.VecDense
		vector.MulVec(first.T(), mat.NewVecDense(len(rows), weigh(text)))
		return unit(vector.RawVector().Data)
	}, nil
}

// wordsOf returns the different words of a text.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	slices.Sort(words)
	return slices.Compact(words)
}

// unit returns a vector divided by its length, and nil if it has none.
func unit(vector []float64) []float64 {
	if length := floats.Norm(vector, 2); length > 1e-9 && !math.IsInf(length, 0) {
		floats.Scale(1/length, vector)
		return vector
	}
	return nil
}
