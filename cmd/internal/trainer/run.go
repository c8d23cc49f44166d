package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
)

// run trains the model, writes the files of the run, and prints a report, which
// it returns also if it was interrupted.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) (*train.Report, error) {
	defer j.dir.Close()
	if err := j.begin(stderr); err != nil {
		return nil, err
	}
	c := j.trainer.Config
	p := &progress{terminal: command.NewBar(stderr), metric: c.Metric, epochs: c.Epochs, done: len(j.trainer.History())}
	if j.asJSON {
		p.json = json.NewEncoder(stdout)
	}
	result, err := j.train(ctx, p, stderr)
	if err != nil {
		return nil, err
	}
	measured, err := j.trainer.Report(result.Model)
	if err != nil {
		return nil, err
	}
	if !j.asJSON {
		cli.PrintReport(stdout, measured)
	} else if err := p.encode(measured); err != nil {
		return nil, err
	}
	if j.dir != nil {
		if err := j.finish(result, measured, stderr); err != nil {
			return nil, err
		}
	}
	if result.Interrupted {
		return measured, command.ErrInterrupted
	}
	return measured, nil
}

// begin brings the run to its checkpoint, if it goes on, and says what is going to happen.
func (j *job) begin(stderr io.Writer) error {
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
	command.Warn(stderr, j.trainer.Warnings()...)
	if j.Baseline != "" {
		command.Warn(stderr, fmt.Sprintf("the baseline %s of an older version is left out: package datasets/golearn has it", j.Baseline))
	}
	command.Note(stderr, j.recipe)
	describe(stderr, j.splits, j.trainer)
	return nil
}

// train trains the model, and says why that ended.
func (j *job) train(ctx context.Context, p *progress, stderr io.Writer) (*train.Result, error) {
	start := time.Now()
	hooks := train.Hooks{Initial: p.initial, Step: p.step, Epoch: func(t *train.Trainer, e train.Epoch) error {
		if err := p.epoch(e); err != nil || j.dir == nil {
			return err
		}
		return j.dir.Epoch(t, e)
	}}
	result, err := j.trainer.Run(ctx, hooks)
	p.terminal.Finish()
	if train.Skippable(err) && j.trainer.Config.OnNaN != "skip" {
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
	command.Note(stderr, fmt.Sprintf("%s; %s; %.1f s", ending(j.trainer.Config, result), best, time.Since(start).Seconds()))
	return result, nil
}

// finish writes the last files of the run.
func (j *job) finish(result *train.Result, measured *train.Report, stderr io.Writer) error {
	if err := j.dir.Finish(result, measured); err != nil {
		return err
	}
	if len(result.History) == 0 {
		return nil // interrupted before there was anything to draw
	}
	curve := report.Curve(j.trainer.Config.Metric, result.History, result.BestEpoch, result.Initial)
	curve.Title = fmt.Sprintf("%s, %s", j.splits.Train.Name, j.trainer.Config.Loss)
	err := errors.Join(curve.Save(j.dir.File(cli.CurveFile)), j.writeReport(result.Model))
	if err != nil {
		command.Warn(stderr, err.Error()) // the run is complete without a picture or a page
	}
	fmt.Fprintf(stderr, "written to %s; the model is version %s\n", j.out, result.Model.Digest())
	return nil
}

// ending says why training ended.
func ending(c train.Config, r *train.Result) string {
	switch n := len(r.History); {
	case r.Interrupted:
		return fmt.Sprintf("interrupted after %d of %d epochs", n, c.Epochs)
	case n < c.Epochs:
		return fmt.Sprintf("stopped after epoch %d: none of the last %d was better (-patience)", n, c.Patience)
	default:
		return fmt.Sprintf("all %d epochs are done", n)
	}
}
