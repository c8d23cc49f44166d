package losses

import (
	"fmt"
	"runtime"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// The operations that losses are composed of. If a node cannot be made, they panic with the error, which caught returns. As in
// package ops, vectors are [rows] of the dtype of the scores, and entries that belong to no document are 0.

func mul(a, b *G.Node) *G.Node { return G.Must(G.HadamardProd(a, b)) }
func add(a, b *G.Node) *G.Node { return G.Must(G.Add(a, b)) }
func sub(a, b *G.Node) *G.Node { return G.Must(G.Sub(a, b)) }
func neg(x *G.Node) *G.Node    { return G.Must(G.Neg(x)) }
func square(x *G.Node) *G.Node { return G.Must(G.Square(x)) }
func exp(x *G.Node) *G.Node    { return G.Must(G.Exp(x)) }

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

// inverse is 1/x, and 0, with slope 0, where x is 0: a query without gains adds nothing to a quotient.
func inverse(x *G.Node) *G.Node {
	unlessZero := func(x, v float64) float64 {
		if x == 0 {
			return 0
		}
		return v
	}
	return G.Must(op.Elementwise("losses: Reciprocal", x,
		func(x float64) float64 { return unlessZero(x, 1/x) },
		func(x, incoming float64) float64 { return unlessZero(x, -incoming/x/x) }))
}

// nonzero is 1 where x is not 0, and 0 where it is; not differentiable.
func nonzero(x *G.Node) *G.Node {
	return G.Must(op.Elementwise("losses: Nonzero", x, func(x float64) float64 {
		if x != 0 {
			return 1
		}
		return 0
	}, nil))
}

// total is the sum over the documents of every query, and spread gives the value of a
// query to all its documents.
func total(l ops.Lists, x *G.Node) *G.Node  { return G.Must(ops.SumOverDocuments(l, x)) }
func spread(l ops.Lists, x *G.Node) *G.Node { return G.Must(op.SpreadOverDocuments(l, x)) }

// count is the number of documents of every query, [queries].
func count(l ops.Lists) *G.Node {
	return fixed("losses: Documents", op.PerQuery, func(l *op.List, out []float64) { out[0] = float64(l.Len()) },
		l, op.AnyRows("scores", l.Scores))
}

// fixed makes a node that is constant for differentiation. do sets the entries of a query, which are 0 before.
func fixed(name string, layout op.Layout, do func(l *op.List, out []float64), l ops.Lists, inputs ...op.In) *G.Node {
	f := op.ListFunc{Name: name, Layout: layout, Do: func(l *op.List) error {
		do(l, l.Out())
		return nil
	}}
	return G.Must(f.Apply(l, inputs...))
}

// finite returns x, with 0 for padding. A run returns an error if a number is not finite, and calls it what: "gain".
func finite(l ops.Lists, what string, x *G.Node) *G.Node {
	return checked(op.ListFunc{Name: "losses", Settings: "Checked " + what, Do: copyDocuments}, l, what, x)
}

// notNegative is finite, and a run also returns an error if a number is below 0.
func notNegative(l ops.Lists, what string, x *G.Node) *G.Node {
	return checked(op.ListFunc{Name: "losses", Settings: "Checked, not negative, " + what, Do: func(l *op.List) error {
		for d, v := range l.X[0] {
			if v < 0 {
				return &op.RowError{Row: l.From + d, Text: fmt.Sprintf("the %s is %v: this loss takes no negative %ss", what, v, what)}
			}
		}
		return copyDocuments(l)
	}}, l, what, x)
}

func checked(f op.ListFunc, l ops.Lists, what string, x *G.Node) *G.Node {
	return G.Must(f.Apply(l, op.Rows(what+"s", x)))
}

// copyDocuments copies the numbers of the documents unchanged. Subnormal ones stay, since all numbers of a query may be that
// small.
func copyDocuments(l *op.List) error {
	if x := l.In[0]; x.F32 != nil {
		copy(l.Result.F32[l.From:l.To], x.F32[l.From:l.To])
	} else {
		copy(l.Result.F64[l.From:l.To], x.F64[l.From:l.To])
	}
	return nil
}

// caught returns the error that a loss panicked with, as [G.Must] does.
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
