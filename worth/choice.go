package worth

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
)

// A choice computes the probabilities of what may be chosen from a set A of items. Every subset S
// whose size is 1 or one of the orders has
//
//	P(S) ∝ exp(λ_|S| + Σ_{i∈S} θ_i/|S|),  λ = log δ, λ_1 = 0.
//
// This is an exponential family. With f_i(S) = 1[i∈S]/|S| and f_n(S) = 1[|S| = n], the gradient
// of log P(S) is f(S) − E[f], and minus its Hessian the covariance of f. Sums over the
// subsets of n items are elementary symmetric polynomials of β_i = exp(θ_i/n), which tables over
// prefixes and suffixes of A give in O(n·|A|).
//
// It is scratch space, reused for one choice after another.
type choice struct {
	orders []int // 1, then the sizes of ties, ascending

	top      float64   // the largest θ
	logZ     float64   // log Σ exp(…) over the subsets, less top: a sum of the two may lose it to rounding
	mean     []float64 // E[f_i]
	second   []float64 // E[f_i²]
	tieMean  []float64 // P(|S| = n) of every order; 0 if A has fewer items
	product  []float64 // Cov[f_i, v·f], see derive
	tieTimes []float64 // Cov[f_n, v·f]

	// Of the first item alone, without loss to rounding where it is nearly always chosen: 1 − P, 1 − E[f] and 1 − E[f²].
	lost, lostMean, lostSecond float64

	beta, betaDot        []float64
	prefix, suffix       []float64 // [i][j]: e_j of the first i, and of all from i on
	prefixDot, suffixDot []float64
}

// newChoice returns a choice with ties of these sizes.
func newChoice(orders []int) *choice {
	all := append([]int{1}, orders...)
	return &choice{orders: all, tieMean: make([]float64, len(all)), tieTimes: make([]float64, len(all))}
}

// derive computes everything for a set of items with log-worths theta, with the logs of
// the tie parameters of the orders (0 first). A direction v, of the items and of the ties, is
// needed for the covariances only: nil leaves them out.
func (c *choice) derive(theta, logTies, v, vTies []float64) {
	c.grow(len(theta))
	top := floats.Max(theta)
	for _, s := range [][]float64{c.mean, c.second, c.product, c.tieMean, c.tieTimes} {
		clear(s)
	}
	c.lost, c.lostMean, c.lostSecond = 0, 0, 0
	var z, zDot float64
	for k, order := range c.orders {
		if order > len(theta) {
			break
		}
		total, totalDot := c.polynomials(order, theta, top, v)
		delta, along := math.Exp(logTies[k]), 0.0
		if v != nil {
			along = vTies[k]
		}
		c.tieMean[k] = delta * total
		c.tieTimes[k] = delta*totalDot + along*c.tieMean[k]
		z += c.tieMean[k]
		zDot += c.tieTimes[k]
		if order == 1 {
			others := floats.Sum(c.beta[1:len(theta)])
			c.lost, c.lostMean, c.lostSecond = others, others, others
		}
		for i := range theta {
			with, withDot := c.containing(order, i, v != nil)
			with *= delta
			if i == 0 && order > 1 {
				c.lost += c.tieMean[k]
				c.lostMean += c.tieMean[k] - with/float64(order)
				c.lostSecond += c.tieMean[k] - with/float64(order*order)
			}
			c.mean[i] += with / float64(order)
			c.second[i] += with / float64(order*order)
			c.product[i] += (delta*withDot + along*with) / float64(order)
		}
	}
	c.top, c.logZ = top, math.Log(z)
	c.lost, c.lostMean, c.lostSecond = c.lost/z, c.lostMean/z, c.lostSecond/z
	for i := range theta {
		c.mean[i] /= z
		c.second[i] /= z
		c.product[i] = c.product[i]/z - c.mean[i]*(zDot/z)
	}
	for k := range c.orders {
		c.tieMean[k] /= z
		c.tieTimes[k] = c.tieTimes[k]/z - c.tieMean[k]*(zDot/z)
	}
}

// logOfShare returns log(1 − lost), given log as its rounded value: a small lost is exact.
func logOfShare(log, lost float64) float64 {
	if lost < 1e-3 {
		return math.Log1p(-lost)
	}
	return log
}

// polynomials fills the tables of an order, and returns e_order(β) and its derivative along v.
func (c *choice) polynomials(order int, theta []float64, top float64, v []float64) (total, totalDot float64) {
	n, width := len(theta), order+1
	for i, t := range theta {
		c.beta[i] = math.Exp((t - top) / float64(order))
		total += c.beta[i]
		if v != nil {
			c.betaDot[i] = c.beta[i] * v[i] / float64(order)
			totalDot += c.betaDot[i]
		}
	}
	if order == 1 {
		return total, totalDot
	}
	extend := func(to, toDot, from, fromDot []float64, i int) {
		to[0], toDot[0] = 1, 0
		for j := 1; j < width; j++ {
			to[j] = from[j] + c.beta[i]*from[j-1]
			if v != nil {
				toDot[j] = fromDot[j] + c.beta[i]*fromDot[j-1] + c.betaDot[i]*from[j-1]
			}
		}
	}
	row := func(table []float64, i int) []float64 { return table[i*width : (i+1)*width] }
	none := func(table, dot []float64, i int) {
		clear(row(table, i))
		clear(row(dot, i))
		row(table, i)[0] = 1
	}
	none(c.prefix, c.prefixDot, 0)
	none(c.suffix, c.suffixDot, n)
	for i := range n {
		extend(row(c.prefix, i+1), row(c.prefixDot, i+1), row(c.prefix, i), row(c.prefixDot, i), i)
		j := n - 1 - i
		extend(row(c.suffix, j), row(c.suffixDot, j), row(c.suffix, j+1), row(c.suffixDot, j+1), j)
	}
	return row(c.prefix, n)[order], row(c.prefixDot, n)[order]
}

// containing returns the part of e_order(β) with item i, and its derivative along v.
func (c *choice) containing(order, i int, dot bool) (with, withDot float64) {
	if order == 1 {
		return c.beta[i], c.betaDot[i]
	}
	width := order + 1
	before, after := c.prefix[i*width:], c.suffix[(i+1)*width:]
	beforeDot, afterDot := c.prefixDot[i*width:], c.suffixDot[(i+1)*width:]
	var others, othersDot float64
	for a := range order {
		b := order - 1 - a
		others += before[a] * after[b]
		if dot {
			othersDot += beforeDot[a]*after[b] + before[a]*afterDot[b]
		}
	}
	return c.beta[i] * others, c.betaDot[i]*others + c.beta[i]*othersDot
}

// grow makes room for a set of n items.
func (c *choice) grow(n int) {
	for _, s := range []*[]float64{&c.mean, &c.second, &c.product, &c.beta, &c.betaDot} {
		*s = num.Sized(*s, n)
	}
	clear(c.betaDot)
	table := (n + 1) * (min(n, c.orders[len(c.orders)-1]) + 1)
	for _, s := range []*[]float64{&c.prefix, &c.suffix, &c.prefixDot, &c.suffixDot} {
		*s = num.Sized(*s, table)
	}
}
