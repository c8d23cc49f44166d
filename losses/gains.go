package losses

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// NormalizedGains returns the gains divided by the best value that the metric can have in
// their query, Σ_k θ_k of the k-th largest gain: the gains of NDCG@k, for any of the
// losses. Queries without gains keep 0. A node [rows], not differentiable. It returns an error if
// discounts are negative or rise from rank to rank, and the run if gains are negative or not finite.
func NormalizedGains(l ops.Lists, gains *G.Node, discounts []float64) (normalized *G.Node, err error) {
	defer caught(&err)
	b := batch{Batch: Batch{Lists: l, Gains: gains, Discounts: discounts}}
	return b.normalizedGains(), nil
}

func (b *batch) normalizedGains() *G.Node {
	gains, discounts := b.gainsFromZero(), b.discounts()
	for k, v := range discounts { // else the ranking by gain is not the best: it may earn less than nothing, which turns all signs
		if v < 0 || k > 0 && v > discounts[k-1] {
			panic(fmt.Errorf("discount %v of rank %d: gains are only normalized by discounts that are 0 or more and do not rise", v, k+1))
		}
	}
	ideal := total(b.Lists, mul(gains, targetExposure(b.Lists, gains, discounts)))
	return mul(gains, spread(b.Lists, inverse(ideal)))
}

// targetExposure is the E* of expected exposure (Diaz et al., CIKM 2020): documents
// are in the order of their gains, and documents of equal gain share the discounts of
// their ranks equally; ranks beyond the discounts have none. A node [rows], not
// differentiable. Σ_d ρ_d E*_d is the best value that the metric can have.
func targetExposure(l ops.Lists, gains *G.Node, discounts []float64) *G.Node {
	return fixed("losses: TargetExposure", op.PerRow, func(l *op.List, out []float64) {
		plackett.RankedExposure(l.X[0], l.Discounts, out)
	}, l, op.Rows("gains", gains), op.Discounts(discounts))
}

// DisparityGains returns gains whose expected metric has the gradient of minus the disparity
// of the PL-Rank paper: minus the derivative of the disparity by the exposures (the paper
// leaves out the minus),
//
//	4/(D(D−1)) Σ_{d'} (E_{d'} ρ_d − E_d ρ_{d'}) ρ_{d'} = 4/(D(D−1)) (ρ_d Σ E ρ − E_d Σ ρ²),
//
// [rows], constant for differentiation. Any estimator of the gradient of an expected metric, given them for gains, so estimates
// the gradient of the disparity (Oosterhuis, SIGIR 2021, §6), without bias if exposure, [rows], is estimated from other rankings,
// see [ops.Exposure]. The loss disparity(plrank2) does so.
func DisparityGains(l ops.Lists, gains, exposure *G.Node) (rewards *G.Node, err error) {
	defer caught(&err)
	b := batch{Batch: Batch{Lists: l, Gains: gains}}
	return b.disparityGains(exposure), nil
}

// disparityGains is [DisparityGains] with the weights of the documents, as in disparity.
func (b *batch) disparityGains(exposure *G.Node) *G.Node {
	l := b.Lists
	b.checkRows("exposures", exposure)
	gains := b.finiteGains()
	earned := mul(gains, spread(l, total(l, b.times(mul(exposure, gains)))))
	had := mul(exposure, spread(l, total(l, b.times(square(gains)))))
	rewards := b.times(mul(sub(earned, had), spread(l, inverse(orderedPairs(count(l))))))
	return G.Must(op.Constant(scaled(rewards, 4)))
}

// orderedPairs is n(n−1).
func orderedPairs(n *G.Node) *G.Node { return sub(square(n), n) }
