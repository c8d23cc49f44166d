package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/plrank/plrank/lab/internal/csvfile"
)

// csvPath is the file of a part's measurements, which its table is made of.
func csvPath(folder string, p *part) string { return filepath.Join(folder, p.name+".csv") }

// save writes every value of every run, with where they were measured.
func (r *results) save(path, measured string) error {
	rows := [][]string{{"benchmark", "unit", "value", "measured"}}
	for _, run := range r.runs {
		for _, unit := range slices.Sorted(maps.Keys(run.values)) {
			rows = append(rows, []string{run.name, unit, strconv.FormatFloat(run.values[unit], 'g', -1, 64), measured})
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return csvfile.Write(path, rows)
}

// body is the text of a part: what it shows, where it was measured, and the table.
func (p *part) body(r *results, measured string) (string, error) {
	table, err := p.table(r.fastest())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s. Measured on %s.\n\n%s", p.what, measured, table), nil
}
