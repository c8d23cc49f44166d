package train

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
)

// fitTransform fits the transform of the features, or takes that of the initial model.
func fitTransform(p *parsed, d *datasets.Dataset) (*datasets.Transform, error) {
	c := p.config
	if p.parts.Initial == nil {
		g := p.group
		return datasets.FitTransformOn(datasets.Sharing{Rank: g.Rank(), Size: g.Size(), Allgather: g.Allgather}, c.Transform, d, c.Categorical...)
	}
	of := p.parts.Initial.File()
	var categorical []int
	for _, category := range of.Transform.Categories {
		categorical = append(categorical, of.FeatureIDs[category.Column])
	}
	switch {
	case !slices.Equal(of.FeatureIDs, d.FeatureIDs):
		return nil, fmt.Errorf("train: %s has other feature ids than the initial model: %s", d.Name, difference(d.FeatureIDs, of.FeatureIDs))
	case of.Transform.Spec != c.Transform:
		return nil, fmt.Errorf("train: the transform of the initial model is %s, not %s", of.Transform.Spec, c.Transform)
	case !slices.Equal(categorical, slices.Sorted(slices.Values(c.Categorical))):
		return nil, fmt.Errorf("train: the categorical features of the initial model are %v, not %v", categorical, c.Categorical)
	}
	return of.Transform, nil
}

// startFrom gives a model the weights of the initial one, if there is one.
func startFrom(initial *ranker.Model, model nn.Scorer) error {
	if initial == nil {
		return nil
	}
	f := initial.File()
	stored, err := weightsOf(f)
	if err != nil {
		return fmt.Errorf("train: the initial model: %w", err)
	}
	has, err := stored.Select(model.Weights().Arrays()...)
	if err == nil && (model.Kind() != f.Kind || has.Float32s() == nil) {
		err = errors.New("another kind of model")
	}
	if err != nil {
		words := fmt.Sprintf("%s, %d weights", f.Kind, stored.Size())
		if of, err := Scorer(f); err == nil {
			words = architecture(of)
		}
		return fmt.Errorf("train: the initial model (%s) is of another architecture than the one to train (%s): %w", words, architecture(model), err)
	}
	copy(model.Weights().Float32s(), has.Float32s())
	return nil
}

// difference says how two ascending lists of feature ids differ.
func difference(got, want []int) string {
	for _, id := range got {
		if _, ok := slices.BinarySearch(want, id); !ok {
			return fmt.Sprintf("%d is not one of the model's %d", id, len(want))
		}
	}
	for _, id := range want {
		if _, ok := slices.BinarySearch(got, id); !ok {
			return fmt.Sprintf("%d is missing", id)
		}
	}
	return "they are not in ascending order"
}
