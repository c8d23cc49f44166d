package train

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
)

// A Config says how a model is trained: settings in groups, which [Config.Settings] explains at length. It is complete: every
// field means what it says, and zero means zero. [New] returns an error for a zero that is not a value of its setting. Start from
// [Default], from a plan of package recipe, which chooses by the data, or from [Config.Plain], and change fields.
type Config struct {
	Objective
	Inputs
	Model
	Optimization
	Evaluation

	// Seed of weights, dropout, the order of queries and sampled rankings.
	Seed uint64 `json:"seed"`
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

// Features are words that stand for features, by name, id or pattern: see datasets.Dataset.Choose.
type Features []string

// UnmarshalJSON reads words, and numbers of older versions.
func (f *Features) UnmarshalJSON(text []byte) error {
	var words []json.RawMessage
	if err := json.Unmarshal(text, &words); err != nil {
		return err
	}
	*f = nil
	for _, word := range words {
		name := string(word)
		if _, err := strconv.Atoi(name); err != nil {
			if err := json.Unmarshal(word, &name); err != nil {
				return err
			}
		}
		*f = append(*f, name)
	}
	return nil
}

// ids returns the ids of the features of d that the words stand for, and of the features of text, ascending.
func (f Features) ids(d *datasets.Dataset) ([]int, error) {
	var ids []int
	for _, word := range f {
		columns, err := d.Choose(word)
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			ids = append(ids, d.FeatureIDs[c])
		}
	}
	for c, levels := range d.Levels {
		if levels != nil {
			ids = append(ids, d.FeatureIDs[c])
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
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
	// Sampling is the part of the training documents by which the splits of a tree are chosen, in [0, 1]; 0: all.
	Sampling float64 `json:"sampling"`
	// FeatureSampling is the part of the features that the splits of a tree are chosen from, in [0, 1]; 0: all.
	FeatureSampling float64 `json:"featureSampling"`
	// Rising are features with which the scores of a forest never fall.
	Rising Features `json:"rising"`
	// Falling are features with which they never rise.
	Falling Features `json:"falling"`
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
	// L2 adds L2·w to the gradient of every weight w that is not a bias. In a leaf of a forest it counts as so many
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
	// EvaluationSamples is the number of rankings sampled for expected metrics that are not exact, see
	// metrics.Measure.Sampled.
	EvaluationSamples int `json:"evaluationSamples"`
	// EvaluateTrain reports metrics of the training split every epoch.
	EvaluateTrain bool `json:"evaluateTrain"`
	// EvaluateTest reports metrics of the test split every epoch: for learning curves, never for choosing.
	EvaluateTest bool `json:"evaluateTest"`
	// DropLabelFreeTest leaves test queries without a relevant document out of all metrics.
	DropLabelFreeTest bool `json:"dropLabelFreeTest"`
}
