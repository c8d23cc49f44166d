// Package clicks learns from what users click. It reads logs of impressions, estimates
// position bias, evaluates policies that were not shown, and turns clicks into gains to train
// on. It knows no graph.
//
// A Plackett–Luce policy draws the rankings that it shows, so it also tries rankings other than
// its best one. Its scores give the probability of every ranking, and an unbiased estimate
// needs no more: [plackett.Expectation.Placements] computes P(d@k), the probability that
// document d is at rank k, exactly, without sampling.
//
// # From a log to an estimate
//
//	log, err := clicks.Read("logs/2026-11.jsonl.zst")           // or Simulate
//	bias, report, err := clicks.EstimateBias(log, clicks.Harvest)
//	gains, err := clicks.Gains(log, bias, clicks.DR)             // a dataset to train on
//	target := clicks.Target{Policy: scores, Baseline: clicks.Logged, Bias: bias}
//	estimates, err := clicks.Evaluate(log, target, clicks.IIPS, clicks.DR)
//
// [Scan] reads a log in parts, so that it may be larger than memory. Add each part to a
// [BiasEstimation], a [GainEstimation] or an [Evaluation].
//
// # Assumptions
//
// [IIPS] assumes that a click depends only on the document and its rank. All other methods
// except [RIPS] and [WholeRanking] also assume the affine model, in which the document d at
// rank k is clicked with probability
//
//	P(click | d, k) = α_k r_d + β_k
//
// where r_d is the relevance of d to its query, α_k the position bias of rank k, and β_k the
// probability of a click out of trust in the ranking alone (Vardasbi et al., CIKM 2020). In
// the position-based model β is 0, and α_k is the probability θ_k that users examine rank k.
package clicks
