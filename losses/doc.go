// Package losses turns objectives of learning to rank into loss nodes of a Gorgonia graph, to be minimised. A loss is an
// [Objective]: its value and gradient as a graph, built from a [Batch], and for boosted trees its curvature, if it is known. Its
// Mean makes a scalar node:
//
//	loss, err := losses.Expected(losses.DCG, losses.Exact).Mean(losses.Batch{Lists: lists, Gains: gains, Discounts: discounts})
//
// [Parse] finds a loss by its name, and reads weighted sums of them. A custom loss is a [Func].
//
// # Losses
//
//   - Minus an expected metric: [Expected] of [DCG], [MRR], [MAP], [ERR], [Success], [BestSuccess], [PairAccuracy], [AlphaNDCG] or
//     [ERRIA], by name plrank-exact, exact-mrr, exact-map, exact-err, exact-success, exact-success(n), exact-pair-accuracy,
//     exact-alpha-ndcg and exact-err-ia; of DCG also from samples, by [Sampled], as plrank2 and plrank-rb, [PlacementPolicyGradient]
//     or [StochasticRank]; and [Reward] of any function of the gains.
//   - Fairness of an [Exposure], exact, sampled or to a reader who stops: [Disparity], [EEL], [GroupExposure] and [GroupTreatment],
//     by name disparity, ee-l, ee-l(plrank-rb), ee-l(cascade) and so on; [DisparityBy], disparity(plrank2); and [Targets] for the
//     exposure of groups.
//   - How sure a metric is: [DeviationMRR] and [DeviationSuccess].
//   - Diversity: [Similarity] of the documents that are shown.
//   - Near the policy of a log: [ExposureRisk] and [PRPO].
//   - Pairs of documents: [Pairwise], by name ranknet, hinge, lambdarank, lambdaloss, lambdaloss-deterministic, ndcg-loss2,
//     ndcg-loss2pp and ndcg-loss2k; [NDCGLoss1]; and [GorgoniaLambdaLoss], LambdaLoss of Gorgonia's own ops.
//   - All documents of a query: [Softmax], [XENDCG], [ListNet], [ListMLE], [PartialListMLE],
//     [ApproxNDCG], [GumbelApproxNDCG], [PiRank] and [NeuralNDCG].
//   - Single documents: [MSE], [QueryRMSE], [Ordinal] and [CrossEntropy].
//
// A loss that is called like its function has its name in lower case, with hyphens where [Names] has them; parameters stay in
// parentheses, as in approxndcg(0.1).
//
// # Conventions
//
// In the comments of the losses m are the scores, ρ the gains, θ the discounts of ranks from 1 (0 beyond the last), and D is the
// number of documents of the query. The formulas are for documents without weights; the comment of [Batch] says what weights
// change.
//
// Every loss is a node [queries] of the dtype of the scores, float32 or float64: the loss of each query, and 0 for a query
// without documents. It is also 0 for a query without gains, unless the comment says that the loss goes by labels or groups. A
// loss returns an error that names the field of Batch that is missing or does not fit; a run returns an error that names query
// and row of a number that the loss does not take.
//
// Losses are graph algebra over package ops. Losses of pairs are custom ops that store no pair; built of Gorgonia's ops, as
// [GorgoniaLambdaLoss] is, they need memory for every pair.
package losses
