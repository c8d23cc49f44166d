package trainer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// run trains the model, or several, measures it, and writes the files of the run. It returns both also if it was interrupted.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) (*recipe.Result, *train.Report, error) {
	defer j.dir.Close()
	fit := j.fit
	if j.Models != nil {
		fit = j.mix
	}
	result, err := fit(ctx, stdout, stderr)
	if err != nil {
		return nil, nil, err
	}
	var measured *train.Report
	if j.part == 0 || j.out != "" { // on all ranks, which measure together
		if measured, err = j.trainer.Report(result.Model); err != nil {
			return nil, nil, err
		}
	}
	if j.part == 0 {
		metric := cmp.Or(j.Config.Metric, j.trainer.Config.Metric)
		command.Warn(stderr, cli.SummaryOf(result, measured).SuspiciousFeature(metric)...)
	}
	if j.dir != nil {
		if err := j.finish(result, measured, stderr); err != nil {
			return nil, nil, err
		}
	}
	if result.Interrupted {
		err = command.ErrInterrupted
	}
	return result, measured, err
}

// print prints a result as JSON, or as a text.
func (o *options) print(stdout io.Writer, result any, asText func()) error {
	if o.asJSON {
		return json.NewEncoder(stdout).Encode(result)
	}
	asText()
	return nil
}

// fit trains a single model.
func (j *job) fit(ctx context.Context, stdout, stderr io.Writer) (*recipe.Result, error) {
	if err := j.begin(stderr); err != nil {
		return nil, err
	}
	c := j.trainer.Config
	p := &progress{terminal: command.NewBar(j.notes(stderr)), stderr: stderr, metric: c.Metric, epochs: c.Epochs,
		done: len(j.trainer.History()), model: j.part}
	if j.asJSON {
		p.json = json.NewEncoder(stdout)
	}
	result, err := j.train(ctx, p, stderr)
	return &recipe.Result{Result: result}, err
}

// mix trains the models one after another, each with a folder of its own, and mixes them.
func (j *job) mix(ctx context.Context, stdout, stderr io.Writer) (*recipe.Result, error) {
	result, err := recipe.Plan{Models: j.Models}.Train(ctx, j.splits, func(i int, c train.Config, rival *recipe.Rival) (*train.Result, error) {
		result, err := j.fitOne(ctx, i, c, rival, stdout, stderr)
		if errors.Is(err, train.ErrBatch) && len(j.Models) > 1 {
			command.Warn(stderr, fmt.Sprintf("model %d is left out: %v", i+1, err))
			return nil, nil
		}
		return result, err
	})
	if err != nil {
		return nil, err
	}
	sayWhatWasTaken(j.notes(stderr), result)
	return result, nil
}

// fitOne trains a model of several, in a folder of its own.
func (j *job) fitOne(ctx context.Context, i int, c train.Config, rival *recipe.Rival, stdout, stderr io.Writer) (*train.Result, error) {
	one := *j.options
	one.Config, one.Models, one.line = c, nil, nil
	if j.out != "" {
		one.out = filepath.Join(j.out, fmt.Sprintf("model%d", i+1))
		one.resume = j.resume && begun(one.out)
	}
	one.part, one.parts, one.rival = i+1, len(j.Models), rival
	part, err := prepare(ctx, &one, j.splits, stderr)
	if err != nil {
		return nil, err
	}
	if i == 0 && j.dir != nil {
		part.beginAbove = func() error {
			return errors.Join(j.aboveBegun(), j.dir.BeginSeveral(j.settings, cli.ResultFile))
		}
	}
	rival.Trainer = part.trainer
	result, _, err := part.run(ctx, stdout, stderr)
	if err != nil && !errors.Is(err, command.ErrInterrupted) {
		return nil, err
	}
	j.trainer = part.trainer
	return result.Result, nil
}

// aboveBegun begins the folder above.
func (j *job) aboveBegun() error {
	if j.beginAbove == nil {
		return nil
	}
	return j.beginAbove()
}

