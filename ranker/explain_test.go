package ranker

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/datasets"
)

// shapley enumerates all sets of columns: in the columns of a set the documents have their own values, in all others they
// have each other's.
func shapley(t *testing.T, m *Model, features []float32, a, b int) []float64 {
	t.Helper()
	n := m.file.Transform.Inputs
	v := make([]float64, 1<<n)
	for set := range v {
		x := slices.Clone(features)
		for i := range n {
			if set&(1<<i) == 0 {
				x[a*n+i], x[b*n+i] = x[b*n+i], x[a*n+i]
			}
		}
		s, err := m.Score(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		v[set] = (s[a] - s[b]) / 2
	}
	factorial := func(k int) float64 { return math.Gamma(float64(k) + 1) }
	values := make([]float64, n)
	for set := range v {
		k := bits.OnesCount(uint(set))
		for i := range n {
			if set&(1<<i) == 0 {
				values[i] += factorial(k) * factorial(n-k-1) / factorial(n) * (v[set|1<<i] - v[set])
			}
		}
	}
	return values
}

// explained are models of eight features: of a layer of units, with transforms that compare documents, and with attention.
func explained(t *testing.T) (d *datasets.Dataset, models map[string]*Model) {
	d = queries(8, 6, 9)
	return d, map[string]*Model{
		"network":    reopen(t, network(t, "quantile+missing", "float32", d, 2, 16)),
		"views":      reopen(t, network(t, "minmax+log-standard+rank", "float64", d, 1, 16, 8)),
		"categories": reopen(t, categorical(t, "standard", "float32", d, []int{2}, 1, 16)),
		"attention":  reopen(t, attending(t, "minmax+quantile", "float64", d, 1, 1, 2, true, 8)),
	}
}

func TestValuesAreShapleyValuesBySets(t *testing.T) {
	d, models := explained(t)
	x := features(d, 0)
	for name, m := range models {
		e, err := m.Explain(context.Background(), x, nil, Comparison{Document: 1, Other: 4, Permutations: 400, Seed: 3})
		if err != nil {
			t.Fatal(name, err)
		}
		for i, want := range shapley(t, m, x, 1, 4) {
			if off := math.Abs(e.Values[i] - want); off > 3*e.Errors[i]+1e-6 {
				t.Errorf("%s: feature %d: %v ± %v, want %v", name, i, e.Values[i], e.Errors[i], want)
			}
		}
	}
}

func TestValuesSumToTheDifference(t *testing.T) {
	d, models := explained(t)
	x := features(d, 1)
	for name, m := range models {
		scores, err := m.Score(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			c := Comparison{Document: rapid.IntRange(0, 8).Draw(t, "document"), Other: rapid.IntRange(-1, 8).Draw(t, "other"),
				Permutations: rapid.IntRange(4, 9).Draw(t, "permutations"), Seed: rapid.Uint64().Draw(t, "seed")}
			e, err := m.Explain(context.Background(), x, nil, c)
			if err != nil {
				t.Fatal(name, err)
			}
			want := scores[c.Document]
			if c.Other == MeanOfQuery {
				for _, s := range scores {
					want -= s / 9
				}
			} else {
				want -= scores[c.Other]
			}
			sum := e.Base
			for _, v := range e.Values {
				sum += v
			}
			if math.Abs(e.Difference-want) > 1e-12 || math.Abs(sum-want) > 1e-9 {
				t.Fatalf("%s: difference %v, values sum to %v, want %v", name, e.Difference, sum, want)
			}
		})
	}
}

// A linear model gives each feature its weight times the difference of its values, without error.
func TestFeaturesOfALinearModelHaveTheirParts(t *testing.T) {
	d := queries(4, 5)
	for i, v := range d.Features {
		if v != v {
			d.Features[i] = 1
		}
	}
	f := network(t, "none", "float64", d, 1)
	f.BaseScores = true
	m := reopen(t, f)
	base := []float32{0, 1, 0, 5, 0}
	e, err := m.Explain(context.Background(), d.Features, base, Comparison{Document: 3, Other: 1})
	if err != nil {
		t.Fatal(err)
	}
	if e.Base != 4 {
		t.Errorf("base scores: %v, want 4", e.Base)
	}
	for i, got := range e.Values {
		want := f.Arrays[0].Values[i] * float64(d.Row(3)[i]-d.Row(1)[i])
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) || e.Errors[i] > 1e-9*(1+math.Abs(want)) {
			t.Errorf("feature %d: %v ± %v, want %v", i, got, e.Errors[i], want)
		}
	}
}

func TestExplainRefusesWhatIsNotInTheQuery(t *testing.T) {
	d := queries(2, 3)
	m := reopen(t, network(t, "none", "float32", d, 1, 4))
	for want, c := range map[string]Comparison{
		"ranker: document 3 of a query of 3 documents: want 0 to 2":                        {Document: 3},
		"ranker: other document -2 of a query of 3 documents: want 0 to 2, or MeanOfQuery": {Other: -2},
		"ranker: 3 permutations: want 4 to 1000000, or 0 for 1000":                         {Permutations: 3},
	} {
		if _, err := m.Explain(context.Background(), d.Features, nil, c); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// BenchmarkExplain divides the difference of one pair among 46 features, by 1,000 permutations.
func BenchmarkExplain(b *testing.B) {
	d := queries(46, 20)
	m := reopen(b, network(b, "minmax+log-standard+quantile+rank", "float32", d, 3, 64))
	for b.Loop() {
		if _, err := m.Explain(context.Background(), d.Features, nil, Comparison{Document: 0, Other: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
