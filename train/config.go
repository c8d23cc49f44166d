package train

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
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

	Seed uint64 `json:"seed"` // of weights, dropout, the order of queries and sampled rankings
}

// An Objective says what is learned.
type Objective struct {
	Loss           string      `json:"loss"`           // a loss of package losses or a weighted sum, see losses.Parse
	Cutoff         RankCount   `json:"cutoff"`         // K: the ranks that count, at most as many as the longest training query has documents; or all
	Samples        SampleCount `json:"samples"`        // N: rankings sampled for each query and step by losses that sample, see losses.Term
	Gain           string      `json:"gain"`           // of a label, see metrics.ParseGain
	HighestGrade   float64     `json:"highestGrade"`   // highest label possible, a higher one is refused; 0: the highest of the data
	NormalizeGains bool        `json:"normalizeGains"` // divide a query's gains by its ideal value of the objective
	Discounts      string      `json:"discounts"`      // θ of the objective, see metrics.ParseDiscounts
}

// Inputs are what a model sees of the documents.
type Inputs struct {
	Transform   string   `json:"transform"`   // of raw features, see datasets.FitTransform
	Bins        int      `json:"bins"`        // through which the first layer sees each output of the transform, see transforms.Transform.FitBins; 0: none
	Categorical Features `json:"categorical"` // whose values are names, see nn.Embedding; features of text always are
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
	Scorer          string         `json:"scorer"`          // kind of model, see Scorers
	Hidden          []int          `json:"hidden"`          // widths of the hidden layers; none: a linear model
	Activation      ops.Activation `json:"activation"`      // of the hidden layers
	Dropout         float64        `json:"dropout"`         // rate after each hidden layer
	Members         int            `json:"members"`         // networks of an ensemble, whose scores are averaged; each is kept as after its own best epoch, unless they have embeddings in common
	SharedMembers   int            `json:"sharedMembers"`   // of each of these networks, which share its matrices of weights, see nn.MLP; 0: none
	Blocks          int            `json:"blocks"`          // of the scorer attention, as wide as the last hidden layer
	Heads           int            `json:"heads"`           // of each of its blocks
	LatentCross     bool           `json:"latentCross"`     // the scorer attention ends in the latent cross of DASALC
	Trees           int            `json:"trees"`           // that an epoch of the scorer forest grows, each on a pass over the training queries; 0: 1
	Depth           int            `json:"depth"`           // of trees at most; 0: see forest.Config
	Leaves          int            `json:"leaves"`          // of trees, where the leaf of the largest gain is split next; 0: trees are symmetric, all nodes of a level have one split
	Sampling        float64        `json:"sampling"`        // part of the training documents by which the splits of a tree are chosen; 0: all
	FeatureSampling float64        `json:"featureSampling"` // part of the features that they are chosen from; 0: all
	Rising          Features       `json:"rising"`          // with which the scores of a forest never fall
	Falling         Features       `json:"falling"`         // with which they never rise
}

// An Optimization says how, and for how long, the weights are learned.
type Optimization struct {
	Optimizer     string  `json:"optimizer"`     // see Optimizers
	LearningRate  float64 `json:"learningRate"`  // of the first epoch
	Momentum      float64 `json:"momentum"`      // of the optimizer momentum
	WeightDecay   float64 `json:"weightDecay"`   // of the optimizer adamw, for weights that are not biases
	Decay         float64 `json:"decay"`         // factor on the learning rate after each epoch
	Schedule      string  `json:"schedule"`      // of the learning rate: constant, cosine, plateau or plateau(5,0.1)
	Warmup        float64 `json:"warmup"`        // epochs in which the learning rate rises from 0
	L2            float64 `json:"l2"`            // L2·w is added to the gradient of every weight w that is not a bias
	GroupLasso    float64 `json:"groupLasso"`    // λ: after a step at rate η the n weights w_j from input j, with all its bins, into the first layer shrink by ηλ·√n·√(r̄/r_j), where r_j = ‖w_j‖/√n and r̄ is the mean of r_j: a group lasso (Yuan & Lin 2006) that is stronger for inputs of small weights; of an input with bins, its line and its bends are two groups
	Clip          float64 `json:"clip"`          // the highest norm of a gradient, which is scaled down to it; 0: no limit
	Average       float64 `json:"average"`       // β of the moving average of the weights, which is then evaluated and kept; over at most a ninth of the steps; 0: none
	Batch         int     `json:"batch"`         // queries a step
	Shards        int     `json:"shards"`        // of the training queries, which processes share, see Parts.Processes
	OnNaN         string  `json:"onNaN"`         // what becomes of a batch whose loss or gradient is not finite: stop or skip
	Epochs        int     `json:"epochs"`        // passes over the training queries, or parts of them, see EpochsPerPass; each ends with the validation
	EpochsPerPass int     `json:"epochsPerPass"` // parts of a pass that are epochs, at most one a step; 0 and 1: an epoch is a pass
	Patience      int     `json:"patience"`      // epochs without a better validation value before training stops; 0: it does not
}

// An Evaluation says what is measured, and how the best epoch is chosen.
type Evaluation struct {
	Metric            string   `json:"metric"`            // the validation value: a metric, LossMetric, or a weighted sum of metrics
	Convention        string   `json:"convention"`        // for queries without a relevant document, see metrics.ParseLabelFree
	Ties              string   `json:"ties"`              // how documents of equal scores are ranked, see metrics.ParseTies
	Report            []string `json:"report"`            // metrics to report besides the usual ones
	WeightedMetrics   bool     `json:"weightedMetrics"`   // queries count by their weights, where the data have such
	EvaluationSamples int      `json:"evaluationSamples"` // rankings sampled for expected metrics that are not exact, see metrics.Measure.Sampled
	EvaluateTrain     bool     `json:"evaluateTrain"`     // report metrics of the training split every epoch
	EvaluateTest      bool     `json:"evaluateTest"`      // and of the test split: for learning curves, never for choosing
	DropLabelFreeTest bool     `json:"dropLabelFreeTest"` // leave test queries without a relevant document out of all metrics
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

// network is a built-in model of these inputs, of any scorer.
func (c Config) network(inputs nn.MLPConfig) nn.TransformerConfig {
	inputs.Hidden, inputs.Activation, inputs.Dropout, inputs.Seed = c.Hidden, c.Activation, c.Dropout, c.Seed
	inputs.Members, inputs.SharedMembers = c.Members, c.SharedMembers
	return nn.TransformerConfig{MLPConfig: inputs, Blocks: c.Blocks, Heads: c.Heads, LatentCross: c.LatentCross}
}

// weights is the number of weights of a built-in model of these inputs.
func (c Config) weights(inputs nn.MLPConfig) (float64, error) {
	network := c.network(inputs)
	if c.Scorer == attentionScorer {
		return network.Size()
	}
	return network.MLPConfig.Size()
}
