package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// A search is trials on the same data. Trial 0 is the plan as it is.
type search struct {
	data    *trainer.Trials
	grid    grid          // choices of the trials
	usual   bool          // without -grid
	spaces  []grid        // to draw the next trial from, in turn; nil: all are known
	mixes   bool          // every fourth trial is a mixture of the best
	total   int           // trials after trial 0; 0: as many as there is time for
	seed    uint64        // of draws
	limit   time.Duration // 0: none
	end     time.Time     // by it; zero: none
	shared  shared        // flags of all trials
	common  train.Config  // of trial 0, or its first model; its metric is the one that trials are compared by
	metric  []string      // -metric, where the recipe's does not compare losses; not for trial 0
	report  []string      // metrics other than its own
	own     bool          // each trial takes the best epoch by its own metric, such as the loss that it is trained on
	plan    drawn         // trial 0
	known   []drawn       // trials 1, 2, … of a -grid
	refused []drawn       // draws that were drawn again

	done []*trial
	log  *log // nil: none is asked for
	bar  *command.Bar
	warn func(warnings ...string)
}

// drawn is a trial that is to be run.
type drawn struct {
	flags  []string
	models []train.Config    // with them; nil: it is a mixture of the best trials
	idle   map[string]string // warnings, by flag, of those without effect
	err    error             // nil: the flags make sense together
}

// configure returns the trial with these flags.
func (s *search) configure(flags []string) drawn {
	d := drawn{flags: flags}
	d.models, d.idle, d.err = s.data.Models(slices.Concat(s.metric, flags)...)
	for i := range d.models {
		c := &d.models[i]
		if s.own {
			c.Report = append(slices.Clone(c.Report), s.common.Metric)
		} else if c.Metric != s.common.Metric && len(d.models) == 1 {
			d.err = fmt.Errorf("its metric is %s, but other trials have %s: -metric must name one for all, or -report measures to compare by",
				c.Metric, s.common.Metric)
		}
	}
	d.err = cmp.Or(d.err, s.comparable(s.common.Metric))
	return d
}

// mostDraws is how often a trial is drawn until its flags make sense together, and are new.
const mostDraws = 100

// draw returns trial n, after 0; false: there is no other.
func (s *search) draw(n int) (drawn, bool) {
	if n <= len(s.known) {
		return s.known[n-1], true
	}
	if s.mixes && n%4 == 0 && len(s.candidates()) > 1 {
		return drawn{}, true
	}
	rng := rand.New(rand.NewPCG(s.seed, uint64(n)))
	for i := range mostDraws * len(s.spaces) {
		flags := s.spaces[(n+i)%len(s.spaces)].draw(rng)
		if s.has(flags) {
			continue
		}
		d := s.configure(flags)
		if d.err == nil && !slices.ContainsFunc(flags, func(f string) bool { return s.idle(d, f) }) &&
			!slices.ContainsFunc(s.shared, func(f string) bool { return s.idle(d, f) }) {
			return d, true
		}
		if d.err != nil {
			s.refused = append(s.refused, d)
		}
	}
	return drawn{}, false
}

// has reports whether a trial has these flags.
func (s *search) has(flags []string) bool {
	return slices.ContainsFunc(s.done, func(t *trial) bool { return slices.Equal(t.Flags, flags) }) ||
		slices.ContainsFunc(s.known, func(d drawn) bool { return slices.Equal(d.flags, flags) })
}

