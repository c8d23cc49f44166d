// Package losses turns objectives of learning to rank into scalar loss nodes of a
// Gorgonia graph: each is a few lines of graph algebra over package ops. All are
// to be minimised, and are means over the queries that have documents. They can be
// looked up by name, see [ByName].
//
// Every loss takes gains ρ, [rows], of the dtype of the scores: 2^label − 1 for
// DCG, the same divided by the query's ideal DCG for NDCG, and the rank discounts
// θ of the metric, 1/log2(k+1) for DCG, as many as the cutoff.
package losses
