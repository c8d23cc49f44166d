// Package metrics says how good rankings are, how fairly they share exposure, and
// whether one model is better than another.
//
// DCG, NDCG, precision, recall, MAP, MRR, ERR, RBP and ARP, each at a cutoff, are
// computed for the ranking by descending score ([PerQuery]) or as expectation
// under the Plackett–Luce policy that the scores define ([Expected],
// [OverRankings]):
//
//	m, err := metrics.Parse("ndcg@5")
//	l := metrics.Lists{Scores: scores, Labels: labels, Offsets: offsets}
//	perQuery, err := metrics.PerQuery(m, l, metrics.Exp2Gain)
//	mean := metrics.Mean(perQuery, metrics.LabelFreeSkip)
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
//     al., CIKM 2009. max is the highest grade of the data set, 4 where err(max=2) does
//     not say otherwise.
//   - rbp: (1 − p) Σ over relevant r of p^(r−1). Moffat & Zobel, TOIS 2008. p is 0.8
//     where rbp(p=0.95) does not say otherwise.
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
// NDCG, MAP, MRR, recall and ARP are relative to the relevant documents of a query
// (NDCG and ARP to the labels above 0). For a query that has none, and so for one
// without documents, they are not defined: [PerQuery] gives NaN, and a [Convention]
// says what such a query counts in a mean. Publications differ in it, and MQ2008's
// NDCG@10 moves by .28 with the choice. DCG, precision, ERR and RBP are 0 there,
// under every convention.
//
// # Fairness and significance
//
// [Exposure] estimates the expected exposure of every document, from which the
// measures of [Fairness] are computed: the PL-Rank paper's disparity, expected
// exposure loss and its parts, and ratios between groups of documents.
//
// [PairedT] and [Wilcoxon] compare the values of two models query by query, and
// [Bootstrap] gives confidence intervals over queries.
package metrics
