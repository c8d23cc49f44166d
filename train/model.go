package train

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/network"
	"github.com/plrank/plrank/transforms"
)

// newScorer makes a model with its initial weights, of what a transform gives.
func newScorer(c Config, custom func(features int) (nn.Scorer, error), t *transforms.Transform) (nn.Scorer, error) {
	if custom != nil {
		return newCustomScorer(custom, t.Width())
	}
	built := c.network(inputsOf(t))
	if c.Scorer == attentionScorer {
		return nn.NewTransformer(built)
	}
	return nn.NewMLP(built.MLPConfig)
}

// inputsOf returns the inputs of a model of what a transform gives.
func inputsOf(t *transforms.Transform) nn.MLPConfig {
	inputs := nn.MLPConfig{Features: t.Width(), Bins: t.BinCounts()}
	for i := range t.Categories {
		codes := t.Categories[i].Codes()
		inputs.Embeddings = append(inputs.Embeddings, nn.Embedding{Codes: codes, Width: nn.EmbeddingWidth(codes)})
	}
	return inputs
}

// newCustomScorer is the model of Custom.Scorer.
func newCustomScorer(custom func(features int) (nn.Scorer, error), features int) (nn.Scorer, error) {
	s, err := custom(features)
	if err != nil {
		return nil, fmt.Errorf("train: Custom.Scorer: %w", err)
	}
	switch {
	case s == nil || s.Weights() == nil:
		return nil, errors.New("train: Custom.Scorer gives no model, or one without weights")
	case s.Kind() == "":
		return nil, errors.New("train: the kind of model of Custom.Scorer has no name")
	case s.Weights().Size() == 0 || s.Weights().Dtype() != tensor.Float32:
		return nil, fmt.Errorf("train: the model of Custom.Scorer has %d weights of %v, want one or more of float32", s.Weights().Size(),
			s.Weights().Dtype())
	}
	return s, nil
}

// fitTransform fits the transform of the features, or returns the transform of the initial model.
func fitTransform(p *parsed, d *datasets.Dataset) (*transforms.Transform, error) {
	c := p.config
	ids, err := c.Categorical.ids(d)
	if err != nil {
		return nil, fmt.Errorf("train: categorical: %w", err)
	}
	bins := c.Bins
	if c.Scorer == forestScorer { // its bins are not of the transform
		bins = 0
	}
	if p.parts.Initial == nil {
		t, err := datasets.FitTransform(c.Transform, d, ids...)
		if err == nil && bins > 0 {
			err = datasets.FitBins(t, d, bins)
		}
		if err == nil && t.Raw() && c.Scorer != forestScorer && p.parts.Scorer == nil {
			err = fmt.Errorf("train: transform %s: raw leaves values missing, which is for -scorer forest: want none, or another part", c.Transform)
		}
		return t, err
	}
	initial := p.parts.Initial.File()
	var categorical []int
	for _, category := range initial.Transform.Categories {
		categorical = append(categorical, initial.FeatureIDs[category.Column])
	}
	if err := names.CheckFeatures(d.Name, featuresOf(d), "the initial model", names.Features{IDs: initial.FeatureIDs,
		Names: initial.FeatureNames}); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	switch foreign := p.parts.Initial.Foreign(); {
	case foreign != nil && (c.Scorer != forestScorer || initial.Levels != nil):
		return nil, fmt.Errorf("train: the initial model is of %s: want its scores as base scores, or, if it is a forest without categories "+
			"of text, the scorer forest", foreign.Library)
	case initial.BaseScores != (d.BaseScores != nil):
		return nil, fmt.Errorf("train: base scores: initial model %t, %s %t: want them for both or for neither", initial.BaseScores, d.Name,
			d.BaseScores != nil)
	case initial.Transform.Spec != c.Transform:
		return nil, fmt.Errorf("train: the transform of the initial model is %s, not %s", initial.Transform.Spec, c.Transform)
	case (initial.Transform.Bins != nil) != (bins > 0) && initial.Transform.Width() > len(categorical):
		return nil, fmt.Errorf("train: %d bins, but the initial model has bins for %d inputs: want bins for both or for neither", bins,
			len(initial.Transform.Bins))
	case slices.ContainsFunc(initial.Transform.Bins, func(b transforms.Bins) bool { return len(b.Knots)-1 > bins }):
		return nil, fmt.Errorf("train: %d bins, but inputs of the initial model have more: want as many as it was trained with", bins)
	case !slices.Equal(categorical, ids):
		return nil, fmt.Errorf("train: the categorical features of the initial model are %v, not %v", categorical, ids)
	case !slices.EqualFunc(d.Levels, initial.Levels, slices.Equal[[]string]):
		return nil, errors.New("train: the texts of the categorical features are numbered otherwise than in the initial model: want data " +
			"read with its Levels")
	}
	t := *initial.Transform
	t.Gaps = nil // these data may have others
	return &t, nil
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
		if scorer, err := Scorer(f); err == nil {
			words = network.Words(scorer)
		}
		return fmt.Errorf("train: the initial model (%s) is of another architecture than the one to train (%s): %w", words,
			network.Words(model), err)
	}
	copy(model.Weights().Float32s(), has.Float32s())
	return nil
}

// network is a built-in model of these inputs, of any scorer.
func (c Config) network(inputs nn.MLPConfig) nn.TransformerConfig {
	inputs.Hidden, inputs.Activation, inputs.Dropout, inputs.Seed = c.Hidden, c.Activation, c.Dropout, c.Seed
	inputs.Members = c.Members
	return nn.TransformerConfig{MLPConfig: inputs, Blocks: c.Blocks, Heads: c.Heads}
}

// weights is the number of weights of a built-in model of these inputs.
func (c Config) weights(inputs nn.MLPConfig) (float64, error) {
	network := c.network(inputs)
	if c.Scorer == attentionScorer {
		return network.Size()
	}
	return network.MLPConfig.Size()
}
