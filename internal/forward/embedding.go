package forward

import "fmt"

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
// up in the order of the rows, in float64.
func EmbedVJP[T float](features int, embeddings []Embedding, i int, x, dy, dtable []T) {
	before, width := EmbeddedWidth(features-len(embeddings)+i, embeddings[:i]), EmbeddedWidth(features, embeddings)
	e := embeddings[i]
	sums := make([]float64, len(dtable))
	for r := range len(x) / features {
		code := int(x[r*features+features-len(embeddings)+i])
		for j, v := range dy[r*width+before:][:e.Width] {
			sums[code*e.Width+j] += float64(v)
		}
	}
	for j, v := range sums {
		dtable[j] = T(v)
	}
}
