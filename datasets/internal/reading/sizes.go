package reading

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
)

// querySizes is a file with the number of rows of each query.
type querySizes struct {
	path  string
	sizes []int
}

// readSizes reads the file of query sizes beside a data file: one whole number
// a line, the number of rows of each query in turn. No such file: nil.
func readSizes(path string) (*querySizes, error) {
	for _, path := range files.Sizes(path) {
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		sizes, err := parseSizes(string(content))
		if err != nil {
			return nil, fmt.Errorf("datasets: %s:%w", path, err)
		}
		return &querySizes{path, sizes}, nil
	}
	return nil, nil
}

// parseSizes reads whole numbers, one a line. Errors begin with the line.
func parseSizes(list string) ([]int, error) {
	sizes := []int{}
	line := 0
	for s := range strings.Lines(list) {
		line++
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%d: %s is not a query size: want the number of documents of a query", line, text.Quote([]byte(s)))
		}
		sizes = append(sizes, int(n))
	}
	return sizes, nil
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
