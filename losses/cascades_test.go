package losses_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// expected is the mean of a function of the ranking, down to the last rank that counts, over all of the policy.
func (q query) expected(t fataler, earned func(y []int) float64) (mean float64) {
	if err := testkit.Enumerate(q.scores, min(len(q.discounts), len(q.scores)), func(y []int, p float64) { mean += p * earned(y) }); err != nil {
		t.Fatal(err)
	}
	return mean
}

// stop is the probability to stop at a document, for grades up to 4.
func (q query) stop(d int) float64 { return (math.Exp2(q.labels[d]) - 1) / 16 }

// cascades has the metrics of a ranking by their definitions.
var cascades = map[string]func(q query, y []int) float64{
	"mrr": func(q query, y []int) float64 {
		for k, d := range y {
			if q.labels[d] >= 1 {
				return 1 / float64(k+1)
			}
		}
		return 0
	},
	"map": func(q query, y []int) (sum float64) {
		all, found := 0.0, 0.0
		for _, label := range q.labels {
			if label >= 1 {
				all++
			}
		}
		for k, d := range y {
			if q.labels[d] >= 1 {
				found++
				sum += found / float64(k+1)
			}
		}
		return sum / max(1, min(all, float64(len(q.discounts))))
	},
	"err": func(q query, y []int) (sum float64) {
		reading := 1.0
		for k, d := range y {
			sum += reading * q.stop(d) / float64(k+1)
			reading *= 1 - q.stop(d)
		}
		return sum
	},
	"success": func(q query, y []int) float64 {
		if slices.ContainsFunc(y, func(d int) bool { return q.labels[d] >= 1 }) {
			return 1
		}
		return 0
	},
	"alpha-ndcg": func(q query, y []int) float64 {
		discount := func(k int) float64 { return 1 / math.Log2(float64(k)+2) }
		return byIntents(q, y, discount, metrics.IdealAlphaDCG(q.intents, len(q.intents), .5, metrics.Discounts(len(q.discounts))))
	},
	"err-ia": func(q query, y []int) float64 {
		discount := func(k int) float64 { return 1 / float64(k+1) }
		ideal, all := 0.0, 0
		for _, set := range q.intents {
			all |= set
		}
		for k := range q.discounts {
			ideal += float64(bits.OnesCount(uint(all))) * math.Pow(.5, float64(k)) * discount(k)
		}
		return byIntents(q, y, discount, ideal)
	},
}

// byIntents is what a ranking earns of three intents, each half as much as the time before.
func byIntents(q query, y []int, discount func(k int) float64, ideal float64) (sum float64) {
	above := map[int]float64{}
	for k, d := range y {
		for i := range 3 {
			if q.intents[d]>>i&1 == 1 {
				sum += math.Pow(.5, above[i]) * discount(k)
				above[i]++
			}
		}
	}
	if ideal > 0 {
		sum /= ideal
	}
	return sum
}

