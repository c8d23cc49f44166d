package lossops

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// A Scale says of what size a loss of a query is, and its gradient: in proportion to
//
//	factor · the weight of the query · s^degree
//
// with s the largest gain of its documents, or the largest of other numbers.
type Scale struct {
	What   string  // "gain", or what s is the largest of
	Of     *G.Node // [rows]; nil: s = 1
	Degree int
	Factor float64
}

// InRange is the scores, with a check in every run that float32 can hold what losses are
// computed from: that s, s^degree and the scale are from 2^-100 to 2^100, or 0. Beyond that,
// squares and sums become infinite, or 0, and so do gradients. queries are the weights of the
// queries, [queries], nil for 1; a query that weighs little beside others of the batch is no
// error. In float64 there is no check.
func InRange(l ops.Lists, queries *G.Node, scales []Scale) (*G.Node, error) {
	if err := op.Check(l); err != nil {
		return nil, err
	}
	if l.Scores.Dtype() != tensor.Float32 {
		return l.Scores, nil
	}
	var inputs []op.In
	weights := 0 // number of the input of them
	if queries != nil {
		inputs = append(inputs, op.Queries("query weights", queries))
		weights = len(inputs)
	}
	rows := make([]int, len(scales)) // numbers of the inputs that s is of
	settings := "InRange"
	for i, s := range scales {
		if s.Of != nil {
			inputs = append(inputs, op.Rows(s.What+"s", s.Of))
			rows[i] = len(inputs)
		}
		settings += fmt.Sprint(" ", s.What, s.Degree, s.Factor)
	}
	f := op.ListFunc{
		Name: "losses", Settings: settings,
		Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			weight, most := 1.0, 1.0
			if weights > 0 {
				weight, most = in[weights].At(l.Query), 0
				for q := range in[weights].Len() {
					most = max(most, in[weights].At(q))
				}
			}
			for i, s := range scales {
				size := 1.0
				if rows[i] > 0 {
					size = 0
					for row := l.From; row < l.To; row++ {
						size = max(size, math.Abs(in[rows[i]].At(row)))
					}
				}
				if !s.fits(size, weight, most) {
					return fmt.Errorf("the largest %s is %.3g, the query weight %.3g, the factor of the loss %v: float32 has no room for the loss or its gradient: want numbers nearer to 1", s.What, size, weight, s.Factor)
				}
			}
			for row := l.From; row < l.To; row++ {
				result.F32[row] = in[0].F32[row]
			}
			return nil
		},
		VJP: &op.ListFunc{Name: "losses", Settings: settings + "VJP", Do: func(l *op.List, in []op.Tensor, result op.Tensor) error {
			copy(result.F32[l.From:l.To], in[len(in)-1].F32[l.From:l.To])
			return nil
		}},
	}
	return f.Apply(l, inputs...)
}

// fits tells whether float32 has room for a loss of documents of that size, in a query of
// that weight, of which the batch has others of most.
func (s Scale) fits(size, weight, most float64) bool {
	power, factor := math.Pow(size, float64(s.Degree)), math.Abs(s.Factor)
	return size == 0 || holds(size, size) && holds(power, power) && holds(factor*most*power, factor*weight*power)
}

// holds tells whether there is room for numbers of at least low and of at most high. NaN is
// for other checks.
func holds(low, high float64) bool {
	const limit = 0x1p100
	return !(low > 0 && low < 1/limit) && !(high > limit)
}
