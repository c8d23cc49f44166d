package lossops

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
)

// Reciprocal is 1/x of a vector, and 0 where x is 0: dividing by it leaves out what
// has nothing to be divided by, such as a query without gains. It is
// differentiable in x, with slope 0 at 0.
func Reciprocal(x *G.Node) (*G.Node, error) {
	const name = "losses: Reciprocal"
	slope := op.Func{Name: name + "VJP", Do: func(in []op.Tensor, result op.Tensor) error {
		for i := range result.Len() {
			v := in[0].At(i)
			result.Set(i, 0)
			if v != 0 {
				result.Set(i, -in[1].At(i)/v/v)
			}
		}
		return nil
	}}
	return elementwise(x, &op.Func{
		Name: name, Do: func(in []op.Tensor, result op.Tensor) error {
			for i := range result.Len() {
				v := in[0].At(i)
				if v != 0 {
					v = 1 / v
				}
				result.Set(i, v)
			}
			return nil
		},
		VJPs: []*op.Term{slope.Of(op.Input(0), op.Incoming)},
	})
}

// Checked is x, [rows], with padding 0. Numbers that are not finite, or negative where
// they must not be, are an error of the run that calls them by what they are: "gain". It
// is not differentiable.
func Checked(l ops.Lists, what string, x *G.Node, notNegative bool) (*G.Node, error) {
	f := op.ListFunc{
		Name: "losses", Settings: fmt.Sprint("Checked ", what, notNegative),
		Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			for row := l.From; row < l.To; row++ {
				v := in[0].At(row)
				switch {
				case v-v != 0:
					return &plackett.NumberError{What: what, Position: row - l.From, Value: v}
				case notNegative && v < 0:
					return &op.RowError{Row: row, Text: fmt.Sprintf("the %s is %v: this loss takes no negative %ss", what, v, what)}
				}
			}
			// As they are, be they below the smallest normal number: others may be as small.
			if result.F32 != nil {
				copy(result.F32[l.From:l.To], in[0].F32[l.From:l.To])
			} else {
				copy(result.F64[l.From:l.To], in[0].F64[l.From:l.To])
			}
			return nil
		},
	}
	return f.ApplyTo(op.Rows(what+"s", x), l)
}

// Scores are the scores, with padding 0, for losses that go on with them by Gorgonia's own
// ops, which know no padding. Scores that are not finite are an error of the run.
func Scores(l ops.Lists) (*G.Node, error) {
	const name = "losses: Scores"
	f := op.ListFunc{
		Name: name, Do: func(l *op.List, _ []op.Tensor, result op.Tensor) error {
			scores, err := l.Scores()
			if err != nil {
				return err
			}
			result.Write(scores, l.From)
			return nil
		},
		VJP: &op.ListFunc{Name: name + "VJP", Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			for row := l.From; row < l.To; row++ {
				result.Set(row, in[1].At(row))
			}
			return nil
		}},
	}
	return f.Apply(l)
}

// CheckedQueries is [Checked] for x, [queries], not negative.
func CheckedQueries(l ops.Lists, what string, x *G.Node) (*G.Node, error) {
	f := op.ListFunc{
		Name: "losses", Settings: "CheckedQueries " + what, Shape: op.PerQuery,
		Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			v := in[1].At(l.Query)
			if !(v >= 0) || v-v != 0 {
				return fmt.Errorf("the %s is %v: %ss must be finite and not negative", what, v, what)
			}
			result.Set(l.Query, v)
			return nil
		},
	}
	return f.Apply(l, op.Queries(what+"s", x))
}

// Nonzero is 1 where x, a vector, is not 0, and 0 where it is. It is not
// differentiable.
func Nonzero(x *G.Node) (*G.Node, error) {
	return elementwise(x, &op.Func{Name: "losses: Nonzero", Do: func(in []op.Tensor, result op.Tensor) error {
		for i := range result.Len() {
			result.Set(i, 0)
			if in[0].At(i) != 0 {
				result.Set(i, 1)
			}
		}
		return nil
	}})
}

func elementwise(x *G.Node, f *op.Func) (*G.Node, error) {
	if err := op.CheckNode("x", x, 1, tensor.Float32, tensor.Float64); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return f.Apply(x)
}
