package reader

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/plrank/plrank/internal/text"
)

// ReadParts reads the files of a split as one table; see File. Parts without a row, as Spark writes some, are a warning.
func ReadParts(name string, paths []string, o FileOptions, names *Names, scratch string) (t *Table, err error) {
	var tables []*Table // by part
	var first *Table    // with documents
	var empty []string  // parts
	defer func() {
		if err != nil {
			for _, t := range tables {
				t.Free()
			}
		}
	}()
	if len(paths) == 1 {
		scratch = ""
	}
	for _, path := range paths {
		t, err := Read(path, o, names, scratch)
		if errors.Is(err, ErrEmpty) && len(paths) > 1 { // as of a partition of Spark that has no rows
			if err := checkNoneBeside(o.Ctx(), path); err != nil {
				return nil, err
			}
			empty, tables = append(empty, filepath.Base(path)), append(tables, t)
			continue
		}
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
		if first == nil {
			first, o.Options = t, o.ByNames(t.IDs, t.Layout)
		}
	}
	if first == nil {
		return nil, fmt.Errorf("datasets: %s: %w: all %d parts are empty", name, ErrEmpty, len(paths))
	}
	if paths[0] == name {
		return first, nil
	}
	if err := join(first, name, tables); err != nil {
		return nil, err
	}
	if empty != nil {
		first.Warn("%d of %d parts have no documents: %s", len(empty), len(paths), text.List(empty))
	}
	return first, nil
}

// checkNoneBeside returns an error if a file next to an empty part has something of documents or queries.
func checkNoneBeside(ctx context.Context, path string) error {
	for _, kind := range kinds {
		if kind == NameFile || kind == Positions {
			continue
		}
		lines := 0
		beside, err := readValues(ctx, kind, path, func(line []byte) error {
			lines++
			return nil
		})
		if err != nil {
			return err
		}
		if lines > 0 {
			return fmt.Errorf("datasets: %s: %d lines, but %s has no documents", beside, lines, path)
		}
	}
	return nil
}

// join adds the tables of all parts to t, the first that has documents. A query must be in one part.
func join(t *Table, name string, all []*Table) error {
	var parts []string
	var starts []int
	end := 0                  // the last line
	in := map[string]string{} // the part that a query is in
	for _, q := range t.Queries {
		in[q.ID] = t.Path
	}
	for _, next := range all {
		parts, starts = append(parts, next.Path), append(starts, end)
		if next == t {
			end = t.Lines()
		}
		if next == t || next.Rows == 0 {
			continue
		}
		if err := sameKind(t, next); err != nil {
			return err
		}
		for _, q := range next.Queries {
			if t.Sized {
				q.ID = sizedID(len(t.Queries))
			} else if other, twice := in[q.ID]; twice {
				return fmt.Errorf("datasets: query %s is in %s and in %s: want all documents of a query in one part, and other ids for other queries",
					text.Quote([]byte(q.ID)), other, next.Path)
			}
			in[q.ID] = next.Path
			for i := range q.Runs {
				q.Runs[i].From += t.Rows
				q.Runs[i].To += t.Rows
			}
			t.Queries = append(t.Queries, q)
		}
		for _, c := range next.Chunks {
			c.Line += end
		}
		end = next.Lines()
		t.Chunks = append(t.Chunks, next.Chunks...)
		t.Rows += next.Rows
		t.Size += next.Size
		t.IDs = Union(t.IDs, next.IDs)
		t.Counts.Add(next.Counts)
		t.Breaks += next.Breaks
		t.Warnings = append(t.Warnings, next.Warnings...)
		t.LabelColumns = append(t.LabelColumns, next.LabelColumns...)
		t.Spilled = append(t.Spilled, next.Spilled...)
		next.Chunks, next.Spilled = nil, nil
	}
	t.Path, t.Parts, t.Starts = name, parts, starts
	return nil
}

// sameKind returns an error if only one of two parts has something.
func sameKind(first, next *Table) error {
	type kind struct {
		what        string
		first, next bool
	}
	all := []kind{
		{"query ids", !first.Sized, !next.Sized},
		{"weights of queries", first.HasQueryWeights, next.HasQueryWeights},
		{"groups", first.Groups != nil, next.Groups != nil},
	}
	for i, n := range numbers {
		all = append(all, kind{n.Plural, first.Has[i], next.Has[i]})
	}
	for _, kind := range all {
		has, lacks := first, next
		if kind.next {
			has, lacks = next, first
		}
		if kind.first != kind.next {
			return fmt.Errorf("datasets: %s has %s, but %s has none: want them in all parts, or in none", has.Path, kind.what, lacks.Path)
		}
	}
	return nil
}

// DropUnlabelled takes rows without a label out of the queries, and queries without others.
func DropUnlabelled(t *Table) error {
	switch t.Unlabelled {
	case 0:
		return nil
	case t.Rows:
		missing := "all are"
		if t.LabelColumns != nil {
			missing = fmt.Sprintf("all values of the column %s are missing, or", text.Quote([]byte(t.LabelColumns[0])))
		}
		return fmt.Errorf("datasets: %s: no document has a label: %s %d", t.Path, missing, Unlabelled)
	}
	labels := make([]float32, 0, t.Rows)
	for _, c := range t.Chunks {
		labels = append(labels, c.Labels...)
	}
	queries := t.Queries[:0]
	for _, old := range t.Queries {
		q := Query{ID: old.ID, Weight: old.Weight}
		for _, s := range old.Runs {
			for r := s.From; r < s.To; r++ {
				if labels[r] != Unlabelled {
					q.Add(r, 1)
				}
			}
		}
		if q.Runs != nil {
			queries = append(queries, q)
		}
	}
	t.Queries = queries
	t.Warn("%d documents without a label (%d) were left out", t.Unlabelled, Unlabelled)
	return nil
}
