package clicks

// rows numbers the documents of the queries of a log: those of a query are consecutive, and a
// document of several situations has one row.
type rows struct {
	queries []string
	offsets []int   // [queries+1]
	query   []int   // by situation
	of      [][]int // by situation: the row of each document
	latest  []place // by row: where the document was last a candidate
}

// A place is a document of a situation.
type place struct{ situation, document int }

func numberRows(situations []situation) *rows {
	r := &rows{query: make([]int, len(situations)), of: make([][]int, len(situations)), offsets: []int{0}}
	at := make(map[string]int)
	var byQuery [][]int // the situations of each query
	for i := range situations {
		q, ok := at[situations[i].Query]
		if !ok {
			q = len(r.queries)
			at[situations[i].Query] = q
			r.queries, byQuery = append(r.queries, situations[i].Query), append(byQuery, nil)
		}
		r.query[i] = q
		byQuery[q] = append(byQuery[q], i)
	}
	for _, of := range byQuery {
		known := make(map[string]int)
		for _, i := range of {
			r.of[i] = make([]int, len(situations[i].Documents))
			for d, name := range situations[i].Documents {
				row, ok := known[name]
				if !ok {
					row = len(r.latest)
					known[name] = row
					r.latest = append(r.latest, place{})
				}
				r.latest[row] = place{i, d}
				r.of[i][d] = row
			}
		}
		r.offsets = append(r.offsets, len(r.latest))
	}
	return r
}
