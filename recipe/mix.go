package recipe

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// Mix returns the mixture of models with the shares that are best on a validation split, by the metric of the configuration, of rankings
// by score. Which shares are the best depends on the queries of the split: Mix takes the mean of the best shares over 200 resamples of them
// (bagging, Breiman 1996), so that a model has as large a share as it is likely to help, and one that is certainly behind has none. The
// best shares of a resample are one model, or a mixture that is better by more than the standard error of the difference.
// Shares are multiples of a quarter in each resample, or of a half or one model alone where there would be more than 500 ways. Shares
// below a tenth in the mean count as none. Mix returns the shares, too, which sum to 1. Scores are divided by their standard
// deviation within queries, so that equal shares have equal say, and multiplied by the mean deviation of all models.
// lab/recipe.md compares ways to choose shares.
//
// Mix returns an error for models of other features than the data have, as [ranker.Mix] and datasets.Score do, and for a
// metric that is not a measure of rankings.
func Mix(c train.Config, vali *datasets.Dataset, models ...*ranker.Model) (*ranker.Model, []float64, error) {
	e, err := newElection(c, vali, models)
	if err != nil {
		return nil, nil, err
	}
	shares := e.shares()
	m, err := mixed(shares, e.units, models)
	return m, shares, err
}

const (
	resamples  = 200
	mostWays   = 500 // to divide the shares
	leastShare = 0.1
)

// An election chooses the shares of models by the values of their mixtures for queries.
type election struct {
	config  train.Config // whose metric is of rankings
	sign    float64      // −1: lower is better
	units   []float64    // what makes the deviations of the models' scores within queries the mean of all
	ways    [][]float64  // shares, those of single models among them
	values  [][]float64  // of the ways, by query
	queries int          // whose values are known
	usual   int          // the way of the model that others have to be better than; −1: none
	doubt   float64      // by how many standard errors a way has to be better than another
}

// newElection returns an election by the scores of models on a validation split.
func newElection(c train.Config, vali *datasets.Dataset, models []*ranker.Model) (*election, error) {
	if len(models) == 0 {
		return nil, errors.New("recipe: no models to mix")
	}
	measure, err := metrics.ParseMeasure(c.Metric)
	if err != nil {
		return nil, fmt.Errorf("recipe: mixtures are weighed by a measure of rankings: %w", err)
	}
	e := &election{config: c, sign: 1, usual: -1, doubt: 1}
	e.config.Metric, e.config.HighestGrade = measure.Ranking().String(), cmp.Or(c.HighestGrade, models[0].File().Grade)
	if measure.LowerIsBetter() {
		e.sign = -1
	}
	for parts := 4; ; parts /= 2 {
		if e.ways = num.Divisions(len(models), parts); parts == 1 || len(e.ways) <= mostWays {
			break
		}
	}
	e.values = make([][]float64, len(e.ways))
	scores := make([][]float64, len(models))
	for i, m := range models {
		if scores[i], err = datasets.Score(m, vali); err != nil {
			return nil, err
		}
	}
	e.units = units(scores, vali.Offsets)
	return e, e.add(vali, scores)
}

// add adds the queries of data on which the models have these scores.
func (e *election) add(d *datasets.Dataset, scores [][]float64) error {
	units := units(scores, d.Offsets)
	run := &datasets.Run{Dataset: d, Scores: make([]float64, d.Rows())}
	values := make([][]float64, len(e.ways))
	for i, shares := range e.ways {
		clear(run.Scores)
		for m, share := range shares {
			floats.AddScaled(run.Scores, share*units[m], scores[m])
		}
		report, err := train.EvaluateRun(e.config, train.Custom{}, run)
		if err != nil {
			return err
		}
		values[i] = report.Splits[0].PerQuery[e.config.Metric]
	}
	for q := range values[0] {
		if slices.ContainsFunc(values, func(own []float64) bool { return math.IsNaN(own[q]) || math.IsInf(own[q], 0) }) {
			continue
		}
		e.queries++
		for i := range values {
			e.values[i] = append(e.values[i], e.sign*values[i][q])
		}
	}
	return nil
}

// shares returns the mean of the best shares over resamples of the queries. Of a resample these are the best single model, or shares
// whose gain over it is beyond its standard error, or several of them. If there is a usual model, this is the best one, unless another
// has such a gain.
func (e *election) shares() []float64 {
	mean := make([]float64, len(e.units))
	random := rand.New(rand.NewPCG(1, 0))
	counts := make([]float64, e.queries)
	singles, all := e.singles(), make([]int, len(e.ways))
	for i := range all {
		all[i] = i
	}
	for range resamples {
		clear(counts)
		for range e.queries {
			counts[random.IntN(e.queries)]++
		}
		single := e.usual
		if single < 0 {
			single = slices.MaxFunc(singles, func(a, b int) int {
				return cmp.Compare(floats.Dot(counts, e.values[a]), floats.Dot(counts, e.values[b]))
			})
		} else {
			single = e.better(single, singles, counts)[0]
		}
		best := e.better(single, all, counts)
		for _, i := range best {
			floats.AddScaled(mean, 1/float64(resamples*len(best)), e.ways[i])
		}
	}
	return atLeast(leastShare, mean)
}

// better returns the ways whose gain over another, less the standard errors of doubt, is the largest; or the other if none has one.
func (e *election) better(other int, ways []int, counts []float64) (best []int) {
	best, most, gains := []int{other}, 0., make([]float64, e.queries)
	for _, i := range ways {
		floats.SubTo(gains, e.values[i], e.values[other])
		gain, deviation := stat.PopMeanStdDev(gains, counts)
		switch gain -= e.doubt * stat.StdErr(deviation, float64(e.queries)); {
		case gain > most+1e-12:
			best, most = []int{i}, gain
		case most > 0 && gain > most-1e-12: // several have equal gains
			best = append(best, i)
		}
	}
	return best
}

// singles returns the ways of the models by themselves.
func (e *election) singles() []int {
	ways := make([]int, len(e.units))
	for m := range ways {
		ways[m] = slices.IndexFunc(e.ways, func(shares []float64) bool { return shares[m] == 1 })
	}
	return ways
}

// atLeast returns the shares that are not smaller, or else the largest, in proportion.
func atLeast(least float64, shares []float64) []float64 {
	least = min(least, floats.Max(shares))
	kept := slices.Clone(shares)
	for i, share := range shares {
		if share < least {
			kept[i] = 0
		}
	}
	floats.Scale(1/floats.Sum(kept), kept)
	return kept
}

// units returns what makes the deviation of each model's scores within queries the mean of all.
func units(scores [][]float64, offsets []int) []float64 {
	units := make([]float64, len(scores))
	for i := range scores {
		units[i] = deviationWithin(scores[i], offsets)
	}
	mean := floats.Sum(units) / float64(len(units))
	for i, deviation := range units {
		if units[i] = mean / deviation; deviation == 0 { // its scores are equal in each query
			units[i] = 1
		}
	}
	return units
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
	return ranker.New(f)
}

// deviationWithin returns the standard deviation of scores within their queries.
func deviationWithin(scores []float64, offsets []int) float64 {
	sum, n := 0.0, 0
	for q := range len(offsets) - 1 {
		own := scores[offsets[q]:offsets[q+1]]
		mean := 0.0
		for _, s := range own {
			mean += s / float64(len(own))
		}
		for _, s := range own {
			sum += (s - mean) * (s - mean)
		}
		n += len(own)
	}
	return math.Sqrt(sum / float64(max(1, n)))
}
