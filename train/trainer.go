package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

// A Trainer is a training run: its data, its model and how far it has come.
type Trainer struct {
	*parsed
	splits    *datasets.Splits
	transform *datasets.Transform
	queries   []int                                       // of the training split, those that the loss learns from
	gains     []float32                                   // of the training split, by row
	features  map[*datasets.Dataset]*datasets.Transformed // of the splits

	running   sync.Mutex
	model     nn.Scorer
	optimizer Optimizer
	objective
	graphs   graphs[*stepGraph]
	buffers  [2]stepBatch
	weights  []float32   // of model
	gradient []float32   // as long
	own      [][]float32 // gradients of this rank's shards
	shards   *reduction  // of those of all ranks into gradient; nil: gradient is the first
	averaged []float32   // the average of weights, see averageWeights; without one, weights
	current  *Ranker     // of model, or of a model of its own with the averaged weights
	best     *Ranker     // of a model of its own, with the weights of the best epoch

	// How far it has come: what a checkpoint keeps, besides weights and the optimizer's
	// state.
	step    uint64
	history []Epoch
	initial Values  // of the initial model on the validation split; nil: there is none
	data    *inputs // those that are data, and
	known   *inputs // those that a checkpoint belongs to: once they are asked for

	warnings []string
}

// An Epoch is a line of the history of training.
type Epoch struct {
	Epoch        int     `json:"epoch"`             // from 1
	Steps        uint64  `json:"steps"`             // made since the beginning
	Samples      int     `json:"samples"`           // N of this epoch, for losses that sample
	LearningRate float64 `json:"learningRate"`      // of the last step
	Loss         float64 `json:"loss"`              // mean over the training queries, at the time of their step, but for those of skipped batches
	Skipped      int     `json:"skipped,omitempty"` // batches, see Config.OnNaN
	Train        Values  `json:"train,omitempty"`   // with Config.EvaluateTrain
	Vali         Values  `json:"vali"`
	Test         Values  `json:"test,omitempty"` // with Config.EvaluateTest
	Best         bool    `json:"best"`           // the validation value is better than in all epochs before, and than that of the initial model
	Seconds      float64 `json:"seconds"`        // for training and evaluation; times are all here that may differ from run to run
	TrainSeconds float64 `json:"trainSeconds"`   // for the steps alone, and the packing of their batches
}

// Hooks are called while training goes on; those that are nil are not.
type Hooks struct {
	Initial func(Values) error          // before the first step, with the validation of Parts.Initial if there is one; its error ends the training
	Step    func(Step)                  // after each step
	Epoch   func(*Trainer, Epoch) error // after each epoch; its error ends the training
}

// A Step is how far an epoch has come.
type Step struct {
	Epoch       int // from 1
	Step, Steps int // done, and in all, of this epoch
	Loss        float64
	Skipped     error // why the batch was skipped, see Config.OnNaN; nil: it was not
}

// A Result is what training ended with.
type Result struct {
	Ranker      *Ranker // the best model by the validation value
	BestEpoch   int     // its epoch; 0 if it is the initial one, or if the run was interrupted in the first
	History     []Epoch
	Initial     Values // of Parts.Initial on the validation split; nil: there is none
	Interrupted bool   // the context was cancelled before the end
}

// Run trains a model: New and Trainer.Run.
func Run(ctx context.Context, c Config, s *datasets.Splits, h Hooks) (*Result, error) {
	t, err := New(c, Parts{}, s)
	if err != nil {
		return nil, err
	}
	return t.Run(ctx, h)
}

// New prepares a run, with parts of one's own, or with none: Parts{}. Training and validation splits must have documents and at
// least one query with a relevant document, where the loss is not one of fairness alone that needs none; the test split may be nil. The error
// says which setting or split is wrong.
func New(c Config, parts Parts, s *datasets.Splits) (*Trainer, error) {
	p, err := c.forData(s).parse(parts)
	if err := Agree(parts.Processes, err); err != nil {
		return nil, err
	}
	t := &Trainer{
		parsed:    p,
		objective: objective{loss: p.loss},
		graphs:    graphs[*stepGraph]{},
	}
	if err := Agree(t.processes(), t.takeSplits(s)); err != nil {
		return nil, err
	}
	if err := t.checkTask(); err != nil {
		return nil, err
	}
	if err := Agree(t.processes(), t.prepare()); err != nil {
		return nil, err
	}
	if err := t.checkModel(); err != nil {
		return nil, err
	}
	t.newReduction()
	return t, nil
}

