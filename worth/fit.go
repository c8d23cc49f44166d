package worth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
)

// Options holds the settings of [Fit]; the zero value is maximum likelihood.
type Options struct {
	// Prior is the number of wins, and of losses, of every item against a hidden item. It draws the worths together, and makes them finite
	// for any rankings. 0.5 is a weak prior, and the default of PlackettLuce for R. Zero: no prior.
	Prior float64

	// Progress, unless nil, is called after every step.
	Progress func(Progress)
}

// Progress describes how far a fit has come.
type Progress struct {
	Step          int     // from 1
	LogLikelihood float64 // with the prior
	Change        float64 // the largest of a parameter in the step
}

const (
	tolerance = 1e-9 // the largest change of a parameter, of all log-worths and log δ_n, in the last step
	mostSteps = 100
)

// largestTie bounds the size of ties: the memory grows in proportion to it.
const largestTie = 100

// Fit estimates the worths of all items, and the tie parameters δ_n for the sizes n of the ties among the rankings, by maximum
// likelihood, or with a prior by the largest posterior probability. The log-likelihood is concave in log α and log δ. Fit uses
// Newton's method from equal worths; the linear equations of a step are solved by conjugate gradients, preconditioned by the
// diagonal of the Hessian, without forming it, in time linear in the number of items in all rankings (with ties, quadratic in the
// number of items of a ranking; Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.1). It ends after a step that
// changes no parameter by more than 1e-9. Such a step may leave log-worths apart that are equal at the maximum, so
// log-worths that differ by at most twice the tolerance are replaced by their mean: items with symmetric data share a rank in
// spite of rounding.
//
// If the context ends, Fit returns the best model so far and the cause; after 100 steps, the best
// model and an error. Otherwise it returns nil and an error: for no rankings; without a prior, for rankings
// that do not connect all items, a [*DisconnectedError]; for ties of a size whose δ_n grows or shrinks without a
// limit, as the variance of log δ_n at the end shows; for a tie of more than 100 items; and for options that are
// negative or not finite.
func Fit(ctx context.Context, r *Observations, o Options) (*Model, error) {
	n, err := newNewton(r, o)
	if err != nil {
		return nil, err
	}
	x, err := n.maximize(ctx, make([]float64, n.size()))
	theta := slices.Clone(x[:len(r.Items)]) // without the hidden item of a prior
	centre(theta)
	level(theta, 2*tolerance)
	m := &Model{Items: r.Items, LogWorths: theta, TieOrders: n.orders, LogTies: slices.Clone(x[n.items:])}
	kept := *r // rankings added to r later are not in the copy
	m.Steps, m.Change, m.rankings, m.prior = n.steps, n.change, &kept, o.Prior
	m.LogLikelihood = newLikelihood(r, len(r.Items), m.TieOrders).value(m.parameters())
	return m, err
}

// newNewton returns the maximizer of the likelihood of rankings, or of the posterior probability with a prior.
func newNewton(r *Observations, o Options) (*newton, error) {
	if !(o.Prior >= 0) || math.IsInf(o.Prior, 0) {
		return nil, fmt.Errorf("Options.Prior is %v: it must be zero or positive, and finite", o.Prior)
	}
	if r.Len() == 0 {
		return nil, errors.New("there are no rankings to fit a model to")
	}
	orders := r.tieOrders()
	if n := len(orders); n > 0 && orders[n-1] > largestTie {
		return nil, fmt.Errorf("a tie of %d items exceeds the limit of %d: list items whose order is unknown as unranked", orders[n-1],
			largestTie)
	}
	fitted, items := r, len(r.Items)
	if o.Prior > 0 {
		if r.weight+2*o.Prior*float64(items) > largestWeight {
			return nil, fmt.Errorf("Options.Prior is %v: the weights of all rankings, with the wins and losses of %d items, sum to more than %v",
				o.Prior, items, largestWeight)
		}
		fitted = r.withGhost(o.Prior)
		items++
	} else if classes := Connectivity(r); len(classes) > 1 {
		return nil, &DisconnectedError{r.Items, classes}
	}
	if err := fitted.checkTies(orders); err != nil {
		return nil, err
	}
	return &newton{likelihood: newLikelihood(fitted, items, orders), options: o}, nil
}

// checkTies returns an error if the parameter of a size of ties grows without a limit: whenever enough items are left,
// that many are tied, or as many as another size whose parameter grows.
func (r *Observations) checkTies(orders []int) error {
	left := r.sizes()
	limit := left[1]
	for _, n := range orders {
		if limit < n {
			return fmt.Errorf("the parameter of ties of %d items has no finite estimate: that many are tied whenever as many are left", n)
		}
		limit = max(limit, left[n])
	}
	return nil
}

// A newton maximizes a likelihood by Newton's method with conjugate gradients.
type newton struct {
	*likelihood
	options Options
	equal   bool // all worths stay equal, and only the tie parameters are free

	steps  int
	change float64
}

// A point holds parameters, and the log-likelihood there with its derivatives.
type point struct {
	x, gradient, diagonal []float64
	value                 float64
}

// evaluate returns the point of parameters. If the context ends, only its x is valid.
func (n *newton) evaluate(ctx context.Context, x []float64) point {
	p := point{x, make([]float64, len(x)), make([]float64, len(x)), 0}
	p.value = n.derivatives(ctx, x, p.gradient, p.diagonal)
	n.restrict(p.gradient)
	return p
}

