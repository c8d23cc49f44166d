package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/rundir"
	"github.com/plrank/plrank/train"
)

// run trains the model, writes the files of the run, and prints a report, which
// it returns also if it was interrupted.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) (*train.Report, error) {
	t, dir := j.trainer, j.dir
	if dir != nil {
		defer dir.Close()
		s := j.settings
		s.Config = t.Config // with the names as they are written
		warning, err := dir.Begin(t, j.initial, s)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			input.Warn(stderr, warning)
		}
	}
	input.Warn(stderr, t.Warnings()...)
	if j.Baseline != "" {
		input.Warn(stderr, fmt.Sprintf("the baseline %s of an older version is left out: package datasets/golearn has it", j.Baseline))
	}
	fmt.Fprint(stderr, j.recipe)
	describe(stderr, j.splits, t)

	start := time.Now()
	p := newProgress(stderr, t.Config, len(t.History()))
	if j.asJSON {
		p.json = json.NewEncoder(stdout)
	}
	hooks := train.Hooks{Initial: p.initial, Step: p.step, Epoch: func(t *train.Trainer, e train.Epoch) error {
		if err := p.epoch(e); err != nil || dir == nil {
			return err
		}
		return dir.Epoch(t, e)
	}}
	result, err := t.Run(ctx, hooks)
	p.finish()
	if train.Skippable(err) && t.Config.OnNaN != "skip" {
		err = fmt.Errorf("%w (-on-nan skip leaves such batches out)", err)
	}
	if dir != nil {
		err = errors.Join(err, dir.Wait()) // what was learnt before an error is kept
	}
	if err != nil {
		return nil, err
	}
	if result.Interrupted {
		fmt.Fprintln(stderr, "interrupted: what follows is of the best epoch so far")
	}
	best := fmt.Sprintf("the best one is epoch %d", result.BestEpoch)
	if result.BestEpoch == 0 && result.Initial != nil {
		best = "the initial model is better than every epoch, and is kept"
	}
	fmt.Fprintf(stderr, "%s; %s; %.1f s\n", ending(t.Config, result), best, time.Since(start).Seconds())
	measured, err := t.Report(result.Model)
	if err != nil {
		return nil, err
	}
	if j.asJSON {
		err = p.json.Encode(measured)
	} else {
		report.Print(stdout, measured)
	}
	if err != nil {
		return nil, err
	}
	if dir != nil {
		if err := dir.Finish(result, measured); err != nil {
			return nil, err
		}
		if len(result.History) == 0 {
			return measured, command.ErrInterrupted // before there was anything to draw
		}
		if err := drawCurve(dir.File(rundir.CurveFile), fmt.Sprintf("%s, %s", j.splits.Train.Name, t.Config.Loss), t.Config.Metric, result); err != nil {
			input.Warn(stderr, err.Error()) // the run is complete without a picture
		}
		fmt.Fprintf(stderr, "written to %s; the model is version %s\n", j.out, result.Model.Digest())
	}
	if result.Interrupted {
		return measured, command.ErrInterrupted
	}
	return measured, nil
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
