package op

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Metric makes the node of a metric of every query, [queries] of the dtype of the scores,
// and its gradient λ, which do gives together: one op computes both, as one vector of all
// λ and then of all metrics, and another, the result, is the metrics and has the λ for its
// derivative. The vector is float64 whatever the scores are: numbers are rounded once,
// when they are made use of. lambda is that of the documents of the list, 0 before. The
// inputs are the scores and then the others.
func Metric(name, settings string, l Lists, do func(l *List, in []Tensor, lambda []float64) (float64, error), others ...In) (*G.Node, error) {
	both := ListFunc{
		Name: name, Settings: settings, Dtype: tensor.Float64,
		Shape: func(rows, queries int, _ []tensor.Shape) tensor.Shape { return tensor.Shape{rows + queries} },
		Do: func(l *List, in []Tensor, result Tensor) (err error) {
			result.F64[l.Rows+l.Query], err = do(l, in, result.F64[l.From:l.To])
			return err
		},
	}
	computed, err := both.Apply(l, others...)
	if err != nil {
		return nil, err
	}
	value := ListFunc{
		Name: name + "Value", Shape: PerQuery, Do: func(l *List, in []Tensor, result Tensor) error {
			return result.setIn(l.Query, in[1].F64[l.Rows+l.Query])
		},
		VJP: &ListFunc{Name: name + "VJP", Do: func(l *List, in []Tensor, result Tensor) error {
			incoming := in[2].At(l.Query)
			for row := l.From; row < l.To; row++ {
				if err := result.setIn(row, incoming*in[1].F64[row]); err != nil {
					return err
				}
			}
			return nil
		}},
	}
	return value.Apply(l, Derived(computed))
}