// prepare makes what the configuration and the splits determine.
func (t *Trainer) prepare() (err error) {
	train := t.splits.Train
	cutoff := min(t.Cutoff, longest(train)) // there are no ranks beyond it
	t.sampler = ops.NewSampler(t.Samples.most(), cutoff, t.Seed)
	t.exposure = ops.NewSampler(exposureSamples, cutoff, ^t.Seed)
	t.discounts = t.optimised.Discounts[:cutoff]
	if t.transform, err = t.fitTransform(); err != nil {
		return err
	}
	t.features = map[*datasets.Dataset]*datasets.Transformed{}
	for _, d := range []*datasets.Dataset{train, t.splits.Vali, t.splits.Test} {
		if d != nil {
			t.features[d] = datasets.NewTransformed(d, t.transform)
		}
	}
	t.highestGrade, t.grouped = t.lossGrade, train.Groups != nil
	t.documentWeights, t.queryWeights = train.Weights != nil, train.QueryWeights != nil
	if err := t.checkMemory(t.transform.Width()); err != nil {
		return err
	}
	if t.model, err = t.newScorer(); err != nil {
		return err
	}
	best, err := t.anotherModel()
	if err != nil {
		return err
	}
	t.weights = t.model.Weights().Float32s()
	if err := t.begin(); err != nil {
		return err
	}
	current := t.model
	if t.Average != 0 {
		if current, err = t.anotherModel(); err != nil {
			return err
		}
	}
	t.averaged = current.Weights().Float32s()
	copy(t.averaged, t.weights)
	if t.optimizer, err = t.newOptimizer(); err != nil {
		return err
	}
	t.current = newRanker(current, t.transform, train.FeatureIDs, train.FeatureNames, t.Gain, t.topGrade)
	t.best = newRanker(best, t.transform, train.FeatureIDs, train.FeatureNames, t.Gain, t.topGrade)
	t.remember()
	return nil
}

// longest is the number of documents of the longest query.
func longest(d *datasets.Dataset) (documents int) {
	for q := range d.Queries() {
		documents = max(documents, d.Offsets[q+1]-d.Offsets[q])
	}
	return documents
}

// anotherModel makes another model like the one that is trained.
func (t *Trainer) anotherModel() (nn.Scorer, error) {
	s, err := t.newScorer()
	if err == nil && !reflect.DeepEqual(s.Weights().Arrays(), t.model.Weights().Arrays()) {
		err = errors.New("train: Parts.Scorer gives models of other weights each time")
	}
	return s, err
}

// takeSplits checks the splits and prepares gains and the queries to train on.
func (t *Trainer) takeSplits(s *datasets.Splits) error {
	if s == nil {
		return errors.New("train: no splits")
	}
	t.splits = &datasets.Splits{Train: s.Train, Vali: s.Vali, Test: s.Test}
	for _, split := range []struct {
		name string
		d    *datasets.Dataset
	}{{"training", s.Train}, {"validation", s.Vali}, {"test", s.Test}} {
		if split.d == nil && split.name == "test" {
			if t.EvaluateTest {
				return errors.New("train: evaluateTest: there is no test split")
			}
			continue
		}
		if split.d == nil || split.d.Rows() == 0 {
			return fmt.Errorf("train: the %s split is empty", split.name)
		}
		if !slices.Equal(split.d.FeatureIDs, s.Train.FeatureIDs) {
			return fmt.Errorf("train: %s and %s have other feature ids than each other", s.Train.Name, split.d.Name)
		}
		if err := split.d.Validate(); err != nil {
			return err
		}
		if err := t.checkGroups(split.d); err != nil {
			return err
		}
		if err := t.takeGrade(split.d); err != nil {
			return err
		}
		relevant, err := t.relevantQueries(split.d)
		if err != nil {
			return err
		}
		switch {
		case split.name == "test" && !t.DropLabelFreeTest:
		case len(relevant) == 0 && !(t.needsNoLabels() && split.name != "test"):
			return fmt.Errorf("train: no query of the %s split %s has a relevant document: there is nothing to learn or to measure", split.name, split.d.Name)
		case split.name == "training" && t.learnsLabelFree():
			t.queries = queriesWithDocuments(split.d)
		case split.name == "training":
			t.queries = relevant
		case split.name == "test":
			t.splits.Test = split.d.Select(relevant)
		}
	}
	t.lossGrade = t.gradeOfLoss()
	var err error
	t.gains, err = t.trainingGains(s.Train)
	return err
}

