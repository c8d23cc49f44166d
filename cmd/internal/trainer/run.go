package trainer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// run trains the models, measures the only one or their mixture, and writes the files of the run. It returns the report also if it was
// interrupted.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) (*train.Report, error) {
	defer j.dir.Close()
	models := j.plan()
	result, err := recipe.Plan{Models: models}.Train(ctx, j.splits, func(i int, c train.Config, rival *recipe.Rival) (*train.Result, error) {
		m := model{job: j, config: c, rival: rival, dir: j.dir}
		if len(models) > 1 {
			m.number = i + 1
		}
		result, err := m.fit(ctx, stdout, stderr)
		if errors.Is(err, train.ErrBatch) && m.number > 0 {
			command.Warn(stderr, fmt.Sprintf("model %d is left out: %v", m.number, err))
			return nil, nil
		}
		return result, err
	})
	if err != nil {
		return nil, err
	}
	sayWhatWasTaken(j.notes(stderr), result)
	measured, err := j.trainer.Report(result.Model)
	if err != nil {
		return nil, err
	}
	command.Warn(stderr, cli.SummaryOf(result, measured).SuspiciousFeature(cmp.Or(j.Config.Metric, j.trainer.Config.Metric))...)
	if j.dir != nil {
		if err := j.finish(result, measured, stderr); err != nil {
			return nil, err
		}
	}
	if result.Interrupted {
		err = command.ErrInterrupted
	}
	return measured, err
}

// print prints a result as JSON, or as a text.
func (o *options) print(stdout io.Writer, result any, asText func()) error {
	if o.asJSON {
		return json.NewEncoder(stdout).Encode(result)
	}
	asText()
	return nil
}

// A model is one of a run.
type model struct {
	*job
	number  int // of several, from 1, with a folder for each; 0: the only one
	config  train.Config
	rival   *recipe.Rival // ends the training of one of several
	dir     *cli.RunDir   // nil: none is asked for
	trainer *train.Trainer
}

// fit trains the model, and writes its files.
func (m *model) fit(ctx context.Context, stdout, stderr io.Writer) (result *train.Result, err error) {
	custom := m.custom
	if m.number > 0 {
		if m.dir, err = runDir(m.within(fmt.Sprintf("model%d", m.number))); err != nil {
			return nil, err
		}
		defer m.dir.Close()
		custom.Hooks = []train.Hook{m.rival}
	}
	m.trainer, err = train.New(m.config, custom, m.splits)
	if err = mpi.Agree(m.processes, err); err != nil {
		return nil, cli.WithFlags(err)
	}
	cli.LimitGarbage()
	m.rival.Trainer = m.trainer
	if err := m.begin(stderr); err != nil {
		return nil, err
	}
	m.describe(stderr)
	if result, err = m.train(ctx, stdout, stderr); err != nil {
		return nil, err
	}
	m.job.trainer = m.trainer
	if m.number > 0 && m.out != "" { // on all ranks, which measure together
		measured, err := m.trainer.Report(result.Model)
		if err == nil && m.dir != nil {
			err = m.dir.Finish(&recipe.Result{Result: result}, measured)
		}
		if err != nil {
			return nil, err
		}
	}
	return result, nil
}

// begin brings the model to its checkpoint, if it goes on, and begins its folder, and after the one of the first model the folders above.
func (m *model) begin(stderr io.Writer) error {
	if m.dir == nil {
		return nil
	}
	s := m.settings
	s.Config, s.Models = m.trainer.Config, nil // with the names as they are written
	warnings, err := m.dir.Begin(m.trainer, m.custom.Initial, s)
	command.Warn(stderr, warnings...)
	if err == nil && m.number == 1 {
		err = m.job.dir.BeginSeveral(m.settings, cli.ResultFile)
	}
	if err == nil && m.number <= 1 {
		err = m.beginAbove()
	}
	return err
}

// describe says what is going to happen.
func (m *model) describe(stderr io.Writer) {
	notes := m.notes(stderr)
	if m.number <= 1 { // all models have the same warnings
		command.Warn(stderr, m.trainer.Warnings()...)
		if m.Baseline != "" {
			command.Warn(stderr, fmt.Sprintf("the baseline %s of an older version is left out: package datasets/golearn has it", m.Baseline))
		}
		command.Note(notes, m.recipe)
		describe(notes, m.splits)
	}
	if m.number > 0 {
		command.Note(notes, fmt.Sprintf("model %d of %d: %s", m.number, len(m.plan()), words(m.trainer)))
		return
	}
	describeModel(notes, m.splits.Train, m.trainer)
}

// train trains the model, and says why that ended.
func (m *model) train(ctx context.Context, stdout, stderr io.Writer) (*train.Result, error) {
	c, notes := m.trainer.Config, m.notes(stderr)
	p := &progress{terminal: command.NewBar(notes), stderr: stderr, metric: c.Metric, epochs: c.Epochs,
		done: len(m.trainer.History()), model: m.number}
	if m.asJSON {
		p.json = json.NewEncoder(stdout)
	}
	start := time.Now()
	saved := start
	hooks := train.Hooks{Initial: p.initial, Step: p.step, Epoch: func(t *train.Trainer, e train.Epoch) error {
		if err := p.epoch(e); err != nil || m.dir == nil {
			return err
		}
		if m.number > 0 && time.Since(saved) < time.Second && !t.Done() { // several models are trained soon; files would take longer
			return nil
		}
		saved = time.Now()
		return m.dir.Epoch(t, e)
	}}
	result, err := m.trainer.Run(ctx, hooks)
	p.terminal.Finish()
	if errors.Is(err, train.ErrBatch) && c.OnNaN != "skip" {
		err = fmt.Errorf("%w (-on-nan skip leaves such batches out)", err)
	}
	if m.dir != nil {
		err = errors.Join(err, m.dir.Wait()) // what was learnt before an error is kept
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
	case result.BestEpoch == c.Epochs:
		best += ", the last: more may help (-epochs)"
	}
	if p.skipped > 0 {
		best += fmt.Sprintf("; skipped batches: %d", p.skipped)
	}
	command.Note(notes, fmt.Sprintf("%s%s; %s; %.1f s", ending(c, result), strings.Replace(p.best, "\u00a0", " ", 1), best,
		time.Since(start).Seconds()))
	if i := result.BestEpoch - 1; i >= 0 {
		for _, t := range result.History[i].Targets {
			command.Note(notes, fmt.Sprintf("%s on the training split; multiplier %.3g", t, t.Multiplier))
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
	if len(result.History) == 0 {
		return nil // interrupted before there was anything to draw
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
