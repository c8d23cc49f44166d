package losses

import (
	"runtime"

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
func neg(x *G.Node) *G.Node    { return G.Must(G.Neg(x)) }
func square(x *G.Node) *G.Node { return G.Must(G.Square(x)) }
func exp(x *G.Node) *G.Node    { return G.Must(G.Exp(x)) }

// inverse is 1/x, and 0 where x is 0.
func inverse(x *G.Node) *G.Node { return G.Must(lossops.Reciprocal(x)) }

// nonzero is 1 where x is not 0.
func nonzero(x *G.Node) *G.Node { return G.Must(lossops.Nonzero(x)) }

// scaled and shifted are v·x and x + v.
func scaled(x *G.Node, v float64) *G.Node  { return G.Must(G.Mul(x, constant(x, v))) }
func shifted(x *G.Node, v float64) *G.Node { return G.Must(G.Add(x, constant(x, v))) }

// constant is a number of the dtype of a node.
func constant(x *G.Node, v float64) *G.Node {
	if x.Dtype() == tensor.Float32 {
		return G.NewConstant(float32(v))
	}
	return G.NewConstant(v)
}

// softplus is log(1 + e^z) = (z + |z|)/2 + log(1 + e^{−|z|}). Gorgonia's Softplus by
// itself has a derivative that is 1 from z = 19 on (15 in float32), off by 6e-9.
func softplus(z *G.Node) *G.Node {
	abs := G.Must(G.Abs(z))
	return add(scaled(add(z, abs), 0.5), G.Must(G.Softplus(G.Must(G.Neg(abs)))))
}

// total is the sum over the documents of every query, spread gives the value of a
// query to all its documents, and count is the number of these.
func total(l ops.Lists, x *G.Node) *G.Node  { return G.Must(ops.SumOverDocuments(l, x)) }
func spread(l ops.Lists, x *G.Node) *G.Node { return G.Must(ops.SpreadOverDocuments(l, x)) }
func count(l ops.Lists) *G.Node             { return G.Must(lossops.Documents(l)) }

// finite and notNegative are x, [rows], with a check in every run that the numbers are.
func finite(l ops.Lists, what string, x *G.Node) *G.Node {
	return G.Must(lossops.Checked(l, what, x, false))
}
func notNegative(l ops.Lists, what string, x *G.Node) *G.Node {
	return G.Must(lossops.Checked(l, what, x, true))
}

// caught turns the panic of a loss, such as that of [G.Must], into the error that it stands for.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case runtime.Error:
		panic(r)
	case error:
		*err = r
	default:
		panic(r)
	}
}
