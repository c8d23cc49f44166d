// # Losses
//
// The name of a loss is the name of its function in lower case, with hyphens where [Names] has them:
// softmax for [Softmax], plrank2-loo for [PLRank2LOO], approxndcg(0.1) for ApproxNDCG(0.1).
//
//   - Minus the expected metric: [PLRankExact], [ExactMRR], [ExactMAP], [ExactERR], [ExactSuccess] and
//     [ExactAlphaNDCG], and from sampled rankings or noise [PolicyGradient],
//     [PolicyGradientLOO], [PlacementPolicyGradient], [PLRank1], [PLRank1LOO], [PLRank2], [PLRank2LOO],
//     [PLRank2Expected], [PLRankRB] and [StochasticRank].
//   - Fairness of exposure: [Disparity], [EEL], [GroupExposure] and [GroupTreatment]; to readers who stop,
//     [DisparityByCascade], [EELByCascade], [GroupExposureByCascade] and [GroupTreatmentByCascade]; and from samples
//     [DisparityBy] for names such as disparity(plrank2), [EELByRB], [GroupExposureByRB] and
//     [GroupTreatmentByRB] for names such as ee-l(plrank-rb).
//   - Near the policy of a log: [ExposureRisk] and [PRPO].
//   - Pairs of documents: [LambdaLoss], [LambdaLossDeterministic], [RankNet], [Hinge], [LambdaRank],
//     [NDCGLoss1], [NDCGLoss2], [NDCGLoss2PP] and [NDCGLoss2K]. [GorgoniaLambdaLoss] is LambdaLoss of Gorgonia's own ops.
//   - All documents of a query: [Softmax], [XENDCG], [ListNet], [ListMLE], [PartialListMLE],
//     [ApproxNDCG], [GumbelApproxNDCG], [PiRank] and [NeuralNDCG].
//   - Single documents: [MSE], [QueryRMSE], [Ordinal] and [CrossEntropy].
package losses

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/plackett"
)

const exact = "plrank-exact"

// table has all losses. A new one is a row here, and a function below, whose comment has its formula
// and source and whose name is the row's without hyphens.
var table = append(estimators(), []entry{
	// Minus the metric expected under the Plackett–Luce policy of the scores, exactly or estimated.
	{name: exact, build: expected, degree: 1},
	{name: "exact-mrr", build: cascade((*batch).relevant, inverseRank), target: byRelevance},
	{name: "exact-map", build: averagePrecision, target: byRelevance},
	{name: "exact-err", build: cascade((*batch).stops, inverseRank), target: byRelevance},
	{name: "exact-success", build: cascade((*batch).relevant, alike), target: byRelevance},
	{name: "exact-alpha-ndcg", build: alphaNDCG, number: redundancy, target: byIntents},
	{name: "placement-policy-gradient", build: placementPolicyGradient, degree: 1, sampled: true, objective: exact},
	{name: "stochasticrank", build: stochasticRank, degree: 1, sampled: true, objective: exact},
	// Fairness of the expected exposure, exactly or sampled.
	{name: "disparity", build: disparity, weights: ofPairs, degree: 2, measure: "disparity",
		through: disparityBy, by: append(estimatorNames(), "placement-policy-gradient", "lambdaloss", byCascade)},
	{name: "ee-l", build: eel, weights: ofTerms, target: byShares, measure: "ee-l", by: byRB},
	{name: "group-exposure", build: groupExposure, target: byGroups, weights: unweighted, measure: "exposure-ratio", by: byRB},
	{name: "group-treatment", build: groupTreatment, weights: ofTerms, degree: -2, measure: "treatment-ratio", by: byRB},
	// Staying near the policy of a log.
	{name: "exposure-risk", build: exposureRisk, number: level, target: byGroups, weights: unweighted, logged: byExposure},
	{name: "prpo", build: prpo, number: ratio, degree: 1, logged: byScores, unlogged: exact},
	// Pairs of documents.
	{name: "lambdaloss", build: lambdaLoss, weights: ofPairs, degree: 1, sampled: true},
	{name: "lambdaloss-deterministic", build: lambdaLossDeterministic, weights: ofPairs, degree: 1},
	{name: "ranknet", build: logisticPairs.mean, weights: ofPairs},
	{name: "hinge", build: hingePairs.mean, weights: ofPairs},
	{name: "lambdarank", build: lambdaRank, weights: ofPairs},
	{name: "ndcg-loss1", build: ndcgLoss1, weights: ofPairs},
	{name: "ndcg-loss2", build: ndcgLoss2, weights: ofPairs},
	{name: "ndcg-loss2pp", build: ndcgLoss2PP, weights: ofPairs},
	{name: "ndcg-loss2k", build: ndcgLoss2K, weights: ofPairs},
	// All documents of a query.
	{name: "softmax", build: softmax, weights: ofCopies},
	{name: "xe-ndcg", build: xendcg, weights: ofCopies, noisy: true, sampled: true},
	{name: "listnet", build: listNet, weights: ofCopies, target: byLabels},
	{name: "listmle", build: listMLE, weights: ofCopies},
	{name: "partial-listmle", build: partialListMLE, weights: ofCopies},
	{name: "approxndcg", build: approxNDCG, weights: ofRanks, number: temperature},
	{name: "gumbel-approxndcg", build: gumbelApproxNDCG, weights: ofRanks, number: temperature, sampled: true},
	{name: "pirank", build: piRank, number: temperature},
	{name: "neuralndcg", build: neuralNDCG, most: mostSorted, number: temperature},
	// One document at a time, or its difference from the mean of the query.
	{name: "mse", build: mse, weights: ofTerms, target: byLabels, degree: 1},
	{name: "query-rmse", build: queryRMSE, weights: ofTerms, number: labelScale, target: byLabels, degree: 1},
	{name: "ordinal", build: ordinal, weights: ofTerms, target: byLabels, degree: 1},
	{name: "cross-entropy", build: binaryCrossEntropy, weights: ofTerms, target: byLabels, degree: 1},
}...)

