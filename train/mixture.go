package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

// Mix returns the mixture of models in which all have an equal share, or the one model that is better alone on a validation split,
// by more than the standard error of its mean difference there. It returns the shares, too, which sum to 1. Scores are
// divided by their standard deviation within queries, so that equal shares have equal say, and multiplied by the mean deviation of
// all models. Better is by the metric of the configuration, of rankings by score. Shares that are chosen more finely are not better on
// other data: lab/recipe.md.
//
// Mix returns an error for models of other features than the data have, as [ranker.Mix] and datasets.Score do, and for a
// metric that is not a measure of rankings.
func Mix(c Config, vali *datasets.Dataset, models ...*ranker.Model) (*ranker.Model, []float64, error) {
	if len(models) == 0 {
		return nil, nil, errors.New("train: no models to mix")
	}
	measure, err := metrics.ParseMeasure(cmp.Or(c.Metric, "ndcg@10"))
	if err != nil {
		return nil, nil, fmt.Errorf("train: mixtures are weighed by a measure of rankings: %w", err)
	}
	convention, err := metrics.ParseLabelFree(cmp.Or(c.Convention, "skip"))
	if err != nil {
		return nil, nil, err
	}
	gain, err := metrics.ParseGain(cmp.Or(c.Gain, "exp2"))
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
			return nil, fmt.Errorf("train: %s: %w", vali.Name, err)
		}
		return measure.Counted(in, of[0]), nil
	}
	n := float64(len(models))
	var alone [][]float64 // values of each model by query
	weights, mixed, mean := make([]float64, len(models)), make([]float64, vali.Rows()), 0.0
	scores := make([][]float64, len(models))
	for i, m := range models {
		if scores[i], err = datasets.Score(m, vali); err != nil {
			return nil, nil, err
		}
		values, err := perQuery(scores[i])
		if err != nil {
			return nil, nil, err
		}
		alone, weights[i] = append(alone, values), deviationWithin(scores[i], vali.Offsets)
		mean += weights[i] / n
	}
	for i, deviation := range weights {
		if weights[i] = mean / deviation / n; deviation == 0 { // its scores are equal in each query
			weights[i] = 1 / n
		}
		floats.AddScaled(mixed, weights[i], scores[i])
	}
	equal, err := perQuery(mixed)
	if err != nil {
		return nil, nil, err
	}
	best, shares := -1, slices.Repeat([]float64{1 / n}, len(models))
	most := 0.0
	for i, values := range alone {
		if gain := gainBeyondChance(values, equal, measure.LowerIsBetter()); gain > most {
			best, most = i, gain
		}
	}
	if best >= 0 {
		clear(shares)
		shares[best], weights, models = 1, []float64{1}, models[best:best+1]
	}
	f, err := ranker.Mix(weights, models...)
	if err != nil {
		return nil, nil, err
	}
	mixture, err := ranker.NewWith(f, func(f *ranker.File) (ranker.Forward, error) { return Forward(f) })
	return mixture, shares, err
}

// gainBeyondChance returns how much better values of queries are than others, less the standard error of it.
func gainBeyondChance(values, others []float64, lowerIsBetter bool) float64 {
	var gains []float64
	for q, v := range values {
		if gain := v - others[q]; finite(gain) {
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

// MixResults returns the results of runs as one. Its model is their mixture, by [Mix], and its history has the epochs of one after
// another, numbered from 1. A single result is returned as it is.
func MixResults(c Config, vali *datasets.Dataset, results ...*Result) (*Result, error) {
	if len(results) == 1 {
		return results[0], nil
	}
	all := new(Result)
	var models []*ranker.Model
	for i, r := range results {
		models = append(models, r.Model)
		for _, e := range r.History {
			e.Epoch, e.Model = len(all.History)+1, i+1
			all.History = append(all.History, e)
		}
		all.Interrupted = all.Interrupted || r.Interrupted
	}
	var err error
	all.Model, all.Shares, err = Mix(c, vali, models...)
	return all, err
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
