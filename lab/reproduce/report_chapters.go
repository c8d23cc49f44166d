package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plrank/plrank/viz"
)

// A chapter is what an experiment leaves in the folder of results: CSV files, and
// tables and plots that are made of nothing but these.
type chapter struct {
	name, title string
	csv         string // the file without which there is no chapter
	reading     string // how the tables and plots are meant, in Markdown
	tables      func(dir string) ([]viz.Table, error)
	plots       func(dir string) ([]figure, error)
}

// A figure is a plot and the name of its files without their endings.
type figure struct {
	name string
	viz.Plot
}

const reportFile = "report.md"

// report is the report on a folder of results.
func report(dir string, chapters []chapter) (string, error) {
	var b strings.Builder
	var id identity
	if _, err := readJSON(filepath.Join(dir, dataFile), &id); err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "# %s\n\n", id.Name)
	fmt.Fprintf(&b, "Data: %v. Measures are of the test split where nothing else is said.\n", id)
	for _, c := range chapters {
		if _, err := os.Stat(filepath.Join(dir, c.csv)); err != nil {
			continue
		}
		body, err := c.markdown(dir)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s", c.title, body)
	}
	return b.String(), nil
}

// provenance says how the chapter's results in a folder came about.
func (c chapter) provenance(dir string) (from provenance, err error) {
	found, err := readJSON(filepath.Join(dir, c.name+provenanceEnding), &from)
	if err == nil && !found {
		err = fmt.Errorf("reproduce: %s: no %s, which says how %s came about", dir, c.name+provenanceEnding, c.csv)
	}
	return from, err
}

// markdown returns the chapter on a folder of results, for a document in that folder.
func (c chapter) markdown(dir string) (string, error) {
	from, err := c.provenance(dir)
	if err != nil {
		return "", err
	}
	tables, err := c.tables(dir)
	if err != nil {
		return "", err
	}
	figures, err := c.plots(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", from.markdown(".", c.name+provenanceEnding), c.reading)
	for _, t := range tables {
		fmt.Fprintf(&b, "\n%s", t.Markdown())
	}
	for _, f := range figures {
		fmt.Fprintf(&b, "\n![%s](%s)\n", f.Title, f.name+".svg")
	}
	if len(from.LeftOut) > 0 {
		fmt.Fprintf(&b, "\nLeft out: %s.\n", strings.Join(from.LeftOut, "; "))
	}
	return b.String(), nil
}