var byRB = []string{plackett.PLRankRB.String(), byCascade}

// estimators are the entries of the table of package plackett.
func estimators() (all []entry) {
	for _, e := range plackett.Estimators() {
		all = append(all, entry{name: e.String(), build: estimated(e), degree: 1, sampled: true, objective: exact})
	}
	return all
}

func estimatorNames() (all []string) {
	for _, e := range plackett.Estimators() {
		all = append(all, e.String())
	}
	return all
}

// named builds a loss of the table.
func named(name string, b Batch) (*G.Node, error) {
	f, err := ByName(name)
	if err != nil {
		return nil, err
	}
	return f(b)
}

// withParameter returns a loss of the table with its parameter, which the Func checks.
func withParameter(name string, parameter any) Func {
	return func(b Batch) (*G.Node, error) { return named(fmt.Sprintf("%s(%v)", name, parameter), b) }
}

// PLRankExact returns the loss −E[Σ_k θ_k ρ_{y_k}], y a ranking of the policy, exactly.
//
// It is minus the expected metric, with its exact value and gradient, without rankings or variance
// (see [ops.ExpectedMetric]). It reads Gains and Discounts. Gains may be negative; a run with gains
// that are not finite returns an error.
func PLRankExact(b Batch) (*G.Node, error) { return named("plrank-exact", b) }

// ExactMRR returns the loss −E[1 / rank of the first relevant document], exactly, as a cascade
// (docs/exact.md; the metric: Voorhees, TREC 1999).
//
// Like the other losses by relevance it is minus the expected metric of that name of package metrics, with its
// exact value and gradient. Documents whose label is 1 or more are relevant, and a query without any has the loss 0. As many
// ranks count as there are Discounts, whose values are not read. It reads Labels; a run with negative labels returns an error.
func ExactMRR(b Batch) (*G.Node, error) { return named("exact-mrr", b) }

// ExactMAP returns the loss −E[Σ over relevant k of precision@k] / min(K, relevant documents), exactly
// (docs/exact.md; the metric: Buckley & Voorhees, SIGIR 2000).
//
// K is the number of Discounts. The rest is as for [ExactMRR].
func ExactMAP(b Batch) (*G.Node, error) { return named("exact-map", b) }

// ExactERR returns the loss −E[Σ_k 1/k R_k Π_{x<k} (1 − R_x)], R = (2^label − 1) / 2^highest, exactly
// (Chapelle et al., CIKM 2009).
//
// It is expected reciprocal rank. The highest grade is HighestGrade, 0 stands for 4; labels above it count as it. The
// rest is as for [ExactMRR].
func ExactERR(b Batch) (*G.Node, error) { return named("exact-err", b) }

// ExactSuccess returns the loss −P(a relevant document is at one of the ranks that count), exactly
// (docs/exact.md, 2026).
//
// It is the hit rate, success in trec_eval, and says nothing where every rank counts. The rest is as for [ExactMRR].
func ExactSuccess(b Batch) (*G.Node, error) { return named("exact-success", b) }

