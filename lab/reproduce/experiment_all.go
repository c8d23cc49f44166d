package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/plrank/plrank/train"
)

const allName = "all"

// The parts of the budget of subcommand all.
const (
	probePart    = 0.05
	samplesPart  = 0.40
	epochsPart   = 0.12
	timePart     = 0.20
	fairnessPart = 0.10
	frontierPart = 0.08
	variancePart = 0.05
)

const (
	dynamicAs       = 100 // samples, whose cost the growing number has at the most
	timedEpochs     = 60  // of the reference that a timed run is to have time for; the paper's have 20 to 40
	varianceSeconds = 40  // that 100 repeats of variance take
)

// frontierWeights are the weights of the frontier in subcommand all: from no effect to
// little else, since a disparity is some tenths where DCG@5 is a few units.
var frontierWeights = weights{0, 1, 3, 10, 30, 100}

// A step is an experiment as it fits the budget of subcommand all.
type step struct {
	Name     string   `json:"name"` // of the subcommand
	Settings settings `json:"settings"`
	LeftOut  []string `json:"leftOut"`
}

// runAll runs every experiment, all within -minutes or about that. The plan is kept, so
// that an interrupted session goes on with it.
func runAll(ctx context.Context, s *session) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	wanted := struct {
		Minutes  float64  `json:"minutes"`
		Settings settings `json:"settings"`
	}{s.minutes, s.settings}
	steps, err := kept(s, trialFile("plan", wanted), wanted, func() ([]step, error) { return s.plan(ctx) })
	if err != nil {
		return err
	}
	for _, step := range steps {
		for _, l := range step.LeftOut {
			what := step.Name
			if len(step.Settings.Weights) > 0 {
				what += " -weights"
			}
			fmt.Fprintf(s.stderr, "%s leaves out %s\n", what, l)
		}
	}
	for _, step := range steps {
		one := *s.options
		one.settings = step.Settings
		child := &session{
			options:  &one,
			command:  step.Name,
			args:     s.args,
			data:     s.data,
			chapters: s.chapters,
			leftOut:  step.LeftOut,
			stdout:   s.stdout,
			stderr:   s.stderr,
		}
		all := subcommands()
		i := slices.IndexFunc(all, func(c subcommand) bool { return c.name == step.Name })
		if err := all[i].run(ctx, child); err != nil {
			return err
		}
	}
	return nil
}

// plan measures what losses cost, and chooses.
func (s *session) plan(ctx context.Context) ([]step, error) {
	total := 60 * s.minutes
	relevance, err := s.evaluation(ctx, s.config("plrank-rb", 1, 0))
	if err != nil {
		return nil, err
	}
	fairness, err := s.evaluation(ctx, s.fairConfig("plrank-rb", 0))
	if err != nil {
		return nil, err
	}
	var ofSamples, ofFairness, ofFrontier []cost
	for _, loss := range s.Losses {
		for _, n := range s.Samples {
			if s.has(loss, n) {
				ofSamples = append(ofSamples, cost{loss, n, relevance})
			}
		}
		ofFairness = append(ofFairness, cost{fair(loss), dynamicAs, fairness})
	}
	reference := []cost{{reference, dynamicAs, 0}}
	mixed := []cost{{mixture(1), dynamicAs, fairness}}
	all := [][]cost{ofSamples, ofFairness, reference, mixed}
	p := newProgress(s.stderr, "what losses cost", len(ofSamples)+len(ofFairness)+2)
	defer p.finish()
	i := 0
	relevant := relevantQueries(s.data.splits.Train)
	for _, costs := range all {
		for c := range costs {
			config := s.config(costs[c].Loss, train.SampleCount(costs[c].Samples), 0)
			queries, err := s.fitting(ctx, config, relevant, probePart*total/float64(len(p.parts)))
			if err != nil {
				return nil, err
			}
			took, _, err := s.epochOver(ctx, config, relevant, queries)
			if err != nil {
				return nil, err
			}
			costs[c].Seconds += took.Seconds * float64(len(relevant)) / float64(took.Queries)
			p.done(i, fmt.Sprintf("%s with N = %d", costs[c].Loss, costs[c].Samples))
			i++
		}
	}
	for range frontierWeights {
		ofFrontier = append(ofFrontier, mixed[0])
	}

	workers := runtime.GOMAXPROCS(0)
	samples := choose(samplesPart*total, ofSamples, s.Runs, s.Epochs, workers)
	fair := choose(fairnessPart*total, ofFairness, s.Runs, s.Epochs, workers)
	frontier := choose(frontierPart*total, ofFrontier, s.Runs, s.Epochs, workers)
	steps := []step{
		{"samples", s.settings, samples.reasons(s.Runs, s.Epochs, samplesPart*total)},
		{"epochs", s.settings, nil},
		{"time", s.settings, nil},
		{"fairness", s.settings, fair.reasons(s.Runs, s.Epochs, fairnessPart*total)},
		{"fairness", s.settings, frontier.reasons(s.Runs, s.Epochs, frontierPart*total)},
		{"variance", s.settings, nil},
	}
	of := func(i int) *settings { return &steps[i].Settings }
	of(0).Runs, of(0).Epochs = samples.Runs, samples.Epochs
	for _, w := range samples.Without {
		of(0).Without = append(slices.Clone(of(0).Without), trialName(w.Loss, w.Samples))
	}
	of(1).TrialSeconds = epochsPart * total / float64(len(ofSamples))

	// Evaluation comes on top of the time that training gets.
	train := reference[0].Seconds
	perSecond := float64(len(s.Losses)) * (train + relevance) / train
	of(2).Seconds = min(timedEpochs*train, timePart*total/perSecond/float64(min(s.Runs, leastRuns)))
	of(2).Runs = fit(timePart*total/perSecond/of(2).Seconds, min(s.Runs, leastRuns), s.Runs)
	steps[2].LeftOut = choice{Runs: of(2).Runs}.reasons(s.Runs, 0, timePart*total)

	of(3).Runs, of(3).Epochs = fair.Runs, fair.Epochs
	of(3).Losses = slices.DeleteFunc(slices.Clone(s.Losses), func(loss string) bool {
		return slices.ContainsFunc(fair.Without, func(c cost) bool { return methodOfFair(c.Loss).loss == loss })
	})
	of(4).Runs, of(4).Epochs = frontier.Runs, frontier.Epochs
	of(4).Weights = frontierWeights[:len(frontierWeights)-len(frontier.Without)]
	of(5).Epochs = samples.Epochs
	of(5).Repeats = fit(100*variancePart*total/varianceSeconds, 10, s.Repeats)
	if of(5).Repeats < s.Repeats {
		steps[5].LeftOut = []string{
			fmt.Sprintf("estimates from %d to %d of each gradient: the budget is %s s", of(5).Repeats+1, s.Repeats, short(variancePart*total)),
		}
	}
	return steps, nil
}

// evaluation returns the seconds after an epoch that were not spent on training.
func (s *session) evaluation(ctx context.Context, c train.Config) (float64, error) {
	c.Epochs = 1
	result, err := train.Run(ctx, c, s.data.splits, train.Hooks{})
	if err != nil {
		return 0, err
	}
	if result.Interrupted {
		return 0, ctx.Err()
	}
	return result.History[0].Seconds - result.History[0].TrainSeconds, nil
}
