// Package recipe is how a model is trained, as flags of a command line: one for every setting of
// a train.Config, and of its name.
package recipe

import (
	"errors"
	"flag"
	"strconv"
	"strings"

	"github.com/plrank/plrank/train"
)

// Define defines the flags of how a model is trained; their defaults are what c holds.
func Define(f *flag.FlagSet, c *train.Config) {
	f.StringVar(&c.Transform, "transform", c.Transform, "`parts` of the features' transform, joined by +: none, minmax, standard, log-standard, quantile, rank")
	f.Var((*ids)(&c.Categorical), "categorical", "`ids` of features whose values are names rather than amounts, such as 3,17: the model learns what each value means; one that was not seen in training, or is missing, has a place of its own. A value of ±16777216 or beyond is an error, as float32 does not tell them all apart")
	f.StringVar(&c.Loss, "loss", c.Loss, "the objective: the `name` of a loss, or a weighted sum of several, such as plrank-exact+0.5*disparity")
	f.IntVar(&c.Cutoff, "cutoff", c.Cutoff, "ranks that count, `K`")
	f.TextVar(&c.Samples, "samples", c.Samples, "rankings sampled for each query and step, `N`, by the losses that sample; dynamic grows from 10 to 100 over 40 epochs")
	f.StringVar(&c.Gain, "gain", c.Gain, "`name` of the gain of a label: exp2 (2^label − 1); linear, the label itself, for labels that are no grades; or binary, 1 for labels of 1 or more")
	f.Float64Var(&c.HighestGrade, "highest-grade", c.HighestGrade, "highest `label` that there can be, by which err, graded-rbp and the losses ordinal and cross-entropy go; 0 is the highest of the data: of all folds for -folds, and of all splits for metrics, but of the training split for losses. Beside -model, 0 is the model's own")
	f.StringVar(&c.Discounts, "discounts", c.Discounts, "what each rank counts in the objective (`name`): dcg, precision, arp, rbp, rbp(0.9) for another persistence, or as many numbers as the cutoff, such as 1,0.5,0.25")
	f.BoolVar(&c.NormalizeGains, "normalize", c.NormalizeGains, "divide the gains of a query by the highest value that the objective can have for it: optimise NDCG rather than DCG; with -discounts arp, by their sum")
	f.StringVar(&c.Scorer, "scorer", c.Scorer, "`kind` of model: mlp scores each document by itself; attention, a list transformer, sees the other documents of the query")
	f.Var((*widths)(&c.Hidden), "hidden", "`widths` of the hidden layers, such as 64,32; \"\" is a linear model")
	f.TextVar(&c.Activation, "activation", c.Activation, "`name` of the hidden layers' activation: none (or linear), sigmoid, tanh, relu or gelu")
	f.Float64Var(&c.Dropout, "dropout", c.Dropout, "`rate` of dropout after each hidden layer, and in blocks of attention")
	f.IntVar(&c.Members, "members", c.Members, "`number` of networks trained side by side, whose scores are averaged")
	f.IntVar(&c.Blocks, "blocks", c.Blocks, "`number` of blocks of the scorer attention, which are as wide as the last hidden layer")
	f.IntVar(&c.Heads, "heads", c.Heads, "`number` of heads of each block, which divides that width")
	f.BoolVar(&c.LatentCross, "latent-cross", c.LatentCross, "let the blocks of the scorer attention scale what the hidden layers give, as DASALC does")
	f.StringVar(&c.Optimizer, "optimizer", c.Optimizer, "`name` of the optimizer: "+strings.Join(train.Optimizers(), ", "))
	f.Float64Var(&c.LearningRate, "lr", c.LearningRate, "learning `rate`")
	f.Float64Var(&c.Momentum, "momentum", c.Momentum, "`rate` of the optimizer momentum")
	f.Float64Var(&c.WeightDecay, "weight-decay", c.WeightDecay, "`rate` of the decay of the optimizer adamw, for weights that are no biases")
	f.Float64Var(&c.Decay, "decay", c.Decay, "`factor` on the learning rate after each epoch")
	f.StringVar(&c.Schedule, "schedule", c.Schedule, "how the learning rate goes (`name`): constant; cosine, down to 0 at the last epoch; plateau, halved after 3 epochs without a better validation value, or plateau(5,0.1)")
	f.Float64Var(&c.Warmup, "warmup", c.Warmup, "`epochs` in which the learning rate rises from 0; 0.5 is half an epoch")
	f.Float64Var(&c.L2, "l2", c.L2, "`weight` of the L2 penalty on weights; 0 is none")
	f.Float64Var(&c.GroupLasso, "group-lasso", c.GroupLasso, "`weight` of a penalty on the norms of the weights of each input, by which those of inputs that say nothing stay small; 0 is none")
	f.Float64Var(&c.Clip, "clip", c.Clip, "highest `norm` of a gradient; 0 is no limit")
	f.Float64Var(&c.Average, "average", c.Average, "`rate` of the exponential moving average of the weights, such as 0.999: the model is then the average; 0 is none")
	f.IntVar(&c.Batch, "batch", c.Batch, "`queries` a step")
	f.IntVar(&c.Shards, "shards", c.Shards, "`parts` that the training queries are divided into, whose gradients are computed one by one and summed in a fixed order: as many processes at most can share a training under mpirun, where it is 8 if it is not given; the result does not depend on how many do")
	f.IntVar(&c.Epochs, "epochs", c.Epochs, "`passes` over the training queries, at most")
	f.StringVar(&c.OnNaN, "on-nan", c.OnNaN, "`what` becomes of a batch whose loss or gradient is not finite or cannot be computed: stop ends the training; skip leaves the batch out and counts it")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "`seed` of all that is random")
	f.StringVar(&c.Metric, "metric", c.Metric, "`metric` of the validation, which picks the best epoch: such as ndcg@10, expected-ndcg@10 for its expectation under the policy, or a measure of fairness, such as disparity; loss is the loss itself, and is taken for a -loss that is a sum or of fairness; or a weighted sum, of which more is better, such as expected-ndcg@10-5*disparity")
	f.Var((*names)(&c.Report), "report", "more `metrics` to report, with commas between: such as map,expected-err@10,disparity")
	f.IntVar(&c.Patience, "patience", c.Patience, "stop after so many `epochs` without a better validation value; 0 is never")
	f.StringVar(&c.Convention, "convention", c.Convention, "what label-free queries count in NDCG: zero, one, skip or letor4 (`name`)")
	f.StringVar(&c.Ties, "ties", c.Ties, "how documents of equal scores are ranked: random, for the expected value under random order, or order, as they stand (`name`)")
	f.BoolVar(&c.WeightedMetrics, "weighted-metrics", c.WeightedMetrics, "queries count by their weights in the means of metrics, too")
	f.IntVar(&c.EvaluationSamples, "evaluation-samples", c.EvaluationSamples, "rankings sampled for expected metrics, `N`")
	f.BoolVar(&c.EvaluateTrain, "evaluate-train", c.EvaluateTrain, "report metrics of the training split after each epoch, too")
	f.BoolVar(&c.EvaluateTest, "evaluate-test", c.EvaluateTest, "report metrics of the test split after each epoch, too: for learning curves, never for choosing")
	f.BoolVar(&c.DropLabelFreeTest, "drop-label-free-test", c.DropLabelFreeTest, "leave label-free queries of the test split out of all metrics, DCG too")
}

// widths and ids are flags of comma-separated numbers.
type (
	widths []int
	ids    []int
)

func (w *widths) String() string { return joined(*w) }
func (i *ids) String() string    { return joined(*i) }

func (w *widths) Set(text string) (err error) {
	*w, err = numbers(text, 1, "want widths of 1 or more, such as 64,32")
	return err
}

func (i *ids) Set(text string) (err error) {
	*i, err = numbers(text, 0, "want ids of features, such as 3,17")
	return err
}

func joined(list []int) string {
	var s []string
	for _, n := range list {
		s = append(s, strconv.Itoa(n))
	}
	return strings.Join(s, ",")
}

// numbers reads a list of whole numbers.
func numbers(text string, least int, want string) (list []int, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < least {
			return nil, errors.New(want)
		}
		list = append(list, n)
	}
	return list, nil
}

// names is a flag of comma-separated words.
type names []string

func (n *names) String() string { return strings.Join(*n, ",") }

func (n *names) Set(text string) error {
	*n = nil
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*n = append(*n, part)
		}
	}
	return nil
}
