package clicks

import (
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/datasets"
)

// rows numbers the documents of a log that comes in parts, and keeps what was logged last for each. A document has one
// row in its query, whatever the situations.
type rows struct {
	at       map[string]int // by the text of a query
	queries  []queryRows
	ids      []string    // of documents, by row
	features [][]float32 // by row; nil: none were logged
	columns  [][]int32   // by row, of sparse features
	width    int         // of features; 0: not known yet
	last     Log         // the columns of all parts, without impressions
}

// setColumns takes the columns of the next part of a log, which may have more texts than before. A part without
// features says nothing about them.
func (r *rows) setColumns(l *Log) error {
	with := slices.IndexFunc(l.Impressions, func(im Impression) bool { return im.width() != 0 })
	if with < 0 {
		return nil
	}
	width := r.width
	if err := l.Impressions[with].checkWidth(&width); err != nil {
		return l.impressionError(with, err)
	}
	last := r.last
	r.last = Log{FeatureIDs: l.FeatureIDs, FeatureNames: l.FeatureNames, Levels: l.Levels}
	if r.width == 0 {
		return nil
	}
	ids, names := l.FeatureIDs, l.FeatureNames
	if width == sparse { // which later parts may have more of
		ids, names = ids[:min(len(ids), len(last.FeatureIDs))], names[:min(len(names), len(last.FeatureNames))]
	}
	if !slices.Equal(idsOf(last.FeatureIDs, r.width), idsOf(ids, r.width)) || !slices.Equal(last.FeatureNames, names) {
		return fmt.Errorf("clicks: the features %v %q differ from %v %q in the log before: want the same ids and names", l.FeatureIDs,
			l.FeatureNames, last.FeatureIDs, last.FeatureNames)
	}
	for c, levels := range last.Levels {
		if len(levels) > 0 && (l.Levels == nil || len(l.Levels[c]) < len(levels) || !slices.Equal(l.Levels[c][:len(levels)], levels)) {
			return fmt.Errorf("clicks: column %d numbers its texts differently from the log before: want parts of one log, see Scan", c)
		}
	}
	return nil
}

// queryRows holds the rows of a query.
type queryRows struct {
	query      string
	byID       map[string]int // by the id of a document
	all        []int          // in the order in which they came
	candidates []int          // of the last situation
	logged     []float64      // the log-scores of these; nil: not known
}

// add returns the number of the query of a situation, and the rows of its documents.
func (r *rows) add(s *situation) (q int, documents []int, err error) {
	if err := s.checkWidth(&r.width); err != nil {
		return 0, nil, err
	}
	q, ok := r.at[s.Query]
	if !ok {
		if r.at == nil {
			r.at = map[string]int{}
		}
		q = len(r.queries)
		r.at[s.Query] = q
		r.queries = append(r.queries, queryRows{query: s.Query, byID: map[string]int{}})
	}
	query := &r.queries[q]
	documents = make([]int, len(s.Documents))
	for d, id := range s.Documents {
		row, ok := query.byID[id]
		if !ok {
			row = len(r.ids)
			query.byID[id] = row
			query.all = append(query.all, row)
			r.ids, r.features, r.columns = append(r.ids, id), append(r.features, nil), append(r.columns, nil)
		}
		documents[d] = row
		if s.Sparse != nil {
			columns, values := s.Sparse.Row(d)
			r.columns[row], r.features[row] = append(r.columns[row][:0], columns...), append(r.features[row][:0], values...)
		} else if len(s.Features) > 0 {
			r.features[row] = append(r.features[row][:0], s.Features[d*r.width:(d+1)*r.width]...)
		}
	}
	query.candidates, query.logged = documents, nil
	if len(s.Scores) > 0 {
		query.logged, err = Logged(s.Impression)
	}
	return q, documents, err
}

// dataset returns the queries and their documents, without labels, and the row of each document.
func (r *rows) dataset() (d *datasets.Dataset, order []int) {
	d = &datasets.Dataset{Name: "clicks", Offsets: []int{0}, FeatureIDs: slices.Clone(idsOf(r.last.FeatureIDs,
		max(r.width, len(r.last.FeatureNames)))), FeatureNames: r.last.FeatureNames, Levels: r.last.Levels}
	width := len(d.FeatureIDs)
	if slices.Sort(d.FeatureIDs); r.width != sparse { // sparse ones are in the order in which they came
		d.Features = make([]float32, 0, len(r.ids)*width)
	}
	for _, q := range r.queries {
		d.QueryIDs = append(d.QueryIDs, q.query)
		for _, row := range q.all {
			order = append(order, row)
			d.DocumentIDs, d.Labels = append(d.DocumentIDs, r.ids[row]), append(d.Labels, datasets.Unlabelled)
			if r.width == sparse {
				d.Sparse.Append(r.sparse(row, d.FeatureIDs))
				continue
			}
			d.Features = append(d.Features, r.features[row]...)
			for len(d.Features) < len(d.Labels)*width {
				d.Features = append(d.Features, float32(math.NaN()))
			}
		}
		d.Offsets = append(d.Offsets, len(order))
	}
	return d, order
}

// sparse returns the sparse features of a row, by their columns among ascending ids.
func (r *rows) sparse(row int, ids []int) (columns []int32, values []float32) {
	own := map[int32]float32{}
	for i, c := range r.columns[row] {
		if r.last.FeatureIDs != nil {
			at, _ := slices.BinarySearch(ids, r.last.FeatureIDs[c])
			c = int32(at)
		}
		own[c] = r.features[row][i]
	}
	return ascending(own)
}

// situations returns one situation for each query of the dataset, with all its documents. Documents that were not
// candidates in the last situation have the lowest score.
func (r *rows) situations(d *datasets.Dataset) []situation {
	all := make([]situation, len(r.queries))
	for i, q := range r.queries {
		from, to := d.Offsets[i], d.Offsets[i+1]
		im := &Impression{Query: q.query, Documents: d.DocumentIDs[from:to]}
		if !d.IsSparse() {
			im.Features = d.Features[from*d.Width() : to*d.Width()]
		}
		if q.logged != nil {
			im.Scores = q.scores(slices.Min(q.logged))
		}
		all[i].Impression = im
	}
	return all
}

// scores returns the logged scores of all rows of a query, and other for rows that were not candidates.
func (q *queryRows) scores(other float64) []float64 {
	scores := slices.Repeat([]float64{other}, len(q.all))
	for i, row := range q.candidates {
		at := i
		if q.all[at] != row {
			at = slices.Index(q.all, row)
		}
		scores[at] = q.logged[i]
	}
	return scores
}