// maximize returns the best parameters found from x on, even with an error.
func (n *newton) maximize(ctx context.Context, x []float64) ([]float64, error) {
	best := n.evaluate(ctx, x)
	n.steps, n.change = 0, math.Inf(1)
	radius := 1.0 // of a step: within it, the Hessian does not change much
	for n.steps < mostSteps {
		if ctx.Err() != nil {
			return best.x, context.Cause(ctx)
		}
		// Residuals that shrink as the steps do make the convergence superlinear.
		step, err := n.solve(ctx, best, max(1e-4, min(0.1, n.change)))
		if err != nil {
			return best.x, err
		}
		gain, length := floats.Dot(best.gradient, step), floats.Norm(step, math.Inf(1))
		slack := 1e-12 * math.Abs(best.value) // for rounding
		for accepted := false; !accepted; {
			scale := min(1, radius/length)
			trial := n.evaluate(ctx, floats.AddScaledTo(make([]float64, len(step)), best.x, scale, step))
			if ctx.Err() != nil {
				return best.x, context.Cause(ctx)
			}
			predicted := gain * scale * (1 - scale/2)
			accepted = trial.value >= best.value+0.1*predicted-slack
			switch {
			case accepted:
				if trial.value >= best.value+0.75*predicted-slack {
					radius *= 2
				}
				best, n.change = trial, scale*length
			case !(scale*length >= 1e-15): // or NaN
				return best.x, fmt.Errorf("step %d of the fit finds no better parameters: the log-likelihood is %v", n.steps+1, best.value)
			default:
				radius = scale * length / 4
			}
		}
		n.steps++
		if n.options.Progress != nil {
			n.options.Progress(Progress{n.steps, best.value, n.change})
		}
		if length <= tolerance { // of the whole step, which a small radius may have cut
			return best.x, n.checkTieVariances(ctx, best)
		}
	}
	return best.x, fmt.Errorf("the fit has not converged after %d steps: the last one changed a parameter by %.2g; "+
		"if it stays large, the estimate is not finite, and a prior is a remedy", n.steps, n.change)
}

// checkTieVariances returns an error if rounding stopped the parameters on their way to infinity. Rankings that
// connect all items have a finite estimate unless some δ_n grow or shrink without a limit, perhaps with some worths. The
// variance of log δ_n in the inverse of H is then infinite relative to 1/H_nn, or H_nn is 0 relative to the number of ties.
func (n *newton) checkTieVariances(ctx context.Context, p point) error {
	product, ties := make([]float64, len(p.x)), n.ties()
	for k := n.items; k < len(p.x); k++ {
		unit := make([]float64, len(p.x))
		unit[k] = 1
		column, err := n.solve(ctx, point{x: p.x, gradient: unit, diagonal: p.diagonal}, 1e-4)
		if err != nil {
			return err
		}
		n.times(p.x)(ctx, product, column)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		residual := 0.0 // a column of zeros has 1/H_nn; it stays there where H is singular
		for i, u := range unit {
			residual += (u - product[i]) * (u - product[i]) / p.diagonal[i]
		}
		if !(residual*p.diagonal[k] < 1e-6) || column[k]*p.diagonal[k] > 1e8 || p.diagonal[k] < 1e-8*ties[k-n.items] {
			return fmt.Errorf("the estimate is not finite: the parameter of ties of %d items grows or shrinks without a limit; a prior is a remedy",
				n.orders[k-n.items])
		}
	}
	return nil
}

// restrict sets the entries of the parameters that are not free to 0.
func (n *newton) restrict(v []float64) {
	if n.equal {
		clear(v[:n.items])
	}
}

// solve returns the step s with H·s = gradient, where the residual is at most the tolerance times the
// gradient, in the norm of the inverse diagonal. H is singular along equal log-worths, a direction in which
// neither the gradient nor a product has a part.
func (n *newton) solve(ctx context.Context, p point, tolerance float64) ([]float64, error) {
	size := len(p.x)
	step, residual, direction, z, product := make([]float64, size), slices.Clone(p.gradient),
		make([]float64, size), make([]float64, size), make([]float64, size)
	precondition := func() float64 {
		for i, r := range residual {
			if z[i] = 0; p.diagonal[i] > 0 {
				z[i] = r / p.diagonal[i]
			}
		}
		return floats.Dot(residual, z)
	}
	centre(residual[:n.items]) // it is centred, up to rounding
	times := n.times(p.x)
	norm := precondition()
	first := norm
	copy(direction, z)
	for i := 0; norm > tolerance*tolerance*first && i < 2*size+20; i++ {
		times(ctx, product, direction)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n.restrict(product)
		curvature := floats.Dot(direction, product)
		if !(curvature > 0) {
			break
		}
		floats.AddScaled(step, norm/curvature, direction)
		floats.AddScaled(residual, -norm/curvature, product)
		last := norm
		norm = precondition()
		floats.AddScaledTo(direction, z, norm/last, direction)
	}
	centre(step[:n.items])
	return step, nil
}

// centre subtracts the mean from v.
func centre(v []float64) { floats.AddConst(-floats.Sum(v)/float64(len(v)), v) }

// level replaces log-worths by their mean if they exceed the smallest of them by no more than the tolerance.
func level(theta []float64, tolerance float64) {
	rest := num.DescendingOrder(nil, theta)
	slices.Reverse(rest)
	for len(rest) > 0 {
		n, sum, least := 0, 0.0, theta[rest[0]]
		for ; n < len(rest) && theta[rest[n]]-least <= tolerance; n++ {
			sum += theta[rest[n]]
		}
		for _, i := range rest[:n] {
			theta[i] = sum / float64(n)
		}
		rest = rest[max(n, 1):] // of NaN there is none
	}
}
