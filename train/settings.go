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

	Want string // for a list of numbers, what would be right where it cannot be read

	Resumable bool // may differ when a run is resumed
	Measuring bool // matters for the metrics of a model that is trained already

	check check // of the value by itself; nil: all values, or what else looks at it checks them
}

// Take gives the setting the value that it has in another Config.
func (s Setting) Take(from Setting) { s.field().Set(from.field()) }

func (s Setting) field() reflect.Value { return reflect.ValueOf(s.Value).Elem() }

var capital = regexp.MustCompile("[A-Z]")

// words is the name of the setting in errors.
func (s Setting) words() string { return strings.ToLower(capital.ReplaceAllString(s.JSON, " $0")) }

// json is the value as JSON has it.
func (s Setting) json() string {
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
)

// LossMetric is the Config.Metric that makes the loss itself the validation value.
const LossMetric = "loss"

// Settings returns the settings of c, whose fields they point to, in the order of Config.
func (c *Config) Settings() []Setting {
	list := slices.Concat(c.Objective.settings(), c.Inputs.settings(), c.Model.settings(), c.Model.ofForests(), c.Optimization.settings(),
		c.Optimization.length(), c.Evaluation.settings(c.usualMetric()), []Setting{
			{Flag: "seed", Value: &c.Seed, Measuring: true, Help: "`seed` of all that is random"},
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

func (o *Objective) settings() []Setting {
	return []Setting{
		{Flag: "loss", Value: &o.Loss, Plain: "plrank-exact",
			Help: "the objective: the `name` of a loss, or a weighted sum of several, such as plrank-exact+0.5*disparity"},
		{Flag: "cutoff", Value: &o.Cutoff, Plain: 5, check: counted(ofRanks), Measuring: true,
			Help: "ranks that count, `K`; all (or 0): every rank, however long the lists"},
		{Flag: "samples", Value: &o.Samples, Plain: 100, check: counted(ofSamples),
			Help: "rankings sampled for each query and step, `N`, by the losses that sample; dynamic grows from step to step, from 10 to " +
				"100 over 40 epochs"},
		{Flag: "gain", Value: &o.Gain, Plain: metrics.Exp2Gain.String(), Measuring: true,
			Help: "`name` of the gain of a label: exp2 (2^label − 1); linear, the label itself, for labels that are not grades; or " +
				"binary, 1 for labels of 1 or more"},
		{Flag: "highest-grade", Value: &o.HighestGrade, Measuring: true,
			check: within(0, math.MaxFloat32, fmt.Sprintf("a number from 0 to %.2g", math.MaxFloat32)),
			Help: "highest `label` possible, which err, graded-rbp and the losses ordinal and cross-entropy go by; 0 is the highest of " +
				"the data: of all folds for -folds, and of all splits for metrics, but of the training split for losses. With -model, 0" +
				" is the model's"},
		{Flag: "normalize", Value: &o.NormalizeGains,
			Help: "divide the gains of a query by the highest value that the objective can have for it: optimise NDCG rather than DCG; " +
				"with -discounts arp, by their sum: with -gain linear the objective is K + 1 − ARP@K"},
		{Flag: "discounts", Value: &o.Discounts, Plain: "dcg", Measuring: true,
			Help: "what each rank counts in the objective (`name`): dcg, precision, arp, rbp, rbp(0.9) for another persistence, or as " +
				"many numbers as the cutoff, such as 1,0.5,0.25; precision and numbers need a cutoff"},
	}
}

func (i *Inputs) settings() []Setting {
	return []Setting{
		{Flag: "transform", Value: &i.Transform, Plain: "minmax",
			Help: "`parts` of the features' transform, joined by +: none, minmax, standard, log-standard, quantile, rank, missing, raw"},
		{Flag: "bins", Value: &i.Bins, check: between(0, forest.MaxBins),
			Help: "`number` of bins, at quantiles of the training data, through which the first layer sees what the transform gives " +
				"(piecewise-linear encoding): for features with thresholds or missing values, at most 125; 0: none. Between them lie " +
				"the thresholds of the scorer forest, 3 to 255; 0: 64"},
		{Flag: "categorical", Value: &i.Categorical,
			Help: "`features` whose values are names rather than amounts, by name, pattern or id, such as city,brand_*,17: the model " +
				"learns a vector for each value, and has one for missing values and one for unseen ones, and a value of a single " +
				"training document, or of a feature of the query, of a single query, counts as unseen. In separated values they are " +
				"text; in LETOR text numbers within ±16777216, which float32 tells apart"},
	}
}

func (m *Model) settings() []Setting {
	return []Setting{
		{Flag: "scorer", Value: &m.Scorer, Plain: mlpScorer, check: oneOf("scorer", Scorers()...),
			Help: "`kind` of model: mlp scores each document by itself; attention, a list transformer, sees the other documents of the " +
				"query; forest is a sum of boosted trees"},
		{Flag: "hidden", Value: &m.Hidden, check: widths, Want: fmt.Sprintf("widths of 1 to %d, such as 64,32", mostWidth),
			Help: "`widths` of the hidden layers, such as 64,32; \"\" is a linear model"},
		{Flag: "activation", Value: &m.Activation, check: marshals,
			Help: "`name` of the hidden layers' activation: none (or linear), sigmoid, tanh, relu, gelu or swiglu"},
		{Flag: "dropout", Value: &m.Dropout, check: fraction("a rate in [0, 1)"),
			Help: "`rate` of dropout after each hidden layer, and in blocks of attention"},
		{Flag: "members", Value: &m.Members, check: between(0, mostMembers),
			Help: "`number` of networks in an ensemble, whose scores are averaged"},
		{Flag: "blocks", Value: &m.Blocks, Plain: 1, check: between(1, mostBlocks),
			Help: "`number` of blocks of the scorer attention, which are as wide as the last hidden layer"},
		{Flag: "heads", Value: &m.Heads, Plain: 2, check: between(1, mostWidth),
			Help: "`number` of heads of each block, which divides that width"},
	}
}

// ofForests returns the settings of the scorer forest.
func (m *Model) ofForests() []Setting {
	return []Setting{
		{Flag: "trees", Value: &m.Trees, check: between(0, mostEpochs),
			Help: "`number` of trees that an epoch adds to the scorer forest, each a pass over the training queries; 0 and 1: an epoch is" +
				" a tree"},
		{Flag: "depth", Value: &m.Depth, check: between(0, mostDepth),
			Help: "largest `depth` of trees of the scorer forest; 0: 6, or with -leaves as deep as they allow"},
		{Flag: "leaves", Value: &m.Leaves, check: between(0, mostLeaves),
			Help: "largest `number` of leaves of trees: the one that gains most is split next; 0: symmetric trees, where all nodes of a " +
				"level have the same split"},
		{Flag: "sampling", Value: &m.Sampling, check: within(0, 1, "a number from 0 to 1"),
			Help: "`part` of the training documents by which the splits of each tree are chosen; the values of its leaves are by all; 0 " +
				"and 1: all"},
		{Flag: "feature-sampling", Value: &m.FeatureSampling, check: within(0, 1, "a number from 0 to 1"),
			Help: "`part` of the features that the splits of each tree are chosen from; 0 and 1: all"},
		{Flag: "rising", Value: &m.Rising,
			Help: "`features` with which the scores of the scorer forest never fall, by name, pattern or id, such as stars,sold_*"},
		{Flag: "falling", Value: &m.Falling,
			Help: "`features` with which the scores of the scorer forest never rise, such as price"},
	}
}

func (o *Optimization) settings() []Setting {
	return []Setting{
		{Flag: "optimizer", Value: &o.Optimizer, Plain: "sgd", check: oneOf("optimizer", Optimizers()...),
			Help: "`name` of the optimizer: " + strings.Join(Optimizers(), ", ")},
		{Flag: "lr", Value: &o.LearningRate, Plain: 0.01, check: within(math.SmallestNonzeroFloat64, math.MaxFloat64, "a finite number above 0"),
			Help: "learning `rate`; of the scorer forest, the factor of a tree"},
		{Flag: "momentum", Value: &o.Momentum, Plain: 0.9, check: fraction("a number in [0, 1)"),
			Help: "`rate` of the optimizer momentum"},
		{Flag: "weight-decay", Value: &o.WeightDecay, Plain: 0.01, check: notNegative,
			Help: "`rate` of the decay of the optimizer adamw, for weights that are not biases"},
		{Flag: "decay", Value: &o.Decay, Plain: 1, check: within(math.SmallestNonzeroFloat64, 1, "a number in (0, 1]"),
			Help: "`factor` on the learning rate after each epoch"},
		{Flag: "schedule", Value: &o.Schedule, Plain: "constant",
			Help: "how the learning rate changes (`name`): constant; cosine, down to 0 at the end of the last epoch; plateau, halved " +
				"after 3 epochs without a better validation value, or plateau(5,0.1)"},
		{Flag: "warmup", Value: &o.Warmup, check: within(0, mostEpochs, fmt.Sprintf("epochs of warm-up, a number from 0 to %d", mostEpochs)),
			Help: "`epochs` in which the learning rate rises from 0 in equal steps; 0.5 is half an epoch"},
		{Flag: "l2", Value: &o.L2, check: notNegative,
			Help: "`weight` of the L2 penalty on weights that are not biases; 0: none. In leaves of the scorer forest a weight of N " +
				"counts as N documents without a gradient"},
		{Flag: "group-lasso", Value: &o.GroupLasso, check: notNegative,
			Help: "`weight` of a penalty on the norms of the weights of each input, with bins on the norms of its line and its bends, " +
				"which keeps the weights of uninformative inputs small; 0: none"},
		{Flag: "clip", Value: &o.Clip, check: notNegative,
			Help: "highest `norm` of a gradient; 0: no limit"},
		{Flag: "average", Value: &o.Average, check: fraction("a number in [0, 1), such as 0.999"),
			Help: "`rate` of the exponential moving average of the weights over the steps, such as 0.999, and over at most a ninth of " +
				"them: the model is then the average; 0: none"},
	}
}

// length returns the settings of steps and epochs.
func (o *Optimization) length() []Setting {
	return []Setting{
		{Flag: "batch", Value: &o.Batch, Plain: 1, check: between(1, mostQueries),
			Help: "`queries` a step; more than the training split has are all of them"},
		{Flag: "shards", Value: &o.Shards, Plain: 1, check: between(1, mostShards),
			Help: "`parts` that the training queries are divided into. A step takes queries from all of them; their gradients are " +
				"computed one by one and summed in a fixed order. As many processes at most can share a training under mpirun, where " +
				"the default is 8; the result does not depend on how many do"},
		{Flag: "on-nan", Value: &o.OnNaN, Plain: onNaNStop, Resumable: true,
			check: oneOf("policy for batches that are not finite", onNaNStop, onNaNSkip),
			Help: "`what` becomes of a batch whose loss or gradient is not finite or cannot be computed: stop ends the training with an " +
				"error; skip leaves the batch out and counts it"},
		{Flag: "epochs", Value: &o.Epochs, Plain: 40, check: between(1, mostEpochs), Resumable: true,
			Help: "`passes` over the training queries, or parts of them, see -epochs-per-pass; at most"},
		{Flag: "epochs-per-pass", Value: &o.EpochsPerPass, check: between(0, mostEpochs),
			Help: "`parts` of a pass over the training queries that are epochs, each with a validation at its end; at most one a step; 0 " +
				"and 1: an epoch is a pass"},
		{Flag: "patience", Value: &o.Patience, check: between(0, mostEpochs), Resumable: true,
			Help: "stop after this many `epochs` without a better validation value; 0: never"},
	}
}

func (e *Evaluation) settings(usual string) []Setting {
	return []Setting{
		{Flag: "metric", Value: &e.Metric, Plain: usual, Measuring: true,
			Help: "`metric` of the validation, which picks the best epoch: such as ndcg@10, expected-ndcg@10 for its expectation under " +
				"the policy, or a measure of fairness, such as disparity; loss, the loss itself, is the default for a -loss that is a " +
				"sum or of fairness; or a weighted sum, where higher is better, such as expected-ndcg@10-5*disparity"},
		{Flag: "convention", Value: &e.LabelFree, Plain: metrics.LabelFreeSkip.String(), Measuring: true,
			Help: "what queries without a relevant document count in metrics of relevance, but DCG, precision, ERR and RBP, where they " +
				"count 0: zero, one, skip or letor4 (`name`)"},
		{Flag: "ties", Value: &e.Ties, Plain: metrics.TiesRandom.String(), Measuring: true,
			Help: "how documents of equal scores are ranked: random, for the expected value under random order, or order, as they stand " +
				"(`name`)"},
		{Flag: "report", Value: &e.Report, Measuring: true,
			Help: "more `metrics` to report, with commas between: such as map,expected-err@10,disparity"},
		{Flag: "weighted-metrics", Value: &e.WeightedMetrics,
			Help: "queries count by their weights in the means of metrics, too"},
		{Flag: "evaluation-samples", Value: &e.EvaluationSamples, Plain: 100, check: between(1, mostSamples), Measuring: true,
			Help: "rankings sampled for expected metrics that are not exact, `N`"},
		{Flag: "evaluate-train", Value: &e.EvaluateTrain,
			Help: "report metrics of the training split after each epoch, too"},
		{Flag: "evaluate-test", Value: &e.EvaluateTest,
			Help: "report metrics of the test split after each epoch, too: for learning curves, never for choosing"},
		{Flag: "drop-label-free-test", Value: &e.DropLabelFreeTest,
			Help: "leave queries of the test split without a relevant document out of all metrics, DCG too"},
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
		if now, then := s.json(), before[i].json(); now != then {
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

// counted looks that a count can be written.
func counted(w countWriting) check {
	return func(s Setting) error {
		if n := int(s.field().Int()); n != wordCount && (n < 1 || n > w.most) {
			return fmt.Errorf("train: %s is %d: %w", s.words(), n, w.want())
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

// oneOf looks that a name is one of those.
func oneOf(what string, valid ...string) check {
	return func(s Setting) error {
		if name := *s.Value.(*string); !slices.Contains(valid, name) {
			return fmt.Errorf("train: unknown %s %q: %s", what, name, names.Want(name, valid))
		}
		return nil
	}
}

// widths looks that hidden layers can be built.
func widths(s Setting) error {
	for _, n := range *s.Value.(*[]int) {
		if n < 1 || n > mostWidth {
			return fmt.Errorf("train: a hidden layer of width %d: want %s", n, s.Want)
		}
	}
	return nil
}

// marshals looks that a value has a name.
func marshals(s Setting) error {
	_, err := s.Value.(encoding.TextMarshaler).MarshalText()
	return err
}
