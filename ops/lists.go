package ops

import "github.com/plrank/plrank/internal/op"

// Lists are ranked lists packed row after row: the documents of query q are rows
// Offsets[q] to Offsets[q+1]−1. Rows outside of all queries are padding, and a
// query without rows is empty: neither contributes to anything.
//
//	type Lists struct {
//		Scores  *gorgonia.Node // [rows], float32 or float64: log-scores m(d)
//		Offsets *gorgonia.Node // [queries+1], int; nil: one query of all rows
//	}
type Lists = op.Lists
