package export

import (
	"math"

	"github.com/plrank/plrank/internal/onnx"
)

// An exporter adds the parts of a model to a graph, as nodes. Transforms are computed in
// float64, as in package datasets.
type exporter struct {
	*onnx.Graph
	dtype   onnx.Type                   // of the model
	weights func(name string) []float64 // the array of that name
}

func (e exporter) node(op string, inputs ...string) string { return e.Node(op, inputs) }

func (e exporter) to(t onnx.Type, x string) string {
	return e.Node("Cast", []string{x}, onnx.Attr{Name: "to", Int: int(t)})
}

func (e exporter) double(values ...float64) string {
	if len(values) == 1 {
		return e.Constant(onnx.Double, values)
	}
	return e.Constant(onnx.Double, values, len(values))
}

func (e exporter) sideBySide(x []string) string {
	if len(x) == 1 {
		return x[0]
	}
	return e.Node("Concat", x, onnx.Attr{Name: "axis", Int: 1})
}

// columns adds some of the raw features, in double precision and within float32, and where they are
// missing; there x is 0.
func (e exporter) columns(which []int) (x, missing string) {
	numbers := make([]float64, len(which))
	for i, c := range which {
		numbers[i] = float64(c)
	}
	x = e.to(onnx.Double, e.Node("Gather", []string{"features", e.Constant(onnx.Int64, numbers, len(numbers))}, onnx.Attr{Name: "axis", Int: 1}))
	missing = e.node("IsNaN", x)
	return e.within(e.node("Where", missing, e.double(0), x), math.MaxFloat32), missing
}

// within limits x to ±limit.
func (e exporter) within(x string, limit float64) string {
	return e.node("Max", e.node("Min", x, e.double(limit)), e.double(-limit))
}

// zeros adds whole numbers 0 in the shape of x.
func (e exporter) zeros(x string) string {
	return e.node("Mul", e.to(onnx.Int64, e.node("Sign", x)), e.Constant(onnx.Int64, []float64{0}))
}

// bisect adds a search for the last of the next room indices from at on (room is a power of two)
// whose entry in begins is not above x.
func (e exporter) bisect(begins string, room int, at, x string) string {
	for step := room / 2; step > 0; step /= 2 {
		next := e.node("Add", at, e.Constant(onnx.Int64, []float64{float64(step)}))
		at = e.node("Where", e.node("LessOrEqual", e.node("Gather", begins, next), x), next, at)
	}
	return at
}
