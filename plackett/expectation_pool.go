package plackett

import (
	"math"

	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// maxTerms is the largest number of powers that documents are pooled with: exact for
// as many ranks, and for r_d up to about 1/4 where there are more.
const maxTerms = 16

// chunk is the number of documents that are pooled with the same number of powers.
const chunk = 32

// split sets the first document that is pooled, and the largest number of powers. The
// series of a pool alternate: they may cancel to what rounding errors allow.
//
// For as many powers as there are ranks, they cancel from r^(K−1) for the largest r. For fewer,
// the coefficients of z^k come from such as are exp(k² Σr²/(Σr)²) times as large, or exp(Σr²)
// altogether.
func (x *race) split() {
	last := x.times[lanes.Width-1]
	growth := x.tolerance / 1e-14
	x.terms = min(x.ranks, maxTerms)
	limit := math.Pow(growth, 1/float64(x.ranks)) / 2 // of r
	if x.terms < x.ranks {
		limit = math.Pow(x.tolerance/x.margin(), 1/float64(x.terms))
	}
	limit = math.Log1p(limit) / last // of the weight
	x.pooled = x.arrived
	for x.pooled < x.dormant && x.w[x.pooled] > limit {
		x.pooled++
	}
	for ; x.terms < x.ranks && x.pooled < x.dormant; x.pooled++ {
		sum := last * (x.mass[x.pooled] - x.mass[x.dormant])
		squares := last * last * (x.squares[x.pooled] - x.squares[x.dormant])
		ratio := min(1, float64(x.ranks)/sum)
		underflow := sum > 500 && x.ranks > 100 // of e^−sum, though e^−sum sum^k/k! counts
		if squares*ratio*ratio <= math.Log(growth)/2 && !underflow {
			return
		}
	}
}

// margin is what the first power left out has to be below the tolerance: as many documents
// may have arrived as there are ranks, or a few more.
func (x *race) margin() float64 { return float64(8 * (x.ranks + 1)) }

// powers returns how many powers say all about document i and those after it.
func (x *race) powers(i int) int {
	r := math.Expm1(x.w[i] * x.times[lanes.Width-1])
	n := 1
	for rest := r * x.margin(); n < x.terms && rest > x.tolerance; n++ {
		rest *= r
	}
	return n
}

// fill sets P, B and A to those of the pool, where Π (1 + r_d z) is the exponential of
// a series in the power sums of r_d.
func (x *race) fill(s []lanes.State, exposure bool) {
	for l, t := range x.times {
		s[0].P[l] = 0
		if mass := t * (x.mass[x.pooled] - x.mass[x.dormant]); mass < 600 {
			s[0].P[l] = math.Exp(-mass)
		}
	}
	x.scratch = scratch.Sized(x.scratch, chunk)
	sums := x.sums[:x.terms]
	clear(sums)
	for i := x.pooled; i < x.dormant; i += chunk {
		to := min(i+chunk, x.dormant)
		lanes.Sums(sums[:x.powers(i)], x.exponentials(i, to), x.scratch, x.w[i:to], x.v[i:to])
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

// drain adds the results of the documents of the pool, each of which is taken out of it
// by a series in −r_d.
func (x *race) drain(s []lanes.State) {
	if x.pooled == x.dormant {
		return
	}
	pairs := x.pairs[:min(x.terms, len(s))]
	lanes.Correlate(pairs, x.carried, s)
	for j := range pairs {
		for l, t := range x.times {
			pairs[j].A[l] *= t
			pairs[j].B[l] *= t
		}
	}
	for i := x.pooled; i < x.dormant; i += chunk {
		to := min(i+chunk, x.dormant)
		lanes.Horner(x.result[i:to], pairs[:min(len(pairs), x.powers(i))], x.r[i-x.arrived:to-x.arrived], x.w[i:to], x.gain[i:to])
	}
}
