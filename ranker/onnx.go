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

// WriteONNX writes the model in ONNX format, with its transform inside. The input
// "features", float32 [documents, features], has the raw features of the documents of
// one query, at least one, NaN where a value is missing. The output "scores" [documents]
// has their scores, in the model's dtype. A model on top of base scores has a second input,
// "base_scores", float32 [documents]. The metadata have kind, feature_ids, feature_names, levels (the texts
// of categorical features: the input is the position of a text, from 1, and 0 for another one),
// plrank_version, the digest of the model, and compares_documents: true or false, see
// [Model.ComparesDocuments].
//
// WriteONNX returns an error if the kind of the model is not built in.
func (m *Model) WriteONNX(w io.Writer) error {
	f := m.file
	if !slices.Contains(model.BuiltIn, f.Kind) {
		return fmt.Errorf("ranker: models of kind %q cannot be written as ONNX: want %s", f.Kind, strings.Join(model.BuiltIn, " or "))
	}
	n, err := builtInOf(f)
	if err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	dtype := onnx.Float
	if f.Dtype == "float64" {
		dtype = onnx.Double
	}
	ids, err := json.Marshal(f.FeatureIDs)
	if err != nil {
		return err
	}
	metadata := map[string]string{"kind": f.Kind, "feature_ids": string(ids), "plrank_version": version.String(), "digest": m.Digest(),
		"compares_documents": strconv.FormatBool(m.ComparesDocuments())}
	if f.FeatureNames != nil {
		names, err := json.Marshal(f.FeatureNames)
		if err != nil {
			return err
		}
		metadata["feature_names"] = string(names)
	}
	if f.Levels != nil {
		levels, err := json.Marshal(f.Levels)
		if err != nil {
			return err
		}
		metadata["levels"] = string(levels)
	}
	_, err = w.Write(onnx.Encode(f.Transform, n.settings, dtype, n.array, f.BaseScores, version.String(), metadata))
	return err
}
