// Package train fits a scoring model to queries of documents by stochastic gradient
// descent on one of the objectives of package losses, or on a custom one.
//
//	splits, err := datasets.Open("MQ2008/Fold1", datasets.Options{})
//	result, err := train.Run(ctx, train.Default(), splits, train.Hooks{})
//	scores, err := result.Model.Scores(splits.Test)
//
// A [Config] says everything that matters: the same configuration and data give
// the same result, bit for bit, whatever the number of cores, and also if the
// run was interrupted and resumed from a checkpoint on the way.
//
// A custom loss, model, optimizer and metrics take the place of those that the Config names as
// [Parts] of [New], with validation, early stopping, reports, checkpoints and model files.
//
// The objective is a loss, or a sum of losses, with the gains and the rank discounts
// of a metric: DCG, NDCG, precision, RBP, ARP or custom discounts. Fairness can
// be part of it, and of what is reported; losses and measures that compare groups
// of documents need a dataset that has groups, in all splits.
//
// Raw features stay as they are in memory; each batch is transformed as it is packed, by a
// goroutine that works ahead of the training. Batches go through static graphs, compiled once for
// each capacity of rows (see datasets.Capacity), which share the model's weights.
//
// Inside, a loop (loop.go) makes the steps: batch, gradient, optimizer. All else is done by hooks
// (hook.go), in the order of newHooks: learning rates, penalties, clipping, the average of weights,
// validation, history, patience. A new one is a file with a type that embeds idle, and a row of
// newHooks. What its state method gives is kept in checkpoints, and shared between processes.
package train
