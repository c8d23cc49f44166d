// Package train fits a scoring model to queries of documents by stochastic gradient
// descent on one of the objectives of package losses, or on a custom one.
//
//	splits, err := datasets.Open("MQ2008/Fold1", datasets.Options{})
//	result, err := train.Run(ctx, train.Default(), splits, train.Hooks{})
//	scores, err := datasets.Score(result.Model, splits.Test)
//
// The result depends on the [Config] and the data alone. It has the same bits for any number of cores, and if a run was
// interrupted and resumed from a checkpoint.
//
// [Custom], an argument of [New], replaces the loss, the model, the optimizer and the metrics that the Config names, and adds
// hooks. Validation, early stopping, reports, checkpoints and model files work with custom parts.
//
// The objective is a loss, or a sum of losses, with the gains and the rank discounts
// of a metric: DCG, NDCG, precision, RBP, ARP or custom discounts. Fairness can
// be part of the objective and of reports. Losses and measures that compare groups
// of documents need groups in all splits.
//
// Features stay raw in memory. A goroutine transforms and packs the next batch while a step runs. Batches go through static
// graphs, compiled once for each capacity of rows, which share the model's weights.
//
// The loop of loop.go takes the steps: batch, gradient, optimizer. Everything else is a [Hook]: learning rates, penalties,
// clipping, the average of the weights, validation, history, patience, and Custom.Hooks. A checkpoint keeps the State of each
// hook.
package train
