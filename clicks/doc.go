// Package clicks learns from what users click. It reads logs of impressions, estimates
// position bias, evaluates policies that were not shown, and turns clicks into gains to train
// on. It knows no graph.
//
// A Plackett–Luce policy draws the rankings that it shows, and so tries others than its best
// one. Its scores give the probability of every ranking, which is all that an unbiased
// estimate needs: [plackett.Expectation.Placements] computes P(d@k), the probability that
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
// [Scan] reads a log that is larger than memory in parts. Add each to a
// [BiasEstimation], a [GainEstimation] or an [Evaluation].
//
// # Assumptions
//
// [IIPS] assumes that a click depends on the document and its rank alone. The other methods
// but [RIPS] and [WholeRanking] assume the affine model as well, in which the document d at
// rank k is clicked with probability
//
//	P(click | d, k) = α_k r_d + β_k
//
// where r_d is the relevance of d to its query, α_k the position bias of rank k, and β_k the
// clicks that trust alone earns (Vardasbi et al., CIKM 2020). The position-based model has β = 0, and α_k is
// then the probability θ_k that rank k is examined.
package clicks
