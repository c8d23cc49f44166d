package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Constant is x, a vector, as a constant for differentiation: what it depends on gets
// no gradient by way of it.
func Constant(x *G.Node) (*G.Node, error) {
	if err := checkNode("x", x, 1, tensor.Float32, tensor.Float64); err != nil {
		return nil, fmt.Errorf("ops: Constant: %w", err)
	}
	f := &listFunc{name: "Constant", do: func(l list, _ vectors, out numbers) error {
		out.write(l.scores, l.from)
		return nil
	}}
	return f.apply(Lists{Scores: x})
}
