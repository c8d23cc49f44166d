// Package metrics measures how good rankings are and how fairly they share exposure, and tests
// whether one model is better than another.
//
// Make a [Measure] from its name and compute it for [Queries]:
//
//	m, err := metrics.ParseMeasure("ndcg@5")
//	in := metrics.Queries{Scores: scores, Labels: labels, Offsets: offsets}
//	perQuery, err := m.PerQuery(in)
//	mean := metrics.Mean(perQuery, metrics.LabelFreeSkip)
//
// [ParseMeasure] lists the names, formulas and sources: DCG, NDCG, precision, recall, hits,
// MAP, MRR, ERR, RBP, ARP, pair accuracy, α-nDCG, ERR-IA and intra-list similarity, each at a cutoff, and measures of fairness.
// [NewMeasure] makes a measure from a function, and [Means] computes several at once.
//
// A metric is computed for the ranking by descending score, where documents with equal scores
// are in random order, see [Ties]. The prefix "expected-" makes it the expectation under the
// Plackett–Luce policy of the scores. Expectations are exact, to 1e-10 of their
// scale. Fairness measures compare the expected exposure under that policy.
//
// Queries are packed row after row as everywhere in this project, and rows past the last
// offset are padding. The package uses neither graphs nor files.
//
// # Queries without a relevant document
//
// NDCG, MAP, MRR, recall, hits and ARP are relative to the relevant documents of a query (a label of 1 or more; NDCG and ARP to
// the labels above 0), pair accuracy to its pairs of different labels, α-nDCG and ERR-IA to the intents of its documents, and
// intra-list similarity to pairs of documents. For a query without any, or without documents, they are not defined:
// [Measure.PerQuery] returns NaN, and [LabelFree] says what such a query counts in a mean. Publications differ in this choice,
// which moves MQ2008's NDCG@10 by .28. DCG, precision, ERR and both forms of RBP are 0 there, for any LabelFree.
//
// # Significance
//
// [Compare] compares every two of several models by their values query by query. [PairedT]
// tests two models. [Holm] adjusts p-values for several tests, and [Bootstrap] computes confidence intervals over
// queries.
package metrics
