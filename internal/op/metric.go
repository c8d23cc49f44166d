package op

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Metric makes the node of a metric of every query, [queries] of the dtype of the scores,
// and its gradient λ, which do gives together: one op computes both, as one vector of all
// λ and then of all metrics, and another, the result, is the metrics and has the λ for its
// derivative. The vector is float64 whatever the scores are: numbers are rounded once,
// when they are made use of. lambda is the gradient of the documents of the list, 0 before, or nil as
// long as nobody asked for the gradient. The inputs are the scores and then the others.
func Metric(name, settings string, l Lists, do func(l *List, lambda []float64) (float64, error), others ...In) (*G.Node, error) {
	whole := new(bool)
	both := ListFunc{
		Name: name, Settings: settings, Dtype: tensor.Float64, Layout: Whole,
		Shape: func(rows, queries int, _ []tensor.Shape) tensor.Shape { return tensor.Shape{rows + queries} },
		Whole: whole,
		Do: func(l *List) (err error) {
			var lambda []float64
			result := l.Result.F64
			if *whole {
				lambda = result[l.From:l.To]
			}
			result[l.Rows+l.Query], err = do(l, lambda)
			return err
		},
	}
	computed, err := both.Apply(l, append([]In{Scores(l)}, others...)...)
	if err != nil {
		return nil, err
	}
	value := ListFunc{
		Name: name + "Value", Layout: PerQuery, InRange: true,
		Do: func(l *List) error {
			l.Out()[0] = l.In[1].F64[l.Rows+l.Query]
			return nil
		},
		VJP: func(l *List) error {
			incoming, slopes := l.Last()[0], l.Out()
			for d, lambda := range l.In[1].F64[l.From:l.To] {
				slopes[d] = incoming * lambda
			}
			return nil
		},
	}
	return value.Apply(l, AnyRows("scores", l.Scores), In{node: computed, layout: Whole})
}
