package ops

import (
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/layers"
)

// Dense returns a fused layer y = act(x·w + b), in one pass over the rows.
//
// Shapes: x [rows, in]; w [in, out] and b [out] give y [rows, out]; a vector w
// [in] with b [1] gives a vector y [rows], which is how a model ends in one
// score a row. All are float32 or all float64. SwiGLU turns the columns into half as many outputs.
//
// Gradients reach w, b, and x unless x is a leaf of the graph: a first layer
// does not pay for a gradient that nobody reads, and Gorgonia's Grad returns an
// error if asked for it ("Non Differentiable WRTs"). Matrix products use
// AVX-512 or AVX2 instructions where the machine has them. Results are bit-identical for any GOMAXPROCS.
//
// It returns an error if shapes or dtypes do not fit. Its value lasts until the next run.
func Dense(x, w, b *G.Node, act Activation) (*G.Node, error) {
	return layers.Dense("ops: Dense", x, w, b, nil, forward.Activation(act), nil, 0)
}

// PiecewiseLinear returns a first layer that sees features through bins: y = act(e(x)·w + b). The first
// columns of x, as many as there are numbers of bins, are positions p, for which e(x) has as many
// columns as they have bins (Gorishniy, Rubachev & Babenko 2022, "On Embeddings for Numerical
// Features in Tabular Deep Learning", section 3.1):
//
//	e_k(p) = min(max(p − k, 0), 1),   k = 0, …, bins−1.
//
// A weight is how much the units rise within a bin, so the units are functions of p that are
// linear between whole positions, where they may bend. Other columns of x stay as they are. No
// e(x) is made: a document reads two rows of a table for each feature, however many bins there are, and a
// feature of one bin takes as long as in Dense (BenchmarkPiecewiseLinear measures both). Positions are rounded to multiples of 2^−16;
// below 0 they count as 0, and above the number of bins as that number.
// See transforms.Transform for positions by quantiles.
//
// Shapes: x [rows, features]; w [Σ bins + features − len(bins), out] and b [out] give y [rows,
// out]; a vector w with b [1] gives a vector y [rows]. All are float32 or all float64.
//
// Gradients reach w and b, and the columns of x that are not positions, unless x is a leaf. A NaN makes
// its row NaN. Results are bit-identical for any GOMAXPROCS. It returns an error if
// shapes or dtypes do not fit, or for fewer than 1 or more than 255 bins. Its value lasts until the next run.
func PiecewiseLinear(x, w, b *G.Node, bins []int, act Activation) (*G.Node, error) {
	return layers.Dense("ops: PiecewiseLinear", x, w, b, slices.Clone(bins), forward.Activation(act), nil, 0)
}
