package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// Config is how a model is trained: settings in groups. Fields that are zero mean what is said
// beside them; [Default] is the recipe of choice.
type Config struct {
	Objective
	Inputs
	Model
	Optimization
	Evaluation

	Seed uint64 `json:"seed"` // of weights, dropout, order of queries and sampled rankings
}

// An Objective is what is learnt.
type Objective struct {
	Loss           string      `json:"loss"`           // the objective, a loss of package losses or a weighted sum, see losses.Parse; "": plrank-exact
	Cutoff         int         `json:"cutoff"`         // K: ranks that count in the objective, as many as the longest training query has documents at most; 0: 5
	Samples        SampleCount `json:"samples"`        // N: rankings sampled for each query and step, by the losses that sample, see losses.Term; 0: 100
	Gain           string      `json:"gain"`           // from labels to gains, a name of package metrics; "": exp2
	HighestGrade   float64     `json:"highestGrade"`   // of the collection: what ERR and graded RBP, and the losses ordinal and cross-entropy, take for the highest label there can be; a label above it is an error. 0: for measures the highest of all splits, for losses that of the training split
	NormalizeGains bool        `json:"normalizeGains"` // divide a query's gains by the highest value that the objective can have for it, or for arp by their sum: with dcg the objective is NDCG, with arp and the gain linear it is K + 1 − ARP@K
	Discounts      string      `json:"discounts"`      // θ of the objective, see metrics.ParseObjective: dcg, precision, arp, rbp, rbp(0.9), or K numbers; "": dcg
}

// Inputs are what a model sees of the documents.
type Inputs struct {
	Transform   string `json:"transform"`   // of raw features, see datasets.FitTransform; "": minmax
	Categorical []int  `json:"categorical"` // ids of features whose values are names: a model learns a vector for each, see nn.Embedding
}

// A Model is what gives the scores.
type Model struct {
	Scorer      string         `json:"scorer"`      // mlp, by which documents are scored one by one, or attention, by which they see each other, see nn.Transformer; "": mlp
	Hidden      []int          `json:"hidden"`      // widths of the hidden layers; none: a linear model
	Activation  ops.Activation `json:"activation"`  // of the hidden layers; zero: none
	Dropout     float64        `json:"dropout"`     // rate of dropout after each hidden layer; 0: no dropout
	Members     int            `json:"members"`     // networks trained side by side, whose scores are averaged; 0: 1
	Blocks      int            `json:"blocks"`      // of the scorer attention, as wide as the last hidden layer; 0: 1
	Heads       int            `json:"heads"`       // of each of its blocks; 0: 2
	LatentCross bool           `json:"latentCross"` // the scorer attention ends in the latent cross of DASALC
}

// An Optimization is how, and for how long, the weights are learnt.
type Optimization struct {
	Optimizer    string  `json:"optimizer"`    // sgd, momentum, adam or adamw; "": sgd
	LearningRate float64 `json:"learningRate"` // 0: 0.01
	Momentum     float64 `json:"momentum"`     // of the optimizer momentum; 0: 0.9
	WeightDecay  float64 `json:"weightDecay"`  // of the optimizer adamw, for weights that are no biases; 0: 0.01
	Decay        float64 `json:"decay"`        // the learning rate is multiplied by it after each epoch; 0: not changed
	Schedule     string  `json:"schedule"`     // of the learning rate: constant; cosine, down to 0 at the end of the last epoch; or plateau, halved after 3 epochs without a better validation value: plateau(5,0.1) for others; "": constant
	Warmup       float64 `json:"warmup"`       // epochs in which the learning rate rises from 0 in equal steps; 0: none
	L2           float64 `json:"l2"`           // L2·w is added to the gradient of every weight w that is not a bias; 0: nothing
	GroupLasso   float64 `json:"groupLasso"`   // λ of the penalty λ·√outputs·Σ_j ‖w_j‖, w_j being the weights from input j into the first layer, of so many outputs: it keeps the weights of inputs that say nothing small (Yuan & Lin 2006); 0: none
	Clip         float64 `json:"clip"`         // a gradient whose norm is larger is scaled down to it; 0: never
	Average      float64 `json:"average"`      // β of the exponential moving average of the weights over the steps, which is then what is evaluated, kept and saved; 0: none
	Batch        int     `json:"batch"`        // queries a step; 0: 1
	// Shards is the number of parts that the training queries are divided into. A step
	// takes its queries from all of them, and the gradients of the shards are computed one
	// by one and summed in a fixed order. As many processes at most can share the work, see
	// Parts.Processes, and the result does not depend on how many do. 0: 1
	Shards   int    `json:"shards"`
	OnNaN    string `json:"onNaN"`    // what becomes of a batch whose loss or gradient is not finite or cannot be computed: stop ends the training with an error; skip leaves the batch out and counts it; "": stop
	Epochs   int    `json:"epochs"`   // passes over the training queries; 0: 40
	Patience int    `json:"patience"` // stop after so many epochs without a better validation value; 0: never
}

