package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/graph"
)

// A loop makes the steps of a run: batch, gradient, update. All else is done by hooks.
type loop struct {
	batches   *batches.Batches
	learner   learner
	objective *graph.Objective
	samples   SampleCount
	parts     int  // of a pass that are epochs, see Config.EpochsPerPass
	passes    int  // of an epoch, or of each of its parts
	skips     bool // batches that are not finite, see Config.OnNaN
	hooks     []Hook
	history   *history
	group     mpi.Group
	steps     uint64 // made
	within    bool   // an epoch: some of its steps are made
}

// ErrBatch is returned when the loss of a batch, or its gradient, is not finite or cannot be computed, and Config.OnNaN does not leave
// such batches out. A weight that became infinite is another error: all batches after it are lost.
var ErrBatch = graph.ErrBatch

// errWithin returns an error inside an epoch, where nothing can go on as if nothing had happened.
func (l *loop) errWithin() error {
	if !l.within {
		return nil
	}
	return fmt.Errorf("train: stopped inside epoch %d, after step %d: take checkpoints in Hooks.Epoch and Restore the last one in a new "+
		"Trainer", len(l.history.epochs)+1, l.steps)
}

func (l *loop) state() State {
	return State{Arrays: map[string][]float32{}, Values: map[string]any{"step": &l.steps}, lengths: map[string]int{}}
}

// call calls f with each hook, until one returns an error.
func (l *loop) call(f func(Hook) error) error {
	for _, h := range l.hooks {
		if err := callHook(h, f); err != nil {
			return err
		}
	}
	return nil
}