// ExactAlphaNDCG returns the loss −E[Σ_k Σ_i J_ki (1 − α)^{documents above k with intent i} / log2(k + 1)] / its
// greedy ideal, exactly (Clarke et al., SIGIR 2008).
//
// J_ki is 1 if the document at rank k has intent i of Intents. The ideal ranking is hard to find: see
// [metrics.IdealAlphaDCG]. Labels do not count, and a query without intents has the loss 0. As many ranks count as there are
// Discounts, whose values are not read. α is above 0 and at most 1, .5 by name; another makes the Func return an error.
func ExactAlphaNDCG(alpha float64) Func { return withParameter("exact-alpha-ndcg", alpha) }

// PLRank1 returns the loss −(1/N) Σ_i Σ_k θ_k ρ_{y_k}, with the gradient of PL-Rank-1 (Oosterhuis,
// SIGIR 2021, §5.2).
//
// The value is the mean metric of N sampled rankings y, and the gradient is an unbiased estimate for
// [PLRankExact], see [ops.PLRank1]. Like all losses by an estimator it reads Gains, Discounts, and
// Rankings or else Sampler. Gains may be negative; a run with gains that are not finite, or rankings
// shorter than both the query and the discounts, returns an error.
func PLRank1(b Batch) (*G.Node, error) { return named("plrank1", b) }

// PLRank1LOO returns the loss of PLRank1 with a leave-one-out baseline (Kool, van Hoof & Welling 2019).
//
// The mean reward of the other rankings of the query is subtracted from the reward of each: the
// same expectation, less variance. The rankings must be independent draws; with a single one, the
// reward of the likeliest ranking is subtracted.
func PLRank1LOO(b Batch) (*G.Node, error) { return named("plrank1-loo", b) }

// PLRank2 returns the loss of PLRank1 with the gradient of PL-Rank-2 (Oosterhuis, SIGIR 2021,
// §5.3), computed as PL-Rank-3 (SIGIR 2022).
//
// See [ops.PLRank2]. Arguments and errors are those documented for [PLRank1].
func PLRank2(b Batch) (*G.Node, error) { return named("plrank2", b) }

// PLRank2LOO returns the loss of PLRank2 with a leave-one-out baseline, see [PLRank1LOO].
func PLRank2LOO(b Batch) (*G.Node, error) { return named("plrank2-loo", b) }

// PLRank2Expected returns the loss of PLRank2 with expected rewards, −(1/N) Σ_i Σ_k θ_k E[ρ_{y_k} | y_1..k−1].
//
// The gain at each rank is replaced by its expectation given the documents placed before it: the first
// of two steps from PL-Rank-2 to PL-Rank-RB (docs/pl-rank-rb.md).
func PLRank2Expected(b Batch) (*G.Node, error) { return named("plrank2-expected", b) }

// PLRankRB returns the loss of PLRank2Expected with a leave-one-out baseline: usually the least
// variance (docs/pl-rank-rb.md).
//
// See [ops.PLRankRB]. At cutoff 1 it has no variance at all.
func PLRankRB(b Batch) (*G.Node, error) { return named("plrank-rb", b) }

// PolicyGradient returns the loss −(1/N) Σ_i (Σ_k θ_k ρ_{y_k}) Σ_k log P(y_k | y_1..k−1), REINFORCE
// (Williams 1992).
//
// Ranks k run up to the number of discounts, also of longer rankings: documents after them
// have no part in the reward. Gorgonia differentiates it through [ops.LogProbs]. Its gradient is an
// unbiased estimate for [PLRankExact]; its value is not. Arguments and errors are those documented
// for [PLRank1].
func PolicyGradient(b Batch) (*G.Node, error) { return named("policy-gradient", b) }

// PolicyGradientLOO returns the loss of PLRank1 with the gradient of PolicyGradient and a
// leave-one-out baseline (Kool, van Hoof & Welling 2019).
func PolicyGradientLOO(b Batch) (*G.Node, error) { return named("policy-gradient-loo", b) }

// PlacementPolicyGradient returns the loss −(1/N) Σ_i Σ_k (Σ_{x≥k} θ_x ρ_{y_x}) log P(y_k |
// y_1..k−1) (Oosterhuis, SIGIR 2021, §5.1).
//
// It is [PolicyGradient] where every rank is rewarded by what the ranking earns from there on, which
// has less variance. Ranks k and x run up to the number of discounts.
func PlacementPolicyGradient(b Batch) (*G.Node, error) {
	return named("placement-policy-gradient", b)
}

