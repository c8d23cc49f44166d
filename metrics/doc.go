// Package metrics says how good rankings are, how fairly they share exposure, and
// whether one model is better than another.
//
// A [Measure] is made from its name, and computed for an [Input]:
//
//	m, err := metrics.ParseMeasure("ndcg@5")
//	in := metrics.Input{Scores: scores, Labels: labels, Offsets: offsets}
//	perQuery, err := m.PerQuery(in)
//	mean := metrics.Mean(perQuery, metrics.LabelFreeSkip)
//
// DCG, NDCG, precision, recall, hits, MAP, MRR, ERR, RBP, ARP and pair accuracy, each at a
// cutoff, are computed for the ranking by descending score, and with "expected-" before
// their name as expectation under the Plackett–Luce policy that the scores define: exactly,
// but for MAP, ERR and pair accuracy at a cutoff, which are estimated from sampled rankings
// and have a standard error, see [Measure.Sampled]. Measures of fairness are of the expected exposure under that policy,
// exactly. [NewMeasure] makes a measure
// of a function, and [Means] computes several at once.
//
// Queries are packed row after row as everywhere in this project: the rows of
// query q are Offsets[q] up to Offsets[q+1], in scores and labels alike, and
// rows past the last offset are padding. The package knows no graph and no
// files.
//
// # The metrics
//
// Ranks r run from 1 to the cutoff k, without a cutoff to the end of the list. ρ_r
// is the gain of the document at rank r (2^label − 1, or another [Gain]); it is relevant
// where its label is 1 or more.
//
//   - dcg: Σ_r ρ_r / log2(r+1). Järvelin & Kekäläinen, TOIS 2002; with this discount
//     Burges et al., ICML 2005.
//   - ndcg: dcg / the dcg of the best ranking, also cut at k.
//   - precision, or p: relevant documents among the ranks / k, also where the list is
//     shorter than k, as in trec_eval.
//   - recall: relevant documents among the ranks / relevant documents.
//   - map, or ap: average precision, Σ over relevant r of precision@r / min(k, relevant
//     documents), as in LightGBM; trec_eval's map_cut divides by all relevant documents.
//   - mrr, or rr: 1 / the rank of the first relevant document, 0 where it comes after k.
//   - err: Σ_r 1/r · R_r · Π_{i<r} (1 − R_i) with R = (2^label − 1)/2^max. Chapelle et
//     al., CIKM 2009. max is the highest grade of the data set, [Input].HighestGrade,
//     where err(max=4) does not say otherwise.
//   - rbp: (1 − p) Σ over relevant r of p^(r−1). Moffat & Zobel, TOIS 2008. p is 0.8
//     where rbp(p=0.95), or rbp(0.95), does not say otherwise.
//   - graded-rbp: (1 − p) Σ_r g_r p^(r−1) with g the gain divided by that of the highest
//     grade of the data set, [Input].HighestGrade; p as in rbp. Sakai & Kando, Information
//     Retrieval 11, 2008.
//   - hits, or success: 1 where a relevant document is among the ranks, else 0, as success
//     in trec_eval; hit rate in recommendation.
//   - pair-accuracy: the share of pairs of documents of different labels in which the one
//     of higher label is ranked above the other; pairs of equal scores count ½ (the
//     accuracy of pairs of TF-Ranking and CatBoost, AUC for two labels). Pairs of which both
//     come after rank k count ½, as if at one rank.
//   - arp: Σ_d label_d · rank_d / Σ_d label_d, the only metric of which less is better.
//     Wang et al., CIKM 2018. Documents after rank k count as if at rank k+1, so that
//     moving a relevant document up never does harm.
//   - letor4-ndcg: NDCG as in LETOR 4.0's evaluation script (Eval-Score-4.0.pl), with the
//     discounts 1, 1, 1/log2(3), … 1/log2(r); 0 where the list is shorter than k.
//   - letor4-meanndcg: that script's MeanNDCG, the mean of letor4-ndcg@1 … @D over a
//     list of D documents.
//
// # Queries without a relevant document
//
// NDCG, MAP, MRR, recall, hits and ARP are relative to the relevant documents of a query
// (NDCG and ARP to the labels above 0), pair accuracy to its pairs of different labels.
// For a query that has none, and so for one without documents, they are not defined: [Measure.PerQuery] gives NaN, and a [Convention]
// says what such a query counts in a mean. Publications differ in it, and MQ2008's
// NDCG@10 moves by .28 with the choice. DCG, precision, ERR and both forms of RBP are 0 there,
// under every convention.
//
// # Ties
//
// Documents of equal scores are in random order: every metric of a ranking is its exact
// expectation over these orders, see [Ties]. So a constant score is worth what random
// order is, whatever the order of a file.
//
// # Fairness
//
// E_d is the expected exposure of a document with the discounts of the Input, see
// [Exposure], ρ_d its gain, D the number of documents.
//
//   - disparity: that of the PL-Rank paper (Oosterhuis, SIGIR 2021, §6),
//     Σ_{d,d'} (E_{d'}ρ_d − E_dρ_{d'})² / D(D−1). 0 is fair: exposure in proportion to
//     gain. One document has none, and neither has a query without gains.
//   - abs-disparity: the same with absolute values in place of squares.
//   - ee-l: the expected-exposure loss of Diaz et al. (CIKM 2020), ‖E − E*‖², where E*
//     is the exposure under the policy that is best for relevance and lets documents of
//     equal gain share their ranks. 0 is fair. In a query without gains all documents
//     are equally relevant, and E* is the same for all.
//   - ee-d: its disparity part ‖E‖². A deterministic ranking has the most.
//   - ee-r: its relevance part Σ_d E_d E*_d; ee-l = ee-d − 2·ee-r + ‖E*‖².
//   - exposure-ratio: the smallest mean exposure of a group of documents divided by the
//     largest, the disparity that demographic parity forbids. 1 is fair.
//   - treatment-ratio: the same for mean exposure / mean gain of a group: the disparate
//     treatment ratio of Singh & Joachims (KDD 2018), which for two groups is this value
//     or its inverse. Groups without gain in a query do not count. 1 is fair.
//
// All are defined for queries of one document and for those without gains, but the
// ratios: they are NaN where fewer than two groups count, which Means leaves out. Groups
// that all have no exposure are treated alike, 1. disparity, ee-l and ee-d grow with
// the square of the exposure, so that noise in a given exposure, estimated from N
// rankings, adds O(1/N) to them.
//
// # Significance
//
// [PairedT] and [Wilcoxon] compare the values of two models query by query, [Welch]
// the runs of two methods, and [Bootstrap] gives confidence intervals over queries.
package metrics
