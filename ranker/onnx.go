package ranker

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/onnx"
	"github.com/plrank/plrank/internal/version"
)

// WriteONNX writes the model in ONNX format, with its transform inside. The input
// "features", float32 [documents, features], has the raw features of the documents of
// one query, at least one, NaN where a value is missing; the output "scores" [documents],
// of the model's dtype, their scores. The metadata have kind, feature_ids, feature_names,
// plrank_version, and the digest of the model.
//
// A kind of model other than the built-in ones is an error.
func (m *Model) WriteONNX(w io.Writer) error {
	f := m.file
	g := &onnx.Graph{}
	g.Input("features", onnx.Float, "documents", len(f.FeatureIDs))
	dtype := onnx.Float
	if f.Dtype == "float64" {
		dtype = onnx.Double
	}
	e := exporter{g, f, f.byName(), dtype}
	x := e.inputs(f.Transform)
	members, err := e.members(x)
	if err != nil {
		return fmt.Errorf("ranker: %w", err)
	}
	sum := members[0]
	for _, score := range members[1:] {
		sum = e.node("Add", sum, score)
	}
	if n := len(members); n > 1 {
		sum = e.node("Mul", sum, e.number(1/float64(n)))
	}
	scores := e.node("Squeeze", sum, g.Constant(onnx.Int64, []float64{1}, 1))
	g.Output(scores, "scores", dtype, "documents")

	ids, err := json.Marshal(f.FeatureIDs)
	if err != nil {
		return err
	}
	metadata := map[string]string{"kind": f.Kind, "feature_ids": string(ids), "plrank_version": version.String(), "digest": m.Digest()}
	if f.FeatureNames != nil {
		names, err := json.Marshal(f.FeatureNames)
		if err != nil {
			return err
		}
		metadata["feature_names"] = string(names)
	}
	_, err = w.Write(g.Model(version.String(), metadata))
	return err
}

// An exporter writes the parts of a model as nodes. Transforms are computed in float64,
// as in package datasets.
type exporter struct {
	*onnx.Graph
	f     *File
	has   arrays
	dtype onnx.Type // of the model
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

// inputs are what the hidden layers see: the outputs of all parts, and then what the
// embeddings have.
func (e exporter) inputs(t *datasets.Transform) string {
	var x []string
	if len(t.Columns) > 0 {
		parts := e.to(onnx.Float, e.transform(t)) // transforms give float32
		if e.dtype == onnx.Double {
			parts = e.to(e.dtype, parts)
		}
		x = append(x, parts)
	}
	for i := range t.Categories {
		x = append(x, e.embedding(forward.EmbeddingName(i), &t.Categories[i]))
	}
	return e.sideBySide(x)
}

func (e exporter) sideBySide(x []string) string {
	if len(x) == 1 {
		return x[0]
	}
	return e.Node("Concat", x, onnx.Attr{Name: "axis", Int: 1})
}

// columns are some of the raw features, in double precision, with 0 and a mark where they
// are missing, and within float32.
func (e exporter) columns(which []int) (x, missing string) {
	numbers := make([]float64, len(which))
	for i, c := range which {
		numbers[i] = float64(c)
	}
	x = e.to(onnx.Double, e.Node("Gather", []string{"features", e.Constant(onnx.Int64, numbers, len(numbers))}, onnx.Attr{Name: "axis", Int: 1}))
	missing = e.node("IsNaN", x)
	return e.within(e.node("Where", missing, e.double(0), x), math.MaxFloat32), missing
}

// embedding is [documents, width] of a category.
func (e exporter) embedding(name string, c *datasets.Category) string {
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
	table := e.has[name]
	if table == nil {
		return "" // an error of members
	}
	return e.node("Gather", e.array(name, table.Shape...), flat)
}

// zeros are whole numbers 0, as many as x.
func (e exporter) zeros(x string) string {
	return e.node("Mul", e.to(onnx.Int64, e.node("Sign", x)), e.Constant(onnx.Int64, []float64{0}))
}

// bisect gives the last place from at on, of the next room ones (a power of two), whose
// entry in begins is not above x.
func (e exporter) bisect(begins string, room int, at, x string) string {
	for step := room / 2; step > 0; step /= 2 {
		next := e.node("Add", at, e.Constant(onnx.Int64, []float64{float64(step)}))
		at = e.node("Where", e.node("LessOrEqual", e.node("Gather", begins, next), x), next, at)
	}
	return at
}

// transform is the outputs of all parts, side by side.
func (e exporter) transform(t *datasets.Transform) string {
	x, missing := e.columns(t.Columns)
	var parts []string
	for i := range t.Parts {
		parts = append(parts, e.node("Where", missing, e.double(0), e.part(&t.Parts[i], x, missing)))
	}
	return e.sideBySide(parts)
}

// within limits x to ±limit.
func (e exporter) within(x string, limit float64) string {
	return e.node("Max", e.node("Min", x, e.double(limit)), e.double(-limit))
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

// rank is √3·(b − a)/n, see datasets.FitTransform. Where a document stands in ascending and in
// descending order, equal ones as they are given and those without the feature last, differs by b − a.
func (e exporter) rank(x, missing string) string {
	const beyond = 1e300
	documents := e.node("Slice", e.node("Shape", x), e.Constant(onnx.Int64, []float64{0}, 1), e.Constant(onnx.Int64, []float64{1}, 1))
	sorted := func(x string, largest int) string {
		return e.Second("TopK", []string{x, documents}, onnx.Attr{Name: "axis", Int: 0}, onnx.Attr{Name: "largest", Int: largest})
	}
	place := func(absent float64, largest int) string {
		order := sorted(e.node("Where", missing, e.double(absent), x), largest)
		return e.to(onnx.Double, sorted(order, 0)) // the inverse permutation
	}
	present := e.Node("ReduceSum", []string{e.node("Where", missing, e.double(0), e.double(1)), e.Constant(onnx.Int64, []float64{0}, 1)}, onnx.Attr{Name: "keepdims", Int: 1})
	n := e.node("Max", present, e.double(1))
	return e.node("Div", e.node("Mul", e.node("Sub", place(beyond, 0), place(-beyond, 1)), e.double(math.Sqrt(3))), n)
}

func (e exporter) standardise(p *datasets.TransformPart, x string) string {
	const limit = 10 // as in package datasets
	columns := len(p.Shift)
	shift, scale := e.Constant(onnx.Double, p.Shift, columns), e.Constant(onnx.Double, p.Scale, columns)
	return e.within(e.node("Mul", e.node("Sub", x, shift), scale), limit)
}

// quantile looks for the piece of each value by bisection, in the pieces of all columns
// one after another, and interpolates in it.
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
