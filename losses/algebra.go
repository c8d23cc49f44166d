package losses

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// The words that the losses are written in. Each panics with the error of the node
// that could not be made, for caught to return.

func mul(a, b *G.Node) *G.Node { return G.Must(G.HadamardProd(a, b)) }
func add(a, b *G.Node) *G.Node { return G.Must(G.Add(a, b)) }
func sub(a, b *G.Node) *G.Node { return G.Must(G.Sub(a, b)) }
func square(x *G.Node) *G.Node { return G.Must(G.Square(x)) }
func exp(x *G.Node) *G.Node    { return G.Must(G.Exp(x)) }

// inverse is 1/x, and 0 where x is 0.
func inverse(x *G.Node) *G.Node { return G.Must(lossops.Reciprocal(x)) }

// nonzero is 1 where x is not 0.
func nonzero(x *G.Node) *G.Node { return G.Must(lossops.Nonzero(x)) }

// scaled and shifted are v·x and x + v.
func scaled(l ops.Lists, x *G.Node, v float64) *G.Node  { return G.Must(G.Mul(x, constant(l, v))) }
func shifted(l ops.Lists, x *G.Node, v float64) *G.Node { return G.Must(G.Add(x, constant(l, v))) }

// total is the sum over the documents of every query, spread gives the value of a
// query to all its documents, and count is the number of these.
func total(l ops.Lists, x *G.Node) *G.Node  { return G.Must(ops.SumOverDocuments(l, x)) }
func spread(l ops.Lists, x *G.Node) *G.Node { return G.Must(ops.SpreadOverDocuments(l, x)) }
func count(l ops.Lists) *G.Node             { return G.Must(lossops.Documents(l)) }

func neg(x *G.Node) *G.Node { return G.Must(G.Neg(x)) }

// mean makes a loss of the losses of the queries, [queries], that a function gives.
func mean(l ops.Lists) func(perQuery *G.Node, err error) (*G.Node, error) {
	return func(perQuery *G.Node, err error) (*G.Node, error) {
		if err != nil {
			return nil, err
		}
		return ops.MeanOverQueries(l, perQuery)
	}
}

// finite and notNegative are x, [rows], with a check in every run that the numbers are.
func finite(l ops.Lists, what string, x *G.Node) *G.Node {
	return G.Must(lossops.Checked(l, what, x, false))
}
func notNegative(l ops.Lists, what string, x *G.Node) *G.Node {
	return G.Must(lossops.Checked(l, what, x, true))
}

// softplus is log(1 + e^z) = (z + |z|)/2 + log(1 + e^{−|z|}). Gorgonia's Softplus by
// itself has a derivative that is 1 from z = 19 on (15 in float32), off by 6e-9.
func softplus(l ops.Lists, z *G.Node) *G.Node {
	abs := G.Must(G.Abs(z))
	return add(scaled(l, add(z, abs), 0.5), G.Must(G.Softplus(G.Must(G.Neg(abs)))))
}

// constant is a number of the dtype of the scores.
func constant(l ops.Lists, v float64) *G.Node {
	if l.Scores.Dtype() == tensor.Float32 {
		return G.NewConstant(float32(v))
	}
	return G.NewConstant(v)
}

// checkRows reports lists without scores, and a node that does not have a number of
// their dtype for every row.
func checkRows(l ops.Lists, what string, n *G.Node) error {
	switch {
	case l.Scores == nil:
		return errors.New("no scores: Lists.Scores is nil")
	case n == nil:
		return fmt.Errorf("no %s: the node is nil", what)
	case n.Dtype() != l.Scores.Dtype() || !n.Shape().Eq(l.Scores.Shape()):
		return fmt.Errorf("%s are %v of shape %v: want %v of shape %v, as the scores", what, n.Dtype(), n.Shape(), l.Scores.Dtype(), l.Scores.Shape())
	}
	return nil
}

// caught turns the panic of [G.Must] into the error that it stands for.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = r
	default:
		panic(r)
	}
}
