package ops

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/layers"
)

// Sparse is a matrix whose entries are mostly 0, as three nodes: row r has the entries Starts[r] to Starts[r+1]-1. Entries past the
// last row are padding.
type Sparse struct {
	Starts  *G.Node // [rows+1] int, from 0, ascending
	Columns *G.Node // [entries] int32, ascending within a row
	Values  *G.Node // [entries], float32 or float64
}

// SparseDense is [Dense] for a sparse x, in time and memory by its entries: the gradient of w is 0 in the rows of columns that no
// row of x has. The values get no gradient. The result and the gradients have the bits of Dense if they are finite.
//
// It returns an error if shapes or dtypes do not fit, and a run does if starts do not ascend, or a column has no row of w. Its value
// lasts until the next run.
func SparseDense(x Sparse, w, b *G.Node, act Activation) (*G.Node, error) {
	return layers.Dense("ops: SparseDense", x.Values, w, b, nil, forward.Activation(act), nil, 0, x.Starts, x.Columns)
}
