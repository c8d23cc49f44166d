// Package losses turns objectives of learning to rank into loss nodes of a Gorgonia graph,
// to be minimised. Every loss is a [Func], from a [Batch] to the losses of its queries, and [Mean]
// makes a scalar of it:
//
//	loss, err := losses.Mean(losses.PLRankExact, losses.Batch{Lists: lists, Gains: gains, Discounts: discounts})
//
// [ByName] finds a loss by its name, [Parse] reads weighted sums of them, and [Reward] makes a loss of
// any reward of rankings, such as ERR.
//
// # Conventions
//
// In the comments of the losses m are the scores, ρ the gains, θ the discounts of ranks from 1 (0 beyond the last),
// and D is the number of documents of the query. The formulas are for documents without weights; what
// weights do is told in the comment of [Batch].
//
// Every loss is a node [queries] of the dtype of the scores, float32 or float64: the loss of each query,
// and 0 for a query without documents. It is 0, too, for a query without gains, unless the comment says
// that it goes by labels or groups. A loss returns an error that names the field of Batch that is missing
// or does not fit; a run returns an error that names query and row if a number is one that the loss does not take.
//
// Losses are graph algebra over package ops, save that losses of pairs are ops of their own, which
// store no pair: of Gorgonia's own ops, as [GorgoniaLambdaLoss] is, they take memory for every pair.
package losses
