package clicks

import (
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
)

// Find returns a function that finds the candidates of an impression among the documents of d, by the ids of query and document, and
// returns their rows. Documents of d without an id are named as by [Simulate]. It returns nil if d lacks the query or a candidate, or
// has one twice.
func Find(d *datasets.Dataset) func(im *Impression) (rows []int) {
	names := datasets.Dataset{QueryIDs: d.QueryIDs, Offsets: d.Offsets, DocumentIDs: d.DocumentIDs} // without the features
	queries := make(map[string]int, len(d.QueryIDs))
	for q, id := range d.QueryIDs {
		queries[id] = q
	}
	return func(im *Impression) []int {
		q, known := queries[im.Query]
		if !known {
			return nil
		}
		all := make(map[string]int)
		const twice = -1
		for i, id := range documentIDs(&names, q) {
			row := names.Offsets[q] + i
			if _, there := all[id]; there {
				row = twice
			}
			all[id] = row
		}
		rows := make([]int, len(im.Documents))
		for i, id := range im.Documents {
			row, known := all[id]
			if !known || row == twice {
				return nil
			}
			rows[i] = row
		}
		return rows
	}
}

// Join returns a function that replaces the logged features of documents by their features in d, see [Find]. The function takes one
// log, or part of a log, after another. It removes impressions whose candidates d lacks, and returns their number.
func Join(d *datasets.Dataset) func(l *Log) (left int) {
	find := Find(d)
	return func(l *Log) (left int) {
		l.featuresOf(d)
		lacking := make([]bool, len(l.Impressions))
		for _, s := range l.situations() {
			rows := find(s.Impression)
			own := Impression{}
			if d.IsSparse() {
				own.Sparse = &datasets.Sparse{Starts: []int{0}}
			}
			for _, row := range rows {
				if d.IsSparse() {
					own.Sparse.Append(d.Sparse.Row(row))
				} else {
					own.Features = append(own.Features, d.Row(row)...)
				}
			}
			for _, i := range s.impressions {
				l.Impressions[i].Features, l.Impressions[i].Sparse = own.Features, own.Sparse
				lacking[i] = rows == nil
			}
		}
		kept := l.Impressions[:0]
		for i, im := range l.Impressions {
			if !lacking[i] {
				kept = append(kept, im)
			}
		}
		left = len(l.Impressions) - len(kept)
		l.Impressions = slices.Clip(kept)
		return left
	}
}

// documentIDs returns the ids of the documents of query q in d, or "query.n", n from 1, if d has none.
func documentIDs(d *datasets.Dataset, q int) (ids []string) {
	from, to := d.Offsets[q], d.Offsets[q+1]
	if d.DocumentIDs != nil {
		return d.DocumentIDs[from:to]
	}
	for i := range to - from {
		ids = append(ids, d.QueryIDs[q]+"."+strconv.Itoa(i+1))
	}
	return ids
}
