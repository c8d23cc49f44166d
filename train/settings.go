package train

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
)

// A Setting is a field of a [Config], with what flags, checks and help need to know of it.
type Setting struct {
	Flag  string // its name on a command line, such as lr
	JSON  string // its name in JSON, such as learningRate
	Group string // the struct within Config that it belongs to, such as Optimization; "" for the seed
	Value any    // a pointer to the field
	Plain any    // what [Config.Plain] takes for zero; nil: zero
	Help  string // what it sets; the word in backquotes stands for its value, as in package flag

	Names func() []string // that the value, or a part of it, may have; nil: it is no name

	Resumable bool // may differ when a run is resumed
	Measuring bool // matters for the metrics of a model that is trained already

	check check             // of the value by itself; nil: all values, or what else looks at it checks them
	idle  func(*Use) string // why it has no effect in a use, "" where it has one; nil: it has one in every use
}

// Take gives the setting the value that it has in another Config.
func (s Setting) Take(from Setting) { s.field().Set(from.field()) }

func (s Setting) field() reflect.Value { return reflect.ValueOf(s.Value).Elem() }

var capital = regexp.MustCompile("[A-Z]")

// words is the name of the setting in errors.
func (s Setting) words() string { return strings.ToLower(capital.ReplaceAllString(s.JSON, " $0")) }

// Text returns the value as JSON has it.
func (s Setting) Text() string {
	if f := s.field(); f.Kind() == reflect.Slice && f.Len() == 0 {
		return "null"
	}
	text, err := json.Marshal(s.Value)
	if err != nil { // a number that is not finite
		return fmt.Sprint(s.field())
	}
	return string(text)
}

// The largest values of settings that size memory or loops. They are far beyond any use: more is a slip,
// or would end in the system's killing the program. [Config.Check] bounds some products of them, too.
const (
	mostWidth   = 10_000_000
	mostMembers = 1000
	mostBlocks  = 1000
	mostQueries = 1_000_000_000
	mostShards  = 10_000
	mostEpochs  = 1_000_000
	mostDepth   = 16
	mostLeaves  = 1 << mostDepth
	mostRanks   = 1_000_000
	mostSamples = 10_000_000
)

// LossMetric is the Config.Metric that makes the loss itself the validation value.
const LossMetric = "loss"

// Settings returns the settings of c, whose fields they point to, in the order of Config.
func (c *Config) Settings() []Setting {
	list := slices.Concat(c.Objective.settings(), c.Inputs.settings(), c.Model.settings(), c.Model.ofForests(), c.Optimization.settings(),
		c.Optimization.length(), c.Evaluation.settings(c.usualMetric()), []Setting{
			{Flag: "seed", Value: &c.Seed, Measuring: true, idle: onlyDrawn, Help: "`seed` of all random numbers"},
		})
	at := map[any]int{}
	for i, s := range list {
		at[s.Value] = i
	}
	config := reflect.ValueOf(c).Elem()
	for _, f := range reflect.VisibleFields(config.Type()) {
		if f.Anonymous {
			continue
		}
		s := &list[at[config.FieldByIndex(f.Index).Addr().Interface()]]
		s.JSON = f.Tag.Get("json")
		if len(f.Index) > 1 {
			s.Group = config.Type().Field(f.Index[0]).Name
		}
	}
	return list
}

