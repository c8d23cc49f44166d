package plackett

import (
	"math"
	"strings"
	"testing"
)

func TestRankedExposureSharesTheDiscountsOfTies(t *testing.T) {
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

func TestRankedExposurePanicsOnNaN(t *testing.T) {
	for want, f := range map[string]func(){
		"the score of document 1 is NaN": func() { RankedExposure([]float64{1, math.NaN()}, []float64{1}, make([]float64, 2)) },
		"exposure: 1 numbers, want 2":    func() { RankedExposure([]float64{1, 2}, []float64{1}, make([]float64, 1)) },
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, want) {
					t.Errorf("panic %q, want one with %q", p, want)
				}
			}()
			f()
		}()
	}
}