// An Evaluation is what is measured, and by what the best epoch is chosen.
type Evaluation struct {
	Metric     string `json:"metric"`     // the validation value: a metric such as ndcg@5, expected-ndcg@5, or a measure of fairness such as disparity; loss, the loss itself; or a weighted sum, of which more is better, such as expected-ndcg@5-10*disparity; "": ndcg@ the cutoff, and loss for a sum of losses or a loss of fairness
	Convention string `json:"convention"` // for label-free queries: zero, one, skip or letor4, see package metrics; "": skip
	Ties       string `json:"ties"`       // how documents of equal scores are ranked: random, the expected value under random order, or order, as they stand; "": random
	// Report names more metrics to report than [Config.Reported] does by itself: such
	// as map or expected-err@10, and the measures of fairness of package metrics, such
	// as disparity or ee-l. These are of the expected exposure of the documents under
	// the policy, with the discounts of the objective and the gains as they
	// are before NormalizeGains. Queries without a value are left out of their mean.
	Report            []string `json:"report"`
	WeightedMetrics   bool     `json:"weightedMetrics"`   // queries count by their weights in the mean of a metric, where the data have such weights
	EvaluationSamples int      `json:"evaluationSamples"` // rankings sampled for the expected metrics that are not exact, see metrics.Measure.Sampled; 0: 100
	EvaluateTrain     bool     `json:"evaluateTrain"`     // report metrics of the training split every epoch, too
	EvaluateTest      bool     `json:"evaluateTest"`      // and those of the test split: for learning curves, never for choosing
	DropLabelFreeTest bool     `json:"dropLabelFreeTest"` // leave test queries without a relevant document out of all metrics
}

// Default is the recipe of choice: what did best on small real collections of quite
// different kinds at once. Its objective is exact: nothing is sampled, and Samples means
// nothing until Loss names one of the losses that do. The mean of a few
// networks varies less from seed to seed, and the expected metric tells epochs apart
// with less noise than the metric of one ranking. The learning rate begins high and falls
// fast, which takes a fifth of the steps of a low one.
func Default() Config {
	return Config{
		Objective:    Objective{Loss: "plrank-exact", Cutoff: 10, NormalizeGains: true},
		Inputs:       Inputs{Transform: "minmax+log-standard+quantile"},
		Model:        Model{Hidden: []int{64}, Activation: ops.ReLU, Dropout: 0.5, Members: 3},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.006, Decay: 0.85, Batch: 4, Epochs: 16},
		Evaluation:   Evaluation{Metric: "expected-ndcg@10"},
	}
}

// Paper is the set-up of the experiments of Oosterhuis (2021), section 7, with
// PL-Rank-2: two hidden layers of 32 sigmoids, plain SGD, one query a step, a
// number of samples that grows from 10 to 100, DCG@5 under the policy.
func Paper() Config {
	return Config{
		Objective:    Objective{Loss: "plrank2", Cutoff: 5, Samples: Dynamic},
		Inputs:       Inputs{Transform: "minmax"},
		Model:        Model{Hidden: []int{32, 32}, Activation: ops.Sigmoid},
		Optimization: Optimization{Optimizer: "sgd", LearningRate: 0.01, Batch: 1, Epochs: 40},
		Evaluation:   Evaluation{Metric: "expected-dcg@5", EvaluationSamples: 100, DropLabelFreeTest: true},
	}
}

var presets = map[string]func() Config{"default": Default, "paper": Paper}

// Presets lists the names that Preset knows.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// Preset is a configuration by name: default or paper.
func Preset(name string) (Config, error) {
	if p, ok := presets[name]; ok {
		return p(), nil
	}
	return Config{}, unknown("preset", name, Presets())
}