// An Objective says what is learned.
type Objective struct {
	// Loss is the name of a loss of package losses, or a weighted sum, see losses.Parse.
	Loss string `json:"loss"`
	// Cutoff is K, the number of ranks that count, or AllRanks. There are no more than the longest training query has
	// documents.
	Cutoff RankCount `json:"cutoff"`
	// Samples is N, the rankings sampled for each query and step by losses that sample, see losses.Term; or Dynamic.
	Samples SampleCount `json:"samples"`
	// Gain is the name of the gain of a label, see metrics.ParseGain.
	Gain string `json:"gain"`
	// HighestGrade is the highest label possible; a higher one is refused. 0: the highest of the data.
	HighestGrade float64 `json:"highestGrade"`
	// NormalizeGains divides the gains of a query by its ideal value of the objective.
	NormalizeGains bool `json:"normalizeGains"`
	// Discounts names the discounts θ of the objective, see metrics.ParseDiscounts.
	Discounts string `json:"discounts"`
	// AtLeast are targets such as "A: 0.3 of exposure": documents of the group A are to have at least that share of the expected exposure,
	// by Discounts and Cutoff, in the mean over the training queries. The loss becomes the Lagrangian, whose multipliers change after each
	// epoch. The best epoch meets the targets, if one does.
	AtLeast []string `json:"atLeast,omitempty"`
}

func (o *Objective) settings() []Setting {
	return []Setting{
		{Flag: "loss", Value: &o.Loss, Plain: "plrank-exact", Names: losses.Names,
			Help: "the objective: the `name` of a loss, or a weighted sum of several, such as plrank-exact+0.5*disparity"},
		{Flag: "cutoff", Value: &o.Cutoff, Plain: 5, check: counted(ofRanks, mostRanks), Measuring: true, Names: are(ofRanks),
			Help: "`K`, the number of ranks that count; all (or 0) is every rank"},
		{Flag: "samples", Value: &o.Samples, Plain: 100, check: counted(ofSamples, mostSamples), Names: are(ofSamples), idle: onlySampling,
			Help: "`N`, the number of rankings that sampling losses draw for each query and step; dynamic grows from 10 to 100 over 40 epochs"},
		{Flag: "gain", Value: &o.Gain, Plain: metrics.Exp2Gain.String(), Measuring: true, Names: are("exp2", "linear", "binary"),
			Help: "`name` of the gain of a label: exp2 (2^label − 1); linear, the label itself, for labels that are not grades; or " +
				"binary, 1 for labels of 1 or more"},
		{Flag: "highest-grade", Value: &o.HighestGrade, Measuring: true, idle: onlyGrades,
			check: within(0, math.MaxFloat32, fmt.Sprintf("a number from 0 to %.2g", math.MaxFloat32)),
			Help: "highest possible `label`, which err, graded-rbp and the losses ordinal and cross-entropy use; 0 is the highest in the data: " +
				"in the training split for losses, in all splits for metrics, in all folds with -folds. With -model, 0 is the model's"},
		{Flag: "normalize", Value: &o.NormalizeGains, idle: onlyGains,
			Help: "divide the gains of each query by its ideal objective, to optimise NDCG rather than DCG; with -discounts arp, divide them by " +
				"their sum: with -gain linear the objective is K + 1 − ARP@K"},
		{Flag: "discounts", Value: &o.Discounts, Plain: "dcg", Measuring: true, Names: are("dcg", "precision", "arp", "rbp"), idle: onlyExposure,
			Help: "`name` of the weights of the ranks in the objective: dcg, precision, arp, rbp, rbp(0.9) for another persistence, or a number " +
				"for each rank, such as 1,0.5,0.25; precision and numbers need a cutoff"},
		{Flag: "at-least", Value: &o.AtLeast, check: func(s Setting) error { _, err := parseTargets(*s.Value.(*[]string)); return err },
			Help: "`targets` such as \"A: 0.3 of exposure,B: 0.2 of exposure\": documents of group A get at least this share of the expected " +
				"exposure, in the mean over training queries, at the least cost in the loss"},
	}
}

// Inputs are what a model sees of the documents.
type Inputs struct {
	// Transform names the transform of raw features, see datasets.FitTransform.
	Transform string `json:"transform"`
	// Bins is the number of bins through which the first layer sees each output of the transform, see
	// transforms.Transform.FitBins; 0: none. A forest has its thresholds between them, and 64 for 0.
	Bins int `json:"bins"`
	// Categorical are features whose values are names, see nn.Embedding. Features of text always are.
	Categorical Features `json:"categorical"`
}

