package op

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Lists are the ranked lists of package ops, which has them by this name too.
type Lists struct {
	Scores  *G.Node // [rows], float32 or float64: log-scores m(d)
	Offsets *G.Node // [queries+1], int; nil: one query of all rows
}

// queries is the number of queries, empty ones included.
func queries(l Lists) int {
	if l.Offsets == nil {
		return 1
	}
	return l.Offsets.Shape()[0] - 1
}

func rows(l Lists) int { return l.Scores.Shape()[0] }

// Check reports what is wrong with the nodes of l, and with other inputs.
func Check(l Lists, others ...In) error {
	if l.Scores == nil {
		return errors.New("no scores: Lists.Scores is nil")
	}
	if err := CheckNode("scores", l.Scores, 1, tensor.Float32, tensor.Float64); err != nil {
		return err
	}
	if rows(l) == 0 {
		return errors.New("scores have no rows")
	}
	if l.Offsets != nil {
		if err := CheckNode("offsets", l.Offsets, 1, tensor.Int); err != nil {
			return err
		}
		if l.Offsets.Shape()[0] < 2 {
			return fmt.Errorf("offsets have shape %v: want queries+1 of them, 2 at least", l.Offsets.Shape())
		}
	}
	for _, in := range others {
		if err := in.check(l); err != nil {
			return err
		}
	}
	return nil
}

// CheckNode reports a node that is missing, or of other dimensions or dtype.
func CheckNode(name string, n *G.Node, dims int, dtypes ...tensor.Dtype) error {
	if n == nil {
		return fmt.Errorf("no %s: the node is nil", name)
	}
	if n.Shape().Dims() != dims {
		return fmt.Errorf("%s have shape %v: want %d dimensions", name, n.Shape(), dims)
	}
	for _, dt := range dtypes {
		if n.Dtype() == dt {
			return nil
		}
	}
	return fmt.Errorf("%s are of dtype %v: want %v", name, n.Dtype(), dtypes)
}

// CheckDiscounts reports discounts that are missing or not finite.
func CheckDiscounts(discounts []float64) error {
	if len(discounts) == 0 {
		return fmt.Errorf("no discounts: want one for every rank that counts")
	}
	for k, d := range discounts {
		if d-d != 0 { // NaN or infinite
			return fmt.Errorf("discount %d is %v: discounts must be finite", k, d)
		}
	}
	return nil
}

// An In is an input of a ListFunc besides the scores, with what it has to be.
type In struct {
	node  *G.Node
	check func(l Lists) error
}

// Rows is an input with a number for every row, of the dtype of the scores.
func Rows(name string, n *G.Node) In {
	return In{n, func(l Lists) error { return checkRows(l, name, n, l.Scores.Dtype()) }}
}

// RowInts is an input with an int for every row.
func RowInts(name string, n *G.Node) In {
	return In{n, func(l Lists) error { return checkRows(l, name, n, tensor.Int) }}
}

func checkRows(l Lists, name string, n *G.Node, dt tensor.Dtype) error {
	if err := CheckNode(name, n, 1, dt); err != nil {
		return err
	}
	if n.Shape()[0] != rows(l) {
		return fmt.Errorf("%s have %d rows, scores have %d", name, n.Shape()[0], rows(l))
	}
	return nil
}

// Queries is an input with a number for every query, of the dtype of the scores.
func Queries(name string, n *G.Node) In {
	return In{n, func(l Lists) error {
		if err := CheckNode(name, n, 1, l.Scores.Dtype()); err != nil {
			return err
		}
		if n.Shape()[0] != queries(l) {
			return fmt.Errorf("%s of shape %v for %d queries", name, n.Shape(), queries(l))
		}
		return nil
	}}
}

// Rankings is an input of rankings, int [queries, samples, cutoff].
func Rankings(n *G.Node) In {
	return In{n, func(l Lists) error {
		if err := CheckNode("rankings", n, 3, tensor.Int); err != nil {
			return err
		}
		if n.Shape()[0] != queries(l) {
			return fmt.Errorf("rankings of shape %v are of %d queries, the lists have %d", n.Shape(), n.Shape()[0], queries(l))
		}
		return nil
	}}
}

// Samples is an input with a number for every row in every sample, [samples × rows],
// of the dtype of the scores.
func Samples(name string, n *G.Node) In {
	return In{n, func(l Lists) error { return checkSamples(l, name, n, l.Scores.Dtype()) }}
}

// SampleInts is an input with an int for every row in every sample, [samples × rows].
func SampleInts(name string, n *G.Node) In {
	return In{n, func(l Lists) error { return checkSamples(l, name, n, tensor.Int) }}
}

func checkSamples(l Lists, name string, n *G.Node, dt tensor.Dtype) error {
	if err := CheckNode(name, n, 1, dt); err != nil {
		return err
	}
	if size := n.Shape()[0]; size == 0 || size%rows(l) != 0 {
		return fmt.Errorf("%s of shape %v: want a multiple of the %d rows", name, n.Shape(), rows(l))
	}
	return nil
}

// Derived is an input that the caller made itself.
func Derived(n *G.Node) In { return In{n, func(Lists) error { return nil }} }
