package onnx

import (
	"math"

	"github.com/plrank/plrank/transforms"
)

// products adds an input for each vector, [1, dimension] or [documents, dimension], and returns the columns of the features with the
// products after them. Products are computed in double precision; one whose vector has a NaN is missing.
func (g *graph) products(features string, vectors []transforms.Vector, products []transforms.Product) (string, error) {
	inputs := make([]string, len(vectors))
	for i, v := range vectors {
		g.body = g.body.with(11, valueInfo("vector_"+v.Name, Float, "documents_of_"+v.Name, v.Dimension))
		inputs[i] = g.to(Double, "vector_"+v.Name)
	}
	documents := g.node("Slice", g.node("Shape", features), g.ints(0), g.ints(1))
	column := g.nodeWith("Concat", attributes{"axis": 0}, documents, g.ints(1)) // the shape of one
	columns := []string{features}
	for i := range products {
		p := &products[i]
		a, b, err := p.Check(vectors)
		if err != nil {
			return "", err
		}
		value := g.to(Float, g.product(p, inputs[a], inputs[b]))
		value = g.node("Where", g.node("IsInf", value), g.constant(Float, []float64{math.NaN()}), value)
		columns = append(columns, g.node("Expand", value, column))
	}
	return g.sideBySide(columns), nil
}

// product adds a product of two vectors, see [transforms.Product].
func (g *graph) product(p *transforms.Product, a, b string) string {
	dot := func(a, b string) string {
		return g.nodeWith("ReduceSum", attributes{"keepdims": 1}, g.Mul(a, b), g.ints(1))
	}
	if p.Left != nil {
		times := func(x string, rows [][]float32) string {
			var flat []float64
			for i := range rows[0] {
				for _, row := range rows {
					flat = append(flat, float64(row[i]))
				}
			}
			return g.node("MatMul", x, g.constant(Double, flat, len(rows[0]), len(rows)))
		}
		return dot(times(a, p.Left), times(b, p.Right))
	}
	switch p.Kind() {
	case "dot":
		return dot(a, b)
	case "distance":
		difference := g.node("Sub", a, b)
		return g.node("Sqrt", dot(difference, difference))
	}
	lengths := g.Mul(dot(a, a), dot(b, b)) // of a cosine
	return g.node("Where", g.node("Equal", lengths, g.double(0)), g.double(0), g.node("Div", dot(a, b), g.node("Sqrt", lengths)))
}
