package losses

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// noisyOrder ranks the documents of every list by score plus noise, once for every
// sample: an int node [samples × rows], sample after sample. The rows of a query
// hold its row numbers in descending order of m + noise, ties by row; −1 stands
// in padding rows and in samples whose noise is NaN. noise is [samples × rows],
// from [ops.Gumbel] or elsewhere. The node is not differentiable.
func noisyOrder(l ops.Lists, noise *G.Node) *G.Node {
	f := op.ListFunc{
		Name: "losses: Order", Dtype: tensor.Int, Absent: -1, Layout: op.PerSample, Shape: op.Like(1),
		Do: func(l *op.List) error {
			_, err := eachNoisy(l, func(first int, noisy perturbed) {
				mine := l.Result.Int[first+l.From : first+l.To]
				for d := range mine {
					mine[d] = l.From + d
				}
				slices.SortFunc(mine, func(a, b int) int {
					return cmp.Or(cmp.Compare(noisy.gap(b-l.From, a-l.From), 0), cmp.Compare(a, b))
				})
			})
			return err
		},
	}
	return G.Must(f.Apply(l, op.Scores(l), op.Samples("noise", noise)))
}

// perturbed are scores with noise, nil for none. Only their differences are good: where
// scores are large, their sums with noise are rounded.
type perturbed struct{ scores, noise []float64 }

// gap is how far document a is above b.
func (p perturbed) gap(a, b int) float64 {
	gap := p.scores[a] - p.scores[b]
	if p.noise != nil {
		gap += p.noise[a] - p.noise[b]
	}
	return gap
}

// eachNoisy calls f with the scores and their noise, input 1, sample after sample, and with
// the number of the sample's first row. It leaves out those that are absent, whose noise is
// NaN, and gives the number of the others. f may change the noise.
func eachNoisy(l *op.List, f func(first int, noisy perturbed)) (samples int, err error) {
	noise := l.In[1]
	for first := 0; first < noise.Len(); first += l.Rows {
		if math.IsNaN(noise.At(first + l.From)) {
			continue
		}
		mine := noise.Read(l.Scratch(l.Len()), first+l.From, first+l.To)
		for d, v := range mine {
			if v-v != 0 {
				return samples, &op.RowError{Row: l.From + d, Text: fmt.Sprintf("the noise is %v: noise must be finite", v)}
			}
		}
		samples++
		f(first, perturbed{l.X[0], mine})
	}
	return samples, nil
}

// A ranking of a noisyOrder.
type ranking struct {
	rows    []int
	first   int // number of the first row of its sample
	samples int // of the query that are present
}

// eachRanking calls f with the rankings of the query that are present in the order, input i.
func eachRanking(l *op.List, i int, f func(ranking)) error {
	order, samples := l.In[i].Int, 0
	for first := 0; first < len(order); first += l.Rows {
		present := order[first+l.From] != -1
		for _, row := range order[first+l.From : first+l.To] {
			if (row != -1) != present || present && (row < l.From || row >= l.To) {
				return fmt.Errorf("order has row %d where one of %d to %d is due", row, l.From, l.To-1)
			}
		}
		if present {
			samples++
		}
	}
	for first := 0; first < len(order); first += l.Rows {
		if rows := order[first+l.From : first+l.To]; rows[0] != -1 {
			f(ranking{rows, first, samples})
		}
	}
	return nil
}
