package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/lab/internal/markdown"
)

// stale returns the parts of documents, and the files in the folder, that differ from what the
// results give.
func (c tablesCommand[Results]) stale(r Results, folder string, documents ...string) (stale []string, err error) {
	for _, path := range documents {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found := markdown.Names(string(text))
		for _, p := range c.parts {
			if !slices.Contains(found, p.name) {
				continue
			}
			want, err := p.text(r)
			if err != nil {
				return nil, err
			}
			if got, err := markdown.Section(string(text), p.name); err != nil || got != want {
				stale = append(stale, path+": "+p.name)
			}
		}
	}
	files, err := c.files(r)
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			stale = append(stale, name)
		}
	}
	return stale, err
}

// readSaved reads what save wrote.
func readSaved(path string) (r *results, measured string, err error) {
	r = &results{}
	err = eachRow(path, func(row map[string]string) error {
		v, err := numbers(row, "value")
		if err != nil {
			return err
		}
		measured = row["measured"]
		// A unit that the run has already begins the next one.
		last := len(r.runs) - 1
		if last < 0 || r.runs[last].name != row["benchmark"] || has(r.runs[last].values, row["unit"]) {
			r.runs = append(r.runs, result{row["benchmark"], map[string]float64{}})
			last++
		}
		r.runs[last].values[row["unit"]] = v[0]
		return nil
	})
	return r, measured, err
}

func has(values map[string]float64, unit string) bool {
	_, ok := values[unit]
	return ok
}