// idle reports whether a flag of a draw without -grid has no effect in it, but in trials of another kind.
func (s *search) idle(d drawn, flag string) bool {
	name, _, _ := strings.Cut(flag[1:], "=")
	return s.usual && d.idle[name] != "" && s.plan.idle[name] == ""
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

// checkValues returns an error if no trial of a grid makes sense with some value, such as a slip of the pen.
func (s *search) checkValues() error {
	why, good := map[string]error{}, map[string]bool{}
	for _, d := range slices.Concat(s.known, s.refused) {
		for _, f := range d.flags {
			why[f] = cmp.Or(why[f], d.err)
			good[f] = good[f] || d.err == nil
		}
	}
	for _, c := range s.grid {
		for _, value := range c.values {
			if f := "-" + c.flag + "=" + value; why[f] != nil && !good[f] {
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
	for n := 0; (s.total == 0 || n <= s.total) && (s.end.IsZero() || time.Now().Before(s.end)); n++ {
		if s.trial(n) != nil {
			continue
		}
		d, ok := s.plan, true
		if n > 0 {
			d, ok = s.draw(n)
		}
		if !ok {
			s.warn(fmt.Sprintf("no flags were found for trial %d that make sense together and are new", n))
			break
		}
		t := &trial{Number: n, Flags: d.flags, Value: train.Value(math.NaN()), End: complete}
		start := time.Now()
		err := d.err
		if err == nil {
			err = s.try(within, t, d)
		}
		ended := within.Err()
		switch {
		case ended != nil && (errors.Is(err, ended) || errors.Is(err, command.ErrInterrupted)):
			t.End = cut
		case err != nil:
			t.End, t.Error, t.Value = failed, err.Error(), train.Value(math.NaN())
		}
		t.Seconds = time.Since(start).Seconds()
		if t.End != cut || len(t.models) > 0 && s.folds() == 1 { // the mean of some folds compares with no other
			if err := s.keep(t); err != nil {
				return err
			}
			s.bar.LineLeft(fmt.Sprintf("%s  %s  %s", s.name(n), t.words(), s.outcome(t)))
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

// trial returns the trial of that number; nil: it has not been run.
func (s *search) trial(n int) *trial {
	if i := slices.IndexFunc(s.done, func(t *trial) bool { return t.Number == n }); i >= 0 {
		return s.done[i]
	}
	return nil
}

func (s *search) folds() int { return len(s.data.Folds) }

// keep adds a trial that has ended, and writes its model. Models that no mixture needs are let go.
func (s *search) keep(t *trial) error {
	s.done = append(s.done, t)
	if s.log != nil && len(t.models) == 1 {
		if err := t.models[0].File().Save(s.log.model(t)); err != nil {
			return fmt.Errorf("tune: %w", err)
		}
	}
	needed := s.candidates()
	for _, t := range s.done {
		if !slices.Contains(needed, t) {
			t.models = nil
		}
	}
	return nil
}

// mostMixed is the number of trials in a mixture.
const mostMixed = 4

// candidates returns the best trials whose models can be mixed. The models of a search that goes on are read.
func (s *search) candidates() (list []*trial) {
	for _, t := range s.ranked() {
		if !s.mixes || len(list) == mostMixed || t.End != complete || t.Parts != nil {
			continue
		}
		if t.models == nil && s.log != nil {
			if m, err := ranker.Open(s.log.model(t)); err == nil {
				t.models = []*ranker.Model{m}
			}
		}
		if t.models != nil {
			list = append(list, t)
		}
	}
	return list
}

// name is trial n in words.
func (s *search) name(n int) string {
	name := fmt.Sprintf("trial %d", n)
	if s.total > 0 {
		name += fmt.Sprintf("/%d", s.total)
	}
	return name
}

// outcome says in words how a trial ended.
func (s *search) outcome(t *trial) string {
	if t.End == failed {
		return "failed: " + t.Error
	}
	words := fmt.Sprintf("%s %s", s.common.Metric, cli.FormatValue(t.Value))
	if t.Epoch > 0 {
		words += fmt.Sprintf(" at epoch %d", t.Epoch)
	}
	if t.End == cut {
		words += ", cut short"
	}
	if t == s.best() {
		words += "  best"
	}
	return words
}

// try runs a trial on every fold. Its value is the mean over folds, also of the ones that it was trained on before an error.
func (s *search) try(ctx context.Context, t *trial, d drawn) error {
	sum, sums, parts := 0., train.Values{}, s.candidates()
	for fold := range s.folds() {
		a, err := attempt{}, error(nil)
		if d.models == nil {
			a, err = s.mix(t, parts)
		} else {
			a, err = s.train(ctx, t, fold, d.models)
		}
		if a.values == nil {
			return err
		}
		n := float64(fold + 1)
		sum += float64(a.values[s.common.Metric])
		t.Value, t.Epoch, t.Report = train.Value(sum/n), a.epoch, nil
		for _, name := range s.report {
			if t.Report == nil {
				t.Report = train.Values{}
			}
			sums[name] += a.values[name]
			t.Report[name] = sums[name] / train.Value(n)
		}
		t.models = append(t.models, a.model)
		if err != nil {
			return err
		}
	}
	return nil
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
