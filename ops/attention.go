package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/op"
)

// Attention lets the documents of a query look at each other: multi-head scaled
// dot-product attention (Vaswani et al., NeurIPS 2017, section 3.2), over packed rows. In
// each of the heads a document i has three vectors q, k and v of size width/heads, and gets
//
//	y_i = Σ_j p_ij v_j,   p_ij = exp(q_i·k_j/√size) / Σ_j' exp(q_i·k_j'/√size),
//
// the sums over all documents of its query.
//
// Shapes: qkv [rows, 3·width], float32 or float64, as one [Dense] layer makes it: in every
// row the q of all heads side by side, then the k, then the v. Offsets [queries+1], int, as
// in [Lists]; nil: one query of all rows. The result is [rows, width]: the heads side by
// side, and 0 in rows that belong to no query.
//
// No padding, no mask: a query of D documents takes D²·width steps. The softmax is exact;
// a p_ij below e^−60 of the largest of its row is 0. The weights p are made for a few rows
// at a time, and again for the derivative, so that the memory for it is in proportion to
// rows·width, however many documents a query has. Results are bit-identical for any
// GOMAXPROCS.
//
// It returns an error if shapes or dtypes do not fit, or if the heads do not divide the width. A number that is not finite makes
// the results that depend on it NaN.
// Its value lasts until the next run.
func Attention(qkv, offsets *G.Node, heads int) (*G.Node, error) {
	width, err := checkAttention(qkv, offsets, heads)
	if err != nil {
		return nil, fmt.Errorf("ops: Attention: %w", err)
	}
	settings := fmt.Sprintf("%d heads", heads)
	vjp := op.Pure("ops: AttentionVJP", settings, attentionVJP[float32](width, heads), attentionVJP[float64](width, heads))
	in, terms := G.Nodes{qkv}, []*op.Term{op.Input(0), op.Result, op.Incoming}
	if offsets != nil {
		in, terms = append(in, offsets), append(terms, op.Input(1))
	}
	attention := &op.Func{
		Name: "ops: Attention", Settings: settings,
		Shape: func(in []tensor.Shape) tensor.Shape { return tensor.Shape{in[0][0], width} },
		Do:    op.CheckedByDtype(attention[float32](width, heads), attention[float64](width, heads)),
		VJPs:  []*op.Term{vjp.Of(terms...)},
	}
	return attention.Apply(in...)
}

func attention[T op.Float](width, heads int) op.Checked[T] {
	return func(in []op.Tensor, x [][]T, y []T) error {
		offsets := rowsOf(in, 1)
		if _, err := op.CheckOffsets(offsets, in[0].Shape[0]); err != nil {
			return fmt.Errorf("ops: Attention: %w", err)
		}
		forward.Attention[T]{Width: width, Heads: heads}.Run(x[0], y, offsets)
		return nil
	}
}

// attentionVJP is qkv, y, dy → dqkv.
func attentionVJP[T op.Float](width, heads int) op.Kernel[T] {
	return func(in []op.Tensor, x [][]T, dqkv []T) {
		forward.Attention[T]{Width: width, Heads: heads}.VJP(x[0], x[1], x[2], dqkv, rowsOf(in, 3))
	}
}

func checkAttention(qkv, offsets *G.Node, heads int) (width int, err error) {
	if err := op.CheckNode("qkv", qkv, 2, tensor.Float32, tensor.Float64); err != nil {
		return 0, err
	}
	rows, columns := qkv.Shape()[0], qkv.Shape()[1]
	switch {
	case rows == 0 || columns == 0 || columns%3 != 0:
		return 0, fmt.Errorf("qkv have shape %v: want [rows, 3·width]", qkv.Shape())
	case heads < 1 || columns/3%heads != 0:
		return 0, fmt.Errorf("%d heads: want a number that divides the width %d", heads, columns/3)
	}
	return columns / 3, op.CheckOffsetsNode(offsets)
}

// rowsOf returns the offsets, input number i, or the offsets of a single query.
func rowsOf(in []op.Tensor, i int) []int {
	if i == len(in) {
		return []int{0, in[0].Shape[0]}
	}
	return in[i].Int
}
