package losses

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/op"
)

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

// order is the documents in descending order of score plus noise, ties by row.
func (p perturbed) order() []int {
	order := make([]int, len(p.scores))
	for d := range order {
		order[d] = d
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.gap(b, a), 0), cmp.Compare(a, b))
	})
	return order
}

// meanNoisy is eachNoisy, and divides out, to which f adds, by the number of samples.
func meanNoisy(l *op.List, i int, out []float64, f func(noisy perturbed)) error {
	samples, err := eachNoisy(l, i, f)
	for d := range out {
		out[d] /= samples
	}
	return err
}

// eachNoisy calls f with the scores and their noise, sample after sample, and gives the
// number of samples, 1 at least. Input i, [samples × rows], has the noise, from [ops.Gumbel] or
// elsewhere; 0: f is called once, without noise. Samples whose noise is NaN are absent. f may
// change the noise.
func eachNoisy(l *op.List, i int, f func(noisy perturbed)) (samples float64, err error) {
	if i == 0 {
		f(perturbed{scores: l.X[0]})
		return 1, nil
	}
	noise := l.In[i]
	for first := 0; first < noise.Len(); first += l.Rows {
		if math.IsNaN(noise.At(first + l.From)) {
			continue
		}
		mine := noise.Read(l.Scratch(l.Len()), first+l.From, first+l.To)
		for d, v := range mine {
			if v-v != 0 {
				return 1, &op.RowError{Row: l.From + d, Text: fmt.Sprintf("the noise is %v: noise must be finite", v)}
			}
		}
		samples++
		f(perturbed{l.X[0], mine})
	}
	return max(1, samples), nil
}
