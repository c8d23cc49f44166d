package train

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
)

// models are copies of the model that is trained.
type models struct {
	config    Config
	custom    func(features int) (nn.Scorer, error) // Parts.Scorer
	transform *datasets.Transform
	data      *datasets.Dataset // the training split
	arrays    []nn.Array        // of the model that is trained
	grade     float64
	trained   ranker.QueryDigests
}

// another makes another model like the one that is trained.
func (m *models) another() (nn.Scorer, error) {
	s, err := newScorer(m.config, m.custom, m.transform)
	if err == nil && !reflect.DeepEqual(s.Weights().Arrays(), m.arrays) {
		err = errors.New("train: Parts.Scorer gives models of other weights each time")
	}
	return s, err
}

// model is a trained model of these weights.
func (m *models) model(weights []float32) (*ranker.Model, error) {
	s, err := m.another()
	if err != nil {
		return nil, err
	}
	copy(s.Weights().Float32s(), weights)
	f, err := File(s, m.transform, m.data, m.config.Gain)
	if err != nil {
		return nil, err
	}
	f.Grade, f.TrainingQueries = m.grade, m.trained
	model, err := ranker.NewWith(f, func(*ranker.File) (ranker.Forward, error) { return forward(s, m.transform.Width()) })
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return model, nil
}
