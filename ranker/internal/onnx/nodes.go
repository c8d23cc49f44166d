package onnx

import "math"

func (g *graph) to(t Type, x string) string {
	return g.nodeWith("Cast", attributes{"to": int(t)}, x)
}

func (g *graph) double(v float64) string { return g.constant(Double, []float64{v}) }

func (g *graph) doubles(values []float64) string {
	return g.constant(Double, values, len(values))
}

func (g *graph) sideBySide(x []string) string {
	if len(x) == 1 {
		return x[0]
	}
	return g.nodeWith("Concat", attributes{"axis": 1}, x...)
}

// columns adds some of the raw features, in double precision and within float32, and where they are
// missing; there x is 0.
func (g *graph) columns(which []int) (x, missing string) {
	x = g.to(Double, g.nodeWith("Gather", attributes{"axis": 1}, g.features, g.ints(which...)))
	missing = g.node("IsNaN", x)
	return g.within(g.node("Where", missing, g.double(0), x), math.MaxFloat32), missing
}

// within limits x to ±limit.
func (g *graph) within(x string, limit float64) string {
	return g.node("Max", g.node("Min", x, g.double(limit)), g.double(-limit))
}

// zeros adds whole numbers 0 in the shape of x.
func (g *graph) zeros(x string) string {
	return g.Mul(g.to(int64s, g.node("Sign", x)), g.int(0))
}

// beyond is more than any feature.
const beyond = 1e300

// room returns the length, a power of two, of a table to bisect. One more piece than there are values
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
func (g *graph) bisect(begins string, room int, at, x string) string {
	for step := room / 2; step > 0; step /= 2 {
		next := g.Add(at, g.int(step))
		at = g.node("Where", g.node("LessOrEqual", g.node("Gather", begins, next), x), next, at)
	}
	return at
}
