// Package lanes has the inner loops of plackett.Expectation, for eight nodes of a quadrature at
// a time, and of plackett.Kernel, for eight rankings at a time: a [Vec] has a number for each. On
// x86-64 machines they use AVX-512 or AVX2 instructions if there are any. Elsewhere, and in
// programs built with -tags purego, they are plain Go, with the same results up to rounding.
package lanes

import (
	"math"

	"github.com/plrank/plrank/internal/num"
)

// Width is the number of nodes, or rankings, that are computed at a time.
const Width = 8

// A Vec is a number for every node, or for every ranking.
type Vec [Width]float64

// Limit is the largest e^x − 1 that [Expm1] gives: 1/(1 + Limit) is zero for every
// purpose, but its products with others are still normal numbers.
const Limit = 1e25

// Expm1 sets r_i to e^{w_i t} − 1, at most Limit, in full relative precision. It
// computes a polynomial at w_i t/2^halvings, which must be at most [Small], and doubles
// the argument again: e^{2x} − 1 = r(2 + r).
func Expm1(r []Vec, w []float64, t *Vec, halvings int) {
	if len(w) > 0 {
		inUse.expm1(r[:len(w)], w, t, math.Ldexp(1, -halvings), halvings)
	}
}

// Small bounds the arguments for which the polynomial of [Expm1] is right to 1e-17.
const Small = 1.0 / 64

// inverseFactorials are the coefficients of (e^x − 1)/x, from the highest.
var inverseFactorials = [7]float64{1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1}

// A Sum has the sums over documents that a power of r enters.
type Sum struct {
	Power Vec // Σ r^(l+1)
	W     Vec // Σ w r^l
	V     Vec // Σ v r^l
}

// Sums adds to s[l] the sums over the documents, and Σ x r^l to the W of the power after. The powers of r need room: scratch is
// as long as r.
func Sums(s []Sum, r, scratch []Vec, w, v, x []float64) {
	if len(r) > 0 && len(s) > 0 {
		inUse.sums(s, r, scratch[:len(r)], w[:len(r)], v[:len(r)], x[:len(r)])
	}
}

// A Pair has two coefficients of polynomials in −r.
type Pair struct{ A, B Vec }

// Horner adds to out_i w_i Σ_l (−r_i)^l (g_i B_l − A_l + x_i A_{l+1}), for all l but the last, summed over the nodes.
func Horner(out []float64, c []Pair, r []Vec, w, g, x []float64) {
	if len(r) > 0 && len(c) > 1 {
		inUse.horner(out[:len(r)], c, r, w[:len(r)], g[:len(r)], x[:len(r)])
	}
}

// A State has the coefficients of one power of z in three polynomials.
type State struct{ P, B, A Vec }

// A Chance has what a document does at the nodes: q = 1/(1+r), p = c (1 − q), f = w t q.
type Chance struct{ Q, P, F Vec }

// Transitions sets chances_i to the chances of r_i, w_i, c_i and t.
func Transitions(chances []Chance, r []Vec, t *Vec, w, c []float64) {
	if docs := len(r); docs > 0 {
		inUse.transitions(chances[:docs], r, t, w[:docs], c[:docs])
	}
}

// Scale multiplies r_i by c_i.
func Scale(r []Vec, c []float64) {
	if len(r) > 0 {
		inUse.scale(r, c[:len(r)])
	}
}

// Multiply is [Forward] for the values of the polynomials at z_m, one state each: document by document
//
//	P' = a P   B' = a B + (1 − c z) f P   A' = a A + g f P,   a = q + p z.
func Multiply(states []State, z []float64, chances []Chance, g, c []float64) {
	if len(states) > 0 && len(chances) > 0 {
		inUse.multiply(states, z[:len(states)], chances, g[:len(chances)], c[:len(chances)])
	}
}

// Divide adds to out_i Σ f Σ_m (g B_m − (1 − c z_m) A_m)/(q + p z_m), summed over the nodes.
func Divide(out []float64, terms []Pair, z []float64, chances []Chance, g, c []float64) {
	if len(terms) > 0 && len(chances) > 0 {
		inUse.divide(out[:len(chances)], terms, z[:len(terms)], chances, g[:len(chances)], c[:len(chances)])
	}
}

