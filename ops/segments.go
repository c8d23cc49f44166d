package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SumOverDocuments sums x, [rows], over the documents of every query: a node
// [queries], 0 for empty ones; padding is left out, whatever is in it. It is
// differentiable in x.
func SumOverDocuments(l Lists, x *G.Node) (*G.Node, error) {
	if err := l.checkedRows("SumOverDocuments", "x", x); err != nil {
		return nil, err
	}
	f := &listFunc{name: "SumOverDocuments", perQuery: true, do: sumRows, back: &listFunc{name: "SumOverDocumentsDiff", do: spreadRows}}
	return f.apply(Lists{Scores: x, Offsets: l.Offsets})
}

// SpreadOverDocuments gives every document the value of its query: values are
// [queries], the result is [rows], 0 in padding. It is differentiable in values.
func SpreadOverDocuments(l Lists, values *G.Node) (*G.Node, error) {
	err := l.check()
	if err == nil {
		err = checkNode("values", values, 1, l.Scores.Dtype())
	}
	if err == nil && values.Shape()[0] != l.queries() {
		err = fmt.Errorf("values of shape %v for %d queries", values.Shape(), l.queries())
	}
	if err != nil {
		return nil, fmt.Errorf("ops: SpreadOverDocuments: %w", err)
	}
	f := &listFunc{
		name: "SpreadOverDocuments", do: spreadRows,
		wrt: 1, back: &listFunc{name: "SpreadOverDocumentsDiff", perQuery: true, do: sumRows},
	}
	return f.apply(l, values)
}

func sumRows(l list, in vectors, out numbers) error {
	x, sum := in.last(), 0.0
	for row := l.from; row < l.to; row++ {
		sum += x.at(row)
	}
	out.set(l.query, sum)
	return nil
}

func spreadRows(l list, in vectors, out numbers) error {
	v := in.last().at(l.query)
	for row := l.from; row < l.to; row++ {
		out.set(row, v)
	}
	return nil
}

// Documents is the number of documents of every query, a node [queries] of the dtype
// of the scores. It is not differentiable.
func Documents(l Lists) (*G.Node, error) {
	if err := l.checked("Documents"); err != nil {
		return nil, err
	}
	f := &listFunc{name: "Documents", perQuery: true, do: func(l list, _ vectors, out numbers) error {
		out.set(l.query, float64(len(l.scores)))
		return nil
	}}
	return f.apply(l)
}

// Reciprocal is 1/x of a vector, and 0 where x is 0: dividing by it leaves out what
// has nothing to be divided by, such as a query without gains. It is
// differentiable in x, with slope 0 at 0.
func Reciprocal(x *G.Node) (*G.Node, error) {
	if err := checkNode("x", x, 1, tensor.Float32, tensor.Float64); err != nil {
		return nil, fmt.Errorf("ops: Reciprocal: %w", err)
	}
	f := &listFunc{
		name: "Reciprocal", do: func(l list, _ vectors, out numbers) error {
			for i, v := range l.scores {
				if v != 0 {
					out.set(i, 1/v)
				}
			}
			return nil
		},
		back: &listFunc{name: "ReciprocalDiff", do: func(l list, in vectors, out numbers) error {
			for i, v := range l.scores {
				if v != 0 {
					out.set(i, -in.last().at(i)/v/v)
				}
			}
			return nil
		}},
	}
	return f.apply(Lists{Scores: x})
}

// Nonzero is 1 where x, a vector, is not 0, and 0 where it is. It is not
// differentiable.
func Nonzero(x *G.Node) (*G.Node, error) {
	if err := checkNode("x", x, 1, tensor.Float32, tensor.Float64); err != nil {
		return nil, fmt.Errorf("ops: Nonzero: %w", err)
	}
	f := &listFunc{name: "Nonzero", do: func(l list, _ vectors, out numbers) error {
		for i, v := range l.scores {
			if v != 0 {
				out.set(i, 1)
			}
		}
		return nil
	}}
	return f.apply(Lists{Scores: x})
}
