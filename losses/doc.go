// Package losses turns objectives of learning to rank into loss nodes of a Gorgonia graph,
// to be minimised: each is a few lines of graph algebra over package ops. Those of pairs of
// documents, also lambdaloss-deterministic, are not made of Gorgonia's own ops, which would need
// matrices of all pairs: they are ops that store no pair. Every loss is a
// [Func], from a [Batch] to the losses of its queries, and [Mean] makes a scalar of it:
//
//	loss, err := losses.Mean(losses.PLRankExact, losses.Batch{Lists: lists, Gains: gains, Discounts: discounts})
//
// They can be looked up by name, see [ByName], and mixed, see [Parse]. [Reward] makes a loss
// of any reward of rankings, such as ERR.
package losses

//go:generate go test . -run TestPackageCommentListsEveryLoss -update
