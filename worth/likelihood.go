package worth

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/dual"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
)

// A likelihood is the log-likelihood of rankings as a function of the parameters x: the
// log-worths of all items, then the logs of the tie parameters of the orders. Its Hessian is
// −H, where H, the information, is a sum of covariances.
//
// Rankings are taken in parts, whose number depends on the data alone, and sums of parts are
// added in order: the bits of a result do not depend on GOMAXPROCS.
type likelihood struct {
	rankings *Observations
	items    int
	orders   []int // of ties
	parts    []*part
}

// A part is a stretch of the rankings, with scratch space.
type part struct {
	spans []span
	sum   []float64 // of the part, a number for each parameter
	diag  []float64
	value float64

	choice             *choice
	theta, ties        []dual.Number // of one ranking; of the orders
	alpha, scale, gap  []float64     // of one ranking, see gather
	inverse, rest, dot []float64     // of every choice of a ranking, see inverses
}

// entriesOfPart is large enough that adding the parts up costs little compared with their rankings.
const entriesOfPart, mostParts = 1 << 13, 16

func newLikelihood(r *Observations, items int, orders []int) *likelihood {
	l := &likelihood{rankings: r, items: items, orders: orders}
	n := max(1, min(len(r.entries)/entriesOfPart, mostParts))
	for i := range n {
		l.parts = append(l.parts, &part{
			spans:  r.spans[i*len(r.spans)/n : (i+1)*len(r.spans)/n],
			sum:    make([]float64, l.size()),
			diag:   make([]float64, l.size()),
			choice: newChoice(orders),
			ties:   make([]dual.Number, 1+len(orders)),
		})
	}
	return l
}

// size returns the number of parameters.
func (l *likelihood) size() int { return l.items + len(l.orders) }

// forParts calls f for all parts, some of them in parallel.
func (l *likelihood) forParts(f func(*part)) {
	parallel.For(len(l.parts), parallel.Workers(len(l.parts)), func(_, i int) { f(l.parts[i]) })
}

// largestSpread of the log-worths lets α and its square stand in float64 with all digits.
const largestSpread = 300

// worths returns exp(θ − max θ) of all items, nil if there are ties or a large spread, see gather.
func (l *likelihood) worths(x []float64) []float64 {
	theta := x[:l.items]
	if top := floats.Max(theta); len(l.orders) == 0 && top-floats.Min(theta) < largestSpread {
		alpha := make([]float64, len(theta))
		for i, t := range theta {
			alpha[i] = math.Exp(t - top)
		}
		return alpha
	}
	return nil
}

// gather sets the worths of a ranking without ties. Entry t has alpha[t] = exp(θ_t − b_t) over a base b_t,
// and scale[t] = exp(b_t − b_{t−1}) is how one base follows another. If the worths of all items are given,
// they have one base. Otherwise b_t is the largest θ of the items that choice t is made from: the largest
// worth of each choice is then 1, however far apart the θ are. Then gap[t] = θ_t − b_t, whose exp may be 0.
func (p *part) gather(entries []int32, placed int, x, alpha []float64) {
	n := len(entries)
	p.alpha, p.scale, p.gap = num.Sized(p.alpha, n), num.Sized(p.scale, n), num.Sized(p.gap, n)
	if alpha != nil {
		for t, e := range entries {
			p.alpha[t], p.scale[t] = alpha[e], 1
		}
		return
	}
	base := math.Inf(-1)
	for t := n - 1; t >= 0; t-- {
		base = max(base, x[entries[t]])
		p.gap[t] = base
	}
	for t, e := range entries {
		last := base
		if t < placed { // the Rest is chosen from last with the item at the last place
			base = p.gap[t]
		}
		p.gap[t] = x[e] - base
		p.alpha[t], p.scale[t] = math.Exp(p.gap[t]), math.Exp(base-last)
	}
}

// value returns the log-likelihood, in the time of derivatives.
func (l *likelihood) value(x []float64) float64 {
	return l.derivatives(context.Background(), x, make([]float64, len(x)), make([]float64, len(x)))
}

// derivatives writes the gradient and the diagonal of the information, and returns the log-likelihood. With ties, its
// time is quadratic in the number of items of a ranking. If the context ends, the results are invalid.
func (l *likelihood) derivatives(ctx context.Context, x, gradient, diagonal []float64) float64 {
	alpha := l.worths(x)
	l.forParts(func(p *part) {
		p.value = 0
		clear(p.sum)
		clear(p.diag)
		for _, s := range p.spans {
			l.derive(ctx, p, s, x, alpha)
		}
	})
	total := 0.0
	clear(gradient)
	clear(diagonal)
	for _, p := range l.parts {
		total += p.value
		floats.Add(gradient, p.sum)
		floats.Add(diagonal, p.diag)
	}
	return total
}

