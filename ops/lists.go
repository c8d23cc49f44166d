package ops

import G "gorgonia.org/gorgonia"

// Lists are ranked lists packed row after row: the documents of query q are rows
// Offsets[q] to Offsets[q+1]−1. Rows outside of all queries are padding, and a
// query without rows is empty: neither contributes to anything.
type Lists struct {
	// Scores are the log-scores m(d), [rows], float32 or float64.
	Scores *G.Node
	// Offsets are [queries+1] ints that do not descend; nil: all rows are one query.
	Offsets *G.Node
}
