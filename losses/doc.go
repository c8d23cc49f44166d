// Package losses turns objectives of learning to rank into loss nodes of a Gorgonia graph,
// to be minimised. A loss is an [Objective]: value and gradient as a graph, from a [Batch], and where it is known the curvature,
// for trees. Its Mean makes a scalar node:
//
//	loss, err := losses.Expected(losses.DCG, losses.Exact).Mean(losses.Batch{Lists: lists, Gains: gains, Discounts: discounts})
//
// [ByName] finds a loss by its name, and [Parse] reads weighted sums of them. A custom loss is a [Func].
//
// # Losses
//
//   - Minus an expected metric: [Expected] of [DCG], [MRR], [MAP], [ERR], [Success] or [AlphaNDCG], by name plrank-exact, exact-mrr,
//     exact-map, exact-err, exact-success and exact-alpha-ndcg; of DCG also from samples, by [Sampled], as plrank2 and plrank-rb,
//     [PlacementPolicyGradient] or [StochasticRank]; and [Reward] of any function of the gains.
//   - Fairness of an [Exposure], exact, sampled or to a reader who stops: [Disparity], [EEL], [GroupExposure] and [GroupTreatment],
//     by name disparity, ee-l, ee-l(plrank-rb), ee-l(cascade) and so on; and [DisparityBy], disparity(plrank2).
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
// In the comments of the losses m are the scores, ρ the gains, θ the discounts of ranks from 1 (0 beyond the last),
// and D is the number of documents of the query. The formulas are for documents without weights; what
// weights do is told in the comment of [Batch].
//
// Every loss is a node [queries] of the dtype of the scores, float32 or float64: the loss of each query,
// and 0 for a query without documents. It is 0, too, for a query without gains, unless the comment says
// that it goes by labels or groups. A loss returns an error that names the field of Batch that is missing
// or does not fit; a run returns an error that names query and row if a number is one that the loss does not take.
//
// Losses are graph algebra over package ops, save that losses of pairs are ops of their own, which
// store no pair: of Gorgonia's own ops, as [GorgoniaLambdaLoss] is, they take memory for every pair.
package losses
