package worth

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// LargestCovariance is the largest number of parameters, items and tie parameters, for which
// [Model.Uncertainty] has a covariance matrix. That takes time in proportion to its third power.
const LargestCovariance = 3000

// Uncertainty holds the precision of the parameters of a model.
type Uncertainty struct {
	// StdErrs are the standard errors of the log-worths, whose mean is zero, and then of the log δ_n.
	// Without Covariance they are 1/√H_ii for the information H. These are lower bounds, up to a factor of
	// 1 − 1/items, and close to the standard errors if every item is compared with many others.
	StdErrs []float64

	// Covariance is the covariance matrix of the same parameters, nil if there are more than LargestCovariance
	// parameters.
	Covariance *mat.SymDense

	items int
}

// Uncertainty computes standard errors from the information H, which is minus the exact Hessian of the
// log-likelihood at the estimate. The covariance is the inverse of H on the parameters whose
// log-worths have the mean zero. A prior moves the estimate but adds no information to H, as in
// PlackettLuce for R. Uncertainty returns an error if some items were never compared, directly or indirectly:
// they have no standard errors.
func (m *Model) Uncertainty() (*Uncertainty, error) {
	if m.rankings == nil {
		return nil, errNoRankings
	}
	items, x := len(m.Items), m.parameters()
	l := newLikelihood(m.rankings, items, m.TieOrders)
	u := &Uncertainty{StdErrs: make([]float64, len(x)), items: items}
	variance := func(i int) float64 { return u.Covariance.At(i, i) }
	if len(x) > LargestCovariance {
		diagonal := make([]float64, len(x))
		l.derivatives(context.Background(), x, make([]float64, len(x)), diagonal)
		variance = func(i int) float64 { return 1 / diagonal[i] }
	} else if err := u.invert(l.information(x)); err != nil {
		return nil, err
	}
	for i := range u.StdErrs {
		u.StdErrs[i] = math.Sqrt(variance(i))
		if v := u.StdErrs[i]; !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("no standard errors: the rankings have no information on %s", m.name(i))
		}
	}
	return u, nil
}

// name returns how error messages call a parameter.
func (m *Model) name(i int) string {
	if i < len(m.Items) {
		return fmt.Sprintf("item %q", m.Items[i])
	}
	return fmt.Sprintf("ties of %d items", m.TieOrders[i-len(m.Items)])
}

// invert sets the covariance. H has no information on the sum of the log-worths: 1, the direction in which all of them
// grow alike, has H·1 = 0. With c·1·1ᵀ added to H, the inverse has 1·1ᵀ/(c·items²) more than on the space where their
// mean is zero.
func (u *Uncertainty) invert(h *mat.SymDense) error {
	trace := 0.0
	for i := range u.items {
		trace += h.At(i, i)
	}
	addToAll := func(m *mat.SymDense, v float64) {
		for i := range u.items {
			for j := i; j < u.items; j++ {
				m.SetSym(i, j, m.At(i, j)+v)
			}
		}
	}
	addToAll(h, trace/float64(u.items*u.items))
	var c mat.Cholesky
	if !c.Factorize(h) || c.Cond() > 1e14 {
		return errors.New("no standard errors: some items were never compared with others, directly or indirectly, or almost never won or lost")
	}
	u.Covariance = mat.NewSymDense(h.SymmetricDim(), nil)
	if err := c.InverseTo(u.Covariance); err != nil {
		return fmt.Errorf("no standard errors: %w", err)
	}
	addToAll(u.Covariance, -1/trace)
	return nil
}

// Difference returns the standard error of θ_i − θ_j, NaN without a covariance matrix.
func (u *Uncertainty) Difference(i, j int) float64 {
	if u.Covariance == nil {
		return math.NaN()
	}
	return math.Sqrt(u.Covariance.At(i, i) + u.Covariance.At(j, j) - 2*u.Covariance.At(i, j))
}
