// Package metrics says how good rankings are, how fairly they share exposure, and
// whether one model is better than another.
//
// A [Measure] is made from its name, and computed for [Queries]:
//
//	m, err := metrics.ParseMeasure("ndcg@5")
//	in := metrics.Queries{Scores: scores, Labels: labels, Offsets: offsets}
//	perQuery, err := m.PerQuery(in)
//	mean := metrics.Mean(perQuery, metrics.LabelFreeSkip)
//
// [ParseMeasure] has the names, formulas and sources: DCG, NDCG, precision, recall, hits,
// MAP, MRR, ERR, RBP, ARP and pair accuracy, each at a cutoff, and measures of fairness.
// [NewMeasure] makes a measure of a function, and [Means] computes several at once.
//
// A metric is computed for the ranking by descending score, of which documents of equal
// scores are in random order, see [Ties]. With "expected-" before its name it is the
// expectation under the Plackett–Luce policy of the scores, exact but for those that
// [Measure.Sampled] names. Fairness measures are of the expected exposure under that policy.
//
// Queries are packed row after row as everywhere in this project, and rows past the last
// offset are padding. The package knows no graph and no files.
//
// # Queries without a relevant document
//
// NDCG, MAP, MRR, recall, hits and ARP are relative to the relevant documents of a query
// (a label of 1 or more; NDCG and ARP to the labels above 0), pair accuracy to its pairs of different labels. For
// a query that has none, or no documents, they are not defined: [Measure.PerQuery] gives
// NaN, and [LabelFree] says what such a query counts in a mean. Publications differ in it,
// and MQ2008's NDCG@10 moves by .28 with the choice. DCG, precision, ERR and both forms of
// RBP are 0 there, whatever LabelFree says.
//
// # Significance
//
// [Compare] compares every two of several models by their values query by query.
// [PairedT], [Wilcoxon] and [Randomization] are tests for two of them, [Welch] is one for the
// runs of two methods. [Holm] adjusts p-values for several tests, and [Bootstrap] gives
// confidence intervals over queries.
package metrics
