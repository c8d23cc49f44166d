package export

import (
	"math"

	"github.com/plrank/plrank/internal/onnx"
)

func (e exporter) to(t onnx.Type, x string) string {
	return e.Node("Cast", onnx.Attributes{"to": int(t)}, x)
}

func (e exporter) double(v float64) string { return e.Constant(onnx.Double, []float64{v}) }

func (e exporter) doubles(values []float64) string {
	return e.Constant(onnx.Double, values, len(values))
}

func (e exporter) sideBySide(x []string) string {
	if len(x) == 1 {
		return x[0]
	}
	return e.Node("Concat", onnx.Attributes{"axis": 1}, x...)
}

// columns adds some of the raw features, in double precision and within float32, and where they are
// missing; there x is 0.
func (e exporter) columns(which []int) (x, missing string) {
	x = e.to(onnx.Double, e.Node("Gather", onnx.Attributes{"axis": 1}, "features", e.ints(which...)))
	missing = e.node("IsNaN", x)
	return e.within(e.node("Where", missing, e.double(0), x), math.MaxFloat32), missing
}

// within limits x to ±limit.
func (e exporter) within(x string, limit float64) string {
	return e.node("Max", e.node("Min", x, e.double(limit)), e.double(-limit))
}

// zeros adds whole numbers 0 in the shape of x.
func (e exporter) zeros(x string) string {
	return e.Mul(e.to(onnx.Int64, e.node("Sign", x)), e.int(0))
}

// beyond is more than any feature.
const beyond = 1e300

// room is the length, a power of two, of a table to bisect with so many values: one more piece
// lies below the first value.
func room(values int) int {
	length := 1
	for length < values+1 {
		length *= 2
	}
	return length
}

// bisect adds a search for the last of the next room indices from at on whose entry in begins is
// not above x.
func (e exporter) bisect(begins string, room int, at, x string) string {
	for step := room / 2; step > 0; step /= 2 {
		next := e.Add(at, e.int(step))
		at = e.node("Where", e.node("LessOrEqual", e.node("Gather", begins, next), x), next, at)
	}
	return at
}
