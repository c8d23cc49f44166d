package forward

import (
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/softmax"
)

// An attentionSpace is what one goroutine needs to work on pieces.
type attentionSpace[T float] struct {
	q, k, v, dy     []T // [n, size] of one query and head; q is scaled
	kt, vt          []T // [size, n]
	weights, slopes []T // [block, n]
	turned          []T // [n, block]
	part            []T // [n, size]
	sums            []T // [block] of exponentials
	dk, dv          []T // [n, size]: results of slope
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

// grow is s with length n, of any contents.
func grow[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// take copies the vectors of the piece's query and head.
func (s *attentionSpace[T]) take(p piece[T], qkv []T) {
	s.q = p.take(qkv, 3, 0, p.scale(), s.q)
	s.k = p.take(qkv, 3, 1, 1, s.k)
	s.v = p.take(qkv, 3, 2, 1, s.v)
	s.kt = grow(s.kt, len(s.k))
	transpose(s.kt, s.k, p.n, p.size())
}

// run sets the piece's part of y.
func (s *attentionSpace[T]) run(p piece[T], qkv, y []T) {
	s.take(p, qkv)
	size := p.size()
	keys, values := blas.NewRight(s.kt, size, p.n), blas.NewRight(s.v, p.n, size)
	defer keys.Free()
	defer values.Free()
	for from := p.from; from < p.to; from += block(p.n) {
		rows := min(block(p.n), p.to-from)
		s.exponentials(p, keys, from, rows)
		s.part = grow(s.part, rows*size)
		values.Product(s.part, s.weights, rows)
		for r := range rows {
			to, share := p.at(y, 1, 0, from+r), 1/s.sums[r]
			for i, v := range s.part[r*size : (r+1)*size] {
				to[i] = share * v
			}
		}
	}
}

// exponentials sets the weights of a block of rows, times their sums.
func (s *attentionSpace[T]) exponentials(p piece[T], keys blas.Right[T], from, rows int) {
	size := p.size()
	s.weights, s.sums = grow(s.weights, rows*p.n), grow(s.sums, rows)
	keys.Product(s.weights, s.q[from*size:(from+rows)*size], rows)
	for r := range rows {
		s.sums[r] = softmax.Exponentials(s.weights[r*p.n : (r+1)*p.n])
	}
}

// slope sets what the piece's rows get of the derivatives by their q, and in dk and dv
// what those by the k and v of all documents of the query get from these rows:
//
//	dv_j = Σ_i p_ij dy_i,   ds_ij = p_ij (dy_i·v_j − dy_i·y_i),
//	dq_i = Σ_j ds_ij k_j / √size,   dk_j = Σ_i ds_ij q_i / √size.
func (s *attentionSpace[T]) slope(p piece[T], qkv, y, dy, dqkv []T) {
	s.take(p, qkv)
	size := p.size()
	s.dy = p.take(dy, 1, 0, 1, s.dy)
	s.vt = grow(s.vt, len(s.v))
	transpose(s.vt, s.v, p.n, size)
	s.dk, s.dv = grow(s.dk, len(s.k)), grow(s.dv, len(s.v))
	clear(s.dk)
	clear(s.dv)
	keys, values, columns := blas.NewRight(s.kt, size, p.n), blas.NewRight(s.vt, size, p.n), blas.NewRight(s.k, p.n, size)
	defer keys.Free()
	defer values.Free()
	defer columns.Free()
	for from := p.from; from < p.to; from += block(p.n) {
		rows := min(block(p.n), p.to-from)
		of := func(x []T) []T { return x[from*size : (from+rows)*size] }
		s.exponentials(p, keys, from, rows)
		s.slopes = grow(s.slopes, rows*p.n)
		values.Product(s.slopes, of(s.dy), rows)
		for r := range rows {
			row := s.dy[(from+r)*size : (from+r+1)*size]
			softmaxSlope(s.weights[r*p.n:(r+1)*p.n], s.slopes[r*p.n:(r+1)*p.n], 1/s.sums[r], dot(row, p.at(y, 1, 0, from+r)))
		}
		s.part = grow(s.part, rows*size)
		columns.Product(s.part, s.slopes, rows)
		p.put(0, p.scale(), s.part, dqkv, from)
		s.addTransposed(s.dv, s.weights, of(s.dy), p.n, rows, size)
		s.addTransposed(s.dk, s.slopes, of(s.q), p.n, rows, size)
	}
}

// addTransposed adds aᵀ·b to c: a [rows, n], b [rows, size], c [n, size].
func (s *attentionSpace[T]) addTransposed(c, a, b []T, n, rows, size int) {
	s.turned, s.part = grow(s.turned, len(a)), grow(s.part, n*size)
	transpose(s.turned, a, rows, n)
	right := blas.NewRight(b, rows, size)
	defer right.Free()
	right.Product(s.part, s.turned, n)
	for i, v := range s.part {
		c[i] += v
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