// StochasticRank returns the loss −(1/N) Σ_i Σ_k θ_k ρ_{y_k}, y by m + noise, with the gradient of
// StochasticRank (Ustimenko & Prokhorenkova, ICML 2020).
//
// It is minus the expected metric, smoothed with Gumbel noise, which makes the policy
// Plackett–Luce's. With ŝ = m + noise, y is the ranking by ŝ, and the gradient is the mean over samples
// of the derivative of the expected metric R given the noisy scores of the other documents, whose
// ranking is y': R jumps where m_i plus its own noise passes one of them, so that
//
//	λ_i = Σ_k (θ_k − θ_{k+1}) (ρ_i − ρ_{y'_k}) p(ŝ_{y'_k} − m_i),
//
// with p(x) = exp(−x − exp(−x)) the density of the noise and θ = 0 beyond the last
// discount. Its expectation is the gradient of R. (The paper's other parts, its
// scale-free acceleration and the tuning of the noise, are left out.) It costs O(N·D·K)
// for a query. It reads Gains, Discounts, and Noise or else Sampler.
func StochasticRank(b Batch) (*G.Node, error) { return named("stochasticrank", b) }

// Reward returns the loss −E[reward(gains of the ranked documents, best rank first)] under the
// Plackett–Luce policy of the scores.
//
// The expectation is estimated by [ops.RewardFunc] on Rankings, or on what Sampler draws. The
// function may change the slice, but not keep it, and several goroutines call it at once. A run with
// a reward that is not finite returns an error that names query and sample. The weights of documents
// multiply e^m in the policy, not the gains. For a reward that depends on more than the gains use
// [ops.RewardFunc] itself.
func Reward(reward func(gains []float64) float64) Func {
	return sum([]Term{term(entry{name: "reward", sampled: true, build: func(b *batch) *G.Node {
		if reward == nil {
			panic(errors.New("no reward: the function is nil"))
		}
		return neg(expectedReward(b, reward))
	}})})
}

// Disparity returns the loss 1/(D(D−1)) Σ_{d,d'} (E_{d'} ρ_d − E_d ρ_{d'})², E the expected
// exposure (Oosterhuis, SIGIR 2021, §6).
//
// It is 0 where exposure is in proportion to gain, and for queries of one document or without gains.
// The weights of both documents multiply each term. It reads Gains, which may be negative but must be
// finite, and Discounts. Exposure and gradient are exact; [DisparityBy] estimates them. Whether
// float32 has room is checked for the square of the gains.
func Disparity(b Batch) (*G.Node, error) { return named("disparity", b) }

// DisparityBy returns the loss Disparity of sampled exposure, with its gradient by a loss for an
// expected metric.
//
// The loss is one of [plackett.Estimators] by its name, such as plrank2, placement-policy-gradient or
// lambdaloss, and is given the [DisparityGains] for gains; the value is that loss's. The exposure is
// estimated from rankings by Batch.Exposure. Another name makes the Func return an error.
func DisparityBy(loss string) Func { return withParameter("disparity", loss) }

// EEL returns the loss Σ_d (E_d − E*_d)², E the expected exposure, E* under the best policy (Diaz
// et al., CIKM 2020).
//
// The best policy ranks by gain and lets documents of equal gain share the discounts of
// their ranks equally. The weight of the document multiplies its term. A query of one document has
// the loss 0; in one without gains all documents are to share alike. It reads Gains and Discounts.
func EEL(b Batch) (*G.Node, error) { return named("ee-l", b) }

// EELByRB returns the loss EEL of sampled exposure, with the gradient by [PLRankRB].
//
// It reads Sampler, and Exposure for the second set of rankings.
func EELByRB(b Batch) (*G.Node, error) { return named("ee-l(plrank-rb)", b) }

// GroupExposure returns the loss: the mean of (X_g − X_h)² over pairs of groups, X the mean
// exposure of a document of the group (Singh & Joachims, KDD 2018).
//
// It is the paper's demographic parity: 0 asks for equal exposure of groups. Queries with fewer than
// two groups have 0. It reads Groups, int [rows], and Discounts; labels and weights of documents do
// not count.
func GroupExposure(b Batch) (*G.Node, error) { return named("group-exposure", b) }

