package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/lab/internal/variance"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// A stage is how far training has come, and what a model of then says of the lists.
type stage struct {
	Name  string          `json:"name"`
	Lists []variance.List `json:"lists"`
}

// varianceStages returns the stages to measure: the stages of the paper's network, trained by
// PL-Rank-RB, or the model of a file alone.
func (s *session) varianceStages(ctx context.Context) ([]stage, error) {
	c := s.config("plrank-rb", train.Dynamic, 0)
	c.EvaluateTest = false
	if s.Model == "" {
		return kept(s, trialFile("variance-scores", c), c, func() ([]stage, error) { return s.trainStages(ctx, c) })
	}
	model, err := ranker.Open(s.Model)
	if err != nil {
		return nil, err
	}
	d, gains, err := s.varianceData(model.File().Gain)
	if err != nil {
		return nil, err
	}
	one, err := newStage("model", model, d, gains)
	return []stage{one}, err
}

// trainStages trains the network. Its weights are the best for the validation split
// in the first half of the epochs, and in all.
func (s *session) trainStages(ctx context.Context, c train.Config) ([]stage, error) {
	d, gains, err := s.varianceData(c.Plain().Gain)
	if err != nil {
		return nil, err
	}
	stages := make([]stage, 3)
	t, err := train.New(c, train.Custom{}, s.data.splits)
	if err != nil {
		return nil, err
	}
	untrained, err := t.Current()
	if err != nil {
		return nil, err
	}
	if stages[0], err = newStage("untrained", untrained, d, gains); err != nil {
		return nil, err
	}
	bar := newProgress(s.stderr, s.command+": training", 1)
	defer bar.finish()
	half := max(1, c.Epochs/2)
	after, err := t.Run(ctx, train.Hooks{Epoch: func(t *train.Trainer, e train.Epoch) error {
		bar.at(0, float64(e.Epoch)/float64(c.Epochs))
		if e.Epoch != half {
			return nil
		}
		best, err := t.Best()
		if err == nil {
			stages[1], err = newStage("half-trained", best, d, gains)
		}
		return err
	}})
	if err != nil {
		return nil, err
	}
	if after.Interrupted {
		return nil, ctx.Err()
	}
	bar.done(0, fmt.Sprintf("%d epochs", c.Epochs))
	stages[2], err = newStage("trained", after.Model, d, gains)
	return stages, err
}

func newStage(name string, m *ranker.Model, d *datasets.Dataset, gains []float64) (stage, error) {
	scores, err := datasets.Score(m, d)
	if err != nil {
		return stage{}, err
	}
	st := stage{Name: name}
	for q := range d.Queries() {
		from, to := d.Offsets[q], d.Offsets[q+1]
		st.Lists = append(st.Lists, variance.List{Scores: scores[from:to], Gains: gains[from:to]})
	}
	return st, nil
}

// varianceData is the queries to measure: training queries with a relevant document,
// drawn by the seed where they are too many. In others nothing varies.
func (s *session) varianceData(gainName string) (*datasets.Dataset, []float64, error) {
	gain, err := metrics.ParseGain(gainName)
	if err != nil {
		return nil, nil, err
	}
	d := s.data.splits.Train
	queries := relevantQueries(d)
	if len(queries) == 0 {
		return nil, nil, errors.New("reproduce: no training query has a relevant document")
	}
	if len(queries) > varianceQueries {
		rand.New(rand.NewPCG(s.Seed, 0)).Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
		queries = queries[:varianceQueries]
		slices.Sort(queries)
	}
	d = d.Select(queries)
	gains, err := gain.Gains(d.Labels)
	if err != nil {
		return nil, nil, fmt.Errorf("reproduce: %s: %w", d.Name, err)
	}
	return d, gains, nil
}

// quantile is a quantile of ascending values, NaN where there are none.
func quantile(p float64, values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return stat.Quantile(p, stat.LinInterp, values, nil)
}
