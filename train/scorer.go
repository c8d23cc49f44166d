package train

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/nn"
)

// newScorer makes a model with its initial weights.
func (t *Trainer) newScorer() (nn.Scorer, error) {
	if t.parts.Scorer != nil {
		return t.ownScorer()
	}
	c := nn.MLPConfig{
		Features: t.transform.Width(), Hidden: t.Hidden, Activation: t.Activation,
		Dropout: t.Dropout, Members: t.Members, Seed: t.Seed,
	}
	for i := range t.transform.Categories {
		codes := t.transform.Categories[i].Codes()
		c.Embeddings = append(c.Embeddings, nn.Embedding{Codes: codes, Width: nn.EmbeddingWidth(codes)})
	}
	if t.Scorer == attentionScorer {
		return nn.NewTransformer(nn.TransformerConfig{MLPConfig: c, Blocks: t.Blocks, Heads: t.Heads, LatentCross: t.LatentCross})
	}
	return nn.NewMLP(c)
}

// ownScorer is the model of Parts.Scorer.
func (t *Trainer) ownScorer() (nn.Scorer, error) {
	s, err := t.parts.Scorer(t.transform.Width())
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
