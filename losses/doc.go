// Package losses turns objectives of learning to rank into loss nodes of a Gorgonia graph,
// to be minimised: each is a few lines of graph algebra over package ops. Every loss is a
// [Func], from a [Batch] to the losses of its queries, and [Mean] makes a scalar of it:
//
//	loss, err := losses.Mean(losses.PLRankExact, losses.Batch{Lists: lists, Gains: gains, Discounts: discounts})
//
// They can be looked up by name, see [ByName], and mixed, see [Parse]. [Reward] makes a loss
// of any reward of rankings, such as ERR.
//
// # Names
//
// Minus the metric expected under the Plackett–Luce policy of the scores m, for any gains ρ and discounts θ:
//
//	plrank-exact                   −E[Σ_k θ_k ρ_y_k], value and gradient exact
//
// The same estimated from sampled rankings, or from noise, with an unbiased gradient:
//
//	policy-gradient                REINFORCE (Williams 1992)
//	policy-gradient-loo            the same with a leave-one-out baseline (Kool, van Hoof & Welling 2019)
//	plrank1                        PL-Rank-1 (Oosterhuis, SIGIR 2021, §5.2)
//	plrank1-loo                    the same with a leave-one-out baseline
//	plrank2                        PL-Rank-2 (Oosterhuis, SIGIR 2021, §5.3), or 3 (SIGIR 2022)
//	plrank2-loo                    the same with a leave-one-out baseline
//	plrank2-expected               PL-Rank-2 with expected rewards
//	plrank-rb                      the same with a leave-one-out baseline: usually the least variance (docs/pl-rank-rb.md)
//	placement-policy-gradient      REINFORCE, every rank rewarded from there on (Oosterhuis, SIGIR 2021, §5.1)
//	stochasticrank                 StochasticRank with Gumbel noise (Ustimenko & Prokhorenkova, ICML 2020)
//
// Fairness of the expected exposure E, exactly, or sampled, such as disparity(plrank2) or ee-l(plrank-rb):
//
//	disparity                      1/(D(D−1)) Σ (E_d' ρ_d − E_d ρ_d')² over pairs of documents (Oosterhuis, SIGIR 2021, §6)
//	ee-l                           Σ (E_d − E*_d)², E* of the best policy, ties sharing equally (Diaz et al., CIKM 2020)
//	group-exposure                 mean (X_g − X_h)² over pairs of groups, X the exposure a document (Singh & Joachims, KDD 2018)
//	group-treatment                the same with X the exposure of a group by its gain (Singh & Joachims, KDD 2018)
//
// What keeps a policy near those of a log, whose exposure was E0, or S summed over impressions:
//
//	exposure-risk(confidence)      √(Z (1−δ)/δ Σ E_d²/S_d) at the confidence δ (Gupta, Oosterhuis & de Rijke, SIGIR 2023)
//	prpo(ratio)                    −Σ ρ_d E0_d clip(E_d/E0_d, ε, 1/ε) for the ratio ε (Gupta, Oosterhuis & de Rijke, CIKM 2024)
//
// Pairs of documents, ρ_i > ρ_j:
//
//	lambdaloss                     Σ (θ_δ − θ_δ+1)(ρ_i − ρ_j) log2(1 + e^−(ŝ_i − ŝ_j)), ŝ = m + noise (Oosterhuis, SIGIR 2021, §7)
//	lambdaloss-deterministic       the same without noise, ŝ = m; δ the distance of the ranks (Wang et al., CIKM 2018)
//	ranknet                        mean of log(1 + e^−(m_i − m_j)) (Burges et al., ICML 2005)
//	hinge                          mean of max(0, 1 − (m_i − m_j)) (Herbrich et al. 2000; Joachims, KDD 2002)
//	lambdarank                     Σ (G_i − G_j)|θ_ri − θ_rj| log2(1 + e^−(m_i − m_j)), G = ρ / ideal DCG, r ranks (Burges et al., NIPS 2006)
//	ndcg-loss1                     Σ_i G_i θ_ri Σ_j log2(1 + e^−(m_i − m_j)), an upper bound on 1 − NDCG (Wang et al., CIKM 2018)
//	ndcg-loss2                     lambdarank with weights (G_i − G_j)(θ_δ − θ_δ+1) (Wang et al., CIKM 2018)
//	ndcg-loss2pp                   lambdarank and ten times ndcg-loss2, the NDCG-Loss2++ of Wang et al. (CIKM 2018)
//	ndcg-loss2k                    ndcg-loss2 for a cutoff below the number of documents (Jagerman et al., SIGIR 2022)
//
// All documents of a query:
//
//	softmax                        −Σ (ρ_d / Σρ) log p_d, p = softmax of m (Bruch et al., ICTIR 2019)
//	xe-ndcg                        the same with noise on ρ, which makes it a bound of NDCG (Bruch, WWW 2021)
//	listnet                        −Σ t_d log p_d, t = softmax of the labels (Cao et al., ICML 2007)
//	listmle                        −log π of the ranking by gain, ties in any order (Xia et al., ICML 2008)
//	approxndcg(temperature)        −NDCG with ranks 1 + Σ_j sigmoid((m_j − m_i) / temperature) (Qin, Liu & Li 2010)
//	gumbel-approxndcg(temperature) the same with ŝ = m + noise for m (Bruch et al., WSDM 2020)
//	pirank(temperature)            −Σ_k θ_k Σ_d P_kd G_d, P by NeuralSort at a temperature (Swezey et al., NeurIPS 2021)
//	neuralndcg(temperature)        pirank with P after Sinkhorn scaling (Pobrotyn & Białobrzeski 2021)
//
// One document at a time:
//
//	mse                            1/D Σ (m_d − label_d)² (Cossock & Zhang, COLT 2006)
//	ordinal                        1/D Σ_d Σ_c log(1 + e^∓(m_d − c + ½)), − where label_d ≥ c (Rennie & Srebro 2005)
//	cross-entropy                  1/D Σ log(1 + e^m_d) − t_d m_d, t = label / highest grade (logistic regression)
//
// # What losses are made of
//
// Most losses take gains ρ, [rows], of the dtype of the scores: 2^label − 1 for DCG, the
// same divided by the query's ideal DCG for NDCG ([NormalizedGains]), and the rank discounts
// θ of the metric, 1/log2(k+1) for DCG, as many as the cutoff. Nodes that are missing or do
// not fit are an error when the loss is built; gains and labels that are not finite, or
// negative where a loss takes none, are an error of the run that names query and row. Empty
// queries, queries of one document or without gains, queries shorter than the cutoff, ties
// and padding are all defined. Whether a query without gains counts is [Term].LabelFree.
package losses

//go:generate go test . -run TestPackageCommentListsEveryLoss -update
