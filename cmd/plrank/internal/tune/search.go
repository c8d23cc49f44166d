package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
)

// A search is trials on the same data.
type search struct {
	grid   grid          // choices of the trials
	drawn  bool          // more trials are drawn than there is time for
	limit  time.Duration // 0: none
	end    time.Time     // by it; zero: none
	folds  int
	shared shared // flags of all trials
	// config returns the settings of a trial with more flags, and warnings, by flag, of those that have no effect in it.
	config  func(more ...string) (c train.Config, idle map[string]string, err error)
	trainer func(c train.Config, fold int) (*train.Trainer, error)
	common  train.Config   // without the flags of a trial
	metric  []string       // -metric, where the recipe's does not compare losses
	report  []string       // metrics other than its own
	own     bool           // each trial takes the best epoch by its own metric, such as the loss that it is trained on
	flags   [][]string     // of each trial
	configs []train.Config // with them
	invalid []error        // nil: the flags make sense together
	checked int            // trials; others are checked when it is their turn: there are more than are run

	done []*trial
	log  *log // nil: none is asked for
	bar  *command.Bar
	warn func(warnings ...string)
}

// configure checks the flags of trial i. It gives warnings of those without effect, by flag.
func (s *search) configure(i int) (idle map[string]string, err error) {
	s.configs[i], idle, err = s.config(slices.Concat(s.metric, s.flags[i])...)
	switch {
	case err == nil && s.own:
		s.configs[i].Report = append(slices.Clone(s.configs[i].Report), s.common.Metric)
	case err == nil && s.configs[i].Metric != s.common.Metric:
		err = fmt.Errorf("its metric is %s, but other trials have %s: -metric must name one for all, or -report measures to compare by",
			s.configs[i].Metric, s.common.Metric)
	}
	if err == nil {
		err = s.comparable(s.common.Metric)
	}
	return idle, err
}

// comparable returns an error if a metric means something else in each trial.
func (s *search) comparable(metric string) error {
	for _, row := range new(train.Config).Settings() {
		tried := slices.ContainsFunc(s.grid, func(g choice) bool { return g.flag == row.Flag })
		matters := cli.HasLoss(metric) || row.Measuring && !strings.Contains(metric, "@")
		if tried && row.Group == "Objective" && matters {
			return fmt.Errorf("the metric %s goes by -%s: -metric must name one with a cutoff, such as ndcg@10", metric, row.Flag)
		}
	}
	return nil
}

// checkValues returns an error if no trial makes sense with some value, such as a slip of the pen.
func (s *search) checkValues() error {
	why, good := map[string]error{}, map[string]bool{}
	for i, flags := range s.flags {
		for _, f := range flags {
			why[f] = cmp.Or(why[f], s.invalid[i])
			good[f] = good[f] || s.invalid[i] == nil
		}
	}
	for _, flags := range s.flags {
		for _, f := range flags {
			if !good[f] {
				return command.Usage(fmt.Errorf("no trial with %s: %w", f, why[f]))
			}
		}
	}
	return nil
}

