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
// # Queries without a relevant document
//
// NDCG, MAP, MRR and recall are 1 for the best possible ranking of a query, and
// ARP is an average over relevance; none of them is defined for a query without
// a relevant document (a query without documents is one of those). [PerQuery]
// gives NaN there, and a [Convention] says what such a query counts in a mean:
// publications differ in it, and MQ2008's NDCG@10 moves by .28 with the choice.
// The metrics that are plain sums (DCG, precision, ERR, RBP) are 0 there, under
// every convention.
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