// trainingGains are the gains of all documents of d as losses have them.
func (p *parsed) trainingGains(d *datasets.Dataset) ([]float32, error) {
	gains, err := p.gains(d)
	if err != nil {
		return nil, err
	}
	if p.NormalizeGains {
		for q := range d.Queries() {
			of := gains[d.Offsets[q]:d.Offsets[q+1]]
			if norm := p.optimised.Norm(of); norm > 0 {
				for i := range of {
					of[i] /= norm
				}
			}
		}
	}
	narrow := make([]float32, len(gains))
	for i, g := range gains {
		narrow[i] = float32(g)
	}
	return narrow, nil
}

// Run trains until the last epoch, until Config.Patience epochs in a row were not better
// than the best one, or until the context is cancelled, which is no error: the result is the
// best model so far. A loss, gradient or weight that is not finite ends it with an error that
// names the step and the queries, unless Config.OnNaN says otherwise. A validation value that
// is not finite is never the best, and ends it with an error while there is no other, after
// the first epoch as a rule. A trainer that was
// interrupted cannot go on; make a new one and Restore the last checkpoint.
func (t *Trainer) Run(ctx context.Context, h Hooks) (*Result, error) {
	if !t.running.TryLock() {
		return nil, errors.New("train: the trainer is running already: make one for each run")
	}
	defer t.running.Unlock()
	defer t.graphs.close() // made again if they are needed
	defer t.lossValues.close()
	defer func() {
		for _, x := range t.features {
			x.Close()
		}
	}()
	if err := t.followFirst(); err != nil {
		return nil, err
	}
	if err := t.beginWithInitial(h); err != nil {
		return nil, err
	}
	interrupted := false
	for !t.done() {
		e, err := t.runEpoch(ctx, h)
		if errors.Is(err, errInterrupted) || cancelled(ctx, err) {
			interrupted = true
			break
		}
		if err != nil {
			return nil, err
		}
		t.history = append(t.history, e)
		if h.Epoch != nil {
			err = h.Epoch(t, e)
		}
		if err := Agree(t.processes(), err); err != nil {
			return nil, err
		}
	}
	if len(t.history) == 0 && t.initial == nil {
		t.keepBest()
	}
	r := &Result{Ranker: t.best, History: t.history, Initial: t.initial, Interrupted: interrupted}
	if i := t.bestEpoch(); i >= 0 {
		r.BestEpoch = t.history[i].Epoch
	}
	return r, nil
}

// done tells whether there is nothing left to train.
func (t *Trainer) done() bool { return len(t.history) >= t.Epochs || t.patienceLost() }

// bestEpoch is the index of the best epoch, −1 if there is none.
func (t *Trainer) bestEpoch() int {
	for i := len(t.history) - 1; i >= 0; i-- {
		if t.history[i].Best {
			return i
		}
	}
	return -1
}

// bestValue is the best validation value until now, NaN if there is none.
func (t *Trainer) bestValue() float64 {
	of := t.initial
	if i := t.bestEpoch(); i >= 0 {
		of = t.history[i].Vali
	}
	if v, ok := of[t.metric.String()]; ok {
		return float64(v)
	}
	return math.NaN()
}

func (t *Trainer) patienceLost() bool {
	return t.Patience > 0 && len(t.history)-1-t.bestEpoch() >= t.Patience
}

// History is the line of each epoch until now.
func (t *Trainer) History() []Epoch { return t.history }

// Best is the ranker of the best epoch until now.
func (t *Trainer) Best() *Ranker { return t.best }

// Current is the ranker of the model as it is, or of the average of its weights
// (Config.Average): before Run, with its initial weights.
func (t *Trainer) Current() *Ranker { return t.current }

