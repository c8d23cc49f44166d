package losses

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/op"
)

// perturbed holds scores and their noise; nil: none. Compare documents by gap: the sum of a large score and its noise would be
// rounded.
type perturbed struct{ scores, noise []float64 }

// gap returns how far document a is above b.
func (p perturbed) gap(a, b int) float64 {
	gap := p.scores[a] - p.scores[b]
	if p.noise != nil {
		gap += p.noise[a] - p.noise[b]
	}
	return gap
}

// order returns the documents in descending order of score plus noise, ties by row.
func (p perturbed) order() []int {
	if p.noise == nil {
		return num.DescendingOrder(nil, p.scores)
	}
	order := make([]int, len(p.scores))
	for d := range order {
		order[d] = d
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.gap(b, a), 0), cmp.Compare(a, b))
	})
	return order
}

// eachNoisy calls f for each sample with the scores and their noise, and returns the number of samples, at least 1. Input i,
// [samples × rows], has the noise; if i is 0, there is one sample without noise. Samples whose noise is NaN are absent. f may
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