// begin brings the run to its checkpoint, if it goes on, and says what is going to happen.
func (j *job) begin(stderr io.Writer) error {
	if err := j.aboveBegun(); err != nil {
		return err
	}
	if j.dir != nil {
		s := j.settings
		s.Config = j.trainer.Config // with the names as they are written
		warning, err := j.dir.Begin(j.trainer, j.initial, s)
		if err != nil {
			return err
		}
		if warning != "" {
			command.Warn(stderr, warning)
		}
	}
	if j.part <= 1 { // all models have the same warnings
		command.Warn(stderr, j.trainer.Warnings()...)
	}
	if j.Baseline != "" {
		command.Warn(stderr, fmt.Sprintf("the baseline %s of an older version is left out: package datasets/golearn has it", j.Baseline))
	}
	notes := j.notes(stderr)
	if j.part <= 1 {
		command.Note(notes, j.recipe)
		describe(notes, j.splits)
	}
	if j.part > 0 {
		command.Note(notes, fmt.Sprintf("model %d of %d: %s", j.part, j.parts, words(j.trainer)))
		return nil
	}
	describeModel(notes, j.splits.Train, j.trainer)
	return nil
}

// train trains the model, and says why that ended.
func (j *job) train(ctx context.Context, p *progress, stderr io.Writer) (*train.Result, error) {
	start := time.Now()
	saved := start
	hooks := train.Hooks{Initial: p.initial, Step: p.step, Epoch: func(t *train.Trainer, e train.Epoch) error {
		if err := p.epoch(e); err != nil || j.dir == nil {
			return err
		}
		if j.part > 0 && time.Since(saved) < time.Second && !t.Done() { // several models are trained soon; files would take longer
			return nil
		}
		saved = time.Now()
		return j.dir.Epoch(t, e)
	}}
	result, err := j.trainer.Run(ctx, hooks)
	p.terminal.Finish()
	if errors.Is(err, train.ErrBatch) && j.trainer.Config.OnNaN != "skip" {
		err = fmt.Errorf("%w (-on-nan skip leaves such batches out)", err)
	}
	if j.dir != nil {
		err = errors.Join(err, j.dir.Wait()) // what was learnt before an error is kept
	}
	if err != nil {
		return nil, err
	}
	if result.Interrupted {
		fmt.Fprintln(stderr, "interrupted: what follows is of the best epoch so far")
	}
	best := fmt.Sprintf("the best one is epoch %d", result.BestEpoch)
	switch {
	case result.BestEpoch == 0 && result.Initial != nil:
		best = "the initial model is better than every epoch, and is kept"
	case result.BestEpoch == j.trainer.Config.Epochs:
		best += ", the last: more may help (-epochs)"
	}
	if p.skipped > 0 {
		best += fmt.Sprintf("; skipped batches: %d", p.skipped)
	}
	command.Note(j.notes(stderr), fmt.Sprintf("%s%s; %s; %.1f s", ending(j.trainer.Config, result),
		strings.Replace(p.best, "\u00a0", " ", 1), best, time.Since(start).Seconds()))
	if i := result.BestEpoch - 1; i >= 0 {
		for _, t := range result.History[i].Targets {
			command.Note(j.notes(stderr), fmt.Sprintf("%s on the training split; multiplier %.3g", t, t.Multiplier))
		}
		if lack := result.History[i].Lack(); lack > 0 {
			command.Warn(stderr, fmt.Sprintf("-at-least: no epoch meets the targets, the best one lacks %.3f: more epochs may help, or features "+
				"that tell the groups apart", lack))
		}
	}
	return result, nil
}

// finish writes the last files of the run.
func (j *job) finish(result *recipe.Result, measured *train.Report, stderr io.Writer) error {
	if err := j.dir.Finish(result, measured); err != nil {
		return err
	}
	if len(result.History) == 0 || j.part > 0 {
		return nil // interrupted before there was anything to draw, or drawn with the other models
	}
	if err := j.writePage(result.Model); err != nil {
		command.Warn(stderr, err.Error()) // the run is complete without a picture or a page
	}
	fmt.Fprintf(j.notes(stderr), "written to %s; the model is version %s\n", j.out, result.Model.Digest())
	return nil
}

// ending says why training ended.
func ending(c train.Config, r *train.Result) string {
	switch n := len(r.History); {
	case r.Interrupted:
		return fmt.Sprintf("interrupted after %d of %d epochs", n, c.Epochs)
	case n < c.Epochs && (c.Patience == 0 || n-r.BestEpoch < c.Patience):
		return fmt.Sprintf("stopped after epoch %d: it would stay behind", n)
	case n < c.Epochs:
		return fmt.Sprintf("stopped after epoch %d: none of the last %d was better (-patience)", n, c.Patience)
	default:
		return fmt.Sprintf("all %d epochs are done", n)
	}
}
