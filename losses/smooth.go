package losses

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// ApproxNDCG is minus the NDCG of approximate ranks (Qin, Liu & Li, Information
// Retrieval 13, 2010), −mean_q of
//
//	Σ_i ρ_i / log2(2 + r_i) / the same with the ranks by gain,
//	r_i = Σ_{j≠i} 1 / (1 + exp((m_i − m_j)/temperature)).
//
// All ranks count, whatever the cutoff. gains is [rows], none negative; queries
// without any have 0. By its name the temperature is 1.
func ApproxNDCG(l ops.Lists, gains *G.Node, temperature float64) (*G.Node, error) {
	return mean(l)(approxNDCG(l, gains, temperature))
}

func approxNDCG(l ops.Lists, gains *G.Node, temperature float64) (perQuery *G.Node, err error) {
	if err := checkRows(l, "gains", gains); err != nil {
		return nil, err
	}
	defer caught(&err)
	gains = notNegative(l, "gain", gains)
	approximate := dcg(l, gains, G.Must(lossops.ApproxRanks(l, temperature)))
	return neg(mul(approximate, inverse(idealDCG(l, gains)))), nil
}

// GumbelApproxNDCG is [ApproxNDCG] of scores perturbed by Gumbel noise (Bruch, Han,
// Bendersky & Najork, WSDM 2020): minus the NDCG of approximate ranks expected under the
// Plackett–Luce policy, with r by the scores m + noise, −mean_q of
//
//	the mean over samples of Σ_i ρ_i / log2(2 + r_i) / the same with the ranks by gain.
//
// noise is [samples × rows], of the dtype of the scores, from [ops.Gumbel] or elsewhere,
// see there for absent samples. It is a constant for differentiation: the gradient goes
// through the perturbed scores (reparametrisation). All else is as in ApproxNDCG. It costs
// O(N·D²) for a query; TF-Ranking draws 8 samples.
func GumbelApproxNDCG(l ops.Lists, gains, noise *G.Node, temperature float64) (*G.Node, error) {
	return mean(l)(gumbelApproxNDCG(l, gains, noise, temperature))
}

func gumbelApproxNDCG(l ops.Lists, gains, noise *G.Node, temperature float64) (perQuery *G.Node, err error) {
	if err := checkRows(l, "gains", gains); err != nil {
		return nil, err
	}
	defer caught(&err)
	gains = notNegative(l, "gain", gains)
	approximate := total(l, mul(gains, G.Must(lossops.ApproxDiscounts(l, noise, temperature))))
	return neg(mul(scaled(l, approximate, 1/math.Ln2), inverse(idealDCG(l, gains)))), nil
}

// idealDCG is dcg with the ranks by gain.
func idealDCG(l ops.Lists, gains *G.Node) *G.Node {
	return dcg(l, gains, G.Must(ops.Ranks(ops.Lists{Scores: gains, Offsets: l.Offsets})))
}

// dcg is Σ ρ / ln(2 + r) of every query, for ranks from 0.
func dcg(l ops.Lists, gains, ranks *G.Node) *G.Node {
	return total(l, mul(gains, inverse(G.Must(G.Log(shifted(l, ranks, 2))))))
}

// PiRank is minus the NDCG@k of the relaxed sorting of NeuralSort (Grover et al., ICLR
// 2019; Swezey et al., NeurIPS 2021), −mean_q of
//
//	Σ_k θ_k Σ_d P_kd G_d,
//	P_k = softmax of ((D + 1 − 2k) m_d − Σ_j |m_d − m_j|) / temperature over d,
//
// ranks k from 1, as many as there are discounts and documents, and G the
// [NormalizedGains]. The lower the temperature, the closer is P to the matrix that
// sorts by score. By its name the temperature is 1. It costs O(D² + D·K).
func PiRank(l ops.Lists, gains *G.Node, discounts []float64, temperature float64) (*G.Node, error) {
	return mean(l)(piRank(l, gains, discounts, temperature))
}

func piRank(l ops.Lists, gains *G.Node, discounts []float64, temperature float64) (perQuery *G.Node, err error) {
	normalized, err := NormalizedGains(l, gains, discounts)
	if err != nil {
		return nil, err
	}
	return minus(lossops.RelaxedGains(l, normalized, discounts, temperature))
}

// NeuralNDCG is [PiRank] with a matrix S that places every document once in all
// (Pobrotyn & Białobrzeski 2021), the deterministic NeuralNDCG: −mean_q of
//
//	Σ_k θ_k Σ_d S_kd G_d,
//
// S being P after Sinkhorn scaling: its columns and its rows are divided by their sums in
// turn, 50 times, or until all sums are 1. By its name the temperature is 1. It costs
// O(D²) for each of these rounds, and O(D²) memory for every core, 16 MB for 1000
// documents.
func NeuralNDCG(l ops.Lists, gains *G.Node, discounts []float64, temperature float64) (*G.Node, error) {
	return mean(l)(neuralNDCG(l, gains, discounts, temperature))
}

func neuralNDCG(l ops.Lists, gains *G.Node, discounts []float64, temperature float64) (perQuery *G.Node, err error) {
	normalized, err := NormalizedGains(l, gains, discounts)
	if err != nil {
		return nil, err
	}
	return minus(lossops.SortedGains(l, normalized, discounts, temperature))
}