// run trains until a hook is done, or until the context is cancelled.
func (l *loop) run(ctx context.Context) (interrupted bool, err error) {
	if err := ofHook("", l.call(Hook.Begin)); err != nil {
		return false, err
	}
	for !l.done() {
		e, err := l.epoch(ctx, len(l.history.epochs))
		if errors.Is(err, batches.ErrInterrupted) || batches.Cancelled(ctx, err) {
			return true, nil
		}
		if err == nil {
			err = ofHook(fmt.Sprintf("epoch %d: ", e.Epoch), l.call(func(h Hook) error { return h.AfterEpoch(e) }))
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// done reports whether there is nothing left to train.
func (l *loop) done() bool { return slices.ContainsFunc(l.hooks, Hook.Done) }

// epoch makes the steps of an epoch, counted from 0.
func (l *loop) epoch(ctx context.Context, epoch int) (Epoch, error) {
	start := time.Now()
	e := Epoch{Epoch: epoch + 1}
	data, division := l.batches.Data, l.batches.Division
	pass := (len(data.Queries) + division.Batch - 1) / division.Batch // steps
	parts := max(1, min(l.parts, pass))
	part := epoch % parts
	first, end := part*pass/parts, (part+1)*pass/parts
	steps := l.passes * (end - first)
	queries := l.passes * (min(end*division.Batch, len(data.Queries)) - first*division.Batch)
	learned := queries
	made, before := 0, 0 // before: batches of the pass that earlier epochs skipped
	for _, earlier := range l.history.epochs[epoch-part:] {
		before += earlier.Skipped
	}
	order := division.Order(epoch/parts, data.Queries, data.Documents)
	weights, gradient, _, _ := l.learner.Numbers()
	one := func(b *batches.Step) error {
		made++
		s := &Step{Epoch: e.Epoch, Step: made, Steps: steps, Number: l.steps + 1, Weights: weights, Gradient: gradient}
		l.within = true
		e.Samples = l.samples.At((float64(epoch) + float64(made-1)/float64(steps)) * float64(l.passes) / float64(parts))
		err := l.objective.Settings.Sampler.SetSamples(e.Samples)
		if err != nil {
			return err
		}
		if err := l.step(ctx, b, s); err != nil {
			if s.Skipped, err = l.skip(ctx, err, &e, before, pass, b, s); err != nil {
				return err
			}
			s.Loss = 0
			learned -= len(b.Queries)
		}
		e.LearningRate = s.Rate
		e.Loss += s.Loss * float64(len(b.Queries)) / float64(queries)
		l.steps++
		if err := l.call(func(h Hook) error { return h.AfterStep(s) }); err != nil {
			return l.locate(ctx, err, b, s)
		}
		return nil
	}
	for range l.passes {
		if err := l.batches.ForSteps(ctx, order, first, end, one); err != nil {
			return e, err
		}
	}
	if e.Skipped > 0 && learned > 0 {
		e.Loss *= float64(queries) / float64(learned)
	}
	e.Steps, e.TrainSeconds = l.steps, time.Since(start).Seconds()
	if err := l.call(func(h Hook) error { return h.Evaluate(&e) }); err != nil {
		return e, fmt.Errorf("train: epoch %d, after step %d: %w", e.Epoch, l.steps, err)
	}
	e.Seconds, l.within = time.Since(start).Seconds(), false
	return e, nil
}

// step makes one step, until the weights are the new ones.
func (l *loop) step(ctx context.Context, b *batches.Step, s *Step) (err error) {
	if err := l.call(func(h Hook) error { return h.BeforeStep(s) }); err != nil {
		return err
	}
	if s.Loss, err = l.learner.Compute(ctx, b, l.steps); err != nil {
		return err
	}
	if err := l.call(func(h Hook) error { return h.Gradient(s) }); err != nil {
		return err
	}
	if err := l.learner.Update(s.Step, s.Number, s.Rate); err != nil {
		return err
	}
	for _, h := range slices.Backward(l.hooks) {
		if err := callHook(h, func(h Hook) error { return h.AfterUpdate(s) }); err != nil {
			return err
		}
	}
	return nil
}

// skip leaves a batch that failed out of an epoch, and counts it, if Config.OnNaN says so; else it
// is the error of the run, with the queries. What is reported of the first one in an epoch names
// the queries, too. It returns an error if all batches of a pass are skipped; before counts those that earlier epochs skipped.
func (l *loop) skip(ctx context.Context, failed error, e *Epoch, before, pass int, b *batches.Step, s *Step) (reported, err error) {
	if !l.skips || !errors.Is(failed, ErrBatch) {
		return nil, l.locate(ctx, failed, b, s)
	}
	if e.Skipped++; e.Skipped == 1 {
		failed = l.locate(ctx, failed, b, s)
	}
	if before+e.Skipped == pass {
		return nil, fmt.Errorf("train: epoch %d: all %d batches were skipped: %w", e.Epoch, pass, failed)
	}
	return failed, nil
}

// locate says at which step an error happened, and for which queries, to all ranks.
func (l *loop) locate(ctx context.Context, err error, b *batches.Step, s *Step) error {
	if errors.Is(err, batches.ErrInterrupted) || batches.Cancelled(ctx, err) {
		return err
	}
	if located := ofHook(fmt.Sprintf("epoch %d, step %d: ", s.Epoch, s.Number), err); located != err { // all ranks have it
		return located
	}
	var here error
	if !errors.Is(err, batches.ErrElsewhere) {
		here = l.locateHere(ctx, err, b, s)
	}
	agreed := mpi.Agree(l.group, here)
	if errors.Is(err, ErrBatch) && !errors.Is(agreed, ErrBatch) { // whose text came from another rank
		agreed = graph.NewBatchError(agreed)
	}
	return agreed
}

// locateHere names those queries of this rank's shards that fail alone, or else all of the step.
func (l *loop) locateHere(ctx context.Context, err error, b *batches.Step, s *Step) error {
	var queries []int
	var tooFar *weightError
	if !errors.As(err, &tooFar) {
		var failed error
		if queries, failed = l.learner.Blame(ctx, b, l.steps); failed != nil {
			return failed
		}
	}
	if queries == nil {
		queries = b.Queries
	}
	d := l.batches.Data.Train
	var ids []string
	for _, q := range queries {
		ids = append(ids, d.QueryIDs[q])
	}
	return fmt.Errorf("train: epoch %d, step %d, query %s of %s: %w", s.Epoch, s.Number, text.List(ids), d.Name, err)
}