func (i *Inputs) settings() []Setting {
	return []Setting{
		{Flag: "transform", Value: &i.Transform, Plain: "minmax",
			Names: are("none", "maxabs", "minmax", "standard", "log-standard", "quantile", "rank", "missing", "raw"),
			Help: "how features are transformed: `parts` joined by +, of none, maxabs, minmax, standard, log-standard, quantile, rank, missing, " +
				"raw, and features made of vectors, such as cosine(q,d) or bilinear(q,d,16)"},
		{Flag: "bins", Value: &i.Bins, check: between(0, forest.MaxBins),
			Help: "`number` of bins of each input, at quantiles of the training data. Networks see inputs through them (piecewise-linear " +
				"encoding), for features with thresholds or missing values: at most 125; 0 is none. Forests split between them: 3 to 255; 0 is 64"},
		{Flag: "categorical", Value: &i.Categorical,
			Help: "`features` whose values are names rather than amounts, by name, pattern or id, such as city,brand_*,17. A network learns a " +
				"vector for each value, one for missing values and one for unseen values. A value that only one training document has counts as " +
				"unseen, and so does one of a feature of the query that only one query has. In separated values they are text; in LETOR text, " +
				"whole numbers within ±16777216, the limit of float32"},
	}
}

// A Model says what gives the scores.
type Model struct {
	// Scorer is the kind of model, see Scorers.
	Scorer string `json:"scorer"`
	// Hidden are the widths of the hidden layers; none: a linear model.
	Hidden []int `json:"hidden"`
	// Activation is of the hidden layers.
	Activation ops.Activation `json:"activation"`
	// Dropout is the rate of dropout after each hidden layer, in [0, 1).
	Dropout float64 `json:"dropout"`
	// Members is the number of networks of an ensemble, whose scores are averaged; 0 and 1: one network. Each is kept as
	// after its own best epoch, unless they have embeddings in common.
	Members int `json:"members"`
	// Blocks is the number of blocks of the scorer attention, which are as wide as the last hidden layer.
	Blocks int `json:"blocks"`
	// Heads is the number of heads of each of its blocks.
	Heads int `json:"heads"`
	// Trees is the number of trees that an epoch of the scorer forest grows, each on a pass over the training queries; 0:
	// 1.
	Trees int `json:"trees"`
	// Depth is the largest depth of trees; 0: see forest.Config.
	Depth int `json:"depth"`
	// Leaves is the largest number of leaves of trees, where the leaf of the largest gain is split next; 0: trees are
	// symmetric, all nodes of a level have one split.
	Leaves int `json:"leaves"`
	// MinWeight is the least curvature of a leaf with a value of its own, in units of a document's mean curvature at the first
	// tree; 0: any.
	MinWeight float64 `json:"minWeight"`
	// Sampling is the part of the training documents by which the splits of a tree are chosen, in [0, 1]; 0: all.
	Sampling float64 `json:"sampling"`
	// FeatureSampling is the part of the features that the splits of a tree are chosen from, in [0, 1]; 0: all.
	FeatureSampling float64 `json:"featureSampling"`
	// Refit is the part of new values in the leaves of the forest Custom.Initial, whose trees an epoch estimates anew, one after another, in
	// [0, 1]; 0: trees are added to it.
	Refit float64 `json:"refit,omitempty"`
	// Rising are features with which the scores of a forest never fall.
	Rising Features `json:"rising"`
	// Falling are features with which they never rise.
	Falling Features `json:"falling"`
	// Interactions are sets of features, such as price+stars: all features above a leaf of a tree are of one set, or are one feature.
	Interactions Features `json:"interactions"`
}

