package losses

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// A scale is the size of a query's loss and gradient, up to a constant factor:
//
//	factor · the weight of the query · Π s^degree
//
// with s the largest gain or the largest weight of its documents.
type scale struct {
	powers []power
	factor float64
}

// A power is s^degree.
type power struct {
	what    string  // what the numbers are: "gain"
	numbers *G.Node // [rows]
	degree  int
}

// inRange returns the scores after checking, in every run, that float32 has room for the losses: all s, s^degree and the scale
// must be 0, or from 2^-100 to 2^100. Beyond that, squares and sums become infinite or 0, and so do gradients. weights are the
// weights of the queries, [queries]; nil: 1. A query may weigh little compared with others of the batch. Float64 needs no check.
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
	first := len(inputs) // of the numbers
	settings := "InRange"
	for _, s := range scales {
		settings += fmt.Sprint(" ", s.factor)
		for _, p := range s.powers {
			inputs = append(inputs, op.AnyRows(p.what+"s", p.numbers))
			settings += fmt.Sprint(" ", p.what, p.degree)
		}
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
			numbers := l.X[first:]
			for _, s := range scales {
				fits, sizes := s.fits(numbers, weight, most)
				if !fits {
					return fmt.Errorf("%sthe query weight is %.3g, the factor of the loss %v: "+
						"float32 has no room for the loss or its gradient: want numbers nearer to 1", sizes, weight, s.factor)
				}
				numbers = numbers[len(s.powers):]
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

// fits reports whether float32 has room for the loss of a query, given the numbers of its documents, its weight, and the largest
// weight of the batch. If not, sizes says how large the numbers are.
func (s scale) fits(numbers [][]float64, weight, most float64) (fits bool, sizes string) {
	factor, product := math.Abs(s.factor), 1.0
	fits = true
	for i, p := range s.powers {
		size := 0.0
		for _, v := range numbers[i] {
			size = max(size, math.Abs(v))
		}
		if size == 0 {
			return true, ""
		}
		power := math.Pow(size, float64(p.degree))
		fits = fits && holds(size, size) && holds(power, power)
		product *= power
		sizes += fmt.Sprintf("the largest %s is %.3g, ", p.what, size)
	}
	return fits && holds(factor*most*product, factor*weight*product), sizes
}

// holds reports whether float32 has room for numbers from low to high. NaN passes, as other checks report it.
func holds(low, high float64) bool {
	const limit = 0x1p100
	return !(low > 0 && low < 1/limit) && !(high > limit)
}
