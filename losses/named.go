package losses

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// named builds a loss of the table.
func named(name string, b Batch) (*G.Node, error) {
	f, err := ByName(name)
	if err != nil {
		return nil, err
	}
	return f(b)
}

// withParameter returns a loss of the table with its parameter, which the Func checks.
func withParameter(name string, parameter any) Func {
	return func(b Batch) (*G.Node, error) { return named(fmt.Sprintf("%s(%v)", name, parameter), b) }
}
