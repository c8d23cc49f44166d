// Package csvfile reads and writes CSV files with a header.
package csvfile

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"

	"github.com/plrank/plrank/internal/file"
)

// Read returns the header and the rows of a file, and an error if there are no rows.
func Read(path string) (columns []string, rows [][]string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) < 2 {
		return nil, nil, fmt.Errorf("%s has no rows", path)
	}
	return lines[0], lines[1:], nil
}

// Write writes lines, the first of which is the header. The file is complete or absent.
func Write(path string, lines [][]string) error {
	return file.Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(lines) })
}
