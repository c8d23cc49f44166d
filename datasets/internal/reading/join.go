package reading

import (
	"fmt"

	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
)

// join adds the tables of more parts to t, the table of the first. All must be of one
// kind, and a query must be in one part.
func join(t *table.Table, name string, more []*table.Table) error {
	parts := []table.Part{{Path: t.Path}}
	in := map[string]string{} // the part that a query is in
	for _, q := range t.Queries {
		in[q.ID] = t.Path
	}
	first := t.Path
	for _, next := range more {
		last := t.Chunks[len(t.Chunks)-1]
		parts = append(parts, table.Part{Path: next.Path, Line: last.Line + last.Lines - 1})
		switch {
		case next.Sized != t.Sized:
			return unlike(first, next.Path, "query ids", !t.Sized)
		case next.HasWeights != t.HasWeights:
			return unlike(first, next.Path, "weights of documents", t.HasWeights)
		case next.HasQueryWeights != t.HasQueryWeights:
			return unlike(first, next.Path, "weights of queries", t.HasQueryWeights)
		case (next.Groups != nil) != (t.Groups != nil):
			return unlike(first, next.Path, "groups", t.Groups != nil)
		}
		for _, q := range next.Queries {
			if t.Sized {
				q.ID = sizedID(len(t.Queries))
			} else if other, twice := in[q.ID]; twice {
				return fmt.Errorf("datasets: query %s is in %s and in %s: want all documents of a query in one part, and other ids for other queries", text.Quote([]byte(q.ID)), other, next.Path)
			}
			in[q.ID] = next.Path
			for i := range q.Runs {
				q.Runs[i].From += t.Rows
				q.Runs[i].To += t.Rows
			}
			t.Queries = append(t.Queries, q)
		}
		for _, c := range next.Chunks {
			c.Line += parts[len(parts)-1].Line
		}
		t.Chunks = append(t.Chunks, next.Chunks...)
		t.Rows += next.Rows
		t.Size += next.Size
		t.IDs = table.Union(t.IDs, next.IDs)
		t.Breaks += next.Breaks
		t.Warnings = append(t.Warnings, next.Warnings...)
		t.Spilled = append(t.Spilled, next.Spilled...)
		next.Chunks, next.Spilled = nil, nil
	}
	t.Path, t.Parts = name, parts
	return nil
}

func unlike(first, next, what string, has bool) error {
	if has {
		return fmt.Errorf("datasets: %s has %s, but %s has none: want them in all parts, or in none", first, what, next)
	}
	return fmt.Errorf("datasets: %s has %s, but %s has none: want them in all parts, or in none", next, what, first)
}

// Parts reads the files of a split as one table. The features of many parts go to
// files in the folder of scratch, if there is one.
func Parts(name string, paths []string, o Options, groups *table.GroupNames, scratch string) (t *table.Table, err error) {
	var tables []*table.Table
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
	for i, path := range paths {
		t, err := File(path, o, groups, scratch)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
		if i == 0 {
			o.Options = o.ByNames(t.IDs, t.Layout.Names)
		}
	}
	if paths[0] == name {
		return tables[0], nil
	}
	return tables[0], join(tables[0], name, tables[1:])
}
