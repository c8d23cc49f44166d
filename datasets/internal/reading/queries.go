package reading

import (
	"fmt"
	"iter"

	"github.com/plrank/plrank/datasets/internal/table"
)

// findQueries finds the queries, by query ids or by the sizes.
func findQueries(t *table.Table, sizes *querySizes) error {
	if err := sizes.check(&t.Tally); err != nil {
		return err
	}
	byID := map[string]int{}
	row, latest := 0, -1 // latest: the query of the row before
	check := runCheck{path: t.Path, sizes: sizes}
	for r := range runs(t) {
		if err := check.add(r); err != nil {
			return err
		}
		if !r.Named {
			row += r.Rows
			continue
		}
		q, seen := byID[r.Query]
		if !seen {
			q = len(t.Queries)
			byID[r.Query] = q
			t.Queries = append(t.Queries, table.Query{ID: r.Query})
		} else if q != latest {
			t.Breaks++
		}
		t.Queries[q].Add(row, r.Rows)
		row += r.Rows
		latest = q
	}
	if t.Sized = !check.named; t.Sized {
		row := 0
		for i, n := range sizes.sizes {
			if n > 0 {
				q := table.Query{ID: sizedID(i)}
				q.Add(row, n)
				t.Queries = append(t.Queries, q)
				row += n
			}
		}
	}
	return nil
}

// sizedID is the id of the i-th query if only its size is known.
func sizedID(i int) string { return fmt.Sprint(i + 1) }

// runs are the runs of rows with the same query id, or without any, through all
// chunks. Their lines are those of the file, from 1.
func runs(t *table.Table) iter.Seq[table.Run] {
	return func(yield func(table.Run) bool) {
		var latest table.Run
		for _, c := range t.Chunks {
			for _, r := range c.Runs {
				if r.Continues(latest) {
					latest.Rows += r.Rows
					continue
				}
				if latest.Rows > 0 && !yield(latest) {
					return
				}
				latest = r
				latest.Line += c.Line
			}
		}
		if latest.Rows > 0 {
			yield(latest)
		}
	}
}

// DropUnlabelled takes the rows without a label out of the queries, and the
// queries that have no others.
func DropUnlabelled(t *table.Table) error {
	dropped := 0
	for _, c := range t.Chunks {
		dropped += c.Unlabelled
	}
	if dropped == 0 {
		return nil
	}
	if dropped == t.Rows {
		return fmt.Errorf("datasets: %s: no document has a label: all are %d", t.Path, table.Unlabelled)
	}
	labels := make([]float32, 0, t.Rows)
	for _, c := range t.Chunks {
		labels = append(labels, c.Labels...)
	}
	queries := t.Queries[:0]
	for _, old := range t.Queries {
		q := table.Query{ID: old.ID, Weight: old.Weight}
		for _, s := range old.Runs {
			for r := s.From; r < s.To; r++ {
				if labels[r] != table.Unlabelled {
					q.Add(r, 1)
				}
			}
		}
		if q.Rows > 0 {
			queries = append(queries, q)
		}
	}
	t.Queries = queries
	t.Warn("%d documents without a label (%d) were left out", dropped, table.Unlabelled)
	return nil
}