func (t *Trainer) runEpoch(ctx context.Context, h Hooks) (Epoch, error) {
	start := time.Now()
	epoch := len(t.history)
	e := Epoch{Epoch: epoch + 1, Samples: t.Samples.At(epoch)}
	if err := t.sampler.SetSamples(e.Samples); err != nil {
		return e, err
	}
	order := t.order(epoch)
	progress := Step{Epoch: e.Epoch, Steps: (len(order) + t.Batch - 1) / t.Batch}
	learnt := len(order) // queries
	err := t.eachBatch(ctx, order, func(b *stepBatch) error {
		e.LearningRate = t.rate(t.history, progress.Step, progress.Steps)
		loss, err := t.learn(ctx, b, e.LearningRate)
		progress.Skipped = nil
		if Skippable(err) && t.OnNaN == onNaNSkip {
			loss = 0
			learnt -= len(b.queries)
			progress.Skipped, err = t.skip(ctx, err, &e, b, progress.Steps)
			if err != nil {
				return err
			}
		} else if err != nil {
			return t.locate(ctx, err, b)
		}
		e.Loss += loss * float64(len(b.queries)) / float64(len(order))
		t.step++
		progress.Step++
		progress.Loss = loss
		if h.Step != nil {
			h.Step(progress)
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	if e.Skipped > 0 {
		e.Loss *= float64(len(order)) / float64(learnt)
	}
	e.Steps, e.TrainSeconds = t.step, time.Since(start).Seconds()
	if err := t.validate(&e); err != nil {
		return e, fmt.Errorf("train: epoch %d, after step %d: %w", e.Epoch, t.step, err)
	}
	e.Seconds = time.Since(start).Seconds()
	return e, nil
}

// validate evaluates the model as it is, and keeps it if it is the best.
func (t *Trainer) validate(e *Epoch) (err error) {
	if t.EvaluateTrain {
		if e.Train, err = t.evaluateSplit(t.current, t.splits.Train); err != nil {
			return err
		}
	}
	if e.Vali, err = t.evaluateSplit(t.current, t.splits.Vali); err != nil {
		return err
	}
	if t.EvaluateTest {
		if e.Test, err = t.evaluateSplit(t.current, t.splits.Test); err != nil {
			return err
		}
	}
	e.Best, err = t.isBest(e.Vali)
	if e.Best {
		t.keepBest()
	}
	return err
}

// isBest tells whether a model of these values on the validation split is better than all
// before it. It is an error if neither has a value.
func (t *Trainer) isBest(vali Values) (bool, error) {
	value, best := float64(vali[t.metric.String()]), t.bestValue()
	if !finite(value) && !finite(best) {
		return false, Agree(t.processes(), t.undefined(vali))
	}
	return t.metric.Better(value, best), nil
}

// keepBest makes the best model the one that is evaluated.
func (t *Trainer) keepBest() { copy(t.best.model.Weights().Float32s(), t.averaged) }

func (t *Trainer) evaluateSplit(r *Ranker, d *datasets.Dataset) (Values, error) {
	means, err := t.measure(r, d)
	if err != nil {
		return nil, err
	}
	return t.valuesOf(t.measures, means), nil
}

// learn makes one step.
func (t *Trainer) learn(ctx context.Context, b *stepBatch, learningRate float64) (float64, error) {
	loss, err := t.lossAndGradient(ctx, b)
	if err != nil {
		return 0, err
	}
	t.addL2()
	if t.Clip > 0 || !allFinite(t.gradient) {
		if _, err := clip(t.gradient, t.Clip); err != nil {
			return 0, &batchError{err}
		}
	}
	t.optimizer.Step(t.weights, t.gradient, learningRate, t.step+1)
	t.shrinkInputs(learningRate)
	if !allFinite(t.weights) {
		return 0, &weightError{t.weights[slices.IndexFunc(t.weights, notFinite)]}
	}
	t.averageWeights(t.step + 1)
	return loss, nil
}

// weightError is a weight that a step has made infinite.
type weightError struct{ weight float32 }

func (e *weightError) Error() string {
	return fmt.Sprintf("a weight became %v: a lower learning rate, or clipping the gradient, may help", e.weight)
}

func notFinite(v float32) bool { return v-v != 0 }

func allFinite(v []float32) bool {
	sum := vek32.Sum(v) // finite only if all are, but it may be too large itself
	return !notFinite(sum) || !slices.ContainsFunc(v, notFinite)
}

// differentiate computes the loss of a batch, for graphs of so many queries, and its
// gradient.
func (t *Trainer) differentiate(ctx context.Context, graphs graphs[*stepGraph], b *batch, queries int, gradient []float32) (float64, error) {
	g, err := graphs.get(b.rows, func() (*stepGraph, error) {
		return newStepGraph(ctx, t.model, &t.objective, b.rows, queries, t.transform.Width())
	})
	if err != nil {
		return 0, err
	}
	// What is random is drawn for each shard by itself.
	draw := t.step*uint64(t.Shards) + uint64(b.shard)
	nn.SetStep(t.model, draw)
	t.setStep(draw)
	loss, err := g.run(b, gradient)
	if err == nil && (math.IsNaN(loss) || math.IsInf(loss, 0)) {
		err = &batchError{fmt.Errorf("the loss is %v", loss)}
	}
	return loss, err
}

func (t *Trainer) addL2() {
	if t.L2 == 0 {
		return
	}
	eachPenalised(t.model.Weights().Arrays(), func(i int) { t.gradient[i] += float32(t.L2) * t.weights[i] })
}

// locate says at which step an error happened, and for which queries, to all ranks.
func (t *Trainer) locate(ctx context.Context, err error, b *stepBatch) error {
	if errors.Is(err, errInterrupted) || cancelled(ctx, err) {
		return err
	}
	var here error
	if !errors.Is(err, errElsewhere) {
		here = t.locateHere(ctx, err, b)
	}
	agreed := Agree(t.processes(), here)
	if Skippable(err) && !Skippable(agreed) { // whose text came from another rank
		agreed = &batchError{agreed}
	}
	return agreed
}

// locateHere names those queries of this rank's shards that fail alone, or else all of the
// step.
func (t *Trainer) locateHere(ctx context.Context, err error, b *stepBatch) error {
	d := t.splits.Train
	var ids []string
	var tooFar *weightError
	if !errors.As(err, &tooFar) {
		single := graphs[*stepGraph]{} // of one query
		defer single.close()
		gradient := make([]float32, len(t.weights))
		for i := range b.shards {
			for _, q := range b.shards[i].queries {
				alone := batch{shard: b.shards[i].shard, queries: []int{q}}
				t.pack(&alone, 1)
				_, failed := t.differentiate(ctx, single, &alone, 1, gradient)
				if cancelled(ctx, failed) {
					return failed
				}
				if failed == nil {
					_, failed = clip(gradient, 0)
				}
				if failed != nil {
					ids = append(ids, d.QueryIDs[q])
				}
			}
		}
	}
	if ids == nil {
		for _, q := range b.queries {
			ids = append(ids, d.QueryIDs[q])
		}
	}
	const most = 8
	list := strings.Join(ids[:min(most, len(ids))], ", ")
	if len(ids) > most {
		list += fmt.Sprintf(", … (%d in all)", len(ids))
	}
	return fmt.Errorf("train: epoch %d, step %d, query %s of %s: %w", len(t.history)+1, t.step+1, list, d.Name, err)
}

// Objective says in words what is learnt: "plrank-rb with N = 100, K = 10"; N only of a
// loss that samples, and of one of one's own, of which that is not known.
func (t *Trainer) Objective() string {
	if t.parts.Loss != nil || slices.ContainsFunc(t.terms, func(of losses.Term) bool { return of.Sampled }) {
		return fmt.Sprintf("%s with N = %v, K = %d", t.Loss, t.Samples, t.Cutoff)
	}
	return fmt.Sprintf("%s with K = %d", t.Loss, t.Cutoff)
}

// Validation says in words what the best epoch has the best of: "ndcg@10", or "loss, of which
// less is better".
func (t *Trainer) Validation() string {
	if t.metric.LowerIsBetter() {
		return t.Metric + ", of which less is better,"
	}
	return t.Metric
}

// Architecture says in words what the model is: "92 inputs, hidden 64 (relu),
// 6017 weights".
func (t *Trainer) Architecture() string {
	return fmt.Sprintf("%d inputs, %s", t.transform.Width(), architecture(t.model))
}

func architecture(s nn.Scorer) string {
	model := s.Kind()
	if words, ok := s.(fmt.Stringer); ok {
		model = words.String()
	}
	return fmt.Sprintf("%s, %d weights", model, s.Weights().Size())
}