func (m *Model) settings() []Setting {
	return []Setting{
		{Flag: "scorer", Value: &m.Scorer, Plain: mlpScorer, Names: Scorers, check: oneOf("scorer"),
			Help: "`kind` of model: mlp scores each document by itself; attention, a list transformer, sees the other documents of the " +
				"query; forest is a sum of boosted trees"},
		{Flag: "hidden", Value: &m.Hidden, check: widths, idle: onlyNetworks,
			Help: "`widths` of the hidden layers, such as 64,32; \"\" is a linear model"},
		{Flag: "activation", Value: &m.Activation, Names: forward.ActivationNames, check: marshals, idle: onlyHidden,
			Help: "`name` of the hidden layers' activation: none (or linear), sigmoid, tanh, relu, gelu or swiglu"},
		{Flag: "dropout", Value: &m.Dropout, idle: onlyHidden, check: fraction("a rate in [0, 1)"),
			Help: "`rate` of dropout after each hidden layer, and in blocks of attention"},
		{Flag: "members", idle: onlyNetworks, Value: &m.Members, check: between(0, mostMembers),
			Help: "`number` of networks in an ensemble, whose scores are averaged"},
		{Flag: "blocks", idle: onlyAttention, Value: &m.Blocks, Plain: 1, check: between(1, mostBlocks),
			Help: "`number` of blocks of the scorer attention, which are as wide as the last hidden layer"},
		{Flag: "heads", idle: onlyAttention, Value: &m.Heads, Plain: 2, check: between(1, mostWidth),
			Help: "`number` of attention heads in each block; it must divide the width of the block"},
	}
}

// ofForests returns the settings of the scorer forest.
func (m *Model) ofForests() []Setting {
	return []Setting{
		{Flag: "trees", idle: onlyForests, Value: &m.Trees, check: between(0, mostEpochs),
			Help: "`number` of trees that an epoch adds to the scorer forest, each from one pass over the training queries; 0 is 1"},
		{Flag: "depth", idle: onlyForests, Value: &m.Depth, check: between(0, mostDepth),
			Help: "largest `depth` of trees of the scorer forest; 0 is 6, or with -leaves as deep as they allow"},
		{Flag: "leaves", idle: onlyForests, Value: &m.Leaves, check: between(0, mostLeaves),
			Help: "largest `number` of leaves of a tree, grown by splitting the leaf that gains most; 0 grows symmetric trees, in which all " +
				"nodes of a level have the same split"},
		{Flag: "min-weight", Value: &m.MinWeight, idle: onlyForests, check: notNegative,
			Help: "least `weight` of the documents in a leaf, which is about their number; a lighter leaf has the value of the node above; 0 is " +
				"no limit"},
		{Flag: "sampling", idle: onlyForests, Value: &m.Sampling, check: within(0, 1, "a number from 0 to 1"),
			Help: "`fraction` of the training documents that choose the splits of each tree; all documents set the values of its leaves; 0 is " +
				"all"},
		{Flag: "feature-sampling", idle: onlyForests, Value: &m.FeatureSampling, check: within(0, 1, "a number from 0 to 1"),
			Help: "`fraction` of the features that each tree may split; 0 is all"},
		{Flag: "refit", idle: onlyForests, Value: &m.Refit, check: within(0, 1, "a number from 0 to 1"),
			Help: "`fraction` of new values, by the data, in the leaves of the forest of -init-model, whose splits stay: 0.1 keeps nine tenths " +
				"of the old values. 0 adds trees to it"},
		{Flag: "rising", idle: onlyForests, Value: &m.Rising,
			Help: "`features` with which the scores of a forest never fall, by name, pattern or id, such as stars,sold_*"},
		{Flag: "falling", idle: onlyForests, Value: &m.Falling,
			Help: "`features` with which the scores of a forest never rise, such as price"},
		{Flag: "interactions", idle: onlyForests, Value: &m.Interactions,
			Help: "`sets` of features that may work together in a tree, such as price+stars,brand+city; others are alone. Without it, any may"},
	}
}