// GroupExposureByRB returns the loss GroupExposure of sampled exposure, with the gradient by
// [PLRankRB], see [EELByRB].
func GroupExposureByRB(b Batch) (*G.Node, error) { return named("group-exposure(plrank-rb)", b) }

// GroupTreatment returns the loss: the mean of (X_g − X_h)² over pairs of groups, X = Σ_{d∈g} E_d /
// Σ_{d∈g} ρ_d (Singh & Joachims, KDD 2018).
//
// It asks for exposure of groups in proportion to their merit, without the paper's disparate
// treatment. The weight of the document multiplies its term in both sums. Groups without gain in a
// query do not count in it. It reads Groups, int [rows], Discounts and Gains; a run with negative
// gains returns an error.
func GroupTreatment(b Batch) (*G.Node, error) { return named("group-treatment", b) }

// GroupTreatmentByRB returns the loss GroupTreatment of sampled exposure, with the gradient by
// [PLRankRB], see [EELByRB].
func GroupTreatmentByRB(b Batch) (*G.Node, error) { return named("group-treatment(plrank-rb)", b) }

// DisparityByCascade returns the loss Disparity of the exposure to a reader who stops at document d with the
// probability R_d of [ExactERR], so that E_d = E[Σ_k θ_k 1[y_k = d] Π_{x<k} (1 − R_{y_x})].
//
// It reads Labels and HighestGrade, too. Exposure and gradient are exact. The measure that training reports is the one
// of the exposure to readers who do not stop.
func DisparityByCascade(b Batch) (*G.Node, error) { return named("disparity(cascade)", b) }

// EELByCascade returns the loss EEL of the exposure of DisparityByCascade, E* that of the best policy to the same reader.
func EELByCascade(b Batch) (*G.Node, error) { return named("ee-l(cascade)", b) }

// GroupExposureByCascade returns the loss GroupExposure of the exposure of DisparityByCascade.
func GroupExposureByCascade(b Batch) (*G.Node, error) { return named("group-exposure(cascade)", b) }

// GroupTreatmentByCascade returns the loss GroupTreatment of the exposure of DisparityByCascade.
func GroupTreatmentByCascade(b Batch) (*G.Node, error) { return named("group-treatment(cascade)", b) }

// ExposureRisk returns the loss √(Z (1−δ)/δ Σ_d E_d²/S_d), Z = Σ_d E_d, δ the level (Gupta,
// Oosterhuis & de Rijke, SIGIR 2023).
//
// It measures how far the exposure E of the policy is from the policies in a log. S_d, Batch.Logged,
// is the exposure that document d had in the log, summed over the impressions of the query: with N of
// them of the exposure E0, Σ E²/S = (1/N) Σ E²/E0. It comes from Cantelli's inequality: with
// probability 1−δ at least, the metric of a query under position-based clicks is not below its
// estimate from the log minus this loss. So a smaller δ is safer. Exposure and gradient are exact.
//
// The paper has one root over all Q queries. The mean of these roots is larger, by a factor of
// √Q where queries are alike: the weight 1/√Q makes it the paper's.
//
// The level is between 0 and 1, .95 by name; another makes the Func return an error. It reads
// Discounts and Logged, which must not be negative. An S_d below 1e-6 of Σ S counts as that much. A
// query that was never logged has the loss 0.
func ExposureRisk(level float64) Func { return withParameter("exposure-risk", level) }

// PRPO returns the loss −Σ_d ρ_d min(E_d, E0_d/ε) over ρ_d ≥ 0, −Σ_d ρ_d max(E_d, ε E0_d) over
// other documents, ε the ratio (Gupta, Oosterhuis & de Rijke, CIKM 2024).
//
// It is proximal ranking policy optimization: minus the expected metric, where nothing more is earned
// by leaving the policy of the log. E0 is the exposure under that policy, by its scores
// Batch.LoggedScores and the same discounts. It is the paper's Σ r_d f(E_d/E0_d) with r_d = ρ_d E0_d,
// ε− = ε and ε+ = 1/ε. Where all ratios are between these it is minus the expected metric; beyond,
// there is no gradient away from E0. Exposures and gradient are exact.
//
// The ratio is above 0 and at most 1, .5 by name; another makes the Func return an error. It reads
// Gains, finite, Discounts and LoggedScores.
func PRPO(ratio float64) Func { return withParameter("prpo", ratio) }

