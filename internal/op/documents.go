package op

import G "gorgonia.org/gorgonia"

// SumOverDocuments is ops.SumOverDocuments.
func SumOverDocuments(l Lists, x *G.Node) (*G.Node, error) {
	f := ListFunc{Name: "ops: SumOverDocuments", Layout: PerQuery, Do: sumLast, VJP: spreadLast}
	return f.Apply(l, AnyRows("x", x))
}

// SpreadOverDocuments gives every document the value of its query: values are [queries], the result is [rows], 0 in padding. It is
// differentiable in values.
func SpreadOverDocuments(l Lists, values *G.Node) (*G.Node, error) {
	f := ListFunc{Name: "ops: SpreadOverDocuments", Do: spreadLast, Of: 1, VJP: sumLast}
	return f.Apply(l, AnyRows("scores", l.Scores), Queries("values", values))
}

// sumLast sums the last input, spreadLast spreads it.
func sumLast(l *List) error {
	sum := 0.0
	for _, v := range l.Last() {
		sum += v
	}
	l.Out()[0] = sum
	return nil
}

func spreadLast(l *List) error {
	out := l.Out()
	for d := range out {
		out[d] = l.Last()[0]
	}
	return nil
}

// Constant returns x, a vector, as a constant for differentiation: what it depends on gets no gradient by way of it.
func Constant(x *G.Node) (*G.Node, error) {
	return Elementwise("ops: Constant", x, func(v float64) float64 { return v }, nil)
}
