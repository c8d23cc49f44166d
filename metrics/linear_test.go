package metrics_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plrank/plrank/metrics"
)

// The values are those of PerQuery, and the weights are the derivatives: exactly where the measure is linear.
func TestLinearFormsAreTheMeasures(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"dcg@3", "ndcg@3", "ndcg", "p@2", "rbp(0.7)", "graded-rbp", "recall@3", "expected-dcg@3", "expected-ndcg@3", "expected-p@2"} {
		m, err := metrics.ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		in := metrics.Queries{Offsets: []int{0, 6, 10}, Gain: metrics.LinearGain, HighestGrade: 3}
		for d := range 10 {
			in.Labels = append(in.Labels, float32(r.IntN(4)))
			in.Scores = append(in.Scores, float64(d%4)+float64(d%3)/7) // with ties
		}
		in.Labels[0], in.Labels[7] = 2, 3
		if strings.Contains(name, "ndcg") { // whose best ranking has a derivative where labels differ
			for d := range in.Labels {
				in.Labels[d] = float32((d*7)%10) / 4
			}
		}
		l, err := m.Linearize(in)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.PerQuery(in)
		if err != nil {
			t.Fatal(err)
		}
		for q, v := range want {
			if math.Abs(v-l.PerQuery[q]) > 1e-9 {
				t.Errorf("%s, query %d: %v, want %v", name, q, l.PerQuery[q], v)
			}
		}
		// Other labels, all at once where the measure is exact, and a little elsewhere, which the gain of labels then must follow.
		other, change := in, float32(1e-3)
		if l.Exact {
			change = 1
		}
		other.Labels = append([]float32(nil), in.Labels...)
		sum := append([]float64(nil), l.PerQuery...)
		for d := range other.Labels {
			other.Labels[d] = max(0, min(3, other.Labels[d]+change*float32(r.IntN(3)-1)))
		}
		values, err := m.Linearize(other)
		if err != nil {
			t.Fatal(err)
		}
		for d := range other.Labels {
			q := 0
			if d >= 6 {
				q = 1
			}
			sum[q] += l.Weights[d] * (values.Values[d] - l.Values[d])
		}
		want, err = m.PerQuery(other)
		if err != nil {
			t.Fatal(err)
		}
		tolerance := 1e-9
		if !l.Exact {
			tolerance = 3e-6 // the square of the change
		}
		for q, v := range want {
			if name == "recall@3" { // its values are whole, so that nothing changes by a little
				continue
			}
			if math.Abs(v-sum[q]) > tolerance {
				t.Errorf("%s, query %d: %v, want %v", name, q, sum[q], v)
			}
		}
	}
	for _, name := range []string{"map", "mrr", "err", "pair-accuracy", "disparity"} {
		m, err := metrics.ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Linearize(metrics.Queries{Scores: []float64{1}, Labels: []float32{1}, Discounts: []float64{1}}); err == nil {
			t.Errorf("%s is linear", name)
		}
	}
}
