package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/shards"
	"github.com/plrank/plrank/transforms"
)

// A Trainer is a training run: its data, its model and its progress.
type Trainer struct {
	Config Config // with the names as they are written; not to be changed

	running    sync.Mutex
	parsed     *parsed
	data       *runData
	transform  *transforms.Transform
	trainedOn  ranker.QueryDigests
	reference  func() *ranker.Reference // of the features
	warnings   []string
	loop       *loop
	validation *validation
	history    *history
}

// Hooks are callbacks. A nil one is skipped. They are called after all other hooks. Use a [Hook] for other moments, or if a
// checkpoint must keep its state.
type Hooks struct {
	// before the first step, with the validation of Custom.Initial if there is one; its error ends the training
	Initial func(Values) error
	Step    func(Step)                  // after each step, also of a skipped batch
	Epoch   func(*Trainer, Epoch) error // after each epoch, the place to take a Checkpoint; its error ends the training
}

// A Result holds what training ended with.
type Result struct {
	Model       *ranker.Model // the best model by the validation value
	BestEpoch   int           // its epoch; 0 if it is the initial one, or if the run was interrupted in the first
	History     []Epoch
	Initial     Values // of Custom.Initial on the validation split; nil: there is none
	Interrupted bool   // the context was cancelled before the end
}

// Run trains a model: it calls New and Trainer.Run.
func Run(ctx context.Context, c Config, s *datasets.Splits, h Hooks) (*Result, error) {
	t, err := New(c, Custom{}, s)
	if err != nil {
		return nil, err
	}
	return t.Run(ctx, h)
}

// New prepares a run, with custom parts or with Custom{}. The training and validation splits must have at least one query with a
// relevant document, unless the loss learns from fairness alone. The test split may be nil. The error says which setting or split
// is wrong.
func New(c Config, parts Custom, s *datasets.Splits) (*Trainer, error) {
	p, err := c.parse(parts)
	if err := mpi.Agree(parts.Processes, err); err != nil {
		return nil, err
	}
	t := &Trainer{Config: p.config, parsed: p}
	begun, learned, err := beginProducts(p, s)
	if err == nil {
		t.data, err = newRunData(p, begun)
	}
	if err := mpi.Agree(p.group, err); err != nil {
		return nil, err
	}
	t.data.learned = learned
	if err := mpi.Agree(p.group, t.prepare()); err != nil {
		return nil, err
	}
	if err := t.checkRanks(); err != nil {
		return nil, err
	}
	_, _, _, arrays := t.loop.learner.Numbers()
	return t, ofHook("", t.loop.call(func(h Hook) error { return h.Prepare(slices.Clone(arrays)) }))
}

// prepare makes what the configuration and the splits determine.
func (t *Trainer) prepare() error {
	p, c, train := t.parsed, t.Config, t.data.splits.Train
	var err error
	if t.transform, err = fitTransform(p, train); err != nil {
		return err
	}
	t.data.transformBy(t.transform)
	t.reference = sync.OnceValue(func() *ranker.Reference { return newReference(t.data.splits.Train, t.transform) })
	t.trainedOn, t.warnings = seenQueries(t.data.splits, p.parts.Initial)
	t.warnings = slices.Concat(unusedFeatures(train, t.transform, p.parts.Initial), rareValues(train, t.transform), t.warnings)
	t.history = &history{metric: p.evaluator.metric}
	t.validation = &validation{evaluator: p.evaluator, data: t.data, history: t.history, initial: p.parts.Initial}
	queries := min(c.Batch, len(t.data.Queries)) // of a step: a batch has no more than there are, and takes no more memory
	if c.Scorer == forestScorer {
		queries = len(t.data.Queries)
	}
	division := shards.Division{Shards: c.Shards, Batch: queries, Seed: c.Seed, Rank: p.group.Rank(), Ranks: p.group.Size()}
	cutoff := min(len(p.loss.discounts.Discounts), longest(train)) // there are no ranks beyond it
	t.loop = &loop{
		group: p.group, history: t.history,
		batches:   &batches.Batches{Data: &t.data.Data, Division: division, Own: division.Own()},
		objective: p.loss.objective(train, cutoff), samples: c.Samples, parts: c.EpochsPerPass, passes: 1, skips: c.OnNaN == onNaNSkip,
	}
	targets, err := newTargets(p, train, t.history, t.loop.objective)
	if err != nil {
		return err
	}
	learner, warnings, err := newLearner(p, t.data, t.transform, t.loop)
	if err != nil {
		return err
	}
	t.loop.learner, t.warnings = learner, append(t.warnings, warnings...)
	t.validation.learner = t.loop.learner
	for range t.loop.learner.Parts() {
		t.validation.bestParts = append(t.validation.bestParts, Value(math.NaN()))
	}
	t.loop.hooks = t.newHooks(p.schedule, targets)
	return nil
}