// An Optimization says how, and for how long, the weights are learned.
type Optimization struct {
	// Optimizer is the name of the optimizer, see Optimizers.
	Optimizer string `json:"optimizer"`
	// LearningRate is the rate of the first epoch, above 0.
	LearningRate float64 `json:"learningRate"`
	// Momentum is the rate of the optimizer momentum, in [0, 1).
	Momentum float64 `json:"momentum"`
	// WeightDecay is the rate of the decay by the optimizer adamw, for weights that are not biases.
	WeightDecay float64 `json:"weightDecay"`
	// Decay is a factor on the learning rate after each epoch, in (0, 1].
	Decay float64 `json:"decay"`
	// Schedule is how the learning rate changes: constant, cosine, plateau or plateau(5,0.1).
	Schedule string `json:"schedule"`
	// Warmup is the number of epochs in which the learning rate rises from 0.
	Warmup float64 `json:"warmup"`
	// L2 adds L2·w to the gradient of every weight w that is not a bias. In a leaf of a forest it counts as that many
	// documents without a gradient.
	L2 float64 `json:"l2"`
	// GroupLasso is λ. After a step at rate η the n weights w_j from input j, with all its bins, into the first layer
	// shrink by ηλ·√n·√(r̄/r_j), where r_j = ‖w_j‖/√n and r̄ is the mean of r_j: a group lasso (Yuan & Lin 2006) that is
	// stronger for inputs of small weights. The line and the bends of an input with bins are two groups. 0: none.
	GroupLasso float64 `json:"groupLasso"`
	// Clip is the highest norm of a gradient, which is scaled down to it; 0: no limit.
	Clip float64 `json:"clip"`
	// Average is β of the moving average of the weights, in [0, 1), which is then evaluated and kept; over at most a ninth
	// of the steps. 0: none.
	Average float64 `json:"average"`
	// Batch is the number of queries of a step.
	Batch int `json:"batch"`
	// Shards is the number of parts of the training queries, which processes share, see Custom.Processes.
	Shards int `json:"shards"`
	// OnNaN says what to do when a batch has a loss or a gradient that is not finite: stop or skip.
	OnNaN string `json:"onNaN"`
	// Epochs is the number of passes over the training queries, or parts of them, see EpochsPerPass. Each ends with the
	// validation.
	Epochs int `json:"epochs"`
	// EpochsPerPass is the number of parts of a pass that are epochs, at most one a step; 0 and 1: an epoch is a pass.
	EpochsPerPass int `json:"epochsPerPass"`
	// Patience is the number of epochs without a better validation value before training stops; 0: it does not.
	Patience int `json:"patience"`
}

func (o *Optimization) settings() []Setting {
	return []Setting{
		{Flag: "optimizer", Value: &o.Optimizer, Plain: "sgd", Names: Optimizers, check: oneOf("optimizer"), idle: onlyNetworks,
			Help: "`name` of the optimizer: " + strings.Join(Optimizers(), ", ")},
		{Flag: "lr", Value: &o.LearningRate, Plain: 0.01, check: within(math.SmallestNonzeroFloat64, math.MaxFloat64, "a finite number above 0"),
			Help: "learning `rate`; for a forest, the factor on each tree. Of several models, forest:0.1 or network:0.001 sets one kind; so " +
				"do other flags"},
		{Flag: "momentum", Value: &o.Momentum, idle: onlyOptimizer("momentum"), Plain: 0.9, check: fraction("a number in [0, 1)"),
			Help: "`rate` of the optimizer momentum"},
		{Flag: "weight-decay", Value: &o.WeightDecay, idle: onlyOptimizer("adamw"), Plain: 0.01, check: notNegative,
			Help: "`rate` of weight decay by the optimizer adamw; biases do not decay"},
		{Flag: "decay", Value: &o.Decay, Plain: 1, check: within(math.SmallestNonzeroFloat64, 1, "a number in (0, 1]"),
			Help: "`factor` on the learning rate after each epoch"},
		{Flag: "schedule", Value: &o.Schedule, Plain: "constant", Names: are("constant", "cosine", "plateau"),
			Help: "how the learning rate changes (`name`): constant; cosine, down to 0 at the end of the last epoch; plateau, halved " +
				"after 3 epochs without a better validation value, or plateau(5,0.1)"},
		{Flag: "warmup", Value: &o.Warmup, check: within(0, mostEpochs, fmt.Sprintf("epochs of warm-up, a number from 0 to %d", mostEpochs)),
			Help: "`epochs` in which the learning rate rises from 0 in equal steps; 0.5 is half an epoch"},
		{Flag: "l2", Value: &o.L2, check: notNegative,
			Help: "`weight` of the L2 penalty on all weights but biases; 0 is none. In a leaf of a forest, N counts like N documents without a " +
				"gradient"},
		{Flag: "group-lasso", idle: onlyNetworks, Value: &o.GroupLasso, check: notNegative,
			Help: "`weight` of a group lasso, which keeps the weights of uninformative inputs small: a penalty on the norm of the weights of " +
				"each input, with -bins one for its line and one for its bends; 0 is none"},
		{Flag: "clip", Value: &o.Clip, check: notNegative,
			Help: "largest `norm` of a gradient; 0 is no limit"},
		{Flag: "average", idle: onlyNetworks, Value: &o.Average, check: fraction("a number in [0, 1), such as 0.999"),
			Help: "`rate` of an exponential moving average of the weights, such as 0.999, over at most a ninth of the steps. The model is then " +
				"this average; 0 is none"},
	}
}

