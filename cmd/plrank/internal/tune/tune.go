// Package tune is the sub-command that trains with several settings, and says which of them are the
// best on the validation split.
package tune

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "tune",
	Usage: []string{
		"[-grid FLAG=VALUES …] [-data FILE|DIR] [-minutes N] [-out DIR] [flags]",
		"-resume -out DIR [-minutes N] [-trials N]",
	},
	Text: "Finds the best settings by validation alone, and prints the command for them.",
	Examples: []string{
		"-data shop.csv -minutes 10 -out tuning",
		"-data MQ2008/Fold1 -grid lr=.001,.003 -grid 'hidden=64;128,64'",
	},
	Topics: []string{"tuning"},
}

// options are the command line.
type options struct {
	grid           grid
	usual          bool    // without -grid
	minutes        float64 // 0: usualMinutes without -grid and -trials, no limit with one of them
	trials         int     // 0: the whole grid
	out            string
	resume, asJSON bool
	shared         shared
	seed           uint64
}

// own are flags of train with a meaning of their own here, or none.
var own = []string{"out", "resume", "json", "evaluate-test"}

func (o *options) Flags() cli.Flags {
	return append(cli.Flags{
		{Name: "grid", Value: &o.grid, Help: "a flag of train and its `values`: lr=.001,.003 or hidden=8;16,8 or lr=1e-4..1e-1; without it, a " +
			"dozen flags"},
		{Name: "minutes", Value: cli.Float(&o.minutes, 0, "minutes, such as 20 or 0.5"), Help: "`time` of the search; 20 without -grid and " +
			"-trials"},
		{Name: "trials", Value: cli.Int(&o.trials, 0, most), Help: "draw `N` trials by -seed; without it, all of -grid"},
		{Name: "out", Value: &o.out, Help: "a new `folder` for trials.jsonl and the models"},
		{Name: "resume", Value: &o.resume, Help: "go on with the trials in -out"},
		cli.JSONFlag(&o.asJSON),
	}, trainer.Flags().Without(own...)...)
}

// Check takes the flags of train, and checks the others.
func (o *options) Check(line *cli.Line) (err error) {
	shared := trainer.Flags().Without(own...)
	line.Visit(func(f *flag.Flag) {
		if shared.Row(f.Name) != nil {
			o.shared = append(o.shared, "-"+f.Name+"="+f.Value.String())
		}
	})
	o.usual = o.grid == nil
	o.seed, err = strconv.ParseUint(line.Lookup("seed").Value.String(), 10, 64)
	err = cmp.Or(err, cli.ErrorIf(o.resume && o.out == "", "-resume needs the folder of the trials: -out"))
	for _, c := range o.grid {
		err = cmp.Or(err, c.check(o.shared.has(c.flag)))
	}
	return err
}

// check returns an error if the flag cannot be tried.
func (c choice) check(given bool) error {
	known := []string{"preset"}
	for _, s := range new(train.Config).Settings() {
		// The metric must be measured in one way, and the data are read once.
		if s.Group != "Evaluation" && !slices.Contains([]string{"gain", "highest-grade", "seed", "categorical"}, s.Flag) {
			known = append(known, s.Flag)
		}
	}
	return cmp.Or(
		cli.ErrorIf(!slices.Contains(known, c.flag), "-grid %q: no flag of that name can be tried: %s", c.text, names.Want(c.flag, known)),
		cli.ErrorIf(given, "-grid %q: -%s is given for all trials, too", c.text, c.flag),
	)
}

// args are the flags that a search began with.
func (o *options) args() []string {
	args := slices.Clone(o.shared)
	for _, c := range o.grid {
		args = append(args, "-grid="+c.text)
	}
	return append(args, fmt.Sprintf("-minutes=%v", o.minutes), fmt.Sprintf("-trials=%d", o.trials))
}

// goOn makes these the options of a search with such args, and takes the given flags that may change.
func (o *options) goOn(args []string, given *cli.Line) (err error) {
	older := func(arg string) bool { return strings.HasPrefix(arg, "-early-stop=") } // a flag of older versions
	args = slices.DeleteFunc(slices.Clone(args), older)
	given.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"minutes", "trials", "threads", "cache", "out", "resume", "json"}, f.Name) {
			err = command.Usage(fmt.Errorf("-%s: -resume goes on with the flags of the search in %s: only -minutes, -trials, -threads, -cache "+
				"and -json may be given", f.Name, o.out))
		}
		args = append(args, "-"+f.Name+"="+f.Value.String())
	})
	if err != nil {
		return err
	}
	out := o.out
	*o = options{}
	line := &cli.Line{FlagSet: o.Flags().Set()}
	if err = command.Parse(line.FlagSet, args); err == nil {
		err = o.Check(line)
	}
	if err != nil {
		return fmt.Errorf("tune: %s: %w", out, err)
	}
	return nil
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// Run runs the trials that are still to be run, and prints all.
func (o *options) Run(ctx context.Context, given *cli.Line, _ io.Reader, stdout, stderr io.Writer) (err error) {
	var log *log // nil: none is asked for
	if o.out != "" {
		if log, err = openLog(o.out, o.resume); err != nil {
			return err
		}
		defer log.close()
		if log.unlocked != "" {
			command.Warn(stderr, log.unlocked)
		}
	}
	if o.resume {
		if err := o.goOn(log.head.Args, given); err != nil {
			return err
		}
	}
	if o.usual && o.trials == 0 {
		o.minutes = cmp.Or(o.minutes, usualMinutes)
	}
	trials, err := trainer.OpenTrials(ctx, o.shared, stderr)
	if err != nil {
		return err
	}
	s, err := newSearch(o, trials, stderr)
	if err != nil {
		return err
	}
	if log != nil {
		if err := log.begin(o.head(s.common.Metric, trials.Folds)); err != nil {
			return err
		}
		s.log, s.done = log, log.trials
	}
	err = s.run(ctx)
	if err != nil && !errors.Is(err, command.ErrInterrupted) {
		return err
	}
	return errors.Join(s.print(stdout, o.asJSON, o.out), err)
}