func unknown(what, name string, valid []string) error {
	return fmt.Errorf("train: unknown %s %q: %s", what, name, names.Want(name, valid))
}

// WithDefaults is c with what its zero fields mean.
func (c Config) WithDefaults() Config {
	fill(&c.Loss, "plrank-exact")
	fill(&c.Cutoff, 5)
	fill(&c.Samples, 100)
	fill(&c.Gain, metrics.Exp2Gain.String())
	fill(&c.Discounts, "dcg")
	fill(&c.Transform, "minmax")
	fill(&c.Scorer, mlpScorer)
	fill(&c.Blocks, 1)
	fill(&c.Heads, 2)
	fill(&c.Optimizer, "sgd")
	fill(&c.LearningRate, 0.01)
	fill(&c.Momentum, 0.9)
	fill(&c.WeightDecay, 0.01)
	fill(&c.Decay, 1)
	fill(&c.Schedule, "constant")
	fill(&c.Batch, 1)
	fill(&c.Shards, 1)
	fill(&c.OnNaN, onNaNStop)
	fill(&c.Epochs, 40)
	fill(&c.Metric, c.usualMetric())
	fill(&c.Convention, metrics.LabelFreeSkip.String())
	fill(&c.Ties, metrics.TiesRandom.String())
	fill(&c.EvaluationSamples, 100)
	return c
}

// usualMetric is that of validation where none is named. What a loss of several parts, or one
// of fairness, trades off no metric of relevance says.
func (c Config) usualMetric() string {
	if ByLoss(c.Loss) {
		return LossMetric
	}
	return fmt.Sprintf("ndcg@%d", c.Cutoff)
}

