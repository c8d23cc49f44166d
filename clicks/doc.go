// Package clicks learns from what users click: it reads logs of impressions, estimates the
// bias of ranks, evaluates policies that were not shown, and turns clicks into gains to train
// on. It knows no graph.
//
// A Plackett–Luce policy draws the rankings that it shows, and so tries others than the best
// one that it knows. Its scores tell how likely each was, and that is all that an unbiased
// estimate needs: the probability P(d@k) that document d is at rank k is
// [plackett.Expectation.Placements], exactly, not by sampling.
//
// # The way of the data
//
//	log, err := clicks.Read("logs/2026-11.jsonl.zst")           // or Simulate
//	bias, report, err := clicks.EstimateBias(log, clicks.Harvest)
//	gains, err := clicks.Gains(log, bias, clicks.DR)             // a dataset to train on
//	target := clicks.Target{Policy: scores, Baseline: clicks.Logged, Bias: bias}
//	estimates, err := clicks.Evaluate(log, target, clicks.IIPS, clicks.DR)
//
// A log that memory does not hold is read in parts by [Scan], and each is added to a
// [BiasEstimation], a [GainEstimation] or an [Evaluation].
//
// # What is assumed
//
// [IIPS] assumes that a click depends on the document and its rank alone. The other methods
// but [RIPS] and [WholeRanking] assume the affine model as well, in which the document d at
// rank k is clicked with probability
//
//	P(click | d, k) = α_k r_d + β_k
//
// where r_d is the relevance of d to its query, α_k the bias of rank k, and β_k what trust
// alone earns (Vardasbi et al., CIKM 2020). The position-based model has β = 0, and α_k is
// then the probability θ_k that rank k is examined.
package clicks
