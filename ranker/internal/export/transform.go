package export

import (
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/onnx"
)

// transform adds the outputs of all parts, side by side.
func (e exporter) transform(t *datasets.Transform) string {
	x, missing := e.columns(t.Columns)
	var parts []string
	for i := range t.Parts {
		parts = append(parts, e.node("Where", missing, e.double(0), e.part(&t.Parts[i], x, missing)))
	}
	return e.sideBySide(parts)
}

func (e exporter) part(p *datasets.TransformPart, x, missing string) string {
	switch p.Name {
	case "minmax":
		return e.minMax(x, missing)
	case "standard":
		return e.standardise(p, x)
	case "log-standard":
		log := e.node("Log", e.node("Add", e.node("Abs", x), e.double(1)))
		return e.standardise(p, e.node("Mul", e.node("Sign", x), log))
	case "quantile":
		return e.quantile(p, x)
	case "rank":
		return e.rank(x, missing)
	}
	return x // none
}

// minMax is (x − min)/(max − min) over the documents that have the feature.
func (e exporter) minMax(x, missing string) string {
	extreme := func(op string, absent float64) string {
		return e.Node(op, []string{e.node("Where", missing, e.double(absent), x)}, onnx.Attr{Name: "axes", Ints: []int{0}}, onnx.Attr{Name: "keepdims", Int: 1})
	}
	low, high := extreme("ReduceMin", math.MaxFloat32), extreme("ReduceMax", -math.MaxFloat32)
	span := e.node("Sub", high, low)
	span = e.node("Where", e.node("Greater", span, e.double(0)), span, e.double(1))
	return e.node("Min", e.node("Div", e.node("Sub", x, low), span), e.double(1))
}

// rank is √3·(b − a)/n, see datasets.FitTransform. The ranks of a document in ascending and in
// descending order, where equal ones keep their order and those without the feature are last, differ
// by b − a.
func (e exporter) rank(x, missing string) string {
	const beyond = 1e300
	documents := e.node("Slice", e.node("Shape", x), e.Constant(onnx.Int64, []float64{0}, 1), e.Constant(onnx.Int64, []float64{1}, 1))
	sorted := func(x string, largest int) string {
		return e.Second("TopK", []string{x, documents}, onnx.Attr{Name: "axis", Int: 0}, onnx.Attr{Name: "largest", Int: largest})
	}
	rankOf := func(absent float64, largest int) string {
		order := sorted(e.node("Where", missing, e.double(absent), x), largest)
		return e.to(onnx.Double, sorted(order, 0)) // the inverse permutation
	}
	present := e.Node("ReduceSum", []string{e.node("Where", missing, e.double(0), e.double(1)), e.Constant(onnx.Int64, []float64{0}, 1)}, onnx.Attr{Name: "keepdims", Int: 1})
	n := e.node("Max", present, e.double(1))
	return e.node("Div", e.node("Mul", e.node("Sub", rankOf(beyond, 0), rankOf(-beyond, 1)), e.double(math.Sqrt(3))), n)
}

func (e exporter) standardise(p *datasets.TransformPart, x string) string {
	const limit = 10 // as in package datasets
	columns := len(p.Shift)
	shift, scale := e.Constant(onnx.Double, p.Shift, columns), e.Constant(onnx.Double, p.Scale, columns)
	return e.within(e.node("Mul", e.node("Sub", x, shift), scale), limit)
}

// quantile finds the piece of each value by bisection, in the pieces of all columns one after
// another, and interpolates in it.
func (e exporter) quantile(p *datasets.TransformPart, x string) string {
	columns, room := len(p.Knots), 1
	for _, knots := range p.Knots {
		for room < len(knots)+1 { // one more piece lies below the first knot
			room *= 2
		}
	}
	const beyond = 1e300
	size := columns * room
	begin, knot, width, score, rise := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	first := make([]float64, columns)
	for c, knots := range p.Knots {
		first[c] = float64(c * room)
		for k := range room {
			at := c*room + k
			begin[at], width[at] = beyond, 1
			if k > len(knots) {
				continue
			}
			j := max(0, k-1)
			knot[at], score[at] = float64(knots[j]), float64(p.Scores[c][j])
			if k > 0 {
				begin[at] = knot[at]
			}
			if k > 0 && k < len(knots) {
				width[at] = float64(knots[k]) - knot[at]
				rise[at] = float64(p.Scores[c][k] - p.Scores[c][j])
			}
		}
	}
	table := func(values []float64) string { return e.Constant(onnx.Double, values, size) }
	begins := table(begin)
	// The index of the first piece of each column, for every document.
	at := e.bisect(begins, room, e.node("Add", e.zeros(x), e.Constant(onnx.Int64, first, columns)), x)
	of := func(values []float64) string { return e.node("Gather", table(values), at) }
	part := e.node("Div", e.node("Sub", x, of(knot)), of(width))
	return e.node("Add", of(score), e.node("Mul", part, of(rise)))
}
