package clicks

import (
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
)

// Join returns a function that replaces the logged features of documents by their features in d,
// found by the ids of query and document. Documents of d without an id are named as by
// [Simulate]. The function takes one log, or part of a log, after another. It removes impressions
// with a candidate that d lacks, or has twice, and returns their number.
func Join(d *datasets.Dataset) func(l *Log) (left int) {
	queries := make(map[string]int, d.Queries())
	for q, id := range d.QueryIDs {
		queries[id] = q
	}
	return func(l *Log) (left int) {
		l.featuresOf(d)
		lacking := make([]bool, len(l.Impressions))
		for _, s := range l.situations() {
			features, ok := valuesOf(d, queries, s.Impression)
			for _, i := range s.impressions {
				l.Impressions[i].Features = features
				lacking[i] = !ok
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

// valuesOf returns the features of the candidates of an impression, and false if d lacks one of them or has it twice.
func valuesOf(d *datasets.Dataset, queries map[string]int, im *Impression) ([]float32, bool) {
	q, ok := queries[im.Query]
	if !ok {
		return nil, false
	}
	rows := make(map[string]int)
	const twice = -1
	for i, id := range documentIDs(d, q) {
		row := d.Offsets[q] + i
		if _, there := rows[id]; there {
			row = twice
		}
		rows[id] = row
	}
	features := make([]float32, 0, len(im.Documents)*d.Width())
	for _, id := range im.Documents {
		row, ok := rows[id]
		if !ok || row == twice {
			return nil, false
		}
		features = append(features, d.Row(row)...)
	}
	return features, true
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