// length returns the settings of steps and epochs.
func (o *Optimization) length() []Setting {
	return []Setting{
		{Flag: "batch", idle: onlyNetworks, Value: &o.Batch, Plain: 1, check: between(1, mostQueries),
			Help: "`queries` in a step; a number above the size of the training split means all"},
		{Flag: "shards", Value: &o.Shards, Plain: 1, check: between(1, mostShards),
			Help: "`parts` of the training queries. A step takes queries from each, and adds up their gradients in a fixed order, so that the " +
				"result does not depend on the number of processes. Under mpirun, where the default is 8, there can be as many processes as parts"},
		{Flag: "on-nan", Value: &o.OnNaN, Plain: onNaNStop, Resumable: true, Names: are(onNaNStop, onNaNSkip),
			check: oneOf("policy for batches that are not finite"),
			Help: "`what` to do with a batch whose loss or gradient is not finite or cannot be computed: stop the training with an error, or " +
				"skip the batch and count it"},
		{Flag: "epochs", Value: &o.Epochs, Plain: 40, check: between(1, mostEpochs), Resumable: true,
			Help: "largest number of `epochs`, each a pass over the training queries, or a part of one, see -epochs-per-pass"},
		{Flag: "epochs-per-pass", idle: onlyNetworks, Value: &o.EpochsPerPass, check: between(0, mostEpochs),
			Help: "`number` of epochs in a pass over the training queries, each with a validation at its end; at most one for each step; 0 is 1"},
		{Flag: "patience", Value: &o.Patience, check: between(0, mostEpochs), Resumable: true,
			Help: "stop after this many `epochs` without a better validation value; 0 is never"},
	}
}

// An Evaluation says what is measured, and how the best epoch is chosen.
type Evaluation struct {
	// Metric is the validation value: a metric, LossMetric, or a weighted sum of metrics.
	Metric string `json:"metric"`
	// LabelFree says how queries without a relevant document count, see metrics.ParseLabelFree.
	LabelFree string `json:"convention"`
	// Ties says how documents of equal scores are ranked, see metrics.ParseTies.
	Ties string `json:"ties"`
	// Report names metrics to report besides the usual ones.
	Report []string `json:"report"`
	// WeightedMetrics makes queries count by their weights, where the data have such.
	WeightedMetrics bool `json:"weightedMetrics"`
	// EvaluateTrain reports metrics of the training split every epoch.
	EvaluateTrain bool `json:"evaluateTrain"`
	// EvaluateTest reports metrics of the test split every epoch: for learning curves, never for choosing.
	EvaluateTest bool `json:"evaluateTest"`
	// DropLabelFreeTest leaves test queries without a relevant document out of all metrics.
	DropLabelFreeTest bool `json:"dropLabelFreeTest"`
}

