package forward

import (
	"cmp"
	"context"
	"math"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/elementwise"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

// An Attention computes ops.Attention, y_i = Σ_j p_ij v_j with p_i = softmax_j(q_i·k_j / √size), from
// [rows, 3·Width] to [rows, Width]. The weights p are computed for a few rows at a time, and again for
// the derivative: memory is a few times the input, however many documents a query has.
type Attention[T float] struct {
	Width, Heads int

	stripe int // rows of a query and head in one piece of work; 0: stripeRows. Tests set it
}

const stripeRows = 4096

// Run sets y, on all cores. Rows that belong to no query become 0.
func (a Attention[T]) Run(qkv, y []T, offsets []int) {
	clearPadding(y, a.Width, offsets)
	pieces := a.pieces(offsets)
	forEachPiece(pieces, func(s *AttentionSpace[T], i int) {
		_ = s.run(context.Background(), pieces[i], qkv, y) // its only error is of a context that ends
	})
}

// RunQuery sets y for the documents of one query on the calling goroutine, to the same
// numbers, bit for bit, as Run. It allocates nothing once it has run on as many in this space. RunQuery
// ends with the context, with its error.
func (a Attention[T]) RunQuery(ctx context.Context, s *AttentionSpace[T], qkv, y []T) error {
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
	forEachPiece(pieces, func(s *AttentionSpace[T], i int) {
		p := pieces[i]
		dk, dv := p.vectorsOf(dqkv, 1, 3), p.vectorsOf(dqkv, 2, 3)
		if p.from > 0 {
			shares[i] = make([]T, 2*p.n*size)
			dk, dv = p.share(shares[i])
		}
		s.vjp(p, qkv, y, dy, dqkv, dk, dv)
	})
	for i, p := range pieces {
		if p.from > 0 {
			dk, dv := p.share(shares[i])
			addRows(p.vectorsOf(dqkv, 1, 3), dk)
			addRows(p.vectorsOf(dqkv, 2, 3), dv)
		}
	}
}

// clearPadding clears the rows that belong to no query.
func clearPadding[T float](x []T, width int, offsets []int) {
	clear(x[:offsets[0]*width])
	clear(x[offsets[len(offsets)-1]*width:])
}

// pieces are the pieces of all queries; the stripes of a query and head stand together.
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

// A piece of work is the rows from, …, to−1 of a query, in one head.
type piece[T float] struct {
	width, heads int
	first, n     int // rows of the query
	head         int
	from, to     int // counted from first
}

const (
	blockWeights = 1 << 18 // that are made at a time: they stay in the cache
	blockRows    = 128     // at most
)

// block is the number of rows that are done at a time for a query of n documents. The
// last digits of results depend on it, so it depends on nothing else.
func block(n int) int { return min(blockRows, max(8, blockWeights/n/8*8)) }

func (p piece[T]) size() int { return p.width / p.heads }
func (p piece[T]) scale() T  { return T(1 / math.Sqrt(float64(p.size()))) }

// vectorsOf returns the matrix [n, size] of the piece's head in x, which has several vectors for each row and
// head: the vectors of number which.
func (p piece[T]) vectorsOf(x []T, which, vectors int) blas.Matrix[T] {
	columns := vectors * p.width
	all := blas.RowMajor(x[p.first*columns:], p.n, columns)
	return all.Slice(0, p.n, which*p.width+p.head*p.size(), p.size())
}

// share is room for the derivatives by k and v of a query and head.
func (p piece[T]) share(x []T) (dk, dv blas.Matrix[T]) {
	half := len(x) / 2
	return blas.RowMajor(x[:half], p.n, p.size()), blas.RowMajor(x[half:], p.n, p.size())
}

// some is a number of rows of a matrix, from row from on.
func some[T float](m blas.Matrix[T], from, rows int) blas.Matrix[T] {
	return m.Slice(from, rows, 0, m.Cols)
}

// row is row r of a matrix.
func row[T float](m blas.Matrix[T], r int) []T { return m.Data[r*m.Row:][:m.Cols] }

// An AttentionSpace is the scratch memory of one goroutine. Its zero value is ready.
type AttentionSpace[T float] struct {
	weights, slopes []T // [block, n]: p, and the derivatives by its logits
	sums            []T // [block]: of exponentials
	part            []T // [n, size]
}

// run sets the part of y that belongs to the piece, unless the context ends.
func (s *AttentionSpace[T]) run(ctx context.Context, p piece[T], qkv, y []T) error {
	q, k, v, all := p.vectorsOf(qkv, 0, 3), p.vectorsOf(qkv, 1, 3), p.vectorsOf(qkv, 2, 3), p.vectorsOf(y, 0, 1)
	keys, values := blas.NewRight(k.T()), blas.NewRight(v)
	defer keys.Free()
	defer values.Free()
	for from := p.from; from < p.to; from += block(p.n) {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := min(block(p.n), p.to-from)
		weights, y := s.exponentials(p, keys, some(q, from, rows)), some(all, from, rows)
		values.Product(y, weights, blas.End[T]{})
		for r := range rows {
			multiply(row(y, r), 1/s.sums[r])
		}
	}
	return nil
}

// exponentials are the weights of some rows, times their sums, and sets the sums.
func (s *AttentionSpace[T]) exponentials(p piece[T], keys blas.Right[T], q blas.Matrix[T]) blas.Matrix[T] {
	s.weights, s.sums = num.Sized(s.weights, q.Rows*p.n), num.Sized(s.sums, q.Rows)
	weights := blas.RowMajor(s.weights, q.Rows, p.n)
	keys.Product(weights, q, blas.End[T]{})
	for r := range q.Rows {
		s.sums[r] = elementwise.Exponentials(row(weights, r), p.scale())
	}
	return weights
}

// vjp sets the derivatives by q of the rows of the piece, and in dk and dv [n, size] the share of
// these rows in the derivatives by k and v of all documents:
//
//	dv_j = Σ_i p_ij dy_i,   ds_ij = p_ij (dy_i·v_j − dy_i·y_i)/√size,
//	dq_i = Σ_j ds_ij k_j,   dk_j = Σ_i ds_ij q_i.
func (s *AttentionSpace[T]) vjp(p piece[T], qkv, y, dy, dqkv []T, dk, dv blas.Matrix[T]) {
	q, k, v, dq := p.vectorsOf(qkv, 0, 3), p.vectorsOf(qkv, 1, 3), p.vectorsOf(qkv, 2, 3), p.vectorsOf(dqkv, 0, 3)
	ys, dys := p.vectorsOf(y, 0, 1), p.vectorsOf(dy, 0, 1)
	keys, columns, values := blas.NewRight(k.T()), blas.NewRight(k), blas.NewRight(v.T())
	defer keys.Free()
	defer columns.Free()
	defer values.Free()
	for from := p.from; from < p.to; from += block(p.n) {
		rows := min(block(p.n), p.to-from)
		q, ys, dys := some(q, from, rows), some(ys, from, rows), some(dys, from, rows)
		weights := s.exponentials(p, keys, q)
		s.slopes = num.Sized(s.slopes, rows*p.n)
		slopes := blas.RowMajor(s.slopes, rows, p.n)
		values.Product(slopes, dys, blas.End[T]{})
		for r := range rows {
			softmaxVJP(row(weights, r), row(slopes, r), 1/s.sums[r], dot(row(dys, r), row(ys, r)))
		}
		columns.Product(some(dq, from, rows), slopes, blas.End[T]{})
		s.sum(dv, weights.T(), dys, from > p.from)
		s.sum(dk, slopes.T(), q, from > p.from)
	}
	for r := p.from; r < p.to; r++ {
		multiply(row(dq, r), p.scale())
	}
	for r := range p.n {
		multiply(row(dk, r), p.scale())
	}
}

// sum sets c = a·b, or adds that to c.
func (s *AttentionSpace[T]) sum(c, a, b blas.Matrix[T], more bool) {
	if !more {
		blas.Multiply(c, a, b)
		return
	}
	s.part = num.Sized(s.part, c.Rows*c.Cols)
	part := blas.RowMajor(s.part, c.Rows, c.Cols)
	blas.Multiply(part, a, b)
	addRows(c, part)
}

// addRows adds m to c.
func addRows[T float](c, m blas.Matrix[T]) {
	for r := range c.Rows {
		Add(row(c, r), row(m, r))
	}
}

// multiply multiplies the numbers of x by v.
func multiply[T float](x []T, v T) {
	for i := range x {
		x[i] *= v
	}
}

// softmaxVJP multiplies the weights by share, and sets slopes to weights·(slopes − mean).
func softmaxVJP[T float](weights, slopes []T, share, mean T) {
	if weights, ok := any(weights).([]float32); ok {
		slopes := any(slopes).([]float32)
		vek32.MulNumber_Inplace(weights, float32(share))
		vek32.SubNumber_Inplace(slopes, float32(mean))
		vek32.Mul_Inplace(slopes, weights)
		return
	}
	for i := range weights {
		weights[i] *= share
		slopes[i] = weights[i] * (slopes[i] - mean)
	}
}

func dot[T float](x, y []T) (sum T) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// forEachPiece calls f for every piece, on all cores.
func forEachPiece[T float](pieces []piece[T], f func(s *AttentionSpace[T], i int)) {
	spaces := make([]AttentionSpace[T], parallel.Workers(len(pieces)))
	parallel.For(len(pieces), len(spaces), func(worker, i int) { f(&spaces[worker], i) })
}