// newHooks returns the hooks of a run, in the order that [Hook] says.
func (t *Trainer) newHooks(s schedule, targets *targets) (list []Hook) {
	c, v := t.Config, t.validation
	_, _, averaged, arrays := t.loop.learner.Numbers()
	add := func(wanted bool, h Hook) {
		if wanted {
			list = append(list, h)
		}
	}
	add(true, v.history)
	add(averaged != nil, &average{beta: c.Average, averaged: averaged})
	add(true, finiteWeights{})
	if targets != nil {
		targets.learner = t.loop.learner
		list = append(list, targets)
	}
	add(true, v)
	add(true, &rates{Optimization: c.Optimization, schedule: s, history: v.history})
	add(c.L2 != 0, &l2{rate: float32(c.L2), arrays: arrays})
	for i, h := range t.parsed.parts.Hooks {
		add(true, &customHook{Hook: h, number: i + 1, group: t.parsed.group})
	}
	add(true, &clipping{most: c.Clip})
	add(true, &patience{history: v.history, epochs: c.Epochs, patience: c.Patience})
	return list
}

// state returns the state of the loop and its hooks.
func (t *Trainer) state() State {
	all := t.loop.state()
	arrays, values := t.loop.learner.State()
	maps.Copy(all.Arrays, arrays)
	maps.Copy(all.Values, values)
	for _, h := range t.loop.hooks {
		s := h.State()
		maps.Copy(all.Arrays, s.Arrays)
		maps.Copy(all.Values, s.Values)
		maps.Copy(all.lengths, s.lengths)
	}
	return all
}

// callbacks is the hook of Hooks.
type callbacks struct {
	NopHook
	Hooks
	trainer *Trainer
}

func (c *callbacks) Begin() (err error) {
	h := c.trainer.history
	if h.initial == nil || len(h.epochs) > 0 {
		return nil
	}
	if c.Initial != nil {
		err = c.Initial(h.initial)
	}
	return mpi.Agree(c.trainer.parsed.group, err)
}

func (c *callbacks) AfterStep(s *Step) error {
	if c.Step != nil {
		c.Step(*s)
	}
	return nil
}

func (c *callbacks) AfterEpoch(e Epoch) (err error) {
	if c.Epoch != nil {
		err = c.Epoch(c.trainer, e)
	}
	return mpi.Agree(c.trainer.parsed.group, err)
}

