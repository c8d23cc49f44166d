package ranker

import (
	"encoding/json"
	"fmt"

	"github.com/plrank/plrank/forest/foreign"
	"github.com/plrank/plrank/transforms"
)

// decodeForeign reads a file of LightGBM, XGBoost or CatBoost.
func decodeForeign(name string, data []byte) (*File, error) {
	m, err := foreign.Read(data)
	if err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	settings, err := json.Marshal(settingsOf(m.Forest))
	if err != nil {
		return nil, err
	}
	f := &File{
		Kind: ForestKind, Settings: settings, Dtype: "float64", Transform: transforms.Raw(m.Forest.Inputs), FeatureIDs: m.IDs, FeatureNames: m.Names, Levels: m.Levels,
		Gain: "exp2", foreign: m, source: data, // exp2 is the default of these libraries, too
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("ranker: %s: %w", name, err)
	}
	return f, nil
}

// Foreign returns the forest of another library that the model is, nil if it is none.
func (m *Model) Foreign() *foreign.Model { return m.file.foreign }
