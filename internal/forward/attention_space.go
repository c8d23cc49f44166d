package forward

import (
	"context"
	"math"
	"sync"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/internal/softmax"
)

// A piece of work is rows from to to−1 of a query, in one head.
type piece[T float] struct {
	Attention[T]
	first, n int // rows of the query
	head     int
	from, to int // counted from first
}

func (p piece[T]) size() int { return p.Width / p.Heads }
func (p piece[T]) scale() T  { return T(1 / math.Sqrt(float64(p.size()))) }

// of is the vectors of the piece's head in x, which has so many for each row and head, and
// of which this is number which: [n, size].
func (p piece[T]) of(x []T, which, vectors int) blas.Matrix[T] {
	columns := vectors * p.Width
	all := blas.RowMajor(x[p.first*columns:], p.n, columns)
	return all.Slice(0, p.n, which*p.Width+p.head*p.size(), p.size())
}

// some is rows from from on of a matrix.
func some[T float](m blas.Matrix[T], from, rows int) blas.Matrix[T] {
	return m.Slice(from, rows, 0, m.Cols)
}

// row is row r of a matrix.
func row[T float](m blas.Matrix[T], r int) []T { return m.Data[r*m.Row:][:m.Cols] }

// An attentionSpace is what one goroutine needs to work on pieces.
type attentionSpace[T float] struct {
	weights, slopes []T // [block, n]
	sums            []T // [block] of exponentials
	part            []T // [n, size]
}

var (
	spaces32 = sync.Pool{New: func() any { return &attentionSpace[float32]{} }}
	spaces64 = sync.Pool{New: func() any { return &attentionSpace[float64]{} }}
)

func attentionSpaces[T float]() *sync.Pool {
	if _, narrow := any(T(0)).(float32); narrow {
		return &spaces32
	}
	return &spaces64
}

// run sets the piece's part of y, unless the context ends.
func (s *attentionSpace[T]) run(ctx context.Context, p piece[T], qkv, y []T) error {
	q, k, v, all := p.of(qkv, 0, 3), p.of(qkv, 1, 3), p.of(qkv, 2, 3), p.of(y, 0, 1)
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
func (s *attentionSpace[T]) exponentials(p piece[T], keys blas.Right[T], q blas.Matrix[T]) blas.Matrix[T] {
	s.weights, s.sums = scratch.Sized(s.weights, q.Rows*p.n), scratch.Sized(s.sums, q.Rows)
	weights := blas.RowMajor(s.weights, q.Rows, p.n)
	keys.Product(weights, q, blas.End[T]{})
	for r := range q.Rows {
		s.sums[r] = softmax.Exponentials(row(weights, r), p.scale())
	}
	return weights
}

// slope sets what the piece's rows get of the derivatives by their q, and to dk and dv
// [n, size] what the derivatives by the k and v of all documents get from these rows:
//
//	dv_j = Σ_i p_ij dy_i,   ds_ij = p_ij (dy_i·v_j − dy_i·y_i)/√size,
//	dq_i = Σ_j ds_ij k_j,   dk_j = Σ_i ds_ij q_i.
func (s *attentionSpace[T]) slope(p piece[T], qkv, y, dy, dqkv []T, dk, dv blas.Matrix[T]) {
	q, k, v, dq := p.of(qkv, 0, 3), p.of(qkv, 1, 3), p.of(qkv, 2, 3), p.of(dqkv, 0, 3)
	ys, dys := p.of(y, 0, 1), p.of(dy, 0, 1)
	keys, columns, values := blas.NewRight(k.T()), blas.NewRight(k), blas.NewRight(v.T())
	defer keys.Free()
	defer columns.Free()
	defer values.Free()
	for from := p.from; from < p.to; from += block(p.n) {
		rows := min(block(p.n), p.to-from)
		q, ys, dys := some(q, from, rows), some(ys, from, rows), some(dys, from, rows)
		weights := s.exponentials(p, keys, q)
		s.slopes = scratch.Sized(s.slopes, rows*p.n)
		slopes := blas.RowMajor(s.slopes, rows, p.n)
		values.Product(slopes, dys, blas.End[T]{})
		for r := range rows {
			softmaxSlope(row(weights, r), row(slopes, r), 1/s.sums[r], dot(row(dys, r), row(ys, r)))
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
func (s *attentionSpace[T]) sum(c, a, b blas.Matrix[T], more bool) {
	if !more {
		blas.Multiply(c, a, b)
		return
	}
	s.part = scratch.Sized(s.part, c.Rows*c.Cols)
	part := blas.RowMajor(s.part, c.Rows, c.Cols)
	blas.Multiply(part, a, b)
	addRows(c, part)
}

// addRows adds m to c.
func addRows[T float](c, m blas.Matrix[T]) {
	for r := range c.Rows {
		add(row(c, r), row(m, r))
	}
}

// multiply multiplies the numbers of x by v.
func multiply[T float](x []T, v T) {
	for i := range x {
		x[i] *= v
	}
}

// softmaxSlope multiplies the weights by share, and sets slopes to weights·(slopes − mean).
func softmaxSlope[T float](weights, slopes []T, share, mean T) {
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
