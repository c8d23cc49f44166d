package op

import (
	"errors"
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Lists are the ranked lists of package ops: a type without a name, so that ops.Lists can be assigned to it.
type Lists = struct{ Scores, Offsets *G.Node }

// queriesOf returns the number of queries, empty ones included.
func queriesOf(l Lists) int {
	if l.Offsets == nil {
		return 1
	}
	return l.Offsets.Shape()[0] - 1
}

func rowsOf(l Lists) int { return l.Scores.Shape()[0] }

// A Layout says which entries of a node belong to a query.
type Layout int

// The layouts. Only of the first three are the entries of a query side by side.
const (
	PerRow     Layout = iota // [rows]
	PerQuery                 // [queries]
	PerRanking               // [queries, samples, cutoff]
	PerSample                // [samples × rows], sample after sample
	Whole                    // any other
)

// An In is an input of a [ListFunc].
type In struct {
	name      string
	node      *G.Node
	layout    Layout
	ints      bool // else it has the dtype of the scores
	many      bool // it has several numbers for every row, as many for each
	vectors   bool // its shape is [rows, as many]
	finite    bool // the run returns an error for other numbers
	weights   bool // see Weights
	setting   bool // no node, but
	discounts []float64
}

// Scores returns the input of the scores of the lists, which must be finite.
func Scores(l Lists) In { return Rows("scores", l.Scores) }

// Rows returns an input with a finite number for every row.
func Rows(name string, n *G.Node) In { return In{name: name, node: n, finite: true} }

// AnyRows returns [Rows] without a check of the numbers.
func AnyRows(name string, n *G.Node) In { return In{name: name, node: n} }

// RowInts returns an input with an int for every row.
func RowInts(name string, n *G.Node) In { return In{name: name, node: n, ints: true} }

// RowSets returns an input with as many ints for every row, one at least.
func RowSets(name string, n *G.Node) In { return In{name: name, node: n, ints: true, many: true} }

// RowVectors returns an input with a vector for every row, [rows, dimension], whose numbers the run does not check.
func RowVectors(name string, n *G.Node) In { return In{name: name, node: n, many: true, vectors: true} }

// Queries returns an input with a number for every query.
func Queries(name string, n *G.Node) In { return In{name: name, node: n, layout: PerQuery} }

// Rankings returns an input of rankings, int [queries, samples, cutoff].
func Rankings(n *G.Node) In { return In{name: "rankings", node: n, layout: PerRanking, ints: true} }

// Samples returns an input with a number for every row in every sample, [samples × rows].
func Samples(name string, n *G.Node) In { return In{name: name, node: n, layout: PerSample} }

// Weights returns the input of [List.Weights], which is absent if n is nil.
func Weights(n *G.Node) In { return In{name: "document weights", node: n, weights: true} }

// Discounts returns the input of [List.Discounts], a setting that tells nodes apart.
func Discounts(theta []float64) In { return In{setting: true, discounts: slices.Clone(theta)} }

// Check reports what is wrong with the nodes of l, and with other inputs.
func Check(l Lists, others ...In) error {
	if l.Scores == nil {
		return errors.New("no scores: Lists.Scores is nil")
	}
	if err := CheckNode("scores", l.Scores, 1, tensor.Float32, tensor.Float64); err != nil {
		return err
	}
	if rowsOf(l) == 0 {
		return errors.New("scores have no rows")
	}
	if err := CheckOffsetsNode(l.Offsets); err != nil {
		return err
	}
	for _, in := range others {
		if err := in.check(l); err != nil {
			return err
		}
	}
	return nil
}

// CheckOffsetsNode reports what is wrong with the node of the offsets; nil: there is none.
func CheckOffsetsNode(offsets *G.Node) error {
	if offsets == nil {
		return nil
	}
	if err := CheckNode("offsets", offsets, 1, tensor.Int); err != nil {
		return err
	}
	if offsets.Shape()[0] < 2 {
		return fmt.Errorf("offsets have shape %v: want queries+1 of them, 2 at least", offsets.Shape())
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
	if !slices.Contains(dtypes, n.Dtype()) {
		return fmt.Errorf("%s are of dtype %v: want %v", name, n.Dtype(), dtypes)
	}
	return nil
}

func (in In) check(l Lists) error {
	dims, dtype := 1, l.Scores.Dtype()
	switch {
	case in.setting:
		return checkDiscounts(in.discounts)
	case in.layout == Whole || in.weights && in.node == nil:
		return nil
	case in.layout == PerRanking:
		dims = 3
	case in.vectors:
		dims = 2
	}
	if in.ints {
		dtype = tensor.Int
	}
	if err := CheckNode(in.name, in.node, dims, dtype); err != nil {
		return err
	}
	shape := in.node.Shape()
	switch n := shape[0]; {
	case in.vectors && n == rowsOf(l) && shape[1] > 0:
	case in.many && !in.vectors && n >= rowsOf(l) && n%rowsOf(l) == 0:
	case in.layout == PerRow && n != rowsOf(l):
		return fmt.Errorf("%s have %d rows, scores have %d", in.name, n, rowsOf(l))
	case in.layout == PerQuery && n != queriesOf(l):
		return fmt.Errorf("%s of shape %v for %d queries", in.name, shape, queriesOf(l))
	case in.layout == PerRanking && n != queriesOf(l):
		return fmt.Errorf("%s of shape %v are of %d queries, the lists have %d", in.name, shape, n, queriesOf(l))
	case in.layout == PerSample && (n == 0 || n%rowsOf(l) != 0):
		return fmt.Errorf("%s of shape %v: want a multiple of the %d rows", in.name, shape, rowsOf(l))
	}
	return nil
}

// checkDiscounts reports discounts that are missing or not finite.
func checkDiscounts(discounts []float64) error {
	if len(discounts) == 0 {
		return errors.New("no discounts: want one for every rank that counts")
	}
	for k, d := range discounts {
		if d-d != 0 { // NaN or infinite
			return fmt.Errorf("discount %d is %v: discounts must be finite", k, d)
		}
	}
	return nil
}