// run runs the trials that have not been run, until the time is over.
func (s *search) run(ctx context.Context) error {
	defer s.bar.Finish()
	within := ctx
	if !s.end.IsZero() {
		var cancel context.CancelFunc
		within, cancel = context.WithDeadline(ctx, s.end)
		defer cancel()
	}
	for i, flags := range s.flags {
		if slices.ContainsFunc(s.done, func(t *trial) bool { return slices.Equal(t.Flags, flags) }) {
			continue
		}
		if !s.timeFor() {
			break
		}
		if i >= s.checked {
			if _, err := s.configure(i); err != nil {
				continue // values of the space, or one and a flag for all trials, exclude each other
			}
		}
		t := &trial{Flags: flags, End: complete}
		start := time.Now()
		err := s.invalid[i]
		if err == nil {
			err = s.try(within, t, i)
		}
		ended := within.Err()
		switch {
		case ended != nil && (errors.Is(err, ended) || errors.Is(err, command.ErrInterrupted)):
			t.End = cut
		case err != nil:
			t.End, t.Error, t.Value = failed, err.Error(), train.Value(math.NaN())
		}
		t.Seconds = time.Since(start).Seconds()
		if t.End != cut || len(t.Best) > 0 && s.folds == 1 { // the mean of some folds compares with no other
			s.done = append(s.done, t)
			s.bar.LineLeft(fmt.Sprintf("%s  %s  %s", s.name(i), strings.Join(flags, " "), s.outcome(t)))
		}
		if t.End == cut { // and not written: a search that goes on runs it again
			if ctx.Err() != nil {
				return command.ErrInterrupted
			}
			break
		}
		if s.log != nil {
			if err := s.log.write(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// timeFor reports whether there is time for half a trial of mean length.
func (s *search) timeFor() bool {
	if s.end.IsZero() {
		return true
	}
	sum := 0.
	for _, t := range s.done {
		sum += t.Seconds
	}
	left := time.Until(s.end).Seconds()
	return left > 0 && left >= sum/float64(max(1, len(s.done)))/2
}

// name is trial i in words.
func (s *search) name(i int) string {
	name := fmt.Sprintf("trial %d", i+1)
	if !s.drawn {
		name += fmt.Sprintf("/%d", len(s.flags))
	}
	return name
}

// outcome says in words how a trial ended.
func (s *search) outcome(t *trial) string {
	if t.End == failed {
		return "failed: " + t.Error
	}
	words := fmt.Sprintf("%s %s at epoch %d", s.common.Metric, cli.FormatValue(t.Value), t.Epoch)
	if t.End == cut {
		words += fmt.Sprintf(", cut after %d of %d", len(t.Best), t.Of)
	}
	if t == s.best() {
		words += "  best"
	}
	return words
}

// try trains trial i on every fold.
func (s *search) try(ctx context.Context, t *trial, i int) error {
	folds, sum, sums := s.folds, 0., train.Values{}
	if t.Of = folds; folds == 1 {
		t.Of = s.configs[i].Epochs
	}
	for fold := range folds {
		best, values, err := s.train(ctx, t, i, fold)
		sum += best
		for _, name := range s.report {
			sums[name] += values[name]
			if t.Report == nil {
				t.Report = train.Values{}
			}
			t.Report[name] = sums[name] / train.Value(fold+1)
		}
		t.Value = train.Value(sum / float64(fold+1))
		if err != nil {
			return err
		}
		if folds > 1 {
			t.Best = append(t.Best, t.Value)
		}
	}
	return nil
}

// train trains trial i on a fold, and gives its best value, and all values of that epoch.
func (s *search) train(ctx context.Context, t *trial, i, fold int) (best float64, values train.Values, err error) {
	tr, err := s.trainer(s.configs[i], fold)
	if err != nil {
		return math.NaN(), nil, err
	}
	if len(s.done) == 0 {
		s.warn(tr.Warnings()...)
	}
	best = math.NaN()
	metric, folds := tr.Config.Metric, float64(s.folds)
	if s.own {
		metric = s.common.Metric
	}
	result, err := tr.Run(ctx, train.Hooks{
		Initial: func(v train.Values) error {
			best, values, t.Epoch = float64(v[metric]), v, 0
			return nil
		},
		Step: func(at train.Step) {
			part := (float64(at.Epoch-1) + float64(at.Step)/float64(at.Steps)) / float64(tr.Config.Epochs)
			part = (float64(i) + (float64(fold)+part)/folds) / float64(len(s.flags))
			if !s.end.IsZero() {
				part = max(part, 1-time.Until(s.end).Seconds()/s.limit.Seconds())
			}
			s.bar.Set(part, fmt.Sprintf("%s, epoch %d/%d", s.name(i), at.Epoch, tr.Config.Epochs))
		},
		Epoch: func(_ *train.Trainer, e train.Epoch) error {
			if e.Best {
				best, values, t.Epoch = float64(e.Vali[metric]), e.Vali, e.Epoch
			}
			if folds == 1 {
				t.Best = append(t.Best, train.Value(best))
			}
			return nil
		},
	})
	if err == nil && result.Interrupted {
		err = command.ErrInterrupted
	}
	return best, values, err
}

// ranked are the trials, the best first.
func (s *search) ranked() []*trial {
	list := slices.Clone(s.done)
	slices.SortStableFunc(list, func(a, b *trial) int {
		switch {
		case s.common.Better(float64(a.Value), float64(b.Value)):
			return -1
		case s.common.Better(float64(b.Value), float64(a.Value)):
			return 1
		}
		return 0
	})
	return list
}

// frontier marks the trials that no other dominates by -metric and the measures of -report that mean the same in all
// trials, and returns the names of these measures; nil: there is only one.
func (s *search) frontier() (measures []string) {
	for _, name := range append([]string{s.common.Metric}, s.report...) {
		if s.comparable(name) == nil {
			measures = append(measures, name)
		}
	}
	if len(measures) < 2 {
		return nil
	}
	betterInOne := func(a, b *trial) bool {
		return slices.ContainsFunc(measures, func(measure string) bool {
			c := s.common
			c.Metric = measure
			return c.Better(s.value(a, measure), s.value(b, measure))
		})
	}
	for _, t := range s.done {
		t.Frontier = t.End != failed && !slices.ContainsFunc(s.done, func(other *trial) bool {
			return betterInOne(other, t) && !betterInOne(t,
				other)
		})
	}
	return measures
}

// value returns a measure of a trial, NaN if it is not known, as of a trial that failed, or from an older version.
func (s *search) value(t *trial, measure string) float64 {
	if measure == s.common.Metric {
		return float64(t.Value)
	}
	if v, known := t.Report[measure]; known {
		return float64(v)
	}
	return math.NaN()
}

// best is the best trial that is complete, or was cut by the end of the search: its command goes on to better
// values, if any; nil: there is none.
func (s *search) best() *trial {
	for _, t := range s.ranked() {
		if t.End == complete || t.End == cut {
			return t
		}
	}
	return nil
}
