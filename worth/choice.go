package worth

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/num/dual"

	"github.com/plrank/plrank/internal/num"
)

// A choice computes the probabilities of what may be chosen from a set A of items. Every subset S
// whose size is 1 or one of the orders has
//
//	P(S) ∝ exp(λ_|S| + Σ_{i∈S} θ_i/|S|),  λ = log δ, λ_1 = 0.
//
// This is an exponential family. With f_i(S) = 1[i∈S]/|S| and f_n(S) = 1[|S| = n], the gradient
// of log P(S) is f(S) − E[f], and minus its Hessian is the covariance of f. Sums over the
// subsets of n items are elementary symmetric polynomials of β_i = exp(θ_i/n), computed in O(n·|A|) by tables
// over prefixes and suffixes of A.
//
// derive takes parameters as dual numbers, whose Emag parts are a direction v. The Emag part of every E[f] is then
// its derivative along v, Cov[f, v·f].
//
// A choice is scratch space, used for one choice after another.
type choice struct {
	orders []int // 1, then the sizes of ties, ascending

	top     float64       // the largest θ
	logZ    float64       // log Σ exp(…) over the subsets, minus top, apart from it because a sum of the two would round it
	mean    []dual.Number // E[f_i]
	second  []float64     // E[f_i²]
	tieMean []dual.Number // P(|S| = n) of every order; 0 if A has fewer items

	// For the choice of the first item alone, exact even if that is nearly certain: 1 − P, 1 − E[f] and 1 − E[f²].
	lost, lostMean, lostSecond float64

	beta           []dual.Number
	prefix, suffix []dual.Number // [i][j]: e_j of the first i, and of all from i on
}

// newChoice returns a choice with ties of these sizes.
func newChoice(orders []int) *choice {
	all := append([]int{1}, orders...)
	return &choice{orders: all, tieMean: make([]dual.Number, len(all))}
}

// derive computes everything for a set of items with log-worths theta, with the logs of
// the tie parameters of the orders (0 first).
func (c *choice) derive(theta, logTies []dual.Number) {
	n := len(theta)
	c.mean, c.second, c.beta = num.Sized(c.mean, n), num.Sized(c.second, n), num.Sized(c.beta, n)
	clear(c.mean)
	clear(c.second)
	clear(c.tieMean)
	c.top, c.lost, c.lostMean, c.lostSecond = math.Inf(-1), 0, 0, 0
	for _, t := range theta {
		c.top = max(c.top, t.Real)
	}
	var z dual.Number
	for k, order := range c.orders {
		if order > n {
			break
		}
		delta, size := dual.Exp(logTies[k]), float64(order)
		total := dual.Mul(delta, c.polynomials(order, theta))
		c.tieMean[k] = total
		z = dual.Add(z, total)
		for i := range theta {
			with := dual.Scale(1/size, dual.Mul(delta, c.containing(order, i)))
			c.mean[i] = dual.Add(c.mean[i], with)
			c.second[i] += with.Real / size
			switch {
			case i == 0 && order > 1:
				c.lost += total.Real
				c.lostMean += total.Real - with.Real
				c.lostSecond += total.Real - with.Real/size
			case i > 0 && order == 1: // where the first item is not chosen alone
				c.lost += with.Real
				c.lostMean += with.Real
				c.lostSecond += with.Real
			}
		}
	}
	c.logZ = math.Log(z.Real)
	c.lost, c.lostMean, c.lostSecond = c.lost/z.Real, c.lostMean/z.Real, c.lostSecond/z.Real
	floats.Scale(1/z.Real, c.second)
	for _, means := range [][]dual.Number{c.mean, c.tieMean} {
		for i, m := range means {
			share := m.Real / z.Real
			means[i] = dual.Number{Real: share, Emag: m.Emag/z.Real - share*(z.Emag/z.Real)}
		}
	}
}

// logOfShare returns log(1 − lost), given log as its rounded value: a small lost is exact.
func logOfShare(log, lost float64) float64 {
	if lost < 1e-3 {
		return math.Log1p(-lost)
	}
	return log
}

// polynomials fills the tables of an order, and returns e_order(β).
func (c *choice) polynomials(order int, theta []dual.Number) (total dual.Number) {
	for i, t := range theta {
		t.Real -= c.top
		c.beta[i] = dual.Exp(dual.Scale(1/float64(order), t))
		total = dual.Add(total, c.beta[i])
	}
	if order == 1 {
		return total
	}
	n, width := len(theta), order+1
	c.prefix, c.suffix = num.Sized(c.prefix, (n+1)*width), num.Sized(c.suffix, (n+1)*width)
	row := func(table []dual.Number, i int) []dual.Number { return table[i*width : (i+1)*width] }
	extend := func(to, from []dual.Number, i int) {
		to[0] = dual.Number{Real: 1}
		for j := 1; j < width; j++ {
			to[j] = dual.Add(from[j], dual.Mul(c.beta[i], from[j-1]))
		}
	}
	for _, none := range [][]dual.Number{row(c.prefix, 0), row(c.suffix, n)} {
		clear(none)
		none[0].Real = 1
	}
	for i := range n {
		extend(row(c.prefix, i+1), row(c.prefix, i), i)
		j := n - 1 - i
		extend(row(c.suffix, j), row(c.suffix, j+1), j)
	}
	return row(c.prefix, n)[order]
}

// containing returns the part of e_order(β) with item i.
func (c *choice) containing(order, i int) dual.Number {
	if order == 1 {
		return c.beta[i]
	}
	before, after := c.prefix[i*(order+1):], c.suffix[(i+1)*(order+1):]
	var others dual.Number
	for a := range order {
		others = dual.Add(others, dual.Mul(before[a], after[order-1-a]))
	}
	return dual.Mul(c.beta[i], others)
}
