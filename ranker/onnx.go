package ranker

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/version"
	"github.com/plrank/plrank/ranker/internal/onnx"
)

// WriteONNX writes the model in ONNX format, with its transform inside. The input "features", float32 [documents, features], has the
// raw features of the documents of one query, at least one, NaN where a value is missing. The output "scores" [documents] has their
// scores, in the model's dtype. A model on top of base scores has another input, "base_scores", float32 [documents]. Vectors are
// inputs of their own, "vector_" and the name, float32 [1, dimension] or [documents, dimension], NaN if missing; "features" then
// lacks the products of them. The metadata have kind, feature_ids, feature_names, levels (the texts of categorical features: the
// input is the position of a text, from 1, and 0 for another one), vectors (the dimensions of these inputs), plrank_version, the
// digest of the model, and compares_documents: true or false, see [Model.ComparesDocuments].
//
// WriteONNX returns an error if the kind of the model is not built in, or if it is a forest of another library that needs
// values changed first.
func (m *Model) WriteONNX(w io.Writer) error {
	f := m.file
	own, err := f.parts()
	if err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	var parts []onnx.Part
	for _, p := range own {
		converted, err := p.onnx()
		if err != nil {
			return err
		}
		parts = append(parts, converted)
	}
	metadata := map[string]string{"kind": f.Kind, "plrank_version": version.String(), "digest": m.Digest(),
		"compares_documents": strconv.FormatBool(m.ComparesDocuments())}
	features, dimensions := len(f.FeatureIDs)-len(f.Products), map[string]int{} // products are the last features
	for _, v := range f.Vectors {
		dimensions["vector_"+v.Name] = v.Dimension
	}
	for name, list := range map[string]any{"feature_ids": f.FeatureIDs[:features], "vectors": dimensions,
		"feature_names": f.FeatureNames[:min(features, len(f.FeatureNames))], "levels": f.Levels[:min(features, len(f.Levels))]} {
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		if string(text) != "null" && string(text) != "{}" {
			metadata[name] = string(text)
		}
	}
	content, err := (&onnx.Model{Parts: parts, Dtype: dtypeOf(f), OnBase: f.BaseScores, Vectors: f.Vectors, Products: f.Products,
		Version: version.String(), Metadata: metadata}).Encode()
	if err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	_, err = w.Write(content)
	return err
}

func dtypeOf(f *File) onnx.Type {
	if f.Dtype == "float64" {
		return onnx.Double
	}
	return onnx.Float
}

// onnx returns the part as ONNX has it.
func (p part) onnx() (converted onnx.Part, err error) {
	f := p.file
	converted = onnx.Part{Weight: p.weight, Transform: f.Transform, Dtype: dtypeOf(f), Arrays: f.values}
	switch {
	case f.Kind == ForestKind:
		converted.Forest, err = f.Forest()
	case slices.Contains(model.BuiltIn, f.Kind):
		converted.Network, err = f.builtIn()
	default:
		err = fmt.Errorf("models of kind %q cannot be written as ONNX: want %s, forest, or a mixture of these",
			f.Kind, strings.Join(model.BuiltIn, ", "))
	}
	if err != nil {
		err = fmt.Errorf("ranker: %w", err)
	}
	return converted, err
}
