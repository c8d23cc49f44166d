package worth

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// QuasiVariances returns a number q_i for each item such that the variance of θ_i − θ_j is close to q_i + q_j
// for all pairs. The intervals θ_i ± z·√q_i can be compared with each other, whatever item is the reference.
// They minimize the sum over all pairs of (log Var(θ_i − θ_j) − log(q_i + q_j))² (Firth and de Menezes,
// Biometrika 91, 2004). LargestError is the largest |√(q_i + q_j)/Difference(i, j) − 1|. A quasi-variance
// can be negative. QuasiVariances returns an error for fewer than three items and for an uncertainty without Covariance.
func (u *Uncertainty) QuasiVariances() (q []float64, largestError float64, err error) {
	if u.Covariance == nil || u.items < 3 {
		return nil, 0, fmt.Errorf("quasi-variances need the covariances of 3 to %d items", LargestCovariance)
	}
	n := u.items
	variances := mat.NewSymDense(n, nil) // of differences
	sums := make([]float64, n)
	for i := range n {
		for j := range i {
			d := u.Difference(i, j)
			variances.SetSym(i, j, d*d)
			sums[i] += d * d
			sums[j] += d * d
		}
	}
	// Start at the q whose sums q_i + q_j over all j equal the sums of the variances.
	q = make([]float64, n)
	mean := floats.Sum(sums) / float64(2*(n-1))
	for i := range q {
		q[i] = max(sums[i]/float64(2*n), (sums[i]-mean)/float64(max(1, n-2)))
	}
	squares := quasiSquares(variances, q)
	for range 100 {
		step, err := quasiStep(variances, q)
		if err != nil {
			return nil, 0, err
		}
		trial, better := make([]float64, n), math.NaN()
		for scale := 1.0; !(better <= squares) && scale > 1e-6; scale /= 2 {
			floats.AddScaledTo(trial, q, scale, step)
			better = quasiSquares(variances, trial)
		}
		if !(better < squares) {
			break
		}
		q, squares = trial, better
	}
	for i := range n {
		for j := range i {
			largestError = max(largestError, math.Abs(math.Sqrt((q[i]+q[j])/variances.At(i, j))-1))
		}
	}
	return q, largestError, nil
}

// quasiSquares returns the sum of squares, NaN if a sum of two quasi-variances is negative.
func quasiSquares(variances *mat.SymDense, q []float64) (sum float64) {
	for i := range q {
		for j := range i {
			residual := math.Log(variances.At(i, j) / (q[i] + q[j]))
			sum += residual * residual
		}
	}
	return sum
}

// quasiStep returns a step of the Gauss–Newton method.
func quasiStep(variances *mat.SymDense, q []float64) ([]float64, error) {
	n := len(q)
	normal, right := mat.NewSymDense(n, nil), make([]float64, n)
	for i := range n {
		for j := range i {
			slope := 1 / (q[i] + q[j])
			residual := math.Log(variances.At(i, j) * slope)
			normal.SetSym(i, i, normal.At(i, i)+slope*slope)
			normal.SetSym(j, j, normal.At(j, j)+slope*slope)
			normal.SetSym(i, j, slope*slope)
			right[i] += slope * residual
			right[j] += slope * residual
		}
	}
	var c mat.Cholesky
	if !c.Factorize(normal) {
		return nil, errors.New("the equations of the quasi-variances are singular")
	}
	step := make([]float64, n)
	return step, c.SolveVecTo(mat.NewVecDense(n, step), mat.NewVecDense(n, right))
}
