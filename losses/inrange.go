package losses

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// A scale says of what size a loss of a query is, and its gradient: in proportion to
//
//	factor · the weight of the query · s^degree
//
// with s the largest gain of its documents, or the largest of other numbers.
type scale struct {
	what   string  // "gain", or what s is the largest of
	of     *G.Node // [rows]; nil: s = 1
	degree int
	factor float64
}

// inRange is the scores, with a check in every run that float32 can hold what losses are
// computed from: that s, s^degree and the scale are from 2^-100 to 2^100, or 0. Beyond that,
// squares and sums become infinite, or 0, and so do gradients. weights are those of the
// queries, [queries], nil for 1; a query that weighs little beside others of the batch is no
// error. In float64 there is no check.
func inRange(l ops.Lists, weights *G.Node, scales []scale) (*G.Node, error) {
	if err := op.Check(l); err != nil {
		return nil, err
	}
	if l.Scores.Dtype() != tensor.Float32 {
		return l.Scores, nil
	}
	inputs := []op.In{op.AnyRows("scores", l.Scores)}
	if weights != nil {
		inputs = append(inputs, op.Queries("query weights", weights))
	}
	sizes := make([]int, len(scales)) // numbers of the inputs that s is of
	settings := "InRange"
	for i, s := range scales {
		if s.of != nil {
			sizes[i] = len(inputs)
			inputs = append(inputs, op.AnyRows(s.what+"s", s.of))
		}
		settings += fmt.Sprint(" ", s.what, s.degree, s.factor)
	}
	f := op.ListFunc{
		Name: "losses", Settings: settings,
		Do: func(l *op.List) error {
			weight, most := 1.0, 1.0
			if weights != nil {
				weight, most = l.X[1][0], 0
				for q := range l.In[1].Len() {
					most = max(most, l.In[1].At(q))
				}
			}
			for i, s := range scales {
				size := 1.0
				if sizes[i] > 0 {
					size = 0
					for _, v := range l.X[sizes[i]] {
						size = max(size, math.Abs(v))
					}
				}
				if !s.fits(size, weight, most) {
					return fmt.Errorf("the largest %s is %.3g, the query weight %.3g, the factor of the loss %v: "+
						"float32 has no room for the loss or its gradient: want numbers nearer to 1", s.what, size, weight, s.factor)
				}
			}
			return copyDocuments(l)
		},
		VJP: func(l *op.List) error {
			copy(l.Result.F32[l.From:l.To], l.In[len(l.In)-1].F32[l.From:l.To])
			return nil
		},
	}
	return f.Apply(l, inputs...)
}

// fits tells whether float32 has room for a loss of documents of that size, in a query of
// that weight, of which the batch has others of most.
func (s scale) fits(size, weight, most float64) bool {
	power, factor := math.Pow(size, float64(s.degree)), math.Abs(s.factor)
	return size == 0 || holds(size, size) && holds(power, power) && holds(factor*most*power, factor*weight*power)
}

// holds tells whether there is room for numbers of at least low and of at most high. NaN is
// for other checks.
func holds(low, high float64) bool {
	const limit = 0x1p100
	return !(low > 0 && low < 1/limit) && !(high > limit)
}