// LambdaLoss returns the loss (1/N) Σ_n Σ_{ρ_i>ρ_j} (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) log2(1 + e^−(ŝ_i −
// ŝ_j)), ŝ = m + noise (Oosterhuis, SIGIR 2021, §7).
//
// It is the stochastic LambdaLoss that the PL-Rank paper compares with: the LambdaLoss of Wang et al.
// (CIKM 2018) on scores perturbed by Gumbel noise, N samples of it. δ is the distance of the ranks of
// i and j by ŝ, and θ is 0 beyond the last discount: pairs that are further apart do not count, so the
// loss costs O(N·D·K) for a query, and is not an upper bound on the shortfall from the ideal metric
// where documents are more than the cutoff. The weights of pairs are constants for differentiation.
// It reads Gains, Discounts, and Noise or else Sampler.
func LambdaLoss(b Batch) (*G.Node, error) { return named("lambdaloss", b) }

// LambdaLossDeterministic returns the loss Σ_{ρ_i>ρ_j} (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) log2(1 + e^−(m_i
// − m_j)), δ the distance of the ranks (Wang et al., CIKM 2018).
//
// It is [LambdaLoss] without noise, and with [NormalizedGains] it is [NDCGLoss2]. It reads Gains and
// Discounts.
func LambdaLossDeterministic(b Batch) (*G.Node, error) { return named("lambdaloss-deterministic", b) }

// RankNet returns the loss: the mean of log(1 + e^−(m_i − m_j)) over pairs with ρ_i > ρ_j (Burges
// et al., ICML 2005).
//
// Only the order of the Gains counts. Queries without such pairs have 0.
func RankNet(b Batch) (*G.Node, error) { return named("ranknet", b) }

// Hinge returns the loss: the mean of max(0, 1 − (m_i − m_j)) over pairs with ρ_i > ρ_j (Herbrich
// et al. 2000; Joachims, KDD 2002).
//
// It is RankSVM's. Only the order of the Gains counts. Queries without such pairs have 0. The
// derivative of a pair whose margin is exactly 1 is 0.
func Hinge(b Batch) (*G.Node, error) { return named("hinge", b) }

// LambdaRank returns the loss Σ_{ρ_i>ρ_j} (G_i − G_j) |θ_{r_i} − θ_{r_j}| log2(1 + e^−(m_i − m_j)),
// G = ρ / ideal DCG (Burges et al., NIPS 2006).
//
// r are the ranks by the scores: pairs weigh what NDCG@k changes when they change ranks (as a loss:
// Wang et al., CIKM 2018). As in the other losses by [NormalizedGains], G and the weights are
// constants for differentiation, and Gains and Discounts are read: a run with negative gains returns
// an error, and so do discounts that are negative or rise from rank to rank.
func LambdaRank(b Batch) (*G.Node, error) { return named("lambdarank", b) }

// NDCGLoss1 returns the loss Σ_i G_i θ_{r_i} Σ_{j≠i} log2(1 + e^−(m_i − m_j)), an upper bound on 1
// − NDCG@k (Wang et al., CIKM 2018).
//
// G is ρ / ideal DCG. Ranks beyond the last discount have the last one, or else nothing would raise
// the documents down there (with DCG's discounts it is a bound still). Arguments and errors are those
// documented for [LambdaRank].
func NDCGLoss1(b Batch) (*G.Node, error) { return named("ndcg-loss1", b) }

// NDCGLoss2 returns the loss Σ_{ρ_i>ρ_j} (G_i − G_j) (θ_δ − θ_{δ+1}) log2(1 + e^−(m_i − m_j)), δ =
// |r_i − r_j|, G = ρ / ideal DCG (Wang et al., CIKM 2018).
//
// It is an upper bound on 1 − NDCG, closer than [NDCGLoss1], where the cutoff is
// not below the number of documents and the discounts are DCG's, or others that fall ever
// more slowly. With a lower cutoff it is not a bound, and the weights rise at distance K:
// [NDCGLoss2K] has others. Arguments and errors are those documented for [LambdaRank].
func NDCGLoss2(b Batch) (*G.Node, error) { return named("ndcg-loss2", b) }

// NDCGLoss2PP returns the loss LambdaRank + 10·NDCGLoss2, the NDCG-Loss2++ of Wang et al. (CIKM 2018).
//
// It is a bound where [NDCGLoss2] is. Arguments and errors are those documented for [LambdaRank].
func NDCGLoss2PP(b Batch) (*G.Node, error) { return named("ndcg-loss2pp", b) }

