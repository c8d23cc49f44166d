package datasets

import (
	"fmt"

	"github.com/plrank/plrank/transforms"
)

// FitTransform fits a transform on training data: see [transforms.Fit] for the spec, for categorical features, and
// for errors.
func FitTransform(spec string, train *Dataset, categorical ...int) (*transforms.Transform, error) {
	return transforms.Fit(spec, train.toFit(), categorical...)
}

// FitBins has a transform give positions in bins instead of numbers: see [transforms.Transform.FitBins].
func FitBins(t *transforms.Transform, train *Dataset, bins int) error {
	if train.IsSparse() {
		return fmt.Errorf("datasets: %s: sparse documents, of %d features that are mostly 0, have no bins in networks: want -bins 0, or a forest",
			train.Name, train.Width())
	}
	return t.FitBins(train.toFit(), bins)
}

// toFit returns the part of d that transforms are fitted on.
func (d *Dataset) toFit() *transforms.Data {
	return &transforms.Data{
		Name: d.Name, Features: d.Features, Sparse: d.Sparse, Offsets: d.Offsets,
		FeatureIDs: d.FeatureIDs, FeatureName: d.FeatureName, Levels: d.Levels, Where: d.Where,
	}
}
