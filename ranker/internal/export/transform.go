package export

import (
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/onnx"
)

// Transforms are computed in float64, as in package datasets.

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
		log := e.node("Log", e.Add(e.node("Abs", x), e.double(1)))
		return e.standardise(p, e.Mul(e.node("Sign", x), log))
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
		return e.Node(op, onnx.Attributes{"axes": []int{0}, "keepdims": 1}, e.node("Where", missing, e.double(absent), x))
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
	documents := e.node("Slice", e.node("Shape", x), e.ints(0), e.ints(1))
	sorted := func(x string, largest int) string {
		return e.Second("TopK", onnx.Attributes{"axis": 0, "largest": largest}, x, documents)
	}
	rankOf := func(absent float64, largest int) string {
		order := sorted(e.node("Where", missing, e.double(absent), x), largest)
		return e.to(onnx.Double, sorted(order, 0)) // the inverse permutation
	}
	present := e.Node("ReduceSum", onnx.Attributes{"keepdims": 1}, e.node("Where", missing, e.double(0), e.double(1)), e.ints(0))
	n := e.node("Max", present, e.double(1))
	return e.node("Div", e.Mul(e.node("Sub", rankOf(beyond, 0), rankOf(-beyond, 1)), e.double(math.Sqrt(3))), n)
}

func (e exporter) standardise(p *datasets.TransformPart, x string) string {
	const limit = 10 // as in package datasets
	shift, scale := e.doubles(p.Shift), e.doubles(p.Scale)
	return e.within(e.Mul(e.node("Sub", x, shift), scale), limit)
}

// quantile finds the piece of each value by bisection, in the pieces of all columns one after
// another, and interpolates in it.
func (e exporter) quantile(p *datasets.TransformPart, x string) string {
	longest := 0
	for _, knots := range p.Knots {
		longest = max(longest, len(knots))
	}
	columns, room := len(p.Knots), room(longest)
	table := func() []float64 { return make([]float64, columns*room) }
	begin, knot, width, score, rise := table(), table(), table(), table(), table()
	first := make([]int, columns)
	for c, knots := range p.Knots {
		first[c] = c * room
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
	begins := e.doubles(begin)
	// The index of the first piece of each column, for every document.
	at := e.bisect(begins, room, e.Add(e.zeros(x), e.ints(first...)), x)
	of := func(values []float64) string { return e.node("Gather", e.doubles(values), at) }
	part := e.node("Div", e.node("Sub", x, of(knot)), of(width))
	return e.Add(of(score), e.Mul(part, of(rise)))
}

// embedding adds the vectors [documents, width] of a category.
func (e exporter) embedding(name string, table forward.Embedding, c *datasets.Category) string {
	x, missing := e.columns([]int{c.Column})
	begin := make([]float64, room(len(c.Values)))
	for i := range begin {
		begin[i] = beyond
		if i > 0 && i <= len(c.Values) {
			begin[i] = float64(c.Values[i-1])
		}
	}
	begins := e.doubles(begin)
	at := e.bisect(begins, len(begin), e.zeros(x), x)
	known := e.node("Equal", e.node("Gather", begins, at), x)
	code := e.node("Where", known, e.Add(at, e.int(datasets.FirstValue-1)), e.int(datasets.UnseenValue))
	code = e.node("Where", missing, e.int(datasets.MissingValue), code)
	flat := e.node("Squeeze", code, e.ints(1))
	return e.node("Gather", e.array(name, table.Codes, table.Width), flat)
}