// ByLoss tells whether [LossMetric] is the usual metric of validation for a loss: for sums of
// several, and for those of fairness.
func ByLoss(loss string) bool {
	terms, err := losses.Terms(loss)
	return err == nil && (len(terms) > 1 || terms[0].Measure != "")
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Check reports the first setting that makes no sense. What depends on the data,
// such as the transform, is checked by [New].
func (c Config) Check() error {
	_, err := c.parse(Parts{})
	return err
}

// parsed is a configuration with its names looked up.
type parsed struct {
	Config
	parts      Parts
	loss       losses.Func
	gain       metrics.Gain
	optimised  metrics.Objective // the sum over ranks
	schedule   schedule
	metric     criterion         // of validation
	measures   []metrics.Measure // that every evaluation reports
	terms      []losses.Term     // of the loss
	convention metrics.LabelFree
	ties       metrics.Ties
	topGrade   float64 // the highest grade that measures go by
	lossGrade  float64 // and losses
	lossValues *lossValues
}

func (c Config) parse(parts Parts) (*parsed, error) {
	p := &parsed{Config: parts.naming(c).WithDefaults(), parts: parts, lossValues: &lossValues{by: map[*datasets.Dataset]*lossValue{}}}
	c = p.Config
	var err error
	if c.Cutoff > maxCutoff {
		return nil, fmt.Errorf("train: cutoff is %d: want %d at most, or it takes too much memory", c.Cutoff, maxCutoff)
	}
	if p.loss, p.terms, err = parts.lossOf(c); err != nil {
		return nil, err
	}
	if err = parts.checkMetrics(); err != nil {
		return nil, err
	}
	if p.gain, err = metrics.ParseGain(c.Gain); err != nil {
		return nil, err
	}
	if p.metric, err = parts.parseCriterion(c.Metric); err != nil {
		return nil, err
	}
	p.Metric = p.metric.String()
	if err = p.parseObjective(); err != nil {
		return nil, err
	}
	if p.measures, err = p.reported(); err != nil {
		return nil, err
	}
	if p.convention, err = metrics.ParseLabelFree(c.Convention); err != nil {
		return nil, err
	}
	if p.ties, err = metrics.ParseTies(c.Ties); err != nil {
		return nil, err
	}
	if p.schedule, err = parseSchedule(c.Schedule); err != nil {
		return nil, err
	}
	if _, ok := optimizers[c.Optimizer]; !ok && parts.Optimizer == nil {
		return nil, unknown("optimizer", c.Optimizer, Optimizers())
	}
	if _, err = c.Activation.MarshalText(); err != nil {
		return nil, err
	}
	if c.OnNaN != onNaNStop && c.OnNaN != onNaNSkip {
		return nil, unknown("way with batches that are not finite", c.OnNaN, []string{onNaNStop, onNaNSkip})
	}
	if c.Samples < 1 && c.Samples != Dynamic {
		return nil, fmt.Errorf("train: samples is %d: want 1 or more, or dynamic", int(c.Samples))
	}
	for _, setting := range []struct {
		name  string
		value int
		least int
	}{
		{"cutoff", c.Cutoff, 1}, {"batch", c.Batch, 1}, {"shards", c.Shards, 1}, {"epochs", c.Epochs, 1}, {"patience", c.Patience, 0},
		{"evaluation samples", c.EvaluationSamples, 1}, {"members", c.Members, 0},
	} {
		if setting.value < setting.least {
			return nil, fmt.Errorf("train: %s is %d: want %d or more", setting.name, setting.value, setting.least)
		}
	}
	for _, width := range c.Hidden {
		if width < 1 {
			return nil, fmt.Errorf("train: a hidden layer of width %d: want 1 or more", width)
		}
	}
	for _, setting := range []struct {
		name        string
		value       float64
		least, most float64
		want        string
	}{
		{"learning rate", c.LearningRate, math.SmallestNonzeroFloat64, math.MaxFloat64, "a number above 0"},
		{"dropout", c.Dropout, 0, math.Nextafter(1, 0), "a rate in [0, 1)"},
		{"momentum", c.Momentum, 0, math.Nextafter(1, 0), "a number in [0, 1)"},
		{"weight decay", c.WeightDecay, 0, math.MaxFloat64, "a number that is not below 0"},
		{"average", c.Average, 0, math.Nextafter(1, 0), "a number in [0, 1), such as 0.999"},
		{"decay", c.Decay, math.SmallestNonzeroFloat64, 1, "a number in (0, 1]"},
		{"warm-up", c.Warmup, 0, math.MaxFloat64, "a number of epochs that is not below 0"},
		{"l2", c.L2, 0, math.MaxFloat64, "a number that is not below 0"},
		{"group lasso", c.GroupLasso, 0, math.MaxFloat64, "a number that is not below 0"},
		{"highest grade", c.HighestGrade, 0, math.MaxFloat32, "a number that is not below 0"},
		{"clip", c.Clip, 0, math.MaxFloat64, "a number that is not below 0"},
	} {
		if !(setting.value >= setting.least && setting.value <= setting.most) {
			return nil, fmt.Errorf("train: %s is %v: want %s", setting.name, setting.value, setting.want)
		}
	}
	if err = c.checkScorer(parts); err != nil {
		return nil, err
	}
	return p, errors.Join(p.checkShards(), p.checkMemory(1))
}

// A SampleCount is the number of rankings sampled for each query and step, or
// [Dynamic].
type SampleCount int

// Dynamic is a number of samples that grows with the epoch, from 10 to 100 in the
// course of 40 epochs (Oosterhuis 2021, section 7).
const Dynamic SampleCount = -1

const dynamicName = "dynamic"

// At is the number of samples in an epoch, counted from 0.
func (n SampleCount) At(epoch int) int {
	if n == Dynamic {
		return min(100, 10+90*epoch/40)
	}
	return int(n)
}

// most is the highest that At gives.
func (n SampleCount) most() int { return n.At(40) }

// String is a number, or "dynamic".
func (n SampleCount) String() string {
	if n == Dynamic {
		return dynamicName
	}
	return strconv.Itoa(int(n))
}

// MarshalText writes what String gives.
func (n SampleCount) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a number of 1 or more, or "dynamic".
func (n *SampleCount) UnmarshalText(text []byte) error {
	if string(text) == dynamicName {
		*n = Dynamic
		return nil
	}
	v, err := strconv.Atoi(string(text))
	if err != nil || v < 1 {
		return fmt.Errorf("want a number of 1 or more, or %s", dynamicName)
	}
	*n = SampleCount(v)
	return nil
}

// MarshalJSON writes a number, or the string "dynamic".
func (n SampleCount) MarshalJSON() ([]byte, error) {
	if n == Dynamic {
		return json.Marshal(dynamicName)
	}
	return json.Marshal(int(n))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *SampleCount) UnmarshalJSON(data []byte) error {
	var v int
	if json.Unmarshal(data, &v) == nil {
		*n = SampleCount(v)
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return n.UnmarshalText([]byte(text))
}
