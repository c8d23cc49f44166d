package worth

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
)

// ItemFeatures holds numbers that describe items. A model of them predicts worths, also of new items.
type ItemFeatures struct {
	Items  []string  // the names of the items, by number
	Names  []string  // the names of the features
	Values []float32 // of item i: Values[i·len(Names):(i+1)·len(Names)]; NaN is a missing value
}

// Dataset returns a query for each ranking. Its documents are the items of the set chosen from, in the order of their
// numbers, with their features. The label of the item at place k of n is 1 − (k−1)/n, and 0 for the Rest. With the loss
// partial-listmle of package losses, under any gain that rises with the label from 0 at 0, the loss of a query is minus the
// log-likelihood of its ranking, where scores are log-worths. The weight of a ranking becomes the weight of its query.
//
// The rankings must have the items of f, in their order, see ReadOptions.Items. Dataset returns an error for ties, whose
// probability is not known, for tables of more than 2^31 numbers, and for weights beyond float32.
func (f *ItemFeatures) Dataset(r *Observations) (*datasets.Dataset, error) {
	width := len(f.Names)
	switch {
	case len(f.Values) != len(f.Items)*width:
		return nil, fmt.Errorf("%d values of %d items with %d features", len(f.Values), len(f.Items), width)
	case !slices.Equal(r.Items, f.Items):
		return nil, errors.New("the rankings and the features have different items: read the rankings with ReadOptions.Items")
	case len(r.entries) > math.MaxInt32/max(1, width):
		return nil, fmt.Errorf("the rankings have too many entries, %d with %d features each", len(r.entries), width)
	}
	d := &datasets.Dataset{Offsets: []int{0}, FeatureNames: f.Names, Warnings: r.Warnings}
	for i := range width {
		d.FeatureIDs = append(d.FeatureIDs, i+1)
	}
	for i := range r.Len() {
		ranking := r.At(i)
		if ranking.Weight > math.MaxFloat32 {
			return nil, fmt.Errorf("ranking %d has the weight %v: want at most %v, the largest weight of a query", i+1, ranking.Weight,
				math.MaxFloat32)
		}
		labels := map[int]float32{}
		for k, place := range ranking.Places {
			if len(place) > 1 {
				return nil, fmt.Errorf("ranking %d has a tie, %s = %s: rankings with features have none; leave it out", i+1, r.Items[place[0]],
					r.Items[place[1]])
			}
			labels[place[0]] = 1 - float32(k)/float32(len(ranking.Places))
		}
		items := slices.Sorted(slices.Values(append(slices.Concat(ranking.Places...), ranking.Rest...)))
		for _, item := range items {
			d.Labels = append(d.Labels, labels[item])
			d.DocumentIDs = append(d.DocumentIDs, f.Items[item])
			d.Features = append(d.Features, f.Values[item*width:(item+1)*width]...)
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
		d.QueryIDs = append(d.QueryIDs, strconv.Itoa(i+1))
		d.QueryWeights = append(d.QueryWeights, float32(ranking.Weight))
	}
	return d, d.Validate()
}
