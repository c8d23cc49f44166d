package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// An Importance is how much worse a model ranks without knowing a feature.
type Importance struct {
	Feature int    `json:"feature"` // its id
	Name    string `json:"name"`    // its name, or else the id
	Mean    Value  `json:"mean"`    // by which the metric gets worse
	SD      Value  `json:"sd"`      // over the repeats
}

// Importances is the permutation importance (Breiman, Machine Learning 2001) of every feature that
// the model uses, the most important first: the values of the feature are exchanged at random among
// the documents of each query, so that they say nothing of a document while each query keeps its
// values, and the validation metric of c is measured again, repeats times. Features that say the
// same share what they are worth: neither is missed while the other is there.
func Importances(ctx context.Context, c Config, parts Parts, model *ranker.Model, d *datasets.Dataset, repeats int) ([]Importance, error) {
	e, err := measuring(c, parts, model, Split{Name: "data", Data: d})
	if err != nil {
		return nil, err
	}
	defer e.losses.close()
	measure := func(d *datasets.Dataset) (float64, error) {
		scores, err := model.Scores(d)
		if err != nil {
			return 0, err
		}
		values, err := e.evaluate(d, scores, e.metric.measures)
		return float64(values[e.metric.name]), err
	}
	base, err := measure(d)
	if err == nil && !finite(base) {
		err = fmt.Errorf("train: %s: %s is %v: no feature can matter to it, want another metric", d.Name, e.metric.name, base)
	}
	if err != nil {
		return nil, err
	}
	shuffled := *d
	shuffled.Features = slices.Clone(d.Features)
	var list []Importance
	for _, column := range model.File().Transform.Used() {
		losses := make([]float64, repeats)
		for i := range losses {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			copyColumn(&shuffled, d, column)
			shuffle(&shuffled, column, rand.New(rand.NewPCG(c.Seed, uint64(column)<<32|uint64(i))))
			value, err := measure(&shuffled)
			if err != nil {
				return nil, err
			}
			if losses[i] = base - value; e.metric.LowerIsBetter() {
				losses[i] = value - base
			}
		}
		copyColumn(&shuffled, d, column)
		mean, sd := stat.MeanStdDev(losses, nil)
		if repeats < 2 {
			sd = math.NaN()
		}
		list = append(list, Importance{Feature: d.FeatureIDs[column], Name: featureName(d, column), Mean: Value(mean), SD: Value(sd)})
	}
	slices.SortStableFunc(list, func(a, b Importance) int { return cmp.Compare(b.Mean, a.Mean) })
	return list, nil
}

// shuffle brings a column of d in random order within each query.
func shuffle(d *datasets.Dataset, column int, rng *rand.Rand) {
	for q := range d.Queries() {
		first := d.Offsets[q]
		rng.Shuffle(d.Offsets[q+1]-first, func(i, j int) {
			a, b := &d.Row(first + i)[column], &d.Row(first + j)[column]
			*a, *b = *b, *a
		})
	}
}

func copyColumn(to, from *datasets.Dataset, column int) {
	for i := range from.Rows() {
		to.Row(i)[column] = from.Row(i)[column]
	}
}
