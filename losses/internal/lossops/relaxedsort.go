package lossops

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/normal"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// RelaxedGains is [SortedGains] without Sinkhorn scaling, Σ_k θ_k Σ_d P_kd ρ_d, as PiRank
// has it. It costs O(D² + D·K), and memory for O(D).
func RelaxedGains(l ops.Lists, gains *G.Node, discounts []float64, temperature float64) (*G.Node, error) {
	const name = "losses: RelaxedGains"
	if err := op.CheckDiscounts(discounts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkTemperature(name, temperature); err != nil {
		return nil, err
	}
	theta := slices.Clone(discounts)
	return op.Metric(name, fmt.Sprintf("discounts: %v, temperature: %v", theta, temperature), l,
		func(l *op.List, in []op.Tensor, lambda []float64) (value float64, err error) {
			scores, err := l.Scores()
			if err != nil {
				return 0, err
			}
			gains, err := l.Gains(in[1])
			if err != nil {
				return 0, err
			}
			order, row, byDistance := l.Order(scores), l.Floats(len(scores)), make([]float64, len(scores))
			for k := range min(len(theta), len(scores)) {
				relaxedRank(scores, order, k, temperature, row)
				mean := floats.Dot(row, gains)
				value += theta[k] * mean
				for d, p := range row {
					byLogit := theta[k] * p * (gains[d] - mean) / temperature
					lambda[d] += float64(len(scores)-1-2*k) * byLogit
					byDistance[d] -= byLogit
				}
			}
			distanceVJP(scores, byDistance, lambda)
			return value, nil
		}, op.Rows("gains", gains))
}

// relaxedRank sets row to P_k of [SortedGains], rank k from 0, the softmax of
//
//	((D − 1 − 2k) m_d − Σ_j |m_d − m_j|) / temperature.
//
// order are the documents in descending order of score. From the one at rank k, whose logit is
// the largest, logits fall with every gap of scores on the way, up and down: by gap·(2s − 1)
// at the s-th step. So nothing cancels, whatever the scores.
func relaxedRank(scores []float64, order []int, k int, temperature float64, row []float64) {
	sum := 0.0
	set := func(d int, logit float64) {
		row[d] = normal.Exp(logit / temperature)
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
