// Package train fits a scoring model to queries of documents by stochastic gradient
// descent on one of the objectives of package losses, or on a custom one.
//
//	splits, err := datasets.Open("MQ2008/Fold1", datasets.Options{})
//	result, err := train.Run(ctx, train.Default(), splits, train.Hooks{})
//	scores, err := datasets.Score(result.Model, splits.Test)
//
// A [Config] says everything that matters: the same configuration and data give
// the same result, bit for bit, whatever the number of cores, and also if the
// run was interrupted and resumed from a checkpoint on the way.
//
// [Custom] of [New] holds what is custom: a loss, a model, an optimizer and metrics, which replace the ones that the Config names,
// and hooks. Validation, early stopping, reports, checkpoints and model files work with them.
//
// The objective is a loss, or a sum of losses, with the gains and the rank discounts
// of a metric: DCG, NDCG, precision, RBP, ARP or custom discounts. Fairness can
// be part of it, and of what is reported; losses and measures that compare groups
// of documents need a dataset that has groups, in all splits.
//
// Raw features stay as they are in memory; each batch is transformed as it is packed, by a
// goroutine that works ahead of the training. Batches go through static graphs, compiled once for
// each capacity of rows, which share the model's weights.
//
// A loop (loop.go) makes the steps: batch, gradient, optimizer. A [Hook] does all else: learning rates, penalties,
// clipping, the average of the weights, validation, history, patience, and what a program adds by Custom.Hooks. What its
// State returns is kept in checkpoints, and shared between processes.
package train