// NDCGLoss2K returns the loss NDCGLoss2 with weights for NDCG@K, K below the number of documents
// (Jagerman et al., SIGIR 2022).
//
// It is the paper's LambdaLoss@K, with the weights
//
//	(G_i − G_j) (θ_δ − θ_{δ+1}) μ,   μ = 1 where both ranks are up to K,
//	                                 μ = θ_1 / (θ_1 − θ_r) where r, the lower of them, is not,
//
// so that a document beyond rank K costs as much as leaving it out. θ goes on beyond
// the last discount in proportion to DCG's, θ_r = θ_K log2(K+1) / log2(r+1). With a cutoff
// that is not below the number of documents it is [NDCGLoss2]. With one that is, it is
// not an upper bound on 1 − NDCG@K, but on the part of it that the wrongly ordered
// pairs are to blame for: the cost of the pairs in the right order, min(G_i, G_j) times the
// weight, is taken for a constant, and is more than at the best ranking if many relevant
// documents are beyond rank K. Arguments and errors are those documented for [LambdaRank].
func NDCGLoss2K(b Batch) (*G.Node, error) { return named("ndcg-loss2k", b) }

// Softmax returns the loss −Σ_d (ρ_d / Σρ) log p_d, p = softmax of m (Bruch et al., ICTIR 2019).
//
// It is the cheapest of the listwise losses. It reads Gains; a run with negative gains returns an
// error. Queries without gains have 0.
func Softmax(b Batch) (*G.Node, error) { return named("softmax", b) }

// XENDCG returns the loss −Σ_d φ_d log p_d, φ = (ρ + u) / Σ(ρ + u), u uniform noise, p = softmax of
// m (Bruch, WWW 2021).
//
// It is a cross entropy that bounds NDCG. The paper has
//
//	φ_d = (2^label_d − γ_d) / Σ (2^label − γ),
//
// with γ uniform in (0, 1) and drawn anew in every step. 2^label is ρ + 1, so that
// φ_d is in proportion to ρ_d + u_d, where u = 1 − γ is uniform, too; other gains than
// 2^label − 1 take the place of these. Gumbel noise gives u by exp(−exp(−noise)). φ is the mean over
// samples; the paper has one.
//
// It reads Gains, and Noise or else Sampler; a run with negative gains returns an error. Queries
// without gains have 0: their target is noise alone, whose mean is the same for all documents.
func XENDCG(b Batch) (*G.Node, error) { return named("xe-ndcg", b) }

// ListNet returns the loss −Σ_d t_d log p_d, t = softmax of the labels, p = softmax of m (Cao et
// al., ICML 2007).
//
// It is the cross entropy of the probabilities to stand first, by the labels and by the scores. It
// reads Labels, which must be finite.
func ListNet(b Batch) (*G.Node, error) { return named("listnet", b) }

// ListMLE returns the loss −Σ_y Σ_k log P(y_k | y_1..k−1), y the ranking by gain, or rankings that
// are given (Xia et al., ICML 2008).
//
// It is the negative log-likelihood of rankings under the Plackett–Luce policy of the scores. It reads
// Rankings, which may have been observed, or else Gains: the ideal ranking, documents of equal gain in
// the order that Sampler draws, without it by row (see [ops.IdealRankings]), and the loss 0 for queries
// without gains. Rankings shorter than the list give the top-k ListMLE (Xia et al., NIPS 2009).
func ListMLE(b Batch) (*G.Node, error) { return named("listmle", b) }

// PartialListMLE returns the loss −Σ_{ρ_d>0} log(e^m_d / Σ_{ρ_j≤ρ_d} e^m_j), for rankings of some
// of the documents (Plackett 1975).
//
// It is −log of the probability that the documents with a gain come first, in the order of their
// gains: the likelihood of an observed ranking, where the others are the rest of the set that was
// chosen from. Documents of equal gain are all chosen from the same set (Breslow, Biometrics 30,
// 1974). It reads Gains; a run with negative gains returns an error.
func PartialListMLE(b Batch) (*G.Node, error) { return named("partial-listmle", b) }

// ApproxNDCG returns the loss −NDCG of all documents, with ranks 1 + Σ_{j≠i} sigmoid((m_j − m_i) /
// temperature) (Qin, Liu & Li 2010).
//
// All ranks count, whatever the cutoff: Discounts are not read. The temperature is above 0, 1 by name;
// another makes the Func return an error. It reads Gains; a run with negative gains returns an error.
// Queries without gains have 0.
func ApproxNDCG(temperature float64) Func { return withParameter("approxndcg", temperature) }

