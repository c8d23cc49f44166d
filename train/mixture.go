package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

// mixtureSteps is the number of steps of a weight from 0 to 1.
const mixtureSteps = 4

// Mix returns the mixture of models that is best on a validation split, and the shares of the models, which sum to 1. Scores are
// divided by their standard deviation within queries, so that equal shares have equal say, and multiplied by the mean deviation of
// all models. The shares are multiples of ¼, chosen by the metric of the configuration, of rankings by score; of shares
// that are equally good, the ones closest to equal are taken. Models without a share are left out.
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
	var scores [][]float64
	var deviations []float64
	mean := 0.0
	for _, m := range models {
		s, err := datasets.Score(m, vali)
		if err != nil {
			return nil, nil, err
		}
		deviation := deviationWithin(s, vali.Offsets)
		scores, deviations = append(scores, s), append(deviations, deviation)
		mean += deviation / float64(len(models))
	}
	in := metrics.Queries{Labels: vali.Labels, Offsets: vali.Offsets, Groups: vali.Groups, Gain: gain, QueryWeights: vali.QueryWeights,
		LabelFree: convention, HighestGrade: cmp.Or(c.HighestGrade, models[0].File().Grade), Scores: make([]float64, vali.Rows())}
	var best, weights []float64
	bestValue, bestSpread := math.NaN(), 0.0
	for shares := range sharesOf(len(models)) {
		w, spread := make([]float64, len(models)), 0.0
		clear(in.Scores)
		for i, share := range shares {
			if w[i] = share * mean / deviations[i]; deviations[i] == 0 {
				w[i] = share // its scores are equal in each query
			}
			for d, s := range scores[i] {
				in.Scores[d] += w[i] * s
			}
			spread += share * share
		}
		value, err := metrics.Means(in, []metrics.Measure{measure})
		if err != nil {
			return nil, nil, fmt.Errorf("train: %w", err)
		}
		v := value[0].Mean
		if best == nil || measure.Better(v, bestValue) || v == bestValue && spread < bestSpread {
			best, weights, bestValue, bestSpread = append([]float64(nil), shares...), w, v, spread
		}
	}
	var kept []*ranker.Model
	var with []float64
	for i, share := range best {
		if share > 0 {
			kept, with = append(kept, models[i]), append(with, weights[i])
		}
	}
	f, err := ranker.Mix(with, kept...)
	if err != nil {
		return nil, nil, err
	}
	mixed, err := ranker.NewWith(f, func(f *ranker.File) (ranker.Forward, error) { return Forward(f) })
	return mixed, best, err
}

// sharesOf yields all shares of n models.
func sharesOf(n int) func(yield func([]float64) bool) {
	return func(yield func([]float64) bool) {
		shares := make([]float64, n)
		var fill func(i, left int) bool
		fill = func(i, left int) bool {
			if i == n-1 {
				shares[i] = float64(left) / mixtureSteps
				return yield(shares)
			}
			for k := range left + 1 {
				shares[i] = float64(k) / mixtureSteps
				if !fill(i+1, left-k) {
					return false
				}
			}
			return true
		}
		fill(0, mixtureSteps)
	}
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
