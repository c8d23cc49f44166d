package lossops

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// NoisyTarget is the target distribution of XE-NDCG (Bruch, WWW 2021), the mean over
// samples of
//
//	(ρ_d + u_d) / Σ (ρ + u),
//
// u being uniform in (0, 1): exp(−exp(−noise)) of Gumbel noise, [samples × rows], see
// [Order]. A node [rows], 0 in padding, not differentiable. Gains, [rows], must not be
// negative.
func NoisyTarget(l ops.Lists, gains, noise *G.Node) (*G.Node, error) {
	f := op.ListFunc{Name: "losses: NoisyTarget", Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
		gains, err := l.Gains(in[0])
		if err != nil {
			return err
		}
		target, samples := l.Zeros(), 0
		for first := 0; first < in[1].Len(); first += l.Rows {
			if math.IsNaN(in[1].At(first + l.From)) {
				continue // an absent sample
			}
			samples++
			noisy, sum := l.Read(in[1], first+l.From, first+l.To), 0.0
			for d, rho := range gains {
				noisy[d] = rho + math.Exp(-math.Exp(-noisy[d]))
				sum += noisy[d]
			}
			for d, v := range noisy {
				target[d] += v / sum
			}
		}
		for d := range target {
			target[d] /= float64(max(1, samples))
		}
		result.Write(target, l.From)
		return nil
	}}
	return f.ApplyTo(op.Rows("gains", gains), l, op.Samples("noise", noise))
}
