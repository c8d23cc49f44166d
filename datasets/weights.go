package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// weightsOf tells whether a table has weights of documents, and of queries.
type weightsOf struct{ documents, queries bool }

// weightPath is the name under which the weights of a data file may lie.
func weightPath(path string) string { return withoutCompression(path) + ".weight" }

// setWeights finds the weights of documents or queries, if there are any: in the
// column that the options name, and in the file beside the data.
func (t *table) setWeights(sizes *querySizes) error {
	t.weights.documents = t.options.WeightColumn != ""
	path := weightPath(t.path)
	weights, err := readWeights(path, t.options)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	if sizes != nil && len(weights) == len(sizes.sizes) && len(weights) != t.rows {
		weights = withoutEmpty(weights, sizes.sizes)
	}
	switch {
	case len(weights) == t.rows && t.weights.documents:
		return fmt.Errorf("datasets: %s: the weights of documents are in column %q: want one of the two", path, t.options.WeightColumn)
	case len(weights) == t.rows:
		for _, c := range t.chunks {
			c.weights, weights = weights[:len(c.labels)], weights[len(c.labels):]
		}
		t.weights.documents = true
	case len(weights) == len(t.queries):
		for q, w := range weights {
			t.queries[q].weight = w
		}
		t.weights.queries = true
	default:
		return fmt.Errorf("datasets: %s: %d weights, but %s has %d documents and %d queries: want one weight a line, of every document or of every query",
			path, len(weights), t.path, t.rows, len(t.queries))
	}
	return nil
}

// readWeights reads numbers, one a line.
func readWeights(path string, o ReadOptions) ([]float32, error) {
	f, err := openSource(o.context(), path)
	if err != nil {
		return nil, at(path, err)
	}
	defer f.close()
	weights := []float32{}
	lines := bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		w, err := csvNumber(lines.Bytes())
		if err != nil || !isWeight(w) {
			return nil, fmt.Errorf("%s:%d: %s is no weight: want a number of 0 or more", path, line, quote(lines.Bytes()))
		}
		weights = append(weights, w)
	}
	if err := lines.Err(); err != nil {
		return nil, at(path, err)
	}
	return weights, nil
}

// withoutEmpty leaves out the weights of queries of size 0.
func withoutEmpty(weights []float32, sizes []int) []float32 {
	var left []float32
	for q, n := range sizes {
		if n > 0 {
			left = append(left, weights[q])
		}
	}
	return left
}

// WriteWeights writes the weights of a dataset as the file that ReadFile reads beside
// the one that WriteLETOR writes, FILE.weight: the weight of one document a line, or
// of one query. A dataset without weights is an error, and so is one with both kinds,
// or as many queries as documents and weights of queries: the file cannot tell.
func WriteWeights(w io.Writer, d *Dataset) error {
	if err := d.Validate(); err != nil {
		return err
	}
	weights := d.Weights
	switch {
	case d.Weights == nil && d.QueryWeights == nil:
		return fmt.Errorf("datasets: %s: there are no weights to write", d.Name)
	case d.Weights != nil && d.QueryWeights != nil:
		return fmt.Errorf("datasets: %s: weights of documents and of queries cannot be written to one file", d.Name)
	case d.Weights == nil && d.Queries() == d.Rows():
		return fmt.Errorf("datasets: %s: weights of queries of one document each would be read as weights of documents", d.Name)
	case d.Weights == nil:
		weights = d.QueryWeights
	}
	out := bufio.NewWriter(w)
	for _, weight := range weights {
		fmt.Fprintln(out, formatFloat(weight)) // a failed write stays failed
	}
	return flush(out, d)
}