// Forward multiplies polynomials by q_i + p_i z, document by document, and adds to B and A
// the document that arrives at t, in B with the factor 1 − c z:
//
//	P'_k = q P_k + p P_{k−1}   B'_k = q B_k + p B_{k−1} + f (P_k − c P_{k−1})   A'_k = q A_k + p A_{k−1} + g f P_k
//
// The states are rows of length ranks, one before every document and one at the end. The first is
// given, with size coefficients. Every other row has one coefficient more than the row before it,
// up to ranks.
func Forward(states []State, ranks, size int, chances []Chance, g, c []float64) {
	if docs := len(chances); docs > 0 {
		inUse.forward(states[:(docs+1)*ranks], ranks, size, chances, g[:docs], c[:docs])
	}
}

// Backward carries the weights of the powers of z back over the documents, from the last
// to the first, and adds to out_i the document's own part. With u in the room of P, x of B
// and y of A, and v_k = u_k − c u_{k+1},
//
//	Σ f (g Σ_k (B_k u_k + P_k x_k) − Σ_k (A_k v_k + P_k (y_k − c y_{k+1}))),
//	u_k = q u_k + p u_{k+1}   x_k = q x_k + p x_{k+1} + f v_k   y_k = q y_k + p y_{k+1} + g f u_k,
//
// the sum over the nodes, and all from the u of before. u has one entry more than there are
// ranks, which is 0. The rest is as in [Forward].
func Backward(out []float64, u, states []State, ranks, size int, chances []Chance, g, c []float64) {
	if docs := len(out); docs > 0 {
		inUse.backward(out, u[:ranks+1], states[:docs*ranks], ranks, size, chances[:docs], g[:docs], c[:docs])
	}
}

// Series sets the states of documents that hardly arrive from their sums, with the
// factors and signs that make s_0.P·exp(Σ_l c_l.Power z^{l+1}/(l+1)) the polynomial P, and
// B and A its products with Σ_l c_l.W z^l and Σ_l c_l.V z^l. It reads s_0.P and sets the rest.
func Series(s []State, c []Sum) {
	if len(s) > 0 && len(c) > 0 {
		inUse.series(s, c)
	}
}

// The functions of a dual number, whose names end in Dual, are those without at p_i + ε d_i p_i instead of
// p_i, and with c = 0. Their sums are a multiple of the states plus the derivatives of the states by ε. The gains g are d: where it
// is 0, much need not be computed.

// SeriesDual sets sums, found times the states that [Series] gave for c plus their derivatives, where d has the
// derivatives of c, but in Power Σ_l d_l.Power z^l, the derivative of log P over z.
func SeriesDual(sums, states []State, c, d []Sum, found float64) {
	if len(sums) > 0 {
		inUse.seriesDual(sums, states[:len(sums)], c, d[:len(c)], found)
	}
}

// ForwardDual sets the rows of sums after the first, given the rows of states that [Forward] set.
func ForwardDual(sums, states []State, ranks, size int, chances []Chance, d []float64) {
	if docs := len(chances); docs > 0 {
		inUse.forwardDual(sums[:(docs+1)*ranks], states[:docs*ranks], ranks, size, chances, d[:docs])
	}
}

// BackwardDual is [Backward], and adds to out_i the document's part plus its derivative. It carries u, as
// Backward does, and du, its derivative.
func BackwardDual(out []float64, u, du, sums, states []State, ranks, size int, chances []Chance, d []float64) {
	if docs := len(out); docs > 0 {
		inUse.backwardDual(out, u[:ranks+1], du[:ranks+1], sums[:docs*ranks], states[:docs*ranks], ranks, size, chances[:docs], d[:docs])
	}
}

// MultiplyDual is [Multiply], and does the same for sums.
func MultiplyDual(sums, states []State, z []float64, chances []Chance, d []float64) {
	if len(states) > 0 && len(chances) > 0 {
		inUse.multiplyDual(sums[:len(states)], states, z[:len(states)], chances, d[:len(chances)])
	}
}

// DivideDual is [Divide] of sums, plus the derivative of the denominator's part: with a = q + p z it adds
// Σ f Σ_m ((d B_m − A_m)/a − d p z (d B'_m − A'_m)/a²), A and B of sums, A' and B' of terms.
func DivideDual(out []float64, sums, terms []Pair, z []float64, chances []Chance, d []float64) {
	if len(terms) > 0 && len(chances) > 0 {
		inUse.divideDual(out[:len(chances)], sums[:len(terms)], terms, z[:len(terms)], chances, d[:len(chances)])
	}
}