// cascadeExposure is the exposure to a reader who stops, by enumeration.
func (q query) cascadeExposure(t fataler) []float64 {
	exposure := make([]float64, len(q.scores))
	err := testkit.Enumerate(q.scores, min(len(q.discounts), len(q.scores)), func(y []int, p float64) {
		for k, d := range y {
			exposure[d] += p * q.discounts[k]
			p *= 1 - q.stop(d)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return exposure
}

// cascadeLosses are the exact losses by cascades, and what they are of a query, by enumeration.
func cascadeLosses(t fataler) map[string]func(q query) float64 {
	exact := map[string]func(q query) float64{}
	for name, metric := range cascades {
		exact["exact-"+name] = func(q query) float64 { return -q.expected(t, func(y []int) float64 { return metric(q, y) }) }
	}
	for name, measure := range fairness {
		exact[name+"(cascade)"] = func(q query) float64 { return measure(q, q.cascadeExposure(t)) }
	}
	exact["ee-l(cascade)"] = func(q query) (sum float64) { // of the policy that is sure of the order of gains
		best := q
		best.scores = make([]float64, len(q.gains))
		for d, gain := range q.gains {
			best.scores[d] = 50 * gain
		}
		target := best.cascadeExposure(t)
		for d, e := range q.cascadeExposure(t) {
			sum += (e - target[d]) * (e - target[d])
		}
		return sum
	}
	return exact
}

// Value and gradient equal the expectations over all rankings, the gradient by finite differences of them.
func TestCascadesAreExpectationsOverAllRankings(t *testing.T) {
	for name, lossOf := range cascadeLosses(t) {
		f := newFixture(normal)
		f.discounts = f.discounts[:2]
		value := func() (sum float64) {
			for _, q := range []int{0, 2, 3, 4} {
				sum += lossOf(f.query(q)) / 4
			}
			return sum
		}
		want := value()
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-6, tensor.Float32: 1e-5} {
			b := f.batch(dt)
			got, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
			if math.Abs(got-want) > tolerance {
				t.Errorf("%s, %v: %v, by enumeration %v", name, dt, got, want)
			}
			for d := range f.offsets[4] {
				const h = 1e-4
				m := f.scores[d]
				f.scores[d] = m + h
				up := value()
				f.scores[d] = m - h
				down := value()
				f.scores[d] = m
				if slope := (up - down) / (2 * h); math.Abs(gradient[d]-slope) > 2*tolerance {
					t.Errorf("%s, %v: gradient[%d] is %v, by enumeration %v", name, dt, d, gradient[d], slope)
				}
			}
		}
	}
}

// A loss is minus the metric that is reported, at every cutoff.
func TestExactLossesAreMinusTheirMetrics(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	f := fixture{offsets: []int{0, 40, 45}}
	in := metrics.Queries{Offsets: f.offsets, HighestGrade: 4}
	for range 45 {
		label := float64(rng.IntN(5))
		f.scores, f.labels, f.gains, f.groups = append(f.scores, 2*rng.NormFloat64()), append(f.labels, label), append(f.gains, math.Exp2(label)-1), append(f.groups, 0)
		in.Labels = append(in.Labels, float32(label))
	}
	in.Scores, in.Intents = f.scores, f.intents()
	for name := range cascades {
		for cutoff, suffix := range map[int]string{3: "@3", 40: "@40"} {
			m, err := metrics.ParseMeasure("expected-" + name + suffix)
			if err != nil {
				t.Fatal(err)
			}
			values, err := m.PerQuery(in)
			if err != nil {
				t.Fatal(err)
			}
			f.discounts = make([]float64, cutoff)
			b := f.batch(tensor.Float64)
			got, _ := differentiate(t, build(t, "exact-"+name, b), b.Lists.Scores)
			if want := -metrics.Mean(values, metrics.LabelFreeZero); math.Abs(got-want) > 1e-6 {
				t.Errorf("exact-%s with %d ranks is %v, %v is %v", name, cutoff, got, m, -want)
			}
		}
	}
}

// Intents 5, 70 and 140 are what intents 0 to 2 are: value, gradient and curvature.
func TestManyIntentsAreAsFew(t *testing.T) {
	f := fixture{offsets: []int{0, 9, 14}, discounts: make([]float64, 6)}
	rng := rand.New(rand.NewPCG(9, 1))
	for range 14 {
		f.scores, f.labels, f.gains, f.groups = append(f.scores, rng.NormFloat64()), append(f.labels, 1), append(f.gains, 1), append(f.groups, 0)
	}
	few := f.intents()
	many := make([]int, 3*len(few))
	for d, has := range few {
		for i, place := range []int{5, 70, 140} {
			many[3*d+place/63] |= has >> i & 1 << (place % 63)
		}
	}
	weights := make([]float64, 14)
	for d := range weights {
		weights[d] = float64(d % 3)
	}
	var values [2]float64
	var gradients, curvatures [2][]float64
	for i, intents := range [][]int{few, many} {
		b := f.batch(tensor.Float64)
		g := b.Lists.Scores.Graph()
		b.Intents = ints(g, "many intents", intents, len(intents))
		b.DocumentWeights = vector(g, "some weights", tensor.Float64, weights)
		values[i], gradients[i] = differentiate(t, build(t, "exact-alpha-ndcg", b), b.Lists.Scores)
		curvatures[i] = curvatureOf(t, "exact-alpha-ndcg", query{scores: f.scores, labels: f.labels, intents: intents, discounts: f.discounts})
	}
	if values[0] != values[1] || values[0] >= 0 || !slices.Equal(gradients[0], gradients[1]) || !slices.Equal(curvatures[0], curvatures[1]) {
		t.Errorf("values %v, gradients %v, curvatures %v", values, gradients, curvatures)
	}
	for _, intents := range [][]int{{1, 2, 4}, {1, -2}} {
		q := metrics.Queries{Scores: []float64{1, 2}, Intents: intents, Discounts: []float64{1}}
		_, err := losses.MustTerms("exact-alpha-ndcg")[0].Curvature(q, make([]float64, 2))
		if err == nil || !strings.Contains(err.Error(), "intents") {
			t.Errorf("intents %v: %v", intents, err)
		}
	}
}

// Grades above the highest count as it.
func TestExactERRTakesGradesAboveTheHighestAsIt(t *testing.T) {
	s := newSmall()
	value := func(highest float64, labels ...float64) float64 {
		s.labels = labels
		b := s.batch()
		b.HighestGrade = highest
		v, _ := differentiate(t, build(t, "exact-err", b), b.Lists.Scores)
		return v
	}
	if got, want := value(2, 2, 0, 1, 3), value(2, 2, 0, 1, 2); got != want {
		t.Errorf("%v with label 3, %v with 2", got, want)
	}
}
