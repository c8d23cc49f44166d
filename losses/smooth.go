package losses

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// approxNDCG is minus the NDCG of approximate ranks (Qin, Liu & Li, Information
// Retrieval 13, 2010),
//
//	−Σ_i ρ_i / log2(2 + r_i) / the same with the ranks by gain,
//	r_i = Σ_{j≠i} 1 / (1 + exp((m_i − m_j)/temperature)).
//
// All ranks count, whatever the cutoff. Gains must not be negative; queries
// without any have 0.
func approxNDCG(b *batch, temperature float64) *G.Node {
	gains := b.gainsFromZero()
	approximate := dcg(b.Lists, gains, G.Must(lossops.ApproxRanks(b.Lists, temperature)))
	return neg(mul(approximate, inverse(idealDCG(b.Lists, gains))))
}

// gumbelApproxNDCG is approxNDCG of scores perturbed by Gumbel noise (Bruch, Han,
// Bendersky & Najork, WSDM 2020): minus the NDCG of approximate ranks expected under the
// Plackett–Luce policy, with r by the scores m + noise,
//
//	−the mean over samples of Σ_i ρ_i / log2(2 + r_i) / the same with the ranks by gain.
//
// The noise is a constant for differentiation: the gradient goes
// through the perturbed scores (reparametrisation). It costs
// O(N·D²) for a query; TF-Ranking draws 8 samples.
func gumbelApproxNDCG(b *batch, temperature float64) *G.Node {
	gains := b.gainsFromZero()
	approximate := total(b.Lists, mul(gains, G.Must(lossops.ApproxDiscounts(b.Lists, b.noise(), temperature))))
	return neg(mul(scaled(approximate, 1/math.Ln2), inverse(idealDCG(b.Lists, gains))))
}

// idealDCG is dcg with the ranks by gain.
func idealDCG(l ops.Lists, gains *G.Node) *G.Node {
	return dcg(l, gains, G.Must(ops.Ranks(ops.Lists{Scores: gains, Offsets: l.Offsets})))
}

// dcg is Σ ρ / ln(2 + r) of every query, for ranks from 0.
func dcg(l ops.Lists, gains, ranks *G.Node) *G.Node {
	return total(l, mul(gains, inverse(G.Must(G.Log(shifted(ranks, 2))))))
}

// piRank is minus the NDCG@k of the relaxed sorting of NeuralSort (Grover et al., ICLR
// 2019; Swezey et al., NeurIPS 2021),
//
//	−Σ_k θ_k Σ_d P_kd G_d,
//	P_k = softmax of ((D + 1 − 2k) m_d − Σ_j |m_d − m_j|) / temperature over d,
//
// ranks k from 1, as many as there are discounts and documents, and G the
// [NormalizedGains]. The lower the temperature, the closer is P to the matrix that
// sorts by score. It costs O(D² + D·K).
func piRank(b *batch, temperature float64) *G.Node {
	return neg(G.Must(lossops.RelaxedGains(b.Lists, b.normalizedGains(), b.Discounts, temperature)))
}

// neuralNDCG is piRank with a matrix S that ranks every document once in all
// (Pobrotyn & Białobrzeski 2021), the deterministic NeuralNDCG:
//
//	−Σ_k θ_k Σ_d S_kd G_d,
//
// S being P after Sinkhorn scaling: its columns and its rows are divided by their sums in
// turn, 50 times, or until all sums are 1. It costs
// O(D²) for each of these rounds, and O(D²) memory for every core, 16 MB for 1000
// documents.
func neuralNDCG(b *batch, temperature float64) *G.Node {
	return neg(G.Must(lossops.SortedGains(b.Lists, b.normalizedGains(), b.Discounts, temperature)))
}