// Correlate sets c_j.B to Σ_k u_{k+j}.P s_k.B + u_{k+j}.B s_k.P, and c_j.A to
// Σ_k u_{k+j}.P s_k.A + u_{k+j}.A s_k.P. u is as long as s at least, c at most.
func Correlate(c []Pair, u, s []State) {
	if len(c) > 0 {
		inUse.correlate(c, u[:len(s)], s)
	}
}

// A Rank has what stands at one rank of every ranking.
type Rank struct {
	W, V    Vec // of the document: its weight w, and w times its gain; 0 where there is none
	Inverse Vec // 1/M, M the weights of the documents not placed before this rank
	Gain    Vec // what the rank is rewarded for, such as their mean gain
}

// A Total is a sum of twice the precision: its value is High + Low.
type Total struct{ High, Low float64 }

// Add adds x: Knuth's error-free transformation of High + x, with the error kept in
// Low (TAOCP vol. 2, §4.2.2, theorem B).
func (t *Total) Add(x float64) {
	sum := t.High + x
	part := sum - t.High
	t.Low += (t.High - (sum - part)) + (x - part)
	t.High = sum
}

// Remain sets Inverse and Gain of every rank: 1/M and S/M, with M = mass − Σ W and S = gain − Σ V over
// the ranks before, in twice the precision.
func Remain(ranks []Rank, mass, gain *Total) {
	if len(ranks) > 0 {
		inUse.remain(ranks, mass, gain)
	}
}

// A Credit says how the rewards r_k of the ranks become the weights f_k and g_k of
// plackett.Kernel:
//
//	f_k = Later·Σ_{x>k} r_x + Own·r_k − baseline_k    g_k = f_k + Risk·r_k
type Credit struct{ Later, Own, Risk float64 }

// Shared has sums over the ranks of every ranking: A = Σ θ/M and B = Σ g/M, which all
// documents share, and the reward Σ r.
type Shared struct{ A, B, Reward Vec }

// Place sets out_k to what the document at rank k gets, with r_k = θ_k Gain_k, and A_k and B_k the
// sums of [Shared] up to rank k: f_k + V (A_k − A) − W (B_k − B), and f_k + V A_k − W B_k where
// its W is above the ceiling of the ranking.
func Place(out []Vec, ranks []Rank, theta, baseline []float64, c *Credit, ceiling *Vec, s *Shared) {
	*s = Shared{}
	if n := len(ranks); n > 0 {
		inUse.place(out[:n], ranks, theta[:n], baseline[:n], c, ceiling, s)
	}
}

// A Matrix is [Rows, Cols]; its rows, or after T its columns, are Stride numbers apart.
type Matrix struct {
	Numbers            []float64
	Rows, Cols, Stride int
	transposed         bool
}

// NewMatrix returns a matrix in the given memory, or in new memory if that is too small. Its rows have room for whole vectors; its
// numbers are undefined.
func NewMatrix(memory []float64, rows, cols int) Matrix {
	stride := (cols + Width - 1) / Width * Width
	return Matrix{num.Sized(memory, rows*stride), rows, cols, stride, false}
}

// Row returns row i.
func (m Matrix) Row(i int) []float64 { return m.Numbers[i*m.Stride:][:m.Cols] }

// From returns the rows from row i on.
func (m Matrix) From(i int) Matrix {
	m.Numbers, m.Rows = m.Numbers[i*m.Stride:], m.Rows-i
	return m
}

// T returns the transposed matrix, of the same numbers, for the left of a product.
func (m Matrix) T() Matrix {
	m.Rows, m.Cols, m.transposed = m.Cols, m.Rows, !m.transposed
	return m
}

// Product sets c = a·b.
func Product(c, a, b Matrix) {
	row, col := a.Stride, 1
	if a.transposed {
		row, col = col, row
	}
	if c.Rows == 0 || c.Cols == 0 || a.Cols == 0 {
		clear(c.Numbers)
		return
	}
	step, next := 8, 1 // rows at a time, at the end some of them again; where there are fewer, eight times the same
	if c.Rows < step {
		step, next = 1, 0
	}
	for i := 0; i < c.Rows; i += step {
		i := min(i, c.Rows-step)
		inUse.product(&c.Numbers[i*c.Stride], next*c.Stride, &a.Numbers[i*row], next*row, col, &b.Numbers[0], b.Stride, a.Cols, c.Stride/Width)
	}
}