// Run trains until the last epoch, until Config.Patience epochs in a row were not better than the best one, or until the context
// is cancelled. In each case it returns the best model so far, and no error.
//
// It returns an error that names the step and the queries if a loss, gradient or weight is not finite, unless Config.OnNaN says
// otherwise. A validation value that is not finite is never the best; if there is no other value yet, usually in the first epoch,
// Run returns an error. A Trainer that was interrupted cannot go on: make a new one, and Restore the last checkpoint.
func (t *Trainer) Run(ctx context.Context, h Hooks) (*Result, error) {
	if !t.running.TryLock() {
		return nil, errors.New("train: the trainer is running already: make one for each run")
	}
	defer t.running.Unlock()
	if err := t.loop.errWithin(); err != nil {
		return nil, err
	}
	defer t.loop.learner.Close()
	defer t.parsed.evaluator.losses.close()
	defer t.data.close()
	if err := t.state().followFirst(t.parsed.group); err != nil {
		return nil, err
	}
	own := t.loop.hooks
	t.loop.hooks = append(own[:len(own):len(own)], &callbacks{Hooks: h, trainer: t})
	defer func() { t.loop.hooks = own }()
	interrupted, err := t.loop.run(ctx)
	if err != nil {
		return nil, err
	}
	epochs := t.history.epochs
	best, err := t.model(len(epochs) > 0 || t.history.initial != nil)
	if err != nil {
		return nil, err
	}
	r := &Result{Model: best, History: epochs, Initial: t.history.initial, Interrupted: interrupted}
	if i := t.history.best(); i >= 0 {
		r.BestEpoch = epochs[i].Epoch
	}
	return r, nil
}

// Done reports whether there is nothing left to train.
func (t *Trainer) Done() bool { return t.loop.done() }

// History returns the line of each epoch until now.
func (t *Trainer) History() []Epoch { return t.history.epochs }

// Best returns the model of the best epoch until now.
func (t *Trainer) Best() (*ranker.Model, error) { return t.model(true) }

// Current returns the model after the last step, or of the average of its weights, see Config.Average. The networks of
// an ensemble are as after the last step, not as after their best epochs.
func (t *Trainer) Current() (*ranker.Model, error) {
	return t.model(false)
}

// LeftOut returns the number of training queries that are left out because the loss learns nothing from them: empty
// ones and, for most losses, queries without a relevant document (see losses.Term).
func (t *Trainer) LeftOut() int { return t.data.splits.Train.Queries() - len(t.data.Queries) }

// Warnings returns problems of the features and across splits: features that are constant in the training data,
// and queries that two splits share, compared by their documents, whatever their ids. Problems of one split are in
// datasets.Splits.Warnings.
func (t *Trainer) Warnings() []string { return t.warnings }

// Objective describes what is learned: "plrank-rb with N = 100, K = 10", with N for a loss that samples, and for
// Custom.Loss, which may sample.
func (t *Trainer) Objective() string { return t.parsed.loss.words() }

// Validation describes the criterion that picks the best epoch: "ndcg@10", or "loss (lower is better)".
func (t *Trainer) Validation() string {
	if t.parsed.evaluator.metric.LowerIsBetter() {
		return t.Config.Metric + " (lower is better)"
	}
	return t.Config.Metric
}

// Architecture describes the model: "92 inputs, hidden 64 (relu), 6017 weights".
func (t *Trainer) Architecture() string {
	words := fmt.Sprintf("%d inputs, %s", t.transform.Width(), t.loop.learner)
	if t.data.splits.Train.BaseScores != nil {
		words += ", added to base scores"
	}
	return words
}

// model is the best model, or the one after the last step.
func (t *Trainer) model(best bool) (*ranker.Model, error) {
	f := fileFor(t.transform, t.data.splits.Train, t.Config.Gain)
	maker, err := t.loop.learner.File(f, best)
	if err != nil {
		return nil, err
	}
	if initial := t.parsed.parts.Initial; initial != nil { // a log, for one, does not tell the columns of tables
		columns := maps.Clone(initial.File().Columns)
		if columns == nil {
			columns = f.Columns
		}
		maps.Copy(columns, f.Columns)
		f.Columns = columns
	}
	f.Grade, f.TrainingQueries = t.parsed.evaluator.in.HighestGrade, t.trainedOn
	reference := t.reference
	if t.data.learned != nil {
		learned, err := t.data.splits.Train.WithProducts(f.Products) // the ones of the best epoch
		if err != nil {
			return nil, err
		}
		reference = func() *ranker.Reference { return newReference(learned, t.transform) }
	}
	if columns := reference(); columns != nil {
		f.Reference = &ranker.Reference{Columns: columns.Columns}
	}
	model, err := ranker.NewWith(f, maker)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	ReferScores(model, t.data.splits.Train)
	return model, nil
}
