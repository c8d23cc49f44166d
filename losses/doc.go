// Package losses turns objectives of learning to rank into scalar loss nodes of a
// Gorgonia graph: each is a few lines of graph algebra over package ops. All are
// to be minimised, and are means over the queries that have documents. They can be
// looked up by name, see [ByName], and mixed, see [Parse].
//
// For a metric expected under the Plackett–Luce policy of the scores, for any discounts
// and gains (DCG, NDCG, precision, ARP, RBP, see metrics.ParseObjective), exactly:
//
//	plrank-exact               PLRankExact
//
// or estimated from sampled rankings:
//
//	plrank-rb                  PLRankRB, usually the one of least variance
//	plrank1 plrank2            PLRank1, PLRank2
//	plrank1-loo plrank2-loo    the same with a leave-one-out baseline, see plackett.Estimator
//	plrank2-expected           plrank-rb without its baseline
//	policy-gradient            PolicyGradient
//	policy-gradient-loo        the same with a leave-one-out baseline
//	placement-policy-gradient  PlacementPolicyGradient
//	stochasticrank             StochasticRank
//	lambdaloss                 LambdaLoss
//
// [Reward] makes one of any reward of rankings, such as ERR.
//
// For the fairness of the expected exposure, exactly:
//
//	disparity                  Disparity
//	ee-l                       ExposureLoss
//	group-exposure             GroupExposure
//	group-treatment            GroupTreatment
//
// or of exposure estimated from sampled rankings, with the gradient by PL-Rank-RB,
// ee-l(plrank-rb), and of the disparity by any of the losses above that sample,
// disparity(plrank2), see DisparityGains.
//
// For the scores alone, without sampled rankings (xe-ndcg and gumbel-approxndcg draw
// noise, listmle the order of ties):
//
//	softmax xe-ndcg            Softmax, XENDCG
//	listnet listmle            ListNet, ListMLE
//	ranknet hinge lambdarank   RankNet, Hinge, LambdaRank
//	lambdaloss-deterministic   LambdaLossDeterministic
//	ndcg-loss1 ndcg-loss2      NDCGLoss1, NDCGLoss2
//	ndcg-loss2pp               NDCGLoss2PP, the paper's NDCG-Loss2++
//	ndcg-loss2k                NDCGLoss2AtK, for a cutoff below the number of documents
//	approxndcg pirank          ApproxNDCG, PiRank, of temperature 1; approxndcg(0.1) of another
//	gumbel-approxndcg          GumbelApproxNDCG, with a temperature, too
//	neuralndcg                 NeuralNDCG, with a temperature, too
//	mse ordinal cross-entropy  MSE, Ordinal, CrossEntropy, of one document at a time
//
// Most losses take gains ρ, [rows], of the dtype of the scores: 2^label − 1 for DCG,
// the same divided by the query's ideal DCG for NDCG, and the rank discounts θ of the
// metric, 1/log2(k+1) for DCG, as many as the cutoff. Losses by name also take weights of
// documents and of queries, see [Batch]. Nodes that are missing or do not fit are an error
// when the loss is built; gains and labels that are not finite, or negative where a loss
// takes none, are an error of the run that names query and row. Empty queries, queries of
// one document or without gains, lists shorter than the cutoff, ties and padding are all
// defined. What a query without gains says to a loss by name, if anything, is [Term].LabelFree.
package losses
