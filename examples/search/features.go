package main

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/plrank/plrank/clicks"
)

// columns describes the features, for the log and for models: the scores of the search, attributes of the product, and
// features of the query, which are the same for all candidates. A model learns from them which attributes count for whom.
var columns = &clicks.Log{
	FeatureIDs: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	FeatureNames: []string{"fused", "bm25", "meaning", "title", "brand", "category", "description", // scores
		"price", "dear", "rating", "reviews", "days", "accessory", "seller", // attributes
		"words", "segment"}, // of the query
	Levels: [][]string{13: sellers, 15: segments},
}

// A Search is what somebody asks the shop for.
type Search struct {
	Text    string
	Segment string // of the user, one of segments
	Client  string
	Facets
}

// Key is the text of the query in the log. Estimates combine impressions of the same text, so it has all that decides what the
// same words ask for.
func (s Search) Key() string {
	words := strings.FieldsFunc(strings.ToLower(s.Text), func(c rune) bool { return unicode.IsSpace(c) || c == '|' })
	return strings.Join([]string{strings.Join(words, " "), s.Segment, s.Brand, s.Category}, "|")
}

// features returns the raw features of the candidates, row after row.
func features(s Search, hits []Hit) []float32 {
	var x []float32
	words := float32(len(strings.Fields(s.Text)))
	for _, h := range hits {
		x = append(x, float32(h.Score), float32(h.BM25), float32(h.Meaning))
		for _, score := range h.Fields {
			x = append(x, float32(score))
		}
		accessory := float32(0)
		if h.For != "" {
			accessory = 1
		}
		x = append(x, float32(math.Log(h.Price)), float32(h.Dear), float32(h.Rating), float32(math.Log1p(float64(h.Reviews))),
			float32(h.Days), accessory, level(sellers, h.Seller), words, level(segments, s.Segment))
	}
	return x
}

// level returns the number that stands for a text: its place, from 1, and 0 for others.
func level(texts []string, text string) float32 { return float32(slices.Index(texts, text) + 1) }