func (e *Evaluation) settings(usual string) []Setting {
	return []Setting{
		{Flag: "metric", Value: &e.Metric, Plain: usual, Measuring: true, Names: measureNames,
			Help: "`metric` on the validation split that picks the best epoch: such as ndcg@10; expected-ndcg@10, its expectation under the " +
				"policy; a measure of fairness, such as disparity; a weighted sum, where higher is better, such as expected-ndcg@10-5*disparity; " +
				"or loss, the default for a -loss that is a sum or is of fairness"},
		{Flag: "convention", Value: &e.LabelFree, Plain: metrics.LabelFreeSkip.String(), Measuring: true,
			Names: are("zero", "one", "skip", "letor4"), idle: onlyLabels,
			Help: "how queries without a relevant document count in metrics of relevance (`name`): zero, one, skip or letor4; in DCG, precision, " +
				"ERR and RBP they count 0"},
		{Flag: "ties", Value: &e.Ties, Plain: metrics.TiesRandom.String(), Measuring: true, Names: are("random", "order"), idle: onlyLabels,
			Help: "how documents of equal scores are ranked (`name`): random, for the mean over their orders, or order, as in the data"},
		{Flag: "report", Value: &e.Report, Measuring: true, Names: measureNames, idle: onlyLabels,
			Help: "further `metrics` to report, with commas between, such as map,expected-err@10,disparity"},
		{Flag: "weighted-metrics", idle: onlyWeighted, Value: &e.WeightedMetrics,
			Help: "use the weights of queries in the means of metrics, too"},
		{Flag: "evaluate-train", Value: &e.EvaluateTrain,
			Help: "also report metrics of the training split after each epoch"},
		{Flag: "evaluate-test", idle: onlyTest, Value: &e.EvaluateTest,
			Help: "also report metrics of the test split after each epoch: for learning curves, never for choosing"},
		{Flag: "drop-label-free-test", idle: onlyTest, Value: &e.DropLabelFreeTest,
			Help: "leave test queries without a relevant document out of all metrics, even DCG"},
	}
}

// Default returns three small networks that see several views of a feature, on the expected metric itself. Package recipe has them
// for small data of short queries.
func Default() Config {
	return Config{
		Objective: Objective{Loss: "plrank-exact+0.01*softmax", Cutoff: 10, NormalizeGains: true},
		Inputs:    Inputs{Transform: "minmax+log-standard+quantile+rank"},
		Model:     Model{Hidden: []int{64}, Activation: ops.ReLU, Dropout: 0.3, Members: 3},
		Optimization: Optimization{
			Optimizer: "adam", LearningRate: 0.002, GroupLasso: 0.03, Batch: 4, Epochs: 30,
		},
		Evaluation: Evaluation{Metric: "expected-ndcg@10"},
	}.Plain()
}

// Plain completes c: each field that is zero, and has a [Setting.Plain] value, gets it, whatever the data and the other fields: plain SGD
// on plrank-exact for 40 epochs, of momentum 0.9 with the optimizer momentum. Other fields stay zero: no hidden layers, no dropout.
// JSON of older versions, which lacks newer settings, is read into a plain Config.
func (c Config) Plain() Config {
	for _, s := range c.Settings() {
		if s.Plain != nil && s.field().IsZero() {
			s.field().Set(reflect.ValueOf(s.Plain).Convert(s.field().Type()))
		}
	}
	return c
}

// resumedWith is c with the settings of another that may differ when a run is resumed.
func (c Config) resumedWith(other Config) Config {
	others := other.Settings()
	for i, s := range c.Settings() {
		if s.Resumable {
			s.Take(others[i])
		}
	}
	return c
}

