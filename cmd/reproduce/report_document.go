package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/markdown"
)

// runDocument makes all marked parts of a Markdown file anew.
func runDocument(_ context.Context, s *session) error {
	old, err := os.ReadFile(s.document)
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	text, err := refreshed(string(old), filepath.Dir(s.document))
	if err != nil {
		return fmt.Errorf("reproduce: %s: %w", s.document, err)
	}
	return writeText(s.document, text)
}

// refreshed is a text with its marked parts made from the CSV files of folders below
// root, where it stands.
func refreshed(text, root string) (string, error) {
	for _, name := range markdown.Names(text) {
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
// folder of results, or FOLDER/CHAPTER/n, its n-th table alone.
func documentPart(root, name string) (string, error) {
	folder, last := filepath.Split(name)
	table, err := strconv.Atoi(last)
	if err != nil {
		table = 0 // all of the chapter
	} else {
		folder, last = filepath.Split(strings.TrimSuffix(folder, "/"))
	}
	all := chapters()
	i := slices.IndexFunc(all, func(c chapter) bool { return c.name == last })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.name)
		}
		return "", fmt.Errorf("part %q: no chapter %q: want a folder and one of %s", name, last, strings.Join(names, ", "))
	}
	dir := filepath.Join(root, folder)
	if table == 0 {
		return all[i].markdown(dir, folder)
	}
	tables, err := all[i].tables(dir)
	if err != nil {
		return "", err
	}
	if table < 1 || table > len(tables) {
		return "", fmt.Errorf("part %q: the chapter has tables 1 to %d", name, len(tables))
	}
	return tables[table-1].Markdown(), nil
}
