package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// XENDCG is the cross-entropy loss that bounds NDCG (Bruch, WWW 2021), the mean over
// queries of
//
//	−Σ_d φ_d log p_d,   p_d = exp m_d / Σ exp m,   φ_d = (2^label_d − γ_d) / Σ (2^label − γ),
//
// with γ uniform in (0, 1) and drawn anew in every step. 2^label is ρ + 1, so that
// φ_d is in proportion to ρ_d + u_d, where u = 1 − γ is uniform, too; other gains than
// 2^label − 1 take the place of these. Queries without gains have a target that is noise
// alone, whose mean is the same for all documents; the loss by name is 0 there.
//
// gains is [rows], none negative. noise is [samples × rows], of the dtype of the scores,
// from [ops.Gumbel] or elsewhere, see there for absent samples, and gives u by
// exp(−exp(−noise)). φ is the mean over samples; the paper has one.
func XENDCG(l ops.Lists, gains, noise *G.Node) (*G.Node, error) {
	return mean(l)(xendcg(l, gains, noise))
}

func xendcg(l ops.Lists, gains, noise *G.Node) (perQuery *G.Node, err error) {
	if err := checkRows(l, "gains", gains); err != nil {
		return nil, err
	}
	defer caught(&err)
	target := G.Must(lossops.NoisyTarget(l, notNegative(l, "gain", gains), noise))
	return crossEntropy(l, target), nil
}