// derive adds the log-likelihood of a ranking and its derivatives.
func (l *likelihood) derive(ctx context.Context, p *part, s span, x, alpha []float64) {
	if len(l.orders) > 0 {
		l.choices(ctx, p, s, x, nil, func(set []int32, chosen int) { p.add(set, chosen, s.weight, l.items) })
		return
	}
	entries := l.rankings.entries[s.from:s.to]
	p.gather(entries, s.placed-s.from, x, alpha)
	p.untied(entries, s.placed-s.from, s.weight, alpha == nil)
}

// ties returns how often items were tied, for every order.
func (l *likelihood) ties() []float64 {
	sum := make([]float64, len(l.orders))
	for _, s := range l.rankings.spans {
		for from, to := range l.rankings.places(s) {
			if to-from > 1 {
				sum[slices.Index(l.orders, to-from)] += s.weight
			}
		}
	}
	return sum
}

// untied adds the log-likelihood of a ranking without ties, in time linear in its items. With
// S_t the sum of the worths that choice t is made from, an item that takes part in the choices
// 1 … r has the gradient 1[it is chosen] − α Σ_{t≤r} 1/S_t, where 1 − α/S_r of a chosen item is computed as the
// share of the others, exact even if the item nearly always wins. All sums are over the base of the choice they
// have come to. With gaps, a worth may be 0, and its logarithm is the gap.
func (p *part) untied(entries []int32, placed int, w float64, gaps bool) {
	p.inverses(placed)
	var inverse, square float64
	product := 1.0
	for t, e := range entries {
		a, scale := p.alpha[t], p.scale[t]
		inverse *= scale
		square *= scale * scale
		mean := a * inverse
		p.sum[e] -= w * mean
		p.diag[e] += w * (mean - a*a*square)
		if t < placed {
			u := p.inverse[t]
			inverse += u
			square += u * u
			p.sum[e] += w * p.rest[t]
			p.diag[e] += w * a * u * p.rest[t]
			if p.rest[t] < 1e-3 { // a product would lose it to rounding
				p.value += w * math.Log1p(-p.rest[t])
				continue
			}
			if gaps {
				p.value += w * p.gap[t]
			} else {
				u *= a
			}
			if product *= u; product < 1e-150 {
				p.value += w * math.Log(product)
				product = 1
			}
		}
	}
	p.value += w * math.Log(product)
}

// inverses computes 1/S_t of every choice, and the share of S_t of all items but the chosen one, from the last one on.
func (p *part) inverses(placed int) {
	p.inverse, p.rest = num.Sized(p.inverse, placed), num.Sized(p.rest, placed)
	sum := 0.0
	for t := len(p.alpha) - 1; t >= 0; t-- {
		others := sum
		sum += p.alpha[t]
		if t < placed {
			p.inverse[t] = 1 / sum
			p.rest[t] = others * p.inverse[t]
		}
		sum *= p.scale[t]
	}
}

// choices derives every choice of a ranking, along a direction unless it is nil, and calls f with the
// entries that it is made from and the number of chosen ones at their front. It stops when the context ends.
func (l *likelihood) choices(ctx context.Context, p *part, s span, x, direction []float64, f func(set []int32, chosen int)) {
	at := func(i int) dual.Number {
		if direction == nil {
			return dual.Number{Real: x[i]}
		}
		return dual.Number{Real: x[i], Emag: direction[i]}
	}
	entries := l.rankings.entries[s.from:s.to]
	p.theta = num.Sized(p.theta, len(entries))
	for i, e := range entries {
		p.theta[i] = at(int(item(e)))
	}
	for k := range l.orders {
		p.ties[1+k] = at(l.items + k)
	}
	for from, to := range l.rankings.places(s) {
		if s.to-from < 2 || ctx.Err() != nil {
			break // nothing else is left to choose, or nothing counts any more
		}
		p.choice.derive(p.theta[from-s.from:], p.ties)
		f(entries[from-s.from:], to-from)
	}
}

