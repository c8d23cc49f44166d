package forward

import (
	"math"

	"github.com/plrank/plrank/internal/parallel"
)

// An Attention is multi-head scaled dot-product attention among the documents of each
// query (Vaswani et al. 2017, sections 3.2.1 and 3.2.2). In every head a document has
// three vectors q, k and v of size Width/Heads, and gets
//
//	y_i = Σ_j p_ij v_j,   p_i = softmax_j(q_i·k_j / √size).
//
// What goes in is [rows, 3·Width]: the q of all heads side by side, then the k, then the
// v. What comes out is [rows, Width]. The weights p are made for a few rows at a time, and
// made again for the derivative: however many documents a query has, the memory for it is
// a few times that of what goes in.
type Attention[T float] struct{ Width, Heads int }

const (
	blockWeights = 1 << 18 // that are made at a time: they stay in the cache
	blockRows    = 128     // at most
)

// stripeRows of one query and head are one piece of work. Tests change it.
var stripeRows = 4096

// block is the number of rows that are done at a time for a query of n documents. The
// last digits of results depend on it, so it depends on nothing else.
func block(n int) int { return min(blockRows, max(8, blockWeights/n/8*8)) }

// Run sets y, on all cores. Rows that belong to no query become 0.
func (a Attention[T]) Run(qkv, y []T, offsets []int) {
	clearPadding(y, a.Width, offsets)
	pieces := a.pieces(offsets)
	each(pieces, func(s *attentionSpace[T], i int) { s.run(pieces[i], qkv, y) })
}

// RunQuery sets y for the documents of one query on the calling goroutine, to the same
// numbers, bit for bit, as Run. It allocates nothing once it has run on as many.
func (a Attention[T]) RunQuery(qkv, y []T) {
	s := attentionSpaces[T]().Get().(*attentionSpace[T])
	defer attentionSpaces[T]().Put(s)
	n := len(y) / a.Width
	for h := range a.Heads {
		s.run(piece[T]{a, 0, n, h, 0, n}, qkv, y)
	}
}

// Slope sets dqkv to the derivatives by qkv, given y and the derivatives by y, dy, on all
// cores. Rows that belong to no query get 0.
func (a Attention[T]) Slope(qkv, y, dy, dqkv []T, offsets []int) {
	clearPadding(dqkv, 3*a.Width, offsets)
	pieces := a.pieces(offsets)
	// The k and v of a query's documents get something from each of its stripes, which
	// are added up in their order.
	shares := make([][]T, len(pieces))
	each(pieces, func(s *attentionSpace[T], i int) {
		p := pieces[i]
		s.slope(p, qkv, y, dy, dqkv)
		if p.stripes() == 1 {
			p.put(1, 1, s.dk, dqkv, 0)
			p.put(2, 1, s.dv, dqkv, 0)
			return
		}
		shares[i] = append(append(make([]T, 0, len(s.dk)+len(s.dv)), s.dk...), s.dv...)
	})
	for i, p := range pieces {
		if p.stripes() == 1 || p.from > 0 {
			continue
		}
		sum := shares[i]
		for _, share := range shares[i+1 : i+p.stripes()] {
			for e, v := range share {
				sum[e] += v
			}
		}
		p.put(1, 1, sum[:len(sum)/2], dqkv, 0)
		p.put(2, 1, sum[len(sum)/2:], dqkv, 0)
	}
}

// clearPadding clears the rows that belong to no query.
func clearPadding[T float](x []T, width int, offsets []int) {
	clear(x[:offsets[0]*width])
	clear(x[offsets[len(offsets)-1]*width:])
}

// A piece of work is rows from to to−1 of a query, in one head.
type piece[T float] struct {
	Attention[T]
	first, n int // rows of the query
	head     int
	from, to int // counted from first
}

// pieces are those of all queries; the stripes of a query and head stand together.
func (a Attention[T]) pieces(offsets []int) (all []piece[T]) {
	for q := range len(offsets) - 1 {
		n := offsets[q+1] - offsets[q]
		for h := range a.Heads {
			for from := 0; from < n; from += stripeRows {
				all = append(all, piece[T]{a, offsets[q], n, h, from, min(n, from+stripeRows)})
			}
		}
	}
	return all
}

func (p piece[T]) size() int    { return p.Width / p.Heads }
func (p piece[T]) stripes() int { return blocks(p.n, stripeRows) }

// at is where vector which, of 0 to vectors−1, of the piece's head and row r of the query
// lies in x, which has so many vectors a row and head.
func (p piece[T]) at(x []T, vectors, which, r int) []T {
	start := ((p.first+r)*vectors+which)*p.Width + p.head*p.size()
	return x[start : start+p.size()]
}

// take copies one vector of each row of the query to [n, size], times scale.
func (p piece[T]) take(x []T, vectors, which int, scale T, to []T) []T {
	size := p.size()
	to = grow(to, p.n*size)
	for r := range p.n {
		row := to[r*size : (r+1)*size]
		for i, v := range p.at(x, vectors, which, r) {
			row[i] = scale * v
		}
	}
	return to
}

// put copies [rows, size], times scale, to vector which of dqkv, from row first on.
func (p piece[T]) put(which int, scale T, from, dqkv []T, first int) {
	size := p.size()
	for r := range len(from) / size {
		row := p.at(dqkv, 3, which, first+r)
		for i, v := range from[r*size : (r+1)*size] {
			row[i] = scale * v
		}
	}
}

// scale is 1/√size, which q is multiplied by.
func (p piece[T]) scale() T { return T(1 / math.Sqrt(float64(p.size()))) }

// each calls f for every piece, on all cores.
func each[T float](pieces []piece[T], f func(s *attentionSpace[T], i int)) {
	workers := parallel.Workers(len(pieces))
	pool := attentionSpaces[T]()
	spaces := make([]*attentionSpace[T], workers)
	for w := range spaces {
		spaces[w] = pool.Get().(*attentionSpace[T])
		defer pool.Put(spaces[w])
	}
	parallel.For(len(pieces), workers, func(w, i int) { f(spaces[w], i) })
}