// configDifferences says which settings differ, and from what, after a word for where or when
// that is: "" where none does.
func configDifferences(was, is Config, word string) string {
	before := was.Settings()
	var list []string
	for i, s := range is.Settings() {
		if now, then := s.Text(), before[i].Text(); now != then {
			list = append(list, fmt.Sprintf("%s is %s, %s %s", s.JSON, now, word, then))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// usualMetric is the metric of validation that goes with a loss and a cutoff: the loss itself for a sum of several, or a loss of
// fairness, as no metric of relevance says what these trade off.
func (c Config) usualMetric() string {
	if terms, err := losses.Terms(c.Loss); err == nil && (len(terms) > 1 || terms[0].Measure != "") {
		return LossMetric
	}
	return cmp.Or(c.Cutoff, 5).metric("ndcg")
}

// The scorers, and what Config.OnNaN may be.
const (
	mlpScorer       = "mlp"
	attentionScorer = "attention"
	forestScorer    = ranker.ForestKind

	onNaNStop = "stop"
	onNaNSkip = "skip"
)

// Scorers lists the names that Config.Scorer may have.
func Scorers() []string { return []string{attentionScorer, forestScorer, mlpScorer} }

// Check returns an error if the value makes no sense by itself, whatever other settings are.
func (s Setting) Check() (err error) {
	if s.check != nil {
		err = s.check(s)
	}
	if text, ok := s.Value.(*string); ok && *text == "" && err == nil {
		err = fmt.Errorf("train: no %s: want one such as %v", s.words(), s.Plain)
	}
	if err != nil {
		return &settingError{s.Flag, err}
	}
	return nil
}

// A settingError reports one setting that is wrong.
type settingError struct {
	flag string
	error
}

func (e *settingError) Unwrap() error { return e.error }

// Flag returns the name of the setting on a command line.
func (e *settingError) Flag() string { return e.flag }

// A check returns an error if the value of a setting makes no sense.
type check = func(s Setting) error

// within looks that a number lies in [least, most], and says what is wanted.
func within(least, most float64, want string) check {
	return func(s Setting) error {
		var v float64
		if i, ok := s.Value.(*int); ok {
			v = float64(*i)
		} else {
			v = *s.Value.(*float64)
		}
		if !(v >= least && v <= most) {
			return fmt.Errorf("train: %s is %v: want %s", s.words(), s.field(), want)
		}
		return nil
	}
}

// counted looks that a count is a number from 1 to most, or stands for a word.
func counted(word string, most int) check {
	return func(s Setting) error {
		if n := int(s.field().Int()); n != wordCount && (n < 1 || n > most) {
			return fmt.Errorf("train: %s is %d: %w", s.words(), n, wantCount(word, most))
		}
		return nil
	}
}

// between looks that a whole number lies in [least, most].
func between(least, most int) check {
	return within(float64(least), float64(most), fmt.Sprintf("%d to %d", least, most))
}

var notNegative = within(0, math.MaxFloat64, "a finite number that is not below 0")

// fraction looks that a number lies in [0, 1).
func fraction(want string) check { return within(0, math.Nextafter(1, 0), want) }

// oneOf looks that a name is one of the setting's names.
func oneOf(what string) check {
	return func(s Setting) error {
		if name := *s.Value.(*string); !slices.Contains(s.Names(), name) {
			return fmt.Errorf("train: unknown %s %q: %s", what, name, names.Want(name, s.Names()))
		}
		return nil
	}
}

// are returns a function that returns the names.
func are(list ...string) func() []string { return func() []string { return list } }

// measureNames returns the names that a metric of the validation may have.
func measureNames() []string {
	return append(slices.Concat(metrics.Names(), metrics.FairnessNames()), LossMetric)
}

// widths looks that hidden layers can be built.
func widths(s Setting) error {
	for _, n := range *s.Value.(*[]int) {
		if n < 1 || n > mostWidth {
			return fmt.Errorf("train: a hidden layer of width %d: want widths of 1 to %d, such as 64,32", n, mostWidth)
		}
	}
	return nil
}

// marshals looks that a value has a name.
func marshals(s Setting) error {
	_, err := s.Value.(encoding.TextMarshaler).MarshalText()
	return err
}
