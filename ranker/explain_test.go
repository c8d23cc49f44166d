package ranker

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
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
		"attention":  reopen(t, attending(t, "minmax+quantile", "float64", d, 1, 1, 2, 8)),
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

// Standard errors of few orders, whose intervals have the true values too seldom, are not given.
func TestStandardErrorsNeedOrders(t *testing.T) {
	d, models := explained(t)
	m, x := models["views"], features(d, 0)
	rows := len(x) / d.Width()
	for permutations, given := range map[int]bool{4: false, 100: false, 198: false, 200: true, 0: true} {
		e, err := m.Explain(context.Background(), x, nil, Comparison{Document: 1, Other: 4, Permutations: permutations})
		if err != nil || (e.Errors != nil) != given {
			t.Errorf("%d permutations: errors %v, %v", permutations, e.Errors, err)
		}
	}
	// A document has no order against itself.
	for permutations, given := range map[int]bool{4: false, 2*100*rows/(rows-1) - 2*rows: false, 2 * 100 * rows / (rows - 1): true} {
		e, err := m.Explain(context.Background(), x, nil, Comparison{Document: 1, Other: MeanOfQuery, Permutations: permutations})
		if err != nil || (e.Errors != nil) != given {
			t.Errorf("%d permutations against the mean: errors %v, %v", permutations, e.Errors, err)
		}
	}
	want := shapley(t, m, x, 1, 4)
	within := 0.
	for seed := range 50 {
		e, err := m.Explain(context.Background(), x, nil, Comparison{Document: 1, Other: 4, Permutations: 200, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want {
			if math.Abs(e.Values[i]-v) <= 1.96*e.Errors[i]+1e-12 {
				within++
			}
		}
	}
	if within /= float64(50 * len(want)); within < .92 || within > .98 {
		t.Errorf("%v of the intervals have the true value, want about .95", within)
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
	if _, err := m.Explain(context.Background(), nil, nil, Comparison{}); err == nil || strings.Contains(err.Error(), "-1") {
		t.Errorf("no documents: %v", err)
	}
}

// The passes of an explanation are counted before they are computed, whether documents are scored alone or together.
func TestPassesOfExplanationsAreCounted(t *testing.T) {
	d := queries(150, 4)
	for i := range d.Features {
		d.Features[i] = float32(i)
	}
	copy(d.Row(1), d.Row(0)) // row 1 differs from row 0 in one column, and from others in all
	d.Row(1)[2], d.Row(0)[3], d.Row(1)[3] = -1, float32(math.NaN()), float32(math.NaN())
	m := reopen(t, network(t, "none", "float64", d, 1, 4))
	var passes, documents atomic.Int64
	pass := m.pass
	m.pass = func(ctx context.Context, scores []float64, x []float32) error {
		passes.Add(1)
		documents.Add(int64(len(scores)))
		return pass(ctx, scores, x)
	}
	for _, test := range []struct {
		c                       Comparison
		alone                   bool
		orders, passes, columns int
	}{
		{Comparison{Document: 0, Other: 1, Permutations: 20}, true, 10, 10, 10},
		{Comparison{Document: 0, Other: 2, Permutations: 20}, true, 10, 2 * 10, 10 * 150},                  // 300 documents, 256 at a time
		{Comparison{Document: 0, Other: MeanOfQuery, Permutations: 24}, true, 9, 3 * (1 + 2 + 2), 3 * 301}, // 12 orders, 3 each
		{Comparison{Document: 0, Other: 0, Permutations: 20}, true, 0, 0, 0},
		{Comparison{Document: 0, Other: 1, Permutations: 20}, false, 10, 10, 10},
		{Comparison{Document: 2, Other: MeanOfQuery, Permutations: 100}, false, 39, 13 * 450, 13 * 450},
	} {
		m.alone = test.alone
		passes.Store(0)
		documents.Store(0)
		if _, err := m.Explain(t.Context(), d.Features, nil, test.c); err != nil {
			t.Fatal(err)
		}
		w := m.ExplainWork(d.Features, test.c)
		want := test.columns * 2
		if !test.alone {
			want = test.columns * 4
		}
		if w != (Work{0, test.orders, test.passes, want}) || int64(w.Passes) != passes.Load()-1 || int64(w.Documents) != documents.Load()-4 {
			t.Errorf("%+v: %+v; it took %d passes of %d documents", test, w, passes.Load()-1, documents.Load()-4)
		}
	}
	for _, c := range []Comparison{{Document: 4}, {Document: -1}, {Other: 4}, {Other: -2}} {
		if w := m.ExplainWork(d.Features, c); w != (Work{}) {
			t.Errorf("%+v: %+v", c, w)
		}
	}
}

// Explaining ends soon after its context: each worker notices it before its next pass.
func TestExplainEndsWithItsContext(t *testing.T) {
	d, models := explained(t)
	for name, m := range models {
		ctx, cancel := context.WithCancel(t.Context())
		var passes atomic.Int64
		pass := m.pass
		m.pass = func(ctx context.Context, scores []float64, x []float32) error {
			if passes.Add(1) >= 5 { // the fifth may be slow to cancel
				cancel()
			}
			return pass(ctx, scores, x)
		}
		_, err := m.Explain(ctx, features(d, 1), nil, Comparison{Other: MeanOfQuery})
		if n := passes.Load(); !errors.Is(err, context.Canceled) || n > 5+int64(runtime.GOMAXPROCS(0)) {
			t.Errorf("%s: %d passes, %v", name, n, err)
		}
		cancel()
	}
}

// A query is copied for each worker at most, and not for each order of its columns.
func TestExplainCopiesQueriesForWorkersAlone(t *testing.T) {
	const documents, width, permutations = 1000, 40, 400
	d := queries(width, documents)
	for name, m := range map[string]*Model{
		"alone":    reopen(t, network(t, "none", "float32", d, 1)),
		"together": reopen(t, network(t, "none", "float32", d, 1)),
	} {
		m.alone = name == "alone"
		explain := func() {
			if _, err := m.Explain(t.Context(), d.Features, nil, Comparison{Document: 1, Other: 0, Permutations: permutations}); err != nil {
				t.Fatal(err)
			}
		}
		explain() // fills pools
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		explain()
		runtime.ReadMemStats(&after)
		copies := float64(after.TotalAlloc-before.TotalAlloc) / (4 * documents * width)
		if most := float64(permutations / 4); copies > most { // the race detector empties pools at random
			t.Errorf("scored %s: memory of %.0f queries, want %.0f at most", name, copies, most)
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
