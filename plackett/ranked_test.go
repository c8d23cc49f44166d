package plackett

import (
	"math"
	"testing"
)

func TestRankedExposure(t *testing.T) {
	for _, c := range []struct{ scores, discounts, want []float64 }{
		{[]float64{0, 3, 1, 3, 0}, []float64{1, 0.6, 0.5, 0.4}, []float64{0.2, 0.8, 0.5, 0.8, 0.2}},
		{[]float64{0, 0}, []float64{1, 0.6}, []float64{0.8, 0.8}},
		{[]float64{7}, []float64{1, 0.6}, []float64{1}},
		{[]float64{1, 2}, nil, []float64{0, 0}},
		{nil, []float64{1}, nil},
	} {
		got := make([]float64, len(c.scores))
		RankedExposure(c.scores, c.discounts, got)
		for d, want := range c.want {
			if math.Abs(got[d]-want) > 1e-12 {
				t.Errorf("of %v with %v: %v, want %v", c.scores, c.discounts, got, c.want)
				break
			}
		}
	}
}