// add adds the log-probability of what was chosen, with its gradient and information.
func (p *part) add(set []int32, chosen int, w float64, items int) {
	c := p.choice
	order := slices.Index(c.orders, chosen)
	log := p.ties[order].Real - c.logZ
	theta := p.theta[len(p.theta)-len(set):]
	for i, e := range set {
		e = item(e)
		if chosen == 1 && i == 0 {
			log = logOfShare(log+(theta[0].Real-c.top), c.lost)
			p.sum[e] += w * c.lostMean
			p.diag[e] += w * (2*c.lostMean - c.lostMean*c.lostMean - c.lostSecond)
			continue
		}
		if i < chosen {
			log += (theta[i].Real - c.top) / float64(chosen)
			p.sum[e] += w / float64(chosen)
		}
		mean := c.mean[i].Real
		p.sum[e] -= w * mean
		p.diag[e] += w * (c.second[i] - mean*mean)
	}
	p.value += w * log
	if order > 0 {
		p.sum[items+order-1] += w
	}
	for k, mean := range c.tieMean[1:] {
		p.sum[items+k] -= w * mean.Real
		p.diag[items+k] += w * mean.Real * (1 - mean.Real)
	}
}

// times returns a function that writes H·v to product, for the information H at x. If the context ends, the
// product is invalid.
func (l *likelihood) times(x []float64) func(ctx context.Context, product, v []float64) {
	alpha := l.worths(x)
	return func(ctx context.Context, product, v []float64) {
		l.forParts(func(p *part) {
			clear(p.sum)
			for _, s := range p.spans {
				l.product(ctx, p, s, x, alpha, v)
			}
		})
		clear(product)
		for _, p := range l.parts {
			floats.Add(product, p.sum)
		}
	}
}

// product adds H·v of a ranking.
func (l *likelihood) product(ctx context.Context, p *part, s span, x, alpha, v []float64) {
	if len(l.orders) == 0 {
		entries := l.rankings.entries[s.from:s.to]
		p.gather(entries, s.placed-s.from, x, alpha)
		p.untiedTimes(entries, s.placed-s.from, s.weight, v)
		return
	}
	l.choices(ctx, p, s, x, v, func(set []int32, _ int) {
		for i, e := range set {
			p.sum[item(e)] += s.weight * p.choice.mean[i].Emag
		}
		for k, mean := range p.choice.tieMean[1:] {
			p.sum[l.items+k] += s.weight * mean.Emag
		}
	})
}

// untiedTimes adds H·v of a ranking without ties: with m_t the mean of v among the items of choice t,
// an item that takes part in the choices 1 … r gets α Σ_{t≤r} (v − m_t)/S_t. Where it is chosen, v − m_t is Σ α_i (v − v_i)/S_t
// over the others.
func (p *part) untiedTimes(entries []int32, placed int, w float64, v []float64) {
	p.inverses(placed)
	p.dot = num.Sized(p.dot, placed)
	dot := 0.0
	for t := len(entries) - 1; t >= 0; t-- {
		if t < placed {
			p.dot[t] = dot * p.inverse[t] // of the others
		}
		dot += p.alpha[t] * v[entries[t]]
		dot *= p.scale[t]
	}
	var inverse, mean float64
	for t, e := range entries {
		inverse *= p.scale[t]
		mean *= p.scale[t]
		times := v[e]*inverse - mean
		if t < placed {
			u := p.inverse[t]
			times += u * (v[e]*p.rest[t] - p.dot[t])
			inverse += u
			mean += (p.dot[t] + p.alpha[t]*u*v[e]) * u
		}
		p.sum[e] += w * p.alpha[t] * times
	}
}

// information returns H at x: of every ranking, a column at a time.
func (l *likelihood) information(x []float64) *mat.SymDense {
	h, v := mat.NewSymDense(l.size(), nil), make([]float64, l.size())
	alpha, p := l.worths(x), l.parts[0]
	clear(p.sum)
	var columns []int
	for _, s := range l.rankings.spans {
		columns = columns[:0]
		for _, e := range l.rankings.entries[s.from:s.to] {
			columns = append(columns, int(item(e)))
		}
		for k := range l.orders {
			columns = append(columns, l.items+k)
		}
		for _, column := range columns {
			v[column] = 1
			l.product(context.Background(), p, s, x, alpha, v)
			v[column] = 0
			for _, row := range columns {
				if row <= column {
					h.SetSym(row, column, h.At(row, column)+p.sum[row])
				}
				p.sum[row] = 0
			}
		}
	}
	return h
}
