package ranker

import (
	"encoding/json"
	"fmt"

	"github.com/plrank/plrank/forest/foreign"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/transforms"
)

// decodeForeign reads a file of another library.
func decodeForeign(name string, data []byte) (*File, error) {
	m, err := foreign.Read(data)
	if err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	f := &File{
		Kind: ForestKind, Dtype: "float64", Transform: transforms.Raw(m.Forest.Inputs),
		FeatureIDs: m.IDs, FeatureNames: m.Names, Levels: m.Levels, NumberLevels: m.NumberLevels,
		Gain: "exp2", foreign: m, source: data, // exp2 is the default of these libraries, too
	}
	var settings any = settingsOf(m.Forest)
	if m.Weights != nil { // a network without hidden layers, for which a missing value is 0
		f.Kind, settings = model.MLP, model.Settings{Features: len(m.Weights)}
		f.Transform.Spec, f.Transform.Parts[0].Name = "none", "none"
		f.Arrays = []Array{{"w0", []int{len(m.Weights)}, m.Weights}, {"b0", []int{1}, []float64{m.Bias}}}
	}
	if f.Settings, err = json.Marshal(settings); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	return f, nil
}

// Foreign returns the model of another library that the model is, nil if it is none.
func (m *Model) Foreign() *foreign.Model { return m.file.foreign }
