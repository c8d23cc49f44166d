// Package export writes models as ONNX graphs, with their transforms of features inside.
package export

import (
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/onnx"
)

// Scores adds the scores [documents] of a model to a graph whose input "features" is [documents,
// features], and gives their name. The dtype is that of the model, and weights has the arrays by
// their names.
func Scores(g *onnx.Graph, t *datasets.Transform, s model.Settings, dtype onnx.Type, weights func(name string) []float64) string {
	e := exporter{g, dtype, weights}
	x := e.inputs(t, s.Embeddings)
	var members []string
	for _, m := range s.Layers() {
		members = append(members, e.member(s, m, x))
	}
	sum := members[0]
	for _, score := range members[1:] {
		sum = e.node("Add", sum, score)
	}
	if n := len(members); n > 1 {
		sum = e.node("Mul", sum, e.number(1/float64(n)))
	}
	return e.node("Squeeze", sum, g.Constant(onnx.Int64, []float64{1}, 1))
}
