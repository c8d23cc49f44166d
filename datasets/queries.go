package datasets

import (
	"fmt"
	"iter"
	"strings"
)

// group finds the queries, by query ids or by the sizes.
func (t *table) group(sizes *querySizes) error {
	if err := sizes.check(&t.tally); err != nil {
		return err
	}
	byID := map[string]int{}
	row, latest := 0, -1 // latest: the query of the row before
	check := runCheck{path: t.path, sizes: sizes}
	for r := range t.runs() {
		if err := check.add(r); err != nil {
			return err
		}
		if !r.named {
			row += r.rows
			continue
		}
		q, seen := byID[r.query]
		if !seen {
			q = len(t.queries)
			byID[r.query] = q
			t.queries = append(t.queries, query{id: r.query})
		} else if q != latest {
			t.breaks++
		}
		t.queries[q].add(row, r.rows)
		row += r.rows
		latest = q
	}
	if t.sized = !check.named; t.sized {
		row := 0
		for i, n := range sizes.sizes {
			if n > 0 {
				q := query{id: sizedID(i)}
				q.add(row, n)
				t.queries = append(t.queries, q)
				row += n
			}
		}
	}
	return nil
}

// sizedID is what the i-th query is called where only its size is known.
func sizedID(i int) string { return fmt.Sprint(i + 1) }

// runCheck looks whether the runs of rows of a file fit together, and the sizes of its
// queries, if there are any.
type runCheck struct {
	path   string
	sizes  *querySizes
	any    bool // there were runs
	named  bool // they have a qid
	number int  // sizes that have their run
}

// add looks at the next run.
func (k *runCheck) add(r run) error {
	if !k.any {
		k.any, k.named = true, r.named
	}
	switch {
	case r.named != k.named:
		return fmt.Errorf("datasets: %s:%d: a line %s qid after lines %s: all lines need one, or none", k.path, r.line, with(r.named), with(k.named))
	case !r.named && k.sizes == nil:
		return fmt.Errorf("datasets: %s:%d: no qid, and no file %s beside it: want lines such as %q, or the query sizes in that file",
			k.path, r.line, strings.Join(sizePaths(k.path), " or "), "2 qid:1 1:0.5 2:0.1")
	case !r.named || k.sizes == nil:
		return nil
	}
	sizes := k.sizes.sizes
	for k.number < len(sizes) && sizes[k.number] == 0 {
		k.number++
	}
	if k.number == len(sizes) {
		return nil // their sum will tell
	}
	if n := sizes[k.number]; n != r.rows {
		return fmt.Errorf("datasets: %s: the size of query %d is %d, but %s has %d documents with query id %s from line %d on: please correct the sizes, or remove the file, as the ids are enough",
			k.sizes.path, k.number+1, n, k.path, r.rows, quote([]byte(r.query)), r.line)
	}
	k.number++
	return nil
}

func with(named bool) string {
	if named {
		return "with"
	}
	return "without"
}

// runs are the runs of rows with the same query id, or without any, through all
// chunks. Their lines are those of the file, from 1.
func (t *table) runs() iter.Seq[run] {
	return func(yield func(run) bool) {
		var latest run
		for _, c := range t.chunks {
			for _, r := range c.runs {
				if r.continues(latest) {
					latest.rows += r.rows
					continue
				}
				if latest.rows > 0 && !yield(latest) {
					return
				}
				latest = r
				latest.line += c.line
			}
		}
		if latest.rows > 0 {
			yield(latest)
		}
	}
}

// add gives the query the next rows from the given one on.
func (q *query) add(row, rows int) {
	q.rows += rows
	if n := len(q.runs); n > 0 && q.runs[n-1].to == row {
		q.runs[n-1].to += rows
		return
	}
	q.runs = append(q.runs, span{row, row + rows})
}

// dropUnlabelled takes the rows without a label out of the queries, and the
// queries that have no others.
func (t *table) dropUnlabelled() error {
	dropped := 0
	for _, c := range t.chunks {
		dropped += c.unlabelled
	}
	if dropped == 0 {
		return nil
	}
	if dropped == t.rows {
		return fmt.Errorf("datasets: %s: no document has a label: all are %d", t.path, Unlabelled)
	}
	labels := make([]float32, 0, t.rows)
	for _, c := range t.chunks {
		labels = append(labels, c.labels...)
	}
	queries := t.queries[:0]
	for _, old := range t.queries {
		q := query{id: old.id, weight: old.weight}
		for _, s := range old.runs {
			for r := s.from; r < s.to; r++ {
				if labels[r] != Unlabelled {
					q.add(r, 1)
				}
			}
		}
		if q.rows > 0 {
			queries = append(queries, q)
		}
	}
	t.queries = queries
	t.warn("%d documents without a label (%d) were left out", dropped, Unlabelled)
	return nil
}
