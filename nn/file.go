package nn

import (
	"encoding/json"
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/npzfile"
)

// A File is a model with all that it takes to score raw files of features. It is
// kept as a NumPy .npz file of the weights (float64, whatever the model's dtype)
// and "header", a JSON text as an array of bytes.
type File struct {
	Model      *MLP
	Transform  json.RawMessage // from raw features to the model's; how datasets writes it
	FeatureIDs []int           // the id of each raw feature, ascending
	Gain       string          // how labels became gains in training; a name of metrics

	FeatureNames []string // of each raw feature, or nil: features have none
}

const (
	fileFormat  = "plrank model"
	fileVersion = 1
)

type fileHeader struct {
	Format     string          `json:"format"`
	Version    int             `json:"version"`
	Dtype      string          `json:"dtype"`
	MLP        MLPConfig       `json:"mlp"`
	Transform  json.RawMessage `json:"transform"`
	FeatureIDs []int           `json:"featureIDs"`
	Gain       string          `json:"gain"`

	FeatureNames []string `json:"featureNames,omitempty"`
}

var dtypes = map[string]tensor.Dtype{"float32": tensor.Float32, "float64": tensor.Float64}

// Save writes the file, which appears complete or not at all, in the place of
// any that was there. The same content gives the same bytes. Weights that are
// not finite are an error.
func (f *File) Save(path string) error {
	h := fileHeader{
		Format: fileFormat, Version: fileVersion,
		Dtype: f.Model.config.Dtype.String(), MLP: f.Model.config,
		Transform: f.Transform, FeatureIDs: f.FeatureIDs, Gain: f.Gain, FeatureNames: f.FeatureNames,
	}
	var arrays []npzfile.Array
	for _, w := range f.Model.Weights() {
		a := npzfile.Array{Name: w.Name, Shape: w.Value.Shape(), Data: getFloats(w.Value)}
		for i, v := range a.Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("nn: %s: not written: entry %d of %s is %v", path, i, w.Name, v)
			}
		}
		arrays = append(arrays, a)
	}
	if err := npzfile.Write(path, h, arrays); err != nil {
		return fmt.Errorf("nn: %w", err)
	}
	return nil
}

// Load reads a file that Save wrote. A file that is damaged, of another version,
// or whose arrays do not fit its architecture or are not finite is an error.
func Load(path string) (*File, error) {
	var h fileHeader
	file, err := npzfile.Read(path, &h)
	if err != nil {
		return nil, fmt.Errorf("nn: %w", err)
	}
	if h.Format != fileFormat {
		return nil, fmt.Errorf("nn: %s: not a model file: its format is %q, want %q", path, h.Format, fileFormat)
	}
	if h.Version != fileVersion {
		return nil, fmt.Errorf("nn: %s: version %d of the model format, but this program reads version %d", path, h.Version, fileVersion)
	}
	var ok bool
	if h.MLP.Dtype, ok = dtypes[h.Dtype]; !ok {
		return nil, fmt.Errorf("nn: %s: dtype %q, want float32 or float64", path, h.Dtype)
	}
	for i, id := range h.FeatureIDs {
		if i > 0 && id <= h.FeatureIDs[i-1] {
			return nil, fmt.Errorf("nn: %s: feature id %d after %d: want them ascending", path, id, h.FeatureIDs[i-1])
		}
	}
	if h.FeatureNames != nil && len(h.FeatureNames) != len(h.FeatureIDs) {
		return nil, fmt.Errorf("nn: %s: %d feature names for %d feature ids", path, len(h.FeatureNames), len(h.FeatureIDs))
	}
	if err := checkArrays(file, h.MLP); err != nil {
		return nil, fmt.Errorf("nn: %w", err)
	}
	m, err := NewMLP(h.MLP)
	if err != nil {
		return nil, fmt.Errorf("nn: %s: %w", path, err)
	}
	for _, w := range m.Weights() {
		data, err := file.Take(w.Name, w.Value.Shape()...)
		if err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
		setFloats(w.Value, data)
	}
	return &File{Model: m, Transform: h.Transform, FeatureIDs: h.FeatureIDs, Gain: h.Gain, FeatureNames: h.FeatureNames}, nil
}

// checkArrays looks that the arrays have the shapes that the architecture asks
// for, before memory is set aside for sizes that a damaged header invents.
func checkArrays(file *npzfile.File, c MLPConfig) error {
	if err := c.checkMembers(); err != nil {
		return err
	}
	for member := range c.members() {
		for i, size := range c.sizes() {
			shape := []int{size.in, size.out}
			if i == len(c.Hidden) {
				shape = shape[:1]
			}
			if _, err := file.Take(c.arrayName("w", member, i), shape...); err != nil {
				return err
			}
			if _, err := file.Take(c.arrayName("b", member, i), size.out); err != nil {
				return err
			}
		}
	}
	return nil
}
