package clicks

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	mostIterations = 300
	settled        = 1e-5 // the largest change of θ at which EM ends
)

// expectationMaximisation fits the position-based model. A click needs examination, with
// probability θ_k, and attraction, with r of the document.
type expectationMaximisation struct {
	observations []observation
	theta, r     []float64    // by rank, by row
	shown        []float64    // by row: how often
	x            *mat.Dense   // [rows shown × inputs] for the regression; nil: r is free
	normal       mat.Cholesky // of xᵀx weighted by shown
	used         []int        // the rows shown
}

// An observation is a document at a rank, shown n times and clicked in so many.
type observation struct {
	row, rank int
	n, clicks float64
}

// maximise is [RegressionEM].
func maximise(l *Log, situations []situation, report *BiasReport) (Bias, error) {
	em := &expectationMaximisation{theta: make([]float64, len(report.ClickRate))}
	if err := em.observe(l, situations); err != nil {
		return Bias{}, err
	}
	for k := range em.theta {
		em.theta[k] = .5
	}
	for i := range em.r {
		em.r[i] = .5
	}
	for change := 1.0; change > settled && report.Iterations < mostIterations; report.Iterations++ {
		change = em.step()
	}
	if !(em.theta[0] > 0) {
		return Bias{}, errors.New("clicks: no clicks at rank 1: the bias of the others has no scale")
	}
	b := Bias{Alpha: make([]float64, len(em.theta))}
	for k, t := range em.theta {
		b.Alpha[k] = t / em.theta[0]
	}
	return b, nil
}

// observe counts the clicks on each document at each rank.
func (em *expectationMaximisation) observe(l *Log, situations []situation) error {
	numbers := numberRows(situations)
	em.r, em.shown = make([]float64, len(numbers.latest)), make([]float64, len(numbers.latest))
	type key struct{ row, rank int }
	at := make(map[key]int)
	for i := range situations {
		for _, j := range situations[i].impressions {
			im := &l.Impressions[j]
			for k, d := range im.Shown {
				if im.Clicks[k] != 0 && im.Clicks[k] != 1 {
					return l.at(j, fmt.Errorf("a click of %v at rank %d: method %s needs clicks of 0 and 1", im.Clicks[k], k+1, RegressionEM))
				}
				row := numbers.of[i][d]
				o, ok := at[key{row, k}]
				if !ok {
					o = len(em.observations)
					at[key{row, k}] = o
					em.observations = append(em.observations, observation{row: row, rank: k})
				}
				em.observations[o].n++
				em.observations[o].clicks += im.Clicks[k]
				em.shown[row]++
			}
		}
	}
	for row, n := range em.shown {
		if n > 0 {
			em.used = append(em.used, row)
		}
	}
	em.regress(situations, numbers)
	return nil
}

// regress prepares the regression of r on features, if there are any.
func (em *expectationMaximisation) regress(situations []situation, numbers *rows) {
	r := newRegression(situations)
	if r.width == 2 {
		return
	}
	em.x = mat.NewDense(len(em.used), r.width, nil)
	weighted := mat.NewDense(len(em.used), r.width, nil)
	for i, row := range em.used {
		at := numbers.latest[row]
		im := situations[at.situation].Impression
		r.inputs(em.x.RawRowView(i), im, at.document, 0, 0)
		copy(weighted.RawRowView(i), em.x.RawRowView(i))
		floats.Scale(math.Sqrt(em.shown[row]), weighted.RawRowView(i))
	}
	var a mat.SymDense
	a.SymOuterK(1, weighted.T())
	ridge := 1e-6 * mat.Trace(&a) / float64(r.width)
	for i := range r.width {
		a.SetSym(i, i, a.At(i, i)+ridge)
	}
	if !em.normal.Factorize(&a) {
		em.x = nil
	}
}

// step is one iteration. It gives the largest change of θ.
func (em *expectationMaximisation) step() float64 {
	examined, ranked := make([]float64, len(em.theta)), make([]float64, len(em.theta))
	attracted := make([]float64, len(em.r))
	for _, o := range em.observations {
		theta, r := em.theta[o.rank], em.r[o.row]
		missed := (o.n - o.clicks) / (1 - theta*r)
		examined[o.rank] += o.clicks + missed*theta*(1-r)
		ranked[o.rank] += o.n
		attracted[o.row] += o.clicks + missed*r*(1-theta)
	}
	change := 0.0
	for k := range em.theta {
		// As below, one examination in two is added: θ stays off 0 and 1.
		theta := (examined[k] + 1) / (ranked[k] + 2)
		change = max(change, math.Abs(theta-em.theta[k]))
		em.theta[k] = theta
	}
	if em.x == nil {
		for row, a := range attracted {
			em.r[row] = (a + 1) / (em.shown[row] + 2)
		}
		return change
	}
	const least = 1e-6
	_, width := em.x.Dims()
	targets, predicted := mat.NewVecDense(len(em.used), nil), mat.NewVecDense(len(em.used), nil)
	for i, row := range em.used {
		targets.SetVec(i, attracted[row])
	}
	rhs, weights := mat.NewVecDense(width, nil), mat.NewVecDense(width, nil)
	rhs.MulVec(em.x.T(), targets)
	_ = em.normal.SolveVecTo(weights, rhs) // an ill-conditioned solution is still one
	predicted.MulVec(em.x, weights)
	for i, row := range em.used {
		em.r[row] = max(least, min(1-least, predicted.AtVec(i)))
	}
	return change
}
