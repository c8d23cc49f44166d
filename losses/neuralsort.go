package losses

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
)

// PiRank returns the loss −Σ_k θ_k Σ_d P_kd G_d, P by NeuralSort at a temperature, G = ρ / ideal
// DCG (Swezey et al., NeurIPS 2021).
//
// It is minus the NDCG@k of the relaxed sorting of NeuralSort (Grover et al., ICLR 2019),
//
//	P_k = softmax of ((D + 1 − 2k) m_d − Σ_j |m_d − m_j|) / temperature over d,
//
// ranks k from 1 up to the number of discounts, or of documents if these are fewer. The lower the
// temperature, the closer is P to the matrix that sorts by score. It costs O(D² + D·K), and memory for
// O(D). The temperature is above 0, 1 by name; with another, building the loss returns an error. It reads
// Gains and Discounts; errors are those documented for [Pairwise] with normalized gains.
func PiRank(temperature float64) Objective {
	return Objective{RatioOnly: true, err: temperatures.check(temperature, "PiRank", temperature), graph: func(b *batch) *G.Node {
		return piRank(b, temperature)
	}}
}

func piRank(b *batch, temperature float64) *G.Node {
	return sortedMetric(b, "losses: RelaxedGains", temperature, func(l *op.List, lambda []float64) (value float64, err error) {
		scores, gains := l.X[0], l.X[1]
		order, row, byDistance := l.Order(scores), l.Scratch(l.Len()), make([]float64, l.Len())
		for k := range min(len(l.Discounts), len(scores)) {
			relaxedRank(scores, order, k, temperature, row)
			mean := floats.Dot(row, gains)
			value += l.Discounts[k] * mean
			if lambda == nil {
				continue
			}
			for d, p := range row {
				byLogit := l.Discounts[k] * p * (gains[d] - mean) / temperature
				lambda[d] += float64(len(scores)-1-2*k) * byLogit
				byDistance[d] -= byLogit
			}
		}
		if lambda != nil {
			distanceVJP(scores, byDistance, lambda)
		}
		return value, nil
	})
}

// NeuralNDCG returns the loss −Σ_k θ_k Σ_d S_kd G_d, S the P of PiRank after Sinkhorn scaling
// (Pobrotyn & Białobrzeski 2021).
//
// It is the deterministic NeuralNDCG: after the scaling (Sinkhorn 1964), which divides columns and
// rows by their sums in turn, 50 times, S ranks every document once in all. It costs
// O(D²) for each of these rounds until all sums are 1, and for each before the last that the
// derivative depends on. It needs a matrix of D² numbers for every core, 8 MB for 1000
// documents: a run with a query of more than 5000 returns an error. The rest is as for [PiRank].
func NeuralNDCG(temperature float64) Objective {
	return Objective{
		RatioOnly: true, MostDocuments: mostSorted, err: temperatures.check(temperature, "NeuralNDCG", temperature),
		graph: func(b *batch) *G.Node { return neuralNDCG(b, temperature) },
	}
}

func neuralNDCG(b *batch, temperature float64) *G.Node {
	return sortedMetric(b, "losses: SortedGains", temperature, func(l *op.List, lambda []float64) (float64, error) {
		if l.Len() > mostSorted {
			return 0, fmt.Errorf("%d documents: neuralndcg has a matrix of all pairs, and takes %d at most: "+
				"use pirank or approxndcg, which have none", l.Len(), mostSorted)
		}
		s := sortings.Get().(*sorting)
		defer sortings.Put(s)
		s.sort(l.X[0], l.Order(l.X[0]), temperature)
		return s.gradient(l.X[0], l.X[1], l.Discounts, temperature, lambda), nil
	})
}

// sortedMetric is minus a metric of the normalized gains; do computes it with its gradient.
func sortedMetric(b *batch, name string, temperature float64, do func(l *op.List, lambda []float64) (float64, error)) *G.Node {
	return neg(G.Must(op.Metric(name, fmt.Sprint(temperature), b.Lists, do,
		op.Rows("gains", b.normalizedGains()), op.Discounts(b.discounts()))))
}

const (
	mostSorted        = 5000 // documents: 200 MB for every core
	sinkhornRounds    = 50
	sinkhornTolerance = 1e-13 // of sums that are to be 1, and of derivatives: another round would change less than finite differences see
)

var sortings = sync.Pool{New: func() any { return new(sorting) }}

// A sorting has the matrix S = diag(a) P diag(b) of one query, and the scalings of all rounds.
type sorting struct {
	p    blas64.General // P, [ranks, documents]
	a, b [][]float64    // after every round; a[0] is 1, b[0] is not used. After the last, they stay
}

