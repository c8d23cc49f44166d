package recipe

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// Mix returns the mixture of models in equal shares, or in other shares if these are better on a validation split by more than the
// standard error of their mean difference there. Other shares are multiples of a quarter, or, with more than four models, one model
// alone; Mix takes the shares with the largest difference less its error. It returns the shares, too, which sum to 1. Scores are
// divided by their standard deviation within queries, so that equal shares have equal say, and multiplied by the mean deviation of
// all models. Better is by the metric of the configuration, of rankings by score. lab/recipe.md says how shares do on other queries.
//
// Mix returns an error for models of other features than the data have, as [ranker.Mix] and datasets.Score do, and for a
// metric that is not a measure of rankings.
func Mix(c train.Config, vali *datasets.Dataset, models ...*ranker.Model) (*ranker.Model, []float64, error) {
	if len(models) == 0 {
		return nil, nil, errors.New("recipe: no models to mix")
	}
	measure, err := metrics.ParseMeasure(c.Metric)
	if err != nil {
		return nil, nil, fmt.Errorf("recipe: mixtures are weighed by a measure of rankings: %w", err)
	}
	c.Metric, c.HighestGrade = measure.Ranking().String(), cmp.Or(c.HighestGrade, models[0].File().Grade)
	scores, units, err := scored(vali, models)
	if err != nil {
		return nil, nil, err
	}
	run := &datasets.Run{Dataset: vali, Scores: make([]float64, vali.Rows())}
	values := func(shares []float64) ([]float64, error) {
		clear(run.Scores)
		for i, share := range shares {
			floats.AddScaled(run.Scores, share*units[i], scores[i])
		}
		report, err := train.EvaluateRun(c, train.Custom{}, run)
		if err != nil {
			return nil, err
		}
		return report.Splits[0].PerQuery[c.Metric], nil
	}
	best, most := slices.Repeat([]float64{1 / float64(len(models))}, len(models)), 0.0
	equal, err := values(best)
	if err != nil {
		return nil, nil, err
	}
	for _, shares := range candidates(len(models)) {
		of, err := values(shares)
		if err != nil {
			return nil, nil, err
		}
		if gain := gainBeyondChance(of, equal, measure.LowerIsBetter()); gain > most {
			best, most = shares, gain
		}
	}
	mixture, err := mixed(best, units, models)
	return mixture, best, err
}

// scored returns the scores of models on d, and what makes the deviations of each within queries the mean of all.
func scored(d *datasets.Dataset, models []*ranker.Model) (scores [][]float64, units []float64, err error) {
	scores, units = make([][]float64, len(models)), make([]float64, len(models))
	mean := 0.0
	for i, m := range models {
		if scores[i], err = datasets.Score(m, d); err != nil {
			return nil, nil, err
		}
		units[i] = deviationWithin(scores[i], d.Offsets)
		mean += units[i] / float64(len(models))
	}
	for i, deviation := range units {
		if units[i] = mean / deviation; deviation == 0 { // its scores are equal in each query
			units[i] = 1
		}
	}
	return scores, units, nil
}

// candidates returns the shares of a number of models that may be better than equal ones, those of the fewest models first.
func candidates(models int) [][]float64 {
	parts := 4
	if models > 4 { // there would be too many
		parts = 1
	}
	all := num.Divisions(models, parts)
	without := func(shares []float64) int {
		return floats.Count(func(share float64) bool { return share == 0 }, shares)
	}
	slices.SortStableFunc(all, func(a, b []float64) int { return without(b) - without(a) })
	return all
}

// mixed returns the mixture of the models that have a share.
func mixed(shares, units []float64, models []*ranker.Model) (*ranker.Model, error) {
	var weights []float64
	var taken []*ranker.Model
	for i, share := range shares {
		if share > 0 {
			weights, taken = append(weights, share*units[i]), append(taken, models[i])
		}
	}
	if len(taken) == 1 {
		weights[0] = 1
	}
	f, err := ranker.Mix(weights, taken...)
	if err != nil {
		return nil, err
	}
	return ranker.NewWith(f, func(f *ranker.File) (ranker.Forward, error) { return train.Forward(f) })
}

// gainBeyondChance returns how much better values of queries are than others, less the standard error of it.
func gainBeyondChance(values, others []float64, lowerIsBetter bool) float64 {
	var gains []float64
	for q, v := range values {
		if gain := v - others[q]; !math.IsNaN(gain) && !math.IsInf(gain, 0) {
			gains = append(gains, gain)
		}
	}
	if lowerIsBetter {
		floats.Scale(-1, gains)
	}
	if len(gains) < 2 {
		return 0
	}
	mean, deviation := stat.MeanStdDev(gains, nil)
	return mean - stat.StdErr(deviation, float64(len(gains)))
}

// deviationWithin returns the standard deviation of scores within their queries.
func deviationWithin(scores []float64, offsets []int) float64 {
	sum, n := 0.0, 0
	for q := range len(offsets) - 1 {
		of := scores[offsets[q]:offsets[q+1]]
		mean := 0.0
		for _, s := range of {
			mean += s / float64(len(of))
		}
		for _, s := range of {
			sum += (s - mean) * (s - mean)
		}
		n += len(of)
	}
	return math.Sqrt(sum / float64(max(1, n)))
}
