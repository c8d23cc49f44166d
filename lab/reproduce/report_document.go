package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/lab/internal/markdown"
	"github.com/plrank/plrank/viz"
)

// runDocument makes all generated parts of a Markdown file anew, the plots next to their CSV files, and the tables
// that the file links to.
func runDocument(_ context.Context, s *session) error {
	old, err := os.ReadFile(s.document)
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	text, err := refreshed(string(old), filepath.Dir(s.document))
	if err != nil {
		return fmt.Errorf("reproduce: %s: %w", s.document, err)
	}
	for _, name := range append(partsOf(text), linkedParts(text)...) {
		if err := redraw(filepath.Dir(s.document), name); err != nil {
			return err
		}
	}
	linked, err := linkedTables(text, filepath.Dir(s.document))
	if err != nil {
		return fmt.Errorf("reproduce: %s: %w", s.document, err)
	}
	for _, t := range linked {
		if err := t.write(t.path); err != nil {
			return err
		}
	}
	return writeText(s.document, text)
}

// tableLink matches a link to FOLDER/CHAPTER-table-N.csv, the N-th table of a chapter as a CSV file.
var tableLink = regexp.MustCompile(`\]\((\S+)-table-(\d+)\.csv\)`)

// linkedParts returns the names of the tables that a text links to, FOLDER/CHAPTER/N.
func linkedParts(text string) (names []string) {
	for _, link := range tableLink.FindAllStringSubmatch(text, -1) {
		names = append(names, link[1]+"/"+link[2])
	}
	return names
}

// linkedTables returns the tables that a text links to, each with the path of its file.
func linkedTables(text, root string) ([]*csvTable, error) {
	var linked []*csvTable
	for _, name := range linkedParts(text) {
		table, err := documentTable(root, name)
		if err != nil {
			return nil, err
		}
		t := newTable(table.Columns...)
		t.path = filepath.Join(root, fmt.Sprintf("%s-table-%s.csv", filepath.Dir(name), filepath.Base(name)))
		for _, row := range table.Rows {
			t.add(row...)
		}
		linked = append(linked, t)
	}
	return linked, nil
}

// partsOf returns the parts of a text that are made here: they name a folder.
func partsOf(text string) []string {
	return slices.DeleteFunc(markdown.Names(text), func(name string) bool { return !strings.Contains(name, "/") })
}

// redraw draws the plots of a part anew if they have files.
func redraw(root, name string) error {
	if isCSV(name) {
		return nil
	}
	c, dir, _, err := findPart(root, name)
	if err != nil {
		return err
	}
	figures, err := c.plots(dir)
	if err != nil {
		return err
	}
	for _, f := range figures {
		path := filepath.Join(dir, f.name+".svg")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := f.Save(path); err != nil {
			return err
		}
	}
	return nil
}

// refreshed returns a text with its generated parts made from the CSV files of folders below
// root, the folder of the text.
func refreshed(text, root string) (string, error) {
	for _, name := range partsOf(text) {
		body, err := documentPart(root, name)
		if err != nil {
			return "", err
		}
		if text, err = markdown.Replace(text, name, body); err != nil {
			return "", err
		}
	}
	return text, nil
}

// documentPart returns the text between markers: FOLDER/CHAPTER/n is the n-th table of a chapter on a
// folder of results, FOLDER/CHAPTER/command the command that wrote it, and FOLDER/FILE.csv that file.
func documentPart(root, name string) (string, error) {
	if isCSV(name) {
		return csvPart(filepath.Join(root, name))
	}
	c, dir, what, err := findPart(root, name)
	if err != nil {
		return "", err
	}
	if what != commandPart {
		table, err := documentTable(root, name)
		if err != nil {
			return "", err
		}
		return table.Markdown(), nil
	}
	from, err := c.provenance(dir)
	if err != nil {
		return "", err
	}
	path, err := filepath.Rel(root, dir)
	return from.markdown(path, c.name+provenanceEnding), err
}

// documentTable returns the table FOLDER/CHAPTER/n.
func documentTable(root, name string) (viz.Table, error) {
	c, dir, what, err := findPart(root, name)
	if err != nil {
		return viz.Table{}, err
	}
	tables, err := c.tables(dir)
	if err != nil {
		return viz.Table{}, err
	}
	n, err := strconv.Atoi(what)
	if err != nil || n < 1 || n > len(tables) {
		return viz.Table{}, fmt.Errorf("part %q: the chapter has tables 1 to %d", name, len(tables))
	}
	return tables[n-1], nil
}

func isCSV(name string) bool { return filepath.Ext(name) == ".csv" }

// csvPart returns a CSV file as a Markdown table.
func csvPart(path string) (string, error) {
	t, err := readTable(path)
	if err != nil {
		return "", err
	}
	table := viz.Table{Columns: t.columns}
	for _, row := range t.rows {
		line := viz.Row{}
		for _, text := range row {
			line = append(line, text)
		}
		table.Rows = append(table.Rows, line)
	}
	return table.Markdown(), nil
}

// commandPart ends the name of a part that holds the command of a chapter.
const commandPart = "command"

// findPart returns the chapter of a part FOLDER/CHAPTER/what, its folder of results, and what.
func findPart(root, name string) (c chapter, dir, what string, err error) {
	rest, what := filepath.Split(name)
	folder, of := filepath.Split(filepath.Clean(rest))
	all := chapters()
	i := slices.IndexFunc(all, func(c chapter) bool { return c.name == of })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.name)
		}
		return c, "", "", fmt.Errorf(
			"part %q: no chapter %q: want a folder, one of %s, and a number or %q",
			name,
			of,
			strings.Join(names, ", "),
			commandPart,
		)
	}
	return all[i], filepath.Join(root, folder), what, nil
}
