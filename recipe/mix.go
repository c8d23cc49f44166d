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
	convention, err := metrics.ParseLabelFree(c.Convention)
	if err != nil {
		return nil, nil, err
	}
	gain, err := metrics.ParseGain(c.Gain)
	if err != nil {
		return nil, nil, err
	}
	measure = measure.Ranking()
	in := metrics.Queries{Labels: vali.Labels, Offsets: vali.Offsets, Groups: vali.Groups, Intents: vali.Intents, DocumentIDs: vali.DocumentIDs, Gain: gain,
		LabelFree: convention, HighestGrade: cmp.Or(c.HighestGrade, models[0].File().Grade)}
	perQuery := func(scores []float64) ([]float64, error) {
		in.Scores = scores
		of, err := metrics.Estimates(in, []metrics.Measure{measure})
		if err != nil {
			return nil, fmt.Errorf("recipe: %s: %w", vali.Name, err)
		}
		return measure.Counted(in, of[0]), nil
	}
	n := float64(len(models))
	units, scores, mean := make([]float64, len(models)), make([][]float64, len(models)), 0.0
	for i, m := range models {
		if scores[i], err = datasets.Score(m, vali); err != nil {
			return nil, nil, err
		}
		units[i] = deviationWithin(scores[i], vali.Offsets)
		mean += units[i] / n
	}
	for i, deviation := range units {
		if units[i] = mean / deviation; deviation == 0 { // its scores are equal in each query
			units[i] = 1
		}
	}
	mixed := make([]float64, vali.Rows())
	valuesOf := func(shares []float64) ([]float64, error) {
		clear(mixed)
		for i, share := range shares {
			floats.AddScaled(mixed, share*units[i], scores[i])
		}
		return perQuery(mixed)
	}
	best, most := slices.Repeat([]float64{1 / n}, len(models)), 0.0
	equal, err := valuesOf(best)
	if err != nil {
		return nil, nil, err
	}
	parts := 4
	if len(models) > 4 { // there would be too many
		parts = 1
	}
	others := num.Divisions(len(models), parts)
	count := func(shares []float64) (models int) {
		for _, share := range shares {
			if share > 0 {
				models++
			}
		}
		return models
	}
	slices.SortStableFunc(others, func(a, b []float64) int { return count(a) - count(b) }) // of equals, the one of the fewest models
	for _, shares := range others {
		values, err := valuesOf(shares)
		if err != nil {
			return nil, nil, err
		}
		if gain := gainBeyondChance(values, equal, measure.LowerIsBetter()); gain > most {
			best, most = shares, gain
		}
	}
	var weights []float64
	var taken []*ranker.Model
	for i, share := range best {
		if share > 0 {
			weights, taken = append(weights, share*units[i]), append(taken, models[i])
		}
	}
	if len(taken) == 1 {
		weights[0] = 1
	}
	f, err := ranker.Mix(weights, taken...)
	if err != nil {
		return nil, nil, err
	}
	mixture, err := ranker.NewWith(f, func(f *ranker.File) (ranker.Forward, error) { return train.Forward(f) })
	return mixture, best, err
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
