package plackett

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/plackett/internal/lanes"
)

// PairAccuracy writes λ_d = dR/dm_d to lambda and returns the expected share of the pairs of documents of different labels in which
// the document of the higher label is above the other, where a pair counts ½ if neither is among the first cutoff ranks. A cutoff of
// 0, or one beyond the list, is all ranks. Without such pairs R is 0.
//
// With s_ij the sign of label i − label j, it is ½ and, over twice the number of pairs,
//
//	Σ_{i,j} s_ij ∫ f_i q_j P(N_{−i,−j} < cutoff) dt,
//
// and λ_i, over the same, is the sum over j of what they exchange where they meet,
//
//	∫ t f_i f_j (2 s_ij P(N_{−i,−j} < cutoff) + Σ_e (s_ie − s_je) q_e P(N_{−i,−j,−e} = cutoff−1)) dt.
//
// The errors of R and λ are at most Tolerance. All ranks cost O(D²); with a cutoff they cost about as much as
// [Expectation.Similarity] with the labels for groups: docs/exact.md, section 8. If lambda is nil, it computes R alone. PairAccuracy
// returns the errors of [Expectation.Gradient], and an error for a negative cutoff.
func (e *Expectation) PairAccuracy(scores, labels []float64, cutoff int, lambda []float64) (value float64, err error) {
	tolerance, err := e.begin(scores)
	if err := cmp.Or(err, checkLength("labels", len(labels), len(scores)), checkFinite("label", labels),
		checkLambda(lambda, scores)); err != nil {
		return 0, err
	}
	if cutoff < 0 {
		return 0, fmt.Errorf("the cutoff is %d: it must not be negative", cutoff)
	}
	clear(lambda)
	grades := slices.Compact(slices.Sorted(slices.Values(labels)))
	pairs, before, at := 0.0, 0.0, make([]float64, len(grades)+1)
	for _, label := range labels {
		g, _ := slices.BinarySearch(grades, label)
		at[g]++
	}
	for _, count := range at {
		pairs += before * count
		before += count
	}
	if pairs == 0 {
		return 0, nil
	}
	if cutoff == 0 || cutoff >= len(scores) {
		return allPairs(scores, labels, pairs, lambda), nil
	}
	s := &e.ofSimilarity
	s.set(len(grades), slices.Repeat([]float64{1}, cutoff), 1, s.order)
	value, err = e.runSimilarity(scores, tolerance, 1/(2*pairs), lambda, func(d int, v []float64) {
		clear(v)
		g, _ := slices.BinarySearch(grades, labels[d])
		v[g] = 1
	})
	return .5 + value, err
}

// allPairs is the mean of the sigmoid of the difference of scores over pairs.
func allPairs(scores, labels []float64, pairs float64, lambda []float64) (value float64) {
	for i, score := range scores {
		for j, other := range scores {
			if !(labels[i] > labels[j]) {
				continue
			}
			right, wrong := 1/(1+math.Exp(other-score)), 1/(1+math.Exp(score-other))
			value += right / pairs
			if lambda != nil {
				lambda[i] += right * wrong / pairs
				lambda[j] -= right * wrong / pairs
			}
		}
	}
	return value
}

// order sets what sources get by the order of pairs of different grades, and returns the value.
func (s *similarity) order(x *quadrature) (value float64) {
	n, grades, points := len(s.r), s.sums.Cols, len(s.whole)
	s.right, s.met = lanes.NewMatrix(s.right.Numbers, 6*points, n), lanes.NewMatrix(s.met.Numbers, 6*points, grades)
	for p := range points {
		hr, hi, ur, ui := s.arrives.Row(2*p), s.arrives.Row(2*p+1), s.arrived.Row(2*p), s.arrived.Row(2*p+1)
		var row [6][]float64 // b, h and h b
		for i := range row {
			row[i] = s.right.Row(6*p + i)
		}
		copy(row[2], hr)
		copy(row[3], hi)
		for i := range n {
			both := complex(hr[i], hi[i]) * complex(1-ur[i], -ui[i])
			row[0][i], row[1][i], row[4][i], row[5][i] = 1-ur[i], -ui[i], real(both), imag(both)
		}
	}
	lanes.Product(s.met, s.right, s.sums)
	s.own = lanes.NewMatrix(s.own.Numbers, 1, grades) // documents that cannot have arrived: b is 1
	later := s.own.Row(0)
	clear(later)
	for d := x.poolEnd; d < s.vectors.Rows; d++ {
		floats.Add(later, s.vectors.Row(d))
	}
	s.left, s.right = lanes.NewMatrix(s.left.Numbers, 4*points, n), lanes.NewMatrix(s.right.Numbers, 4*points, grades)
	for p, g := range s.whole {
		var met [3][]complex128 // Σ_j s_ij of b, h and h b, by the grade of i
		var f, q complex128     // Σ h, Σ_i h_i Σ_j s_ij b_j
		floats.Add(s.met.Row(6*p), later)
		for i := range met {
			met[i] = signed(s.met.Row(6*p+2*i), s.met.Row(6*p+2*i+1))
		}
		for i, re := range s.met.Row(6*p + 2) {
			h := complex(re, s.met.Row(6*p + 3)[i])
			f += h
			q += h * met[0][i]
		}
		g *= complex(x.weights[p/len(s.points)], 0)
		shown, last := g*s.parts[p%len(s.points)], g*s.lasts[p%len(s.points)]
		value += real(shown * q)
		for i := range grades {
			v := f*met[0][i] - met[2][i] - q
			for j, number := range [4]float64{real(met[1][i]), imag(met[1][i]), real(v), imag(v)} {
				s.right.Row(4*p + j)[i] = number
			}
		}
		for i := range n {
			h := complex(s.arrives.Row(2 * p)[i], s.arrives.Row(2*p + 1)[i])
			b := complex(1-s.arrived.Row(2 * p)[i], -s.arrived.Row(2*p + 1)[i])
			first, second := (2*shown-last*b)*h, last*h
			for j, number := range [4]float64{real(first), -imag(first), real(second), -imag(second)} {
				s.left.Row(4*p + j)[i] = number
			}
		}
	}
	lanes.Product(s.slopes, s.left.T(), s.right)
	return value
}

// signed returns for every grade the sum of the numbers of lower grades minus the sum of the numbers of higher grades.
func signed(re, im []float64) []complex128 {
	sums, all := make([]complex128, len(re)), complex128(0)
	for i := range sums {
		sums[i] = all
		all += complex(re[i], im[i])
		sums[i] += all
	}
	for i := range sums {
		sums[i] -= all
	}
	return sums
}