// newSearch returns the search, whose flags it has checked.
func newSearch(o *options, data *trainer.Trials, stderr io.Writer) (s *search, err error) {
	s = &search{data: data, grid: o.grid, usual: o.usual, shared: o.shared, seed: o.seed, bar: command.NewBar(stderr),
		warn: func(w ...string) { command.Warn(stderr, w...) }}
	if o.minutes > 0 {
		s.limit = time.Duration(min(o.minutes, 1e6) * float64(time.Minute))
		s.end = time.Now().Add(s.limit)
	}
	if s.plan.models, s.plan.idle, err = data.Models(); err != nil {
		return nil, err
	}
	s.common = s.plan.models[0]
	s.report = slices.DeleteFunc(slices.Clone(s.common.Report), func(name string) bool { return name == s.common.Metric })
	s.own = len(s.report) > 0 && !o.shared.has("metric") && slices.ContainsFunc(o.grid, func(c choice) bool { return c.flag == "loss" })
	measure, errOfMetric := metrics.ParseMeasure(s.common.Metric)
	if errOfMetric == nil && !o.shared.has("metric") && (o.usual || len(s.plan.models) > 1) {
		// Expectations depend on the scale of scores, in which losses and mixtures differ.
		s.common.Metric = measure.Ranking().String()
		if !s.own {
			s.metric = []string{"-metric=" + s.common.Metric}
		}
	}
	for i := range s.plan.models {
		s.plan.models[i].Report = append(slices.Clone(s.plan.models[i].Report), s.common.Metric)
	}
	if !o.usual {
		return s, s.drawGrid(o.trials)
	}
	s.total = o.trials
	s.mixes = s.folds() == 1 && errOfMetric == nil && !measure.Ranking().OfPolicy() && !o.shared.has("scorer") && !o.shared.has("init-model")
	if s.spaces, err = o.shared.spaces(s.common.Metric); err != nil {
		return nil, err
	}
	s.grid = slices.Concat(s.spaces...)
	for _, g := range s.spaces { // a flag that has an effect in one of them has no warning
		d := s.configure(g.draw(rand.New(rand.NewPCG(s.seed, 0))))
		maps.DeleteFunc(s.plan.idle, func(name, _ string) bool { return d.err == nil && d.idle[name] == "" })
	}
	s.warn(cli.Sorted(s.plan.idle)...)
	return s, nil
}

// drawGrid makes the trials of a -grid known: all, or as many as -trials says.
func (s *search) drawGrid(trials int) error {
	whole, err := s.grid.whole(trials)
	if err != nil {
		return command.Usage(err)
	}
	if whole {
		for _, flags := range s.grid.all() {
			s.known = append(s.known, s.configure(flags))
		}
	} else {
		s.spaces = []grid{s.grid}
		for range trials {
			d, ok := s.draw(len(s.known) + 1)
			if !ok {
				break
			}
			s.known = append(s.known, d)
		}
	}
	if s.total = len(s.known); s.total == 0 && s.refused != nil {
		return command.Usage(s.refused[0].err)
	}
	var idle map[string]string // in all trials; nil: before the first
	for _, d := range s.known {
		if d.err == nil && idle == nil {
			idle = d.idle
		}
		if d.err == nil {
			maps.DeleteFunc(idle, func(name, _ string) bool { return d.idle[name] == "" })
		}
	}
	if err := s.checkValues(); err != nil {
		return err
	}
	s.warn(cli.Sorted(idle)...)
	return nil
}

// head returns the first line of the log of a search on the data of folds.
func (o *options) head(metric string, folds []*datasets.Splits) head {
	h := head{Format: logFormat, Args: o.args(), Metric: metric}
	for _, fold := range folds {
		h.Data = append(h.Data, fold.Train.Fingerprint(), fold.Vali.Fingerprint())
	}
	return h
}