// GumbelApproxNDCG returns the loss ApproxNDCG of the scores m + noise, the mean over samples
// (Bruch et al., WSDM 2020).
//
// It is minus the NDCG of approximate ranks expected under the Plackett–Luce policy. The Gumbel noise
// is a constant for differentiation: the gradient goes through the perturbed scores
// (reparametrisation). It costs O(N·D²) for a query; TF-Ranking draws 8 samples. It reads Noise or else
// Sampler; the rest is as for [ApproxNDCG].
func GumbelApproxNDCG(temperature float64) Func {
	return withParameter("gumbel-approxndcg", temperature)
}

// PiRank returns the loss −Σ_k θ_k Σ_d P_kd G_d, P by NeuralSort at a temperature, G = ρ / ideal
// DCG (Swezey et al., NeurIPS 2021).
//
// It is minus the NDCG@k of the relaxed sorting of NeuralSort (Grover et al., ICLR 2019),
//
//	P_k = softmax of ((D + 1 − 2k) m_d − Σ_j |m_d − m_j|) / temperature over d,
//
// ranks k from 1 up to the number of discounts, or of documents if these are fewer. The lower the
// temperature, the closer is P to the matrix that sorts by score. It costs O(D² + D·K), and memory for
// O(D). The temperature is above 0, 1 by name; another makes the Func return an error. It reads
// Gains and Discounts; errors are those documented for [LambdaRank].
func PiRank(temperature float64) Func { return withParameter("pirank", temperature) }

// NeuralNDCG returns the loss −Σ_k θ_k Σ_d S_kd G_d, S the P of PiRank after Sinkhorn scaling
// (Pobrotyn & Białobrzeski 2021).
//
// It is the deterministic NeuralNDCG: after the scaling (Sinkhorn 1964), which divides columns and
// rows by their sums in turn, 50 times, S ranks every document once in all. It costs
// O(D²) for each of these rounds until all sums are 1, and for each before the last that the
// derivative depends on. It needs a matrix of D² numbers for every core, 8 MB for 1000
// documents: a run with a query of more than 5000 returns an error. The rest is as for [PiRank].
func NeuralNDCG(temperature float64) Func { return withParameter("neuralndcg", temperature) }

// MSE returns the loss 1/D Σ_d (m_d − label_d)² (Cossock & Zhang, COLT 2006).
//
// It reads Labels, which must be finite. Queries without a label above 0 count like any other, as in
// the other losses by labels.
func MSE(b Batch) (*G.Node, error) { return named("mse", b) }

// QueryRMSE returns the loss Σ_d (m_d − m̄ − c(label_d − mean label))², c the scale (CatBoost's
// QueryRMSE, squared, times the documents per query).
//
// It is the squared error of the scores as predictions of c·label, up to a constant of the query:
// with the weights w of the documents Σ_d w_d (e_d − Σ w e / Σ w)², e_d = m_d − c·label_d. CatBoost's
// QueryRMSE is the root of the same sum over all queries, with c = 1, divided by Σ w over all
// documents. [Mean] divides by the number of queries instead: it is the square times the documents per
// query, a constant of the data. So in both a query counts in proportion to its documents. A larger c
// makes a sharper policy. The scale is above 0 and at most 1e6, 1 by name; another makes the Func
// return an error. It reads Labels, which must be finite.
func QueryRMSE(scale float64) Func { return withParameter("query-rmse", scale) }

// Ordinal returns the loss 1/D Σ_d Σ_c log(1 + e^∓(m_d − c + ½)), − where label_d ≥ c, + elsewhere
// (Rennie & Srebro 2005).
//
// It is ordinal regression by the logistic loss at all thresholds between the grades c = 1, 2, …,
// which stand at ½, 1½, …. Labels between grades count as a mixture of the two. The last grade is
// HighestGrade, rounded up: 0 stands for 4, and a negative one returns an error. It reads Labels; a
// run with negative labels returns an error.
func Ordinal(b Batch) (*G.Node, error) { return named("ordinal", b) }

// CrossEntropy returns the loss 1/D Σ_d log(1 + e^m_d) − t_d m_d, t = label / highest grade
// (logistic regression).
//
// The chance of a document to be relevant is the sigmoid of its score. TF-Ranking has it as sigmoid
// cross entropy, for labels 0 and 1; grades between 0 and the highest count as a mixture of the two,
// those above as the highest. HighestGrade is as for [Ordinal]. It reads Labels; a run with negative
// labels returns an error.
func CrossEntropy(b Batch) (*G.Node, error) { return named("cross-entropy", b) }
