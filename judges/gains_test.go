package judges

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Where a judge gives one grade alone, people's mean is expected of all.
func TestGainsOfOneGradeAreTheMean(t *testing.T) {
	g, err := FitGains([]float64{0, 3, 1, 0}, []int{0, 0, 1, 1}, [][]float64{{1}, {1}, {1}, {1}}, nil, 0)
	if err != nil || math.Abs(g.Of([]float64{1}, nil)-1) > 1e-6 || g.Features {
		t.Errorf("%v, %v: want 1", g.Of([]float64{1}, nil), err)
	}
}

// Means by grade are found whatever the judge's grades mean, of pairs that two judges judged and of those that one did. What is shrunk is
// no more than 5 pairs of thousands.
func TestGainsAreMeansByGrade(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	mean := map[float64]float64{0: 1, 1: .2, 3: 2.5} // not in the order of the grades
	grades := []float64{0, 1, 3}
	var people []float64
	var queries []int
	var judged [][]float64
	for i := range 6000 {
		grade, second := grades[r.IntN(3)], math.NaN()
		if i%2 == 0 {
			second = grades[r.IntN(3)] // says nothing
		}
		people = append(people, mean[grade]+r.Float64()-.5+.3) // always above 0
		queries, judged = append(queries, i/10), append(judged, []float64{grade, second})
	}
	g, err := FitGains(people, queries, judged, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for grade, want := range mean {
		for _, second := range []float64{0, 3, math.NaN(), 7} { // 7 was never given
			if got := g.Of([]float64{grade, second}, nil); math.Abs(got-want-.3) > .05 {
				t.Errorf("grade %v, second judge %v: %v, want %v", grade, second, got, want+.3)
			}
		}
	}
}

// A judge who prefers what is long is corrected; noise does not pay; estimates stay among the gains of people.
func TestGainsAreCorrectedByFeatures(t *testing.T) {
	for _, preferring := range []bool{false, true} {
		r := rand.New(rand.NewPCG(2, 1))
		draw := func() (truth, judge float64, x []float32) {
			x = []float32{float32(r.NormFloat64()), float32(r.NormFloat64()), 7, float32(math.NaN())}
			truth = float64(r.IntN(4))
			judge = max(0, min(3, truth+float64(r.IntN(3)-1)))
			if preferring {
				judge = max(0, min(3, judge+math.Round(float64(x[0]))))
			}
			return truth, judge, x
		}
		var people []float64
		var queries []int
		var judged [][]float64
		var features []float32
		for i := range 400 {
			truth, judge, x := draw()
			people, queries, judged = append(people, truth), append(queries, i/8), append(judged, []float64{judge})
			features = append(features, x...)
		}
		g, err := FitGains(people, queries, judged, features, 4)
		if err != nil || g.Features != preferring {
			t.Fatalf("preferring %v: features %v, %v", preferring, g != nil && g.Features, err)
		}
		var naive, ours, length []float64 // errors
		for range 20_000 {
			truth, judge, x := draw()
			expected := g.Of([]float64{judge}, x)
			if expected < 0 || expected > 3 {
				t.Fatalf("expected gain %v", expected)
			}
			naive, ours, length = append(naive, judge-truth), append(ours, expected-truth), append(length, float64(x[0]))
		}
		before, after := stat.Correlation(naive, length, nil), stat.Correlation(ours, length, nil)
		if preferring && (before < .5 || math.Abs(after) > .12) {
			t.Errorf("errors correlate with the length by %v, and %v when corrected", before, after)
		}
		if stat.PopVariance(ours, nil) >= stat.PopVariance(naive, nil) {
			t.Errorf("preferring %v: the variance of the error is %v, %v without", preferring, stat.PopVariance(ours, nil), stat.PopVariance(naive, nil))
		}
	}
}

func TestFitGainsErrors(t *testing.T) {
	for want, c := range map[string]struct {
		people []float64
		judged [][]float64
	}{
		"fewer than two pairs":  {[]float64{1, 2}, [][]float64{{1}, {math.NaN()}}},
		"pair 1: gain -1 by":    {[]float64{1, -1}, [][]float64{{1}, {1}}},
		"pair 0: gain NaN by":   {[]float64{math.NaN(), 1}, [][]float64{{1}, {1}}},
		"pair 1: gains [-2] by": {[]float64{1, 1}, [][]float64{{1}, {-2}}},
		"fewer than two pairs ": {nil, nil},
	} {
		if _, err := FitGains(c.people, make([]int, len(c.people)), c.judged, nil, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
