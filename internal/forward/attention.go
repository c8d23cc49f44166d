package forward

import (
	"cmp"
	"context"
)

// An Attention is multi-head scaled dot-product attention among the documents of each
// query (Vaswani et al. 2017, sections 3.2.1 and 3.2.2). In every head a document has
// three vectors q, k and v of size Width/Heads, and its output is
//
//	y_i = Σ_j p_ij v_j,   p_i = softmax_j(q_i·k_j / √size).
//
// The input is [rows, 3·Width]: the q of all heads side by side, then the k, then the v. The
// output is [rows, Width]. The weights p are computed for a few rows at a time, and again for
// the derivative: memory is a few times that of the input, however many documents a query has.
type Attention[T float] struct {
	Width, Heads int

	stripe int // rows of a query and head in one piece of work; 0: stripeRows. Tests set it
}

const stripeRows = 4096

// Run sets y, on all cores. Rows that belong to no query become 0.
func (a Attention[T]) Run(qkv, y []T, offsets []int) {
	clearPadding(y, a.Width, offsets)
	pieces := a.pieces(offsets)
	each(pieces, func(s *attentionSpace[T], i int) { s.run(context.Background(), pieces[i], qkv, y) })
}

// RunQuery sets y for the documents of one query on the calling goroutine, to the same
// numbers, bit for bit, as Run. It allocates nothing once it has run on as many. RunQuery
// ends with the context, with its error.
func (a Attention[T]) RunQuery(ctx context.Context, qkv, y []T) error {
	s := attentionSpaces[T]().Get().(*attentionSpace[T])
	defer attentionSpaces[T]().Put(s)
	n := len(y) / a.Width
	for h := range a.Heads {
		if err := s.run(ctx, piece[T]{a.Width, a.Heads, 0, n, h, 0, n}, qkv, y); err != nil {
			return err
		}
	}
	return nil
}

// VJP sets dqkv to the derivatives by qkv, given y and the derivatives by y, dy, on all
// cores. Rows that belong to no query get 0.
func (a Attention[T]) VJP(qkv, y, dy, dqkv []T, offsets []int) {
	clearPadding(dqkv, 3*a.Width, offsets)
	pieces := a.pieces(offsets)
	// Each stripe of a query has a share in the derivatives by all k and v; shares are added up
	// in the order of the stripes.
	size := a.Width / a.Heads
	shares := make([][]T, len(pieces))
	each(pieces, func(s *attentionSpace[T], i int) {
		p := pieces[i]
		dk, dv := p.of(dqkv, 1, 3), p.of(dqkv, 2, 3)
		if p.from > 0 {
			shares[i] = make([]T, 2*p.n*size)
			dk, dv = p.share(shares[i])
		}
		s.vjp(p, qkv, y, dy, dqkv, dk, dv)
	})
	for i, p := range pieces {
		if p.from > 0 {
			dk, dv := p.share(shares[i])
			addRows(p.of(dqkv, 1, 3), dk)
			addRows(p.of(dqkv, 2, 3), dv)
		}
	}
}

// clearPadding clears the rows that belong to no query.
func clearPadding[T float](x []T, width int, offsets []int) {
	clear(x[:offsets[0]*width])
	clear(x[offsets[len(offsets)-1]*width:])
}

// pieces are those of all queries; the stripes of a query and head stand together.
func (a Attention[T]) pieces(offsets []int) (all []piece[T]) {
	stripe := cmp.Or(a.stripe, stripeRows)
	for q := range len(offsets) - 1 {
		n := offsets[q+1] - offsets[q]
		for h := range a.Heads {
			for from := 0; from < n; from += stripe {
				all = append(all, piece[T]{a.Width, a.Heads, offsets[q], n, h, from, min(n, from+stripe)})
			}
		}
	}
	return all
}
