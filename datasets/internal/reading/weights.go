package reading

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"

	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// setWeights finds the weights of documents or queries, if there are any: in the
// column that the options name, and in the file beside the data.
func setWeights(t *table.Table, sizes *querySizes) error {
	t.HasWeights = t.Options.WeightColumn != ""
	path := files.Weights(t.Path)
	weights, err := readWeights(path, t.Options)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	if sizes != nil && len(weights) == len(sizes.sizes) && len(weights) != t.Rows {
		weights = withoutEmpty(weights, sizes.sizes)
	}
	switch {
	case len(weights) == t.Rows && t.HasWeights:
		return fmt.Errorf("datasets: %s: the weights of documents are in column %q: want one of the two", path, t.Options.WeightColumn)
	case len(weights) == t.Rows:
		for _, c := range t.Chunks {
			c.Weights, weights = weights[:len(c.Labels)], weights[len(c.Labels):]
		}
		t.HasWeights = true
	case len(weights) == len(t.Queries):
		for q, w := range weights {
			t.Queries[q].Weight = w
		}
		t.HasQueryWeights = true
	default:
		return fmt.Errorf("datasets: %s: %d weights, but %s has %d documents and %d queries: want one weight a line, of every document or of every query",
			path, len(weights), t.Path, t.Rows, len(t.Queries))
	}
	return nil
}

// readWeights reads numbers, one a line.
func readWeights(path string, o table.Options) ([]float32, error) {
	f, err := textfile.Open(o.Ctx(), path)
	if err != nil {
		return nil, textfile.At(path, err)
	}
	defer f.Close()
	weights := []float32{}
	lines := bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		w, err := text.Field(lines.Bytes())
		if err != nil || !table.IsWeight(w) {
			return nil, fmt.Errorf("%s:%d: %s is not a weight: want a number of 0 or more", path, line, text.Quote(lines.Bytes()))
		}
		weights = append(weights, w)
	}
	if err := lines.Err(); err != nil {
		return nil, textfile.At(path, err)
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
