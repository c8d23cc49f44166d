package lossops

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/internal/scratch"
	"github.com/plrank/plrank/ops"
)

// SortedGains is the metric of relaxed sorting,
//
//	Σ_k θ_k Σ_d S_kd ρ_d,
//
// a node [queries], differentiable in the scores. S is NeuralSort's matrix (Grover et al.,
// ICLR 2019),
//
//	P_k = softmax of ((D + 1 − 2k) m_d − Σ_j |m_d − m_j|) / temperature over d,
//
// ranks k from 1, after Sinkhorn scaling (Sinkhorn 1964): columns and rows are divided
// by their sums in turn, [sinkhornRounds] times or until all sums are 1, so that every
// document is ranked once in all. It costs O(D²) for each of these rounds, and O(D²)
// memory for every core. gains is [rows].
func SortedGains(l ops.Lists, gains *G.Node, discounts []float64, temperature float64) (*G.Node, error) {
	const name = "losses: SortedGains"
	err := op.CheckDiscounts(discounts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkTemperature(name, temperature); err != nil {
		return nil, err
	}
	theta := slices.Clone(discounts)
	return op.Metric(name, fmt.Sprintf("discounts: %v, temperature: %v", theta, temperature), l,
		func(l *op.List, in []op.Tensor, lambda []float64) (float64, error) {
			scores, err := l.Scores()
			if err != nil {
				return 0, err
			}
			gains, err := l.Gains(in[1])
			if err != nil {
				return 0, err
			}
			s := sortings.Get().(*sorting)
			defer sortings.Put(s)
			s.sort(scores, l.Order(scores), temperature)
			return s.gradient(scores, gains, theta, temperature, lambda), nil
		}, op.Rows("gains", gains))
}

const (
	sinkhornRounds    = 50
	sinkhornTolerance = 1e-13 // of sums that are to be 1: another round would change less than finite differences see
)

var sortings = sync.Pool{New: func() any { return new(sorting) }}

// A sorting is the matrix S = diag(a) P diag(b) of one query, and how it came about.
type sorting struct {
	p, slope blas64.General // P, [ranks, documents], and the derivative by it
	a, b     [][]float64    // after every round; a[0] is 1, b[0] is not used
	scratch  []float64
}

// sort computes the matrix. order are the documents in descending order of the scores.
func (s *sorting) sort(scores []float64, order []int, temperature float64) {
	n := len(scores)
	s.p, s.slope = square(s.p, n), square(s.slope, n)
	s.scratch = scratch.Sized(s.scratch, n)
	for k := range n { // ranks from 0
		relaxedRank(scores, order, k, temperature, s.p.Data[k*n:(k+1)*n])
	}
	s.a, s.b = append(s.a[:0], ones(n)), append(s.b[:0], nil)
	b := s.inverseProduct(blas.Trans, s.a[0])
	for range sinkhornRounds {
		a := s.inverseProduct(blas.NoTrans, b)
		s.a, s.b = append(s.a, a), append(s.b, b)
		b = s.inverseProduct(blas.Trans, a)
		if near(b, s.b[len(s.b)-1]) { // the sums of the columns are the quotients
			break
		}
	}
}

// inverseProduct is 1/(P x), or 1/(Pᵀ x).
func (s *sorting) inverseProduct(t blas.Transpose, x []float64) []float64 {
	y := make([]float64, len(x))
	blas64.Gemv(t, 1, s.p, vector(x), 0, vector(y))
	for i, v := range y {
		y[i] = 1 / v
	}
	return y
}

// gradient is Σ_k θ_k Σ_d S_kd ρ_d, and adds its derivative by the scores to lambda.
func (s *sorting) gradient(scores, gains, theta []float64, temperature float64, lambda []float64) (value float64) {
	n, last := len(scores), len(s.a)-1
	// The derivatives by a, b and P, all of the last round.
	byA, byB := make([]float64, n), make([]float64, n)
	a, b := s.a[last], s.b[last]
	clear(s.slope.Data)
	for k := range min(n, len(theta)) {
		row, slope := s.p.Data[k*n:(k+1)*n], s.slope.Data[k*n:(k+1)*n]
		for d, p := range row {
			byA[k] += theta[k] * p * b[d] * gains[d]
			byB[d] += theta[k] * a[k] * p * gains[d]
			slope[d] = theta[k] * a[k] * b[d] * gains[d]
		}
		value += a[k] * byA[k]
	}
	for t := last; t > 0; t-- {
		// a = 1/(P b), b = 1/(Pᵀ a) of the round before.
		before := s.a[t-1]
		for k, v := range s.a[t] {
			byA[k] *= -v * v
		}
		blas64.Ger(1, vector(byA), vector(s.b[t]), s.slope)
		blas64.Gemv(blas.Trans, 1, s.p, vector(byA), 1, vector(byB))
		for d, v := range s.b[t] {
			byB[d] *= -v * v
		}
		blas64.Ger(1, vector(before), vector(byB), s.slope)
		blas64.Gemv(blas.NoTrans, 1, s.p, vector(byB), 0, vector(byA))
		clear(byB)
	}
	byDistance := s.scratch
	clear(byDistance)
	for k := range n {
		row, slope := s.p.Data[k*n:(k+1)*n], s.slope.Data[k*n:(k+1)*n]
		mean := floats.Dot(row, slope)
		for d, p := range row {
			byLogit := p * (slope[d] - mean) / temperature
			lambda[d] += float64(n-1-2*k) * byLogit
			byDistance[d] -= byLogit
		}
	}
	distanceVJP(scores, byDistance, lambda)
	return value
}

// near says whether the quotients of a and b are 1.
func near(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(b[i]/a[i]-1) <= sinkhornTolerance) {
			return false
		}
	}
	return true
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// square is a matrix of any contents, in the memory of m where that is enough.
func square(m blas64.General, n int) blas64.General {
	return blas64.General{Rows: n, Cols: n, Stride: n, Data: scratch.Sized(m.Data, n*n)}
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }
