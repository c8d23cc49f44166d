package forward

import (
	"cmp"
	"fmt"
	"slices"
)

// An Embedding is the shape of the table of a categorical feature: a vector of Width numbers for
// each of its codes, which are 0 to Codes−1.
type Embedding struct {
	Codes int `json:"codes"`
	Width int `json:"width"`
}

// EmbeddedWidth returns the width of rows after Embed.
func EmbeddedWidth(features int, embeddings []Embedding) int {
	for _, e := range embeddings {
		features += e.Width - 1
	}
	return features
}

// Embed replaces the codes at the end of every row, one for each table, by their vectors:
// x [rows, features], tables [codes, width], y [rows, as EmbeddedWidth says]. A code that a
// table does not have returns an error. (Rows and codes are few: it runs on one core.)
func Embed[T float](features int, embeddings []Embedding, tables [][]T, x, y []T) error {
	first := features - len(embeddings)
	for r := range len(x) / features {
		row := x[r*features : (r+1)*features]
		y = y[copy(y, row[:first]):]
		for i, e := range embeddings {
			code := int(row[first+i])
			if T(code) != row[first+i] || code < 0 || code >= e.Codes {
				return fmt.Errorf("row %d: the code of categorical feature %d is %v: want a whole number from 0 to %d", r, i, row[first+i], e.Codes-1)
			}
			y = y[copy(y, tables[i][code*e.Width:(code+1)*e.Width]):]
		}
	}
	return nil
}

// EmbedVJP sets the derivatives by table i, given those by y. Those of a code are summed
// up in the order of the rows, in float64. Its memory is in proportion to the rows: they have few of the codes of a large
// table.
func EmbedVJP[T float](features int, embeddings []Embedding, i int, x, dy, dtable []T) {
	before, width := EmbeddedWidth(features-len(embeddings)+i, embeddings[:i]), EmbeddedWidth(features, embeddings)
	e := embeddings[i]
	clear(dtable)
	code := func(r int) int { return int(x[r*features+features-len(embeddings)+i]) }
	order, sums := make([]int, len(x)/features), make([]float64, e.Width)
	for r := range order {
		order[r] = r
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(code(a), code(b)), cmp.Compare(a, b)) })
	for n, r := range order {
		for j, v := range dy[r*width+before:][:e.Width] {
			sums[j] += float64(v)
		}
		if n+1 == len(order) || code(order[n+1]) != code(r) {
			for j, v := range sums {
				dtable[code(r)*e.Width+j] = T(v)
			}
			clear(sums)
		}
	}
}
