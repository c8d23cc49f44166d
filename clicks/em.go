package clicks

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	mostIterations = 300
	settled        = 1e-5 // EM ends when no θ changes by more
)

// expectationMaximisation fits the position-based model. A click needs examination, with
// probability θ_k, and attraction, with r of the document.
type expectationMaximisation struct {
	rows
	observations []observation
	at           map[rowAtRank]int // the index of each in observations
	theta, r     []float64         // by rank, by row
	shown        []float64         // by row: how often it was shown
	x            *mat.Dense        // [rows shown × inputs] for the regression; nil: each r is estimated by itself
	normal       mat.Cholesky      // of xᵀx, weighted by shown
	used         []int             // the rows shown
}

// resamples are few: each is a fit.
func (em *expectationMaximisation) resamples() (n int, spread float64) { return 20, 1 }

// again goes on from the estimate, with counts as by the impressions of a resample.
func (em *expectationMaximisation) again(random *rand.Rand, _ int) (Bias, error) {
	own := *em
	own.theta, own.r = slices.Clone(em.theta), slices.Clone(em.r)
	own.shown, own.observations = make([]float64, len(em.shown)), nil
	for _, o := range em.observations {
		clicks := poisson(random, o.clicks)
		if n := clicks + poisson(random, o.n-o.clicks); n > 0 {
			own.observations = append(own.observations, observation{o.rowAtRank, n, clicks})
			own.shown[o.row] += n
		}
	}
	if em.x != nil {
		own.x, own.used = nil, nil
		own.regress()
	}
	for range mostIterations / 10 {
		if own.step() < settled {
			break
		}
	}
	return own.bias(), nil
}

// bias returns θ relative to the first rank.
func (em *expectationMaximisation) bias() Bias {
	b := Bias{Alpha: make([]float64, len(em.theta))}
	for k, t := range em.theta {
		b.Alpha[k] = t / em.theta[0]
	}
	return b
}

type rowAtRank struct{ row, rank int }

// An observation is a document at a rank: how often it was shown and clicked.
type observation struct {
	rowAtRank
	n, clicks float64
}

func (em *expectationMaximisation) estimate(report *BiasReport, _ []float64) (Bias, error) {
	if !(report.ClickRate[0] > 0) {
		return Bias{}, errors.New("clicks: no clicks at rank 1: position bias is relative to it")
	}
	em.regress()
	em.theta, em.r = slices.Repeat([]float64{.5}, len(report.ClickRate)), slices.Repeat([]float64{.5}, len(em.shown))
	for report.Unsettled = true; report.Unsettled && report.Iterations < mostIterations; report.Iterations++ {
		report.Unsettled = em.step() > settled
	}
	return em.bias(), nil
}

// add counts the clicks on each document at each rank.
func (em *expectationMaximisation) add(l *Log, situations []situation) error {
	for i := range situations {
		s := &situations[i]
		_, documents, err := em.rows.add(s)
		if err != nil {
			return l.impressionError(s.impressions[0], err)
		}
		em.shown = append(em.shown, make([]float64, len(em.ids)-len(em.shown))...)
		for _, j := range s.impressions {
			im := &l.Impressions[j]
			for k, d := range im.Shown {
				if im.Clicks[k] != 0 && im.Clicks[k] != 1 {
					return l.impressionError(j, fmt.Errorf("a click of %v at rank %d: method %s needs clicks of 0 and 1", im.Clicks[k], k+1, RegressionEM))
				}
				key := rowAtRank{documents[d], k}
				o, ok := em.at[key]
				if !ok {
					o = len(em.observations)
					em.at[key] = o
					em.observations = append(em.observations, observation{rowAtRank: key})
				}
				em.observations[o].n++
				em.observations[o].clicks += im.Clicks[k]
				em.shown[documents[d]]++
			}
		}
	}
	return nil
}

// regress prepares the regression of r on features, if there are any.
func (em *expectationMaximisation) regress() {
	d, order := em.dataset()
	situations := em.situations(d)
	r := newRegression(situations)
	var x []float64
	for q := range situations {
		for i, row := range order[d.Offsets[q]:d.Offsets[q+1]] {
			if em.shown[row] > 0 {
				em.used, x = append(em.used, row), append(x, make([]float64, r.width)...)
				r.inputs(x[len(x)-r.width:], situations[q].Impression, i, 0, 0)
			}
		}
	}
	if r.width == 2 || len(x) == 0 {
		return
	}
	em.x = mat.NewDense(len(em.used), r.width, x)
	weighted := mat.DenseCopyOf(em.x)
	for i, row := range em.used {
		floats.Scale(math.Sqrt(em.shown[row]), weighted.RawRowView(i))
	}
	var a mat.SymDense
	a.SymOuterK(1, weighted.T())
	if !factorize(&em.normal, &a) {
		em.x = nil
	}
}

// step does one iteration, and returns the largest change of θ.
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
	targets := mat.NewVecDense(len(em.used), nil)
	for i, row := range em.used {
		targets.SetVec(i, attracted[row])
	}
	var rhs, weights, predicted mat.VecDense
	rhs.MulVec(em.x.T(), targets)
	_ = em.normal.SolveVecTo(&weights, &rhs) // an ill-conditioned solution is still one
	predicted.MulVec(em.x, &weights)
	for i, row := range em.used {
		em.r[row] = max(least, min(1-least, predicted.AtVec(i)))
	}
	return change
}
