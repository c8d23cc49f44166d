package reading

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// readValues reads a file with a value a line.
func readValues(ctx context.Context, path string, add func(line []byte) error) (found bool, err error) {
	f, err := textfile.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		if err := add(lines.Bytes()); err != nil {
			return true, fmt.Errorf("datasets: %s:%d: %w", path, line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return true, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	return true, nil
}

// querySizes is a file with the number of rows of each query.
type querySizes struct {
	path  string
	sizes []int
}

// readSizes reads the file of query sizes beside a data file; nil if there is none.
func readSizes(ctx context.Context, path string) (*querySizes, error) {
	for _, path := range files.Sizes(path) {
		s := &querySizes{path: path}
		found, err := readValues(ctx, path, func(line []byte) error {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				return nil
			}
			n, err := strconv.ParseInt(string(line), 10, 32)
			if err != nil || n < 0 {
				return fmt.Errorf("%s is not a query size: want the number of documents of a query", text.Quote(line))
			}
			s.sizes = append(s.sizes, int(n))
			return nil
		})
		if found || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// check checks that the sizes add up to the rows of a file.
func (s *querySizes) check(t *table.Table) error {
	if s == nil {
		return nil
	}
	sum := 0
	for _, n := range s.sizes {
		sum += n
	}
	if sum != t.Rows {
		return fmt.Errorf("datasets: %s: the sizes sum to %d, but %s has %d documents", s.path, sum, t.Path, t.Rows)
	}
	return nil
}

// readNames reads the file of the names of features beside a data file, by id; nil if there is
// none. A line is an id, a blank and a name; what follows another blank is not read, as the type
// in a feature map of XGBoost.
func readNames(ctx context.Context, path string) (map[int]string, error) {
	path = files.Names(path)
	names, ids := map[int]string{}, map[string]int{}
	found, err := readValues(ctx, path, func(line []byte) error {
		words := bytes.Fields(line)
		if len(words) == 0 {
			return nil
		}
		id, err := strconv.ParseUint(string(words[0]), 10, 31)
		if err != nil || len(words) < 2 {
			return fmt.Errorf("%s: want the id of a feature and its name, such as 3 bm25", text.Quote(line))
		}
		if err := text.CheckUTF8(words[1]); err != nil {
			return err
		}
		name := string(words[1])
		if other, twice := ids[name]; twice && other != int(id) {
			return fmt.Errorf("features %d and %d are both named %s", other, id, text.Quote(words[1]))
		}
		if other, twice := names[int(id)]; twice && other != name {
			return fmt.Errorf("feature %d is named %s and %s", id, text.Quote([]byte(other)), text.Quote(words[1]))
		}
		names[int(id)], ids[name] = name, int(id)
		return nil
	})
	if !found || err != nil {
		return nil, err
	}
	return names, nil
}

// setWeights sets the weights that are in the file beside the data, if there is one.
func setWeights(t *table.Table, sizes *querySizes) error {
	path := files.Weights(t.Path)
	var weights []float32
	found, err := readValues(t.Options.Ctx(), path, func(line []byte) error {
		w, err := text.Field(line)
		if err != nil || !table.IsWeight(w) {
			return fmt.Errorf("%s is not a weight: want a number of 0 or more", text.Quote(line))
		}
		weights = append(weights, w)
		return nil
	})
	if !found || err != nil {
		return err
	}
	if sizes != nil && len(weights) == len(sizes.sizes) && len(weights) != t.Rows {
		q := -1 // queries of size 0 are not in the table
		weights = slices.DeleteFunc(weights, func(float32) bool { q++; return sizes.sizes[q] == 0 })
	}
	switch {
	case len(weights) == t.Rows && t.HasWeights:
		return fmt.Errorf("datasets: %s: the weights of documents are in column %q: want one of the two", path, t.Layout.Roles[table.WeightRole])
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
