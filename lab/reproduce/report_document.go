package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/lab/internal/markdown"
	"github.com/plrank/plrank/viz"
)

// runDocument makes all generated parts of a Markdown file anew, and the plots that stand
// beside their CSV files.
func runDocument(_ context.Context, s *session) error {
	old, err := os.ReadFile(s.document)
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	text, err := refreshed(string(old), filepath.Dir(s.document))
	if err != nil {
		return fmt.Errorf("reproduce: %s: %w", s.document, err)
	}
	for _, name := range partsOf(text) {
		if err := redraw(filepath.Dir(s.document), name); err != nil {
			return err
		}
	}
	return writeText(s.document, text)
}

// partsOf are the parts of a text that are made here: those that name a folder.
func partsOf(text string) []string {
	return slices.DeleteFunc(markdown.Names(text), func(name string) bool { return !strings.Contains(name, "/") })
}

// redraw draws the plots of a part anew, those that there are files of.
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

// refreshed is a text with its generated parts made from the CSV files of folders below
// root, where it stands.
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

// documentPart is what stands between the markers FOLDER/CHAPTER, a chapter on the
// folder of results, FOLDER/CHAPTER/n, its n-th table alone, FOLDER/CHAPTER/command, the
// command that wrote it, or FOLDER/FILE.csv, that file.
func documentPart(root, name string) (string, error) {
	if isCSV(name) {
		return csvPart(filepath.Join(root, name))
	}
	c, dir, table, err := findPart(root, name)
	if err != nil {
		return "", err
	}
	folder, last := filepath.Split(name)
	switch {
	case last == commandPart:
		from, err := c.provenance(dir)
		if err != nil {
			return "", err
		}
		return from.markdown(filepath.Dir(filepath.Clean(folder)), c.name+provenanceEnding), nil
	case last == c.name:
		return c.markdown(dir, folder)
	}
	tables, err := c.tables(dir)
	if err != nil {
		return "", err
	}
	if table < 1 || table > len(tables) {
		return "", fmt.Errorf("part %q: the chapter has tables 1 to %d", name, len(tables))
	}
	return tables[table-1].Markdown(), nil
}

func isCSV(name string) bool { return filepath.Ext(name) == ".csv" }

// csvPart is a CSV file as a Markdown table.
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

// commandPart ends the name of a part that is the command of a chapter.
const commandPart = "command"

// findPart is the chapter of a part, its folder of results, and the number of its table; 0 if
// it is not one table.
func findPart(root, name string) (c chapter, dir string, table int, err error) {
	folder, last := filepath.Split(name)
	if table, err = strconv.Atoi(last); err == nil || last == commandPart {
		folder, last = filepath.Split(strings.TrimSuffix(folder, "/"))
	}
	all := chapters()
	i := slices.IndexFunc(all, func(c chapter) bool { return c.name == last })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.name)
		}
		return c, "", 0, fmt.Errorf("part %q: no chapter %q: want a folder and one of %s", name, last, strings.Join(names, ", "))
	}
	return all[i], filepath.Join(root, folder), table, nil
}
