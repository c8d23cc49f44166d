package train

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
)

// newScorer makes a model with its initial weights, of what a transform gives.
func newScorer(c Config, custom func(features int) (nn.Scorer, error), t *datasets.Transform) (nn.Scorer, error) {
	if custom != nil {
		return newCustomScorer(custom, t.Width())
	}
	mlp := nn.MLPConfig{
		Features: t.Width(), Hidden: c.Hidden, Activation: c.Activation,
		Dropout: c.Dropout, Members: c.Members, Seed: c.Seed,
	}
	for i := range t.Categories {
		codes := t.Categories[i].Codes()
		mlp.Embeddings = append(mlp.Embeddings, nn.Embedding{Codes: codes, Width: nn.EmbeddingWidth(codes)})
	}
	if c.Scorer == attentionScorer {
		return nn.NewTransformer(nn.TransformerConfig{MLPConfig: mlp, Blocks: c.Blocks, Heads: c.Heads, LatentCross: c.LatentCross})
	}
	return nn.NewMLP(mlp)
}

// newCustomScorer is the model of Parts.Scorer.
func newCustomScorer(custom func(features int) (nn.Scorer, error), features int) (nn.Scorer, error) {
	s, err := custom(features)
	if err != nil {
		return nil, fmt.Errorf("train: Parts.Scorer: %w", err)
	}
	switch {
	case s == nil || s.Weights() == nil:
		return nil, errors.New("train: Parts.Scorer gives no model, or one without weights")
	case s.Kind() == "":
		return nil, errors.New("train: the kind of model of Parts.Scorer has no name")
	case s.Weights().Size() == 0 || s.Weights().Dtype() != tensor.Float32:
		return nil, fmt.Errorf("train: the model of Parts.Scorer has %d weights of %v, want one or more of float32", s.Weights().Size(), s.Weights().Dtype())
	}
	return s, nil
}

// architecture says in words what a model is.
func architecture(s nn.Scorer) string {
	model := s.Kind()
	if words, ok := s.(fmt.Stringer); ok {
		model = words.String()
	}
	return fmt.Sprintf("%s, %d weights", model, s.Weights().Size())
}
