package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// maxPowers is the largest number of powers that documents are pooled with: exact for
// as many ranks, and for r_d up to about 1/4 where there are more.
const maxPowers = 16

// chunk is the number of documents that are pooled with the same number of powers.
const chunk = 32

// choosePool sets the first document that is pooled, and the largest number of powers. The
// series of a pool alternate: they may cancel to what rounding errors allow.
//
// For as many powers as there are ranks, they cancel from r^(K−1) for the largest r. For fewer,
// the coefficients of z^k come from such as are exp(k² Σr²/(Σr)²) times as large, or exp(Σr²)
// altogether.
func (x *quadrature) choosePool() {
	last := x.times[lanes.Width-1]
	growth := x.tolerance / 1e-14
	x.powers = min(x.ranks, maxPowers)
	limit := math.Pow(growth, 1/float64(x.ranks)) / 2 // of r
	if x.powers < x.ranks {
		limit = math.Pow(x.tolerance/x.margin(), 1/float64(x.powers))
	}
	limit = math.Log1p(limit) / last // of the weight
	x.sweptEnd = x.arrivedEnd
	for x.sweptEnd < x.poolEnd && x.w[x.sweptEnd] > limit {
		x.sweptEnd++
	}
	for ; x.powers < x.ranks && x.sweptEnd < x.poolEnd; x.sweptEnd++ {
		sum := last * (x.mass[x.sweptEnd] - x.mass[x.poolEnd])
		squares := last * last * (x.squares[x.sweptEnd] - x.squares[x.poolEnd])
		ratio := min(1, float64(x.ranks)/sum)
		underflow := sum > 500 && x.ranks > 100 // of e^−sum, though e^−sum sum^k/k! counts
		if squares*ratio*ratio <= math.Log(growth)/2 && !underflow {
			return
		}
	}
}

// margin is what the first power left out has to be below the tolerance: as many documents
// may have arrived as there are ranks, or a few more.
func (x *quadrature) margin() float64 { return float64(8 * (x.ranks + 1)) }

// powersFrom returns how many powers say all about document i and those after it.
func (x *quadrature) powersFrom(i int) int {
	r := math.Expm1(x.w[i] * x.times[lanes.Width-1])
	n := 1
	for rest := r * x.margin(); n < x.powers && rest > x.tolerance; n++ {
		rest *= r
	}
	return n
}

// poolPolynomials sets P, B and A to those of the pool, where Π (1 + r_d z) is the exponential of
// a series in the power sums of r_d.
func (x *quadrature) poolPolynomials(s []lanes.State, exposure bool) {
	for l, t := range x.times {
		s[0].P[l] = 0
		if mass := t * (x.mass[x.sweptEnd] - x.mass[x.poolEnd]); mass < 600 {
			s[0].P[l] = math.Exp(-mass)
		}
	}
	x.scratch = scratch.Sized(x.scratch, chunk)
	sums := x.sums[:x.powers]
	clear(sums)
	for i := x.sweptEnd; i < x.poolEnd; i += chunk {
		to := min(i+chunk, x.poolEnd)
		lanes.Sums(sums[:x.powersFrom(i)], x.exponentials(i, to), x.scratch, x.w[i:to], x.v[i:to])
	}
	sign := 1.0
	for j := range sums {
		sum := &sums[j]
		for l, t := range x.times {
			sum.Power[l] *= sign
			if exposure {
				sum.W[l], sum.V[l] = 0, 0
			} else {
				sum.W[l] *= sign * t
				sum.V[l] *= sign * t
			}
		}
		sign = -sign
	}
	lanes.Series(s, sums)
}

// addPoolResults adds the results of the documents of the pool, each of which is taken out of it
// by a series in −r_d.
func (x *quadrature) addPoolResults(s []lanes.State) {
	if x.sweptEnd == x.poolEnd {
		return
	}
	pairs := x.pairs[:min(x.powers, len(s))]
	lanes.Correlate(pairs, x.backward, s)
	for j := range pairs {
		for l, t := range x.times {
			pairs[j].A[l] *= t
			pairs[j].B[l] *= t
		}
	}
	for i := x.sweptEnd; i < x.poolEnd; i += chunk {
		to := min(i+chunk, x.poolEnd)
		lanes.Horner(x.result[i:to], pairs[:min(len(pairs), x.powersFrom(i))], x.r[i-x.arrivedEnd:to-x.arrivedEnd], x.w[i:to], x.gain[i:to])
	}
}
