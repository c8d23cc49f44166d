package export

import (
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/onnx"
)

// inputs adds the inputs of the first layer: the outputs of all parts of the transform, and then
// the vectors of the embeddings.
func (e exporter) inputs(t *datasets.Transform, embeddings []forward.Embedding) string {
	var x []string
	if len(t.Columns) > 0 {
		parts := e.to(onnx.Float, e.transform(t)) // transforms give float32
		if e.dtype == onnx.Double {
			parts = e.to(e.dtype, parts)
		}
		x = append(x, parts)
	}
	for i, embedding := range embeddings {
		x = append(x, e.embedding(model.Table(i), embedding, &t.Categories[i]))
	}
	return e.sideBySide(x)
}

// embedding adds the vectors [documents, width] of a category.
func (e exporter) embedding(name string, table forward.Embedding, c *datasets.Category) string {
	x, missing := e.columns([]int{c.Column})
	const beyond = 1e300
	room := 1
	for room < len(c.Values)+1 { // one more piece lies below the first value
		room *= 2
	}
	begin := make([]float64, room)
	for i := range begin {
		begin[i] = beyond
		if i > 0 && i <= len(c.Values) {
			begin[i] = float64(c.Values[i-1])
		}
	}
	number := func(v int) string { return e.Constant(onnx.Int64, []float64{float64(v)}) }
	begins := e.double(begin...)
	if room == 1 { // which e.double takes for a scalar
		begins = e.Constant(onnx.Double, begin, 1)
	}
	at := e.bisect(begins, room, e.zeros(x), x)
	code := e.node("Where", e.node("Equal", e.node("Gather", begins, at), x), e.node("Add", at, number(datasets.FirstValue-1)), number(datasets.UnseenValue))
	code = e.node("Where", missing, number(datasets.MissingValue), code)
	flat := e.node("Squeeze", code, e.Constant(onnx.Int64, []float64{1}, 1))
	return e.node("Gather", e.array(name, table.Codes, table.Width), flat)
}