// sort computes the matrix. order are the documents in descending order of the scores.
func (s *sorting) sort(scores []float64, order []int, temperature float64) {
	n := len(scores)
	s.p = blas64.General{Rows: n, Cols: n, Stride: n, Data: num.Sized(s.p.Data, n*n)}
	for k := range n { // ranks from 0
		relaxedRank(scores, order, k, temperature, s.p.Data[k*n:(k+1)*n])
	}
	s.a, s.b = append(s.a[:0], slices.Repeat([]float64{1}, n)), append(s.b[:0], nil)
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

// inverseProduct returns 1/(P x), or 1/(Pᵀ x).
func (s *sorting) inverseProduct(t blas.Transpose, x []float64) []float64 {
	y := make([]float64, len(x))
	blas64.Gemv(t, 1, s.p, vector(x), 0, vector(y))
	for i, v := range y {
		y[i] = 1 / v
	}
	return y
}

// gradient returns Σ_k θ_k Σ_d S_kd ρ_d, and adds its derivative by the scores to lambda, unless it is nil.
func (s *sorting) gradient(scores, gains, theta []float64, temperature float64, lambda []float64) (value float64) {
	n, last := len(scores), len(s.a)-1
	// The derivatives by a and b of the last round.
	byA, byB := make([]float64, n), make([]float64, n)
	a, b := s.a[last], s.b[last]
	for k := range min(n, len(theta)) {
		row := s.p.Data[k*n : (k+1)*n]
		for d, p := range row {
			byA[k] += theta[k] * p * b[d] * gains[d]
			byB[d] += theta[k] * a[k] * p * gains[d]
		}
		value += a[k] * byA[k]
	}
	if lambda == nil {
		return value
	}
	// The derivative by P is θ_k a_k b_d ρ_d and, of every round, a product of two vectors. Products of
	// rounds with the same vectors on one side are added up.
	var products []product
	add := func(column, row, byColumn, byRow []float64) {
		if m := len(products); m > 0 && &products[m-1].b[0] == &row[0] && &products[m-1].a[0] == &column[0] {
			floats.Add(products[m-1].byA, byColumn)
			floats.Add(products[m-1].byB, byRow)
			return
		}
		products = append(products, product{column, row, slices.Clone(byColumn), slices.Clone(byRow)})
	}
	first := scaleOf(byA, a) + scaleOf(byB, b)
	for t := sinkhornRounds; t > 0; t-- {
		// a = 1/(P b), b = 1/(Pᵀ a) of the round before.
		now, before := min(t, last), min(t-1, last)
		for k, v := range s.a[now] {
			byA[k] *= -v * v
		}
		blas64.Gemv(blas.Trans, 1, s.p, vector(byA), 1, vector(byB))
		for d, v := range s.b[now] {
			byB[d] *= -v * v
		}
		add(s.a[before], s.b[now], byA, byB)
		blas64.Gemv(blas.NoTrans, 1, s.p, vector(byB), 0, vector(byA))
		clear(byB)
		// Rounds before add less and less: by symmetry, sums may be right long before derivatives are.
		if scaleOf(byA, s.a[before]) <= sinkhornTolerance*first {
			break
		}
	}
	byDistance, slope, weights := make([]float64, n), make([]float64, n), floats.MulTo(make([]float64, n), b, gains)
	for k := range n {
		row := s.p.Data[k*n : (k+1)*n]
		clear(slope)
		if k < len(theta) {
			floats.AddScaled(slope, theta[k]*a[k], weights)
		}
		for _, p := range products {
			floats.AddScaled(slope, p.byA[k], p.b)
			floats.AddScaled(slope, p.a[k], p.byB)
		}
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

// A product is the derivative by P, byA bᵀ + a byBᵀ, of rounds.
type product struct{ a, b, byA, byB []float64 }

// scaleOf is the size of a derivative by the logarithms of x.
func scaleOf(by, x []float64) (size float64) {
	for i, v := range by {
		size = max(size, math.Abs(v*x[i]))
	}
	return size
}

// near reports whether the quotients of a and b are 1.
func near(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(b[i]/a[i]-1) <= sinkhornTolerance) {
			return false
		}
	}
	return true
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// relaxedRank sets row to P_k of piRank, rank k from 0, the softmax of
//
//	((D − 1 − 2k) m_d − Σ_j |m_d − m_j|) / temperature.
//
// order are the documents in descending order of score. From the one at rank k, whose logit is
// the largest, logits fall with every gap of scores on the way, up and down: by gap·(2s − 1)
// at the s-th step. So nothing cancels, whatever the scores.
func relaxedRank(scores []float64, order []int, k int, temperature float64, row []float64) {
	sum := 0.0
	set := func(d int, logit float64) {
		row[d] = num.FlushExp(logit / temperature)
		sum += row[d]
	}
	set(order[k], 0)
	logit := 0.0
	for r := k + 1; r < len(order); r++ {
		logit -= float64(2*(r-k)-1) * (scores[order[r-1]] - scores[order[r]])
		set(order[r], logit)
	}
	logit = 0
	for r := k - 1; r >= 0; r-- {
		logit -= float64(2*(k-r)-1) * (scores[order[r]] - scores[order[r+1]])
		set(order[r], logit)
	}
	floats.Scale(1/sum, row)
}

// distanceVJP adds to slopes the derivative by every score of what depends on the summed
// distances to the scores of the others, Σ_j |m_i − m_j|, given the derivative by these. At equal
// scores it is 0.
func distanceVJP(scores, byDistance, slopes []float64) {
	for j, m := range scores {
		for i, other := range scores[:j] {
			if m == other {
				continue
			}
			slope := byDistance[i] + byDistance[j]
			if m < other {
				slope = -slope
			}
			slopes[i] -= slope
			slopes[j] += slope
		}
	}
}
