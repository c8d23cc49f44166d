package onnx

import (
	"math"
	"slices"

	"github.com/plrank/plrank/transforms"
)

// Transforms are computed in float64, as in package datasets.

// inputs adds the inputs of a model: the outputs of all parts of the transform, and then what category adds for
// each category, whose codes are [documents, 1].
func (g *graph) inputs(t *transforms.Transform, category func(i int, codes string) string) string {
	if t.Identity() { // of forests
		return g.to(g.dtype, g.features)
	}
	var x []string
	if y := g.transform(t); y != "" {
		parts := g.to(Float, y) // transforms give float32
		if g.dtype == Double {
			parts = g.to(g.dtype, parts)
		}
		x = append(x, parts)
	}
	for i := range t.Categories {
		x = append(x, category(i, g.codes(&t.Categories[i])))
	}
	return g.sideBySide(x)
}

// transform adds the outputs of all parts, side by side. It returns "" if there are none: next to categories the part
// missing has no outputs if no values are missing.
func (g *graph) transform(t *transforms.Transform) string {
	var parts, gaps []string
	var x, missing string
	var chosen []int
	for i := range t.Parts {
		p, columns := &t.Parts[i], t.PartColumns(i)
		if len(columns) == 0 {
			continue
		}
		if !slices.Equal(columns, chosen) {
			chosen = columns
			x, missing = g.columns(chosen)
		}
		parts = append(parts, g.part(p, x, missing))
		gaps = append(gaps, missing)
	}
	if parts == nil {
		return ""
	}
	y := g.sideBySide(parts)
	if t.Bins == nil {
		return y
	}
	return g.positions(t, y, gaps)
}

// positions adds the positions of the parts' outputs in their bins, see transforms.Transform.FitBins.
func (g *graph) positions(t *transforms.Transform, y string, missing []string) string {
	lookup, absent := &transforms.Part{}, []float64{}
	for i := range t.Bins {
		b := &t.Bins[i]
		lookup.Knots, lookup.Scores = append(lookup.Knots, b.Knots), append(lookup.Scores, b.Positions())
		absent = append(absent, float64(b.AtMissing()))
	}
	const steps = 1 << 16
	at := g.to(Double, g.interpolated(lookup, g.to(Double, g.to(Float, y)))) // parts give float32
	at = g.Mul(g.node("Round", g.Mul(at, g.double(steps))), g.double(1./steps))
	return g.node("Where", g.sideBySide(missing), g.doubles(absent), at)
}

func (g *graph) part(p *transforms.Part, x, missing string) string {
	switch p.Name {
	case "missing":
		return g.to(Double, missing)
	case "raw":
		return g.node("Where", missing, g.double(math.NaN()), x)
	}
	return g.node("Where", missing, g.double(0), g.view(p, x, missing))
}

// view adds a part's outputs for the values that are not missing.
func (g *graph) view(p *transforms.Part, x, missing string) string {
	switch p.Name {
	case "minmax":
		return g.minMax(x, missing)
	case "standard", "maxabs":
		return g.standardise(p, x)
	case "log-standard":
		log := g.node("Log", g.Add(g.node("Abs", x), g.double(1)))
		return g.standardise(p, g.Mul(g.node("Sign", x), log))
	case "quantile":
		return g.to(Double, g.interpolated(p, x))
	case "rank":
		return g.rank(x, missing)
	}
	return x // none
}

// minMax adds (x − min)/(max − min) over the documents that have the feature.
func (g *graph) minMax(x, missing string) string {
	extreme := func(op string, absent float64) string {
		return g.nodeWith(op, attributes{"axes": []int{0}, "keepdims": 1}, g.node("Where", missing, g.double(absent), x))
	}
	low, high := extreme("ReduceMin", math.MaxFloat32), extreme("ReduceMax", -math.MaxFloat32)
	span := g.node("Sub", high, low)
	span = g.node("Where", g.node("Greater", span, g.double(0)), span, g.double(1))
	return g.node("Min", g.node("Div", g.node("Sub", x, low), span), g.double(1))
}

// rank adds √3·(b − a)/n, see datasets.FitTransform. The ranks of a document in ascending and in
// descending order, where equal ones keep their order and those without the feature are last, differ
// by b − a.
func (g *graph) rank(x, missing string) string {
	documents := g.node("Slice", g.node("Shape", x), g.ints(0), g.ints(1))
	sorted := func(x string, largest int) string {
		return g.second("TopK", attributes{"axis": 0, "largest": largest}, x, documents)
	}
	rankOf := func(absent float64, largest int) string {
		order := sorted(g.node("Where", missing, g.double(absent), x), largest)
		return g.to(Double, sorted(order, 0)) // the inverse permutation
	}
	present := g.nodeWith("ReduceSum", attributes{"keepdims": 1}, g.node("Where", missing, g.double(0), g.double(1)), g.ints(0))
	n := g.node("Max", present, g.double(1))
	return g.node("Div", g.Mul(g.node("Sub", rankOf(beyond, 0), rankOf(-beyond, 1)), g.double(math.Sqrt(3))), n)
}

func (g *graph) standardise(p *transforms.Part, x string) string {
	const limit = 10 // as in package datasets
	shift, scale := g.doubles(p.Shift), g.doubles(p.Scale)
	return g.within(g.Mul(g.node("Sub", x, shift), scale), limit)
}

// interpolated finds the piece of each value by bisection, in the pieces of all columns one after
// another, and interpolates in it: in float32, as package datasets does, so that positions are rounded alike.
func (g *graph) interpolated(p *transforms.Part, x string) string {
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
				rise[at] = float64(float32(p.Scores[c][k] - p.Scores[c][j]))
			}
		}
	}
	begins := g.doubles(begin)
	// The index of the first piece of each column, for every document.
	at := g.bisect(begins, room, g.Add(g.zeros(x), g.ints(first...)), x)
	lookup := func(values []float64) string { return g.node("Gather", g.doubles(values), at) }
	part := g.node("Div", g.node("Sub", x, lookup(knot)), lookup(width))
	return g.Add(g.to(Float, lookup(score)), g.Mul(g.to(Float, part), g.to(Float, lookup(rise))))
}

// codes adds the codes [documents, 1] of a category.
func (g *graph) codes(c *transforms.Category) string {
	x, missing := g.columns([]int{c.Column})
	begin := make([]float64, room(len(c.Values)))
	for i := range begin {
		begin[i] = beyond
		if i > 0 && i <= len(c.Values) {
			begin[i] = float64(c.Values[i-1])
		}
	}
	begins := g.doubles(begin)
	at := g.bisect(begins, len(begin), g.zeros(x), x)
	known := g.node("Equal", g.node("Gather", begins, at), x)
	code := g.node("Where", known, g.Add(at, g.int(transforms.FirstValue-1)), g.int(transforms.UnseenValue))
	return g.node("Where", missing, g.int(transforms.MissingValue), code)
}
