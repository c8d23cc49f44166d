package train

import (
	"encoding/json"
	"fmt"
	"slices"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
)

// File is the file of a model that was trained without a [Trainer], on the features of d after
// the transform, and with the gain of that name. The highest label of d is the highest grade. It
// is a copy of the weights.
func File(model nn.Scorer, t *datasets.Transform, d *datasets.Dataset, gain string) (*ranker.File, error) {
	settings, err := json.Marshal(model.Settings())
	if err != nil {
		return nil, fmt.Errorf("train: settings of the model: %w", err)
	}
	w := model.Weights()
	f := &ranker.File{
		Kind: model.Kind(), Settings: settings, Dtype: w.Dtype().String(),
		Transform: t, FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames, Gain: gain,
	}
	if len(d.Labels) > 0 {
		f.Grade = max(0, float64(slices.Max(d.Labels)))
	}
	for _, a := range w.Arrays() {
		f.Arrays = append(f.Arrays, ranker.Array{Name: a.Name, Shape: a.Shape, Values: w.Get(a.Name)})
	}
	return f, nil
}

var dtypes = map[string]tensor.Dtype{"float32": tensor.Float32, "float64": tensor.Float64}

// weightsOf are those of a model file.
func weightsOf(f *ranker.File) (*nn.Weights, error) {
	var arrays []nn.Array
	for _, a := range f.Arrays {
		arrays = append(arrays, nn.Array{Name: a.Name, Shape: a.Shape})
	}
	weights, err := nn.NewWeights(dtypes[f.Dtype], arrays...)
	if err != nil {
		return nil, err
	}
	for _, a := range f.Arrays {
		if err := weights.Set(a.Name, a.Values); err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// Scorer is the model of a file, of any kind that package nn knows, as a graph is built of it. It
// has a copy of the weights.
func Scorer(f *ranker.File) (nn.Scorer, error) {
	weights, err := weightsOf(f)
	if err != nil {
		return nil, err
	}
	return nn.Read(f.Kind, f.Settings, weights)
}
