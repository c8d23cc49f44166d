package recipe

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// Run trains the models of small data as they are trained alone, with the values of each, and mixes those that help. A plan of
// one model has none to mix.
func TestPlanIsRunAndMixed(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 12, Vali: 6, Test: 4, Seed: 3})
	plan := For(s)
	for i := range plan.Models {
		plan.Models[i].Epochs, plan.Models[i].Seed = 2, 5
	}
	r, err := plan.Run(t.Context(), s, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(plan.Models)
	last := r.History[len(r.History)-1]
	if len(r.History) != 2*n || last.Epoch != 2*n || last.Model != n || len(r.Shares) != n || r.Metric != "ndcg@10" || r.Queries != 18 {
		t.Errorf("%+v, %+v, %d queries", r.History, r.Shares, r.Queries)
	}
	if sum := floats.Sum(r.Shares); math.Abs(sum-1) > 1e-9 {
		t.Errorf("shares %v: their sum is %v", r.Shares, sum)
	}
	for i, c := range plan.Models {
		alone, err := train.Run(t.Context(), c, s, train.Hooks{})
		if err != nil || alone.History[1].Loss != r.History[2*i+1].Loss {
			t.Errorf("model %d: %v, loss %v in the plan, %v", i, err, r.History[2*i+1].Loss, alone.History[1].Loss)
			continue
		}
		best := alone.History[alone.BestEpoch-1].Vali["ndcg@10"]
		if got := r.Values[i]; c.Metric == "ndcg@10" && math.Abs(got-float64(best)) > 1e-6 {
			t.Errorf("model %d has the value %v, want %v", i, got, best)
		}
	}
	again, err := plan.Run(t.Context(), s, train.Hooks{})
	if err != nil || again.Model.Digest() != r.Model.Digest() {
		t.Error("another mixture the second time, or", err)
	}
}

// Small data have forests, a linear model and networks; large data, and gains from clicks, have what they had.
func TestPlanBySize(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 12, Vali: 6, Test: 4, Seed: 3})
	var kinds []string
	for _, c := range For(s).Models {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		kinds = append(kinds, fmt.Sprint(c.Scorer, c.Hidden))
	}
	if want := "forest[64] forest[64] mlp[] mlp[128 64] mlp[64]"; strings.Join(kinds, " ") != want {
		t.Errorf("%v, want %s", kinds, want)
	}
	rows := largeFrom
	large := For(&datasets.Splits{Train: &datasets.Dataset{
		Labels: make([]float32, rows), Features: make([]float32, rows), FeatureIDs: []int{1}, Offsets: []int{0, rows / 2, rows},
	}}).Models
	if len(large) != 2 || large[1].Bins == 0 || large[0].Loss != "query-rmse" {
		t.Errorf("large data: %+v", large)
	}
	s.Train.Gains = make([]float64, s.Train.Rows())
	if plan := For(s); len(plan.Models) != 1 {
		t.Errorf("gains from clicks: %d models", len(plan.Models))
	}
}

// An electionOf has models with the given values, by query, and a mixture of both.
func electionOf(first, second, both []float64) *election {
	return &election{sign: 1, units: []float64{1, 1}, ways: [][]float64{{1, 0}, {0, 1}, {.5, .5}}, values: [][]float64{first, second, both},
		queries: len(first), usual: -1, doubt: 1}
}

// A model that is better for every query has all. Where each is better for half of the queries by as much, and the mixture is between,
// resamples have either: the shares are about equal. A mixture that is better for every query is taken, and one whose gain is
// within its standard error seldom is.
func TestShares(t *testing.T) {
	n := 40
	at := func(f func(q int) float64) (values []float64) {
		for q := range n {
			values = append(values, f(q))
		}
		return values
	}
	same := func(v float64) []float64 { return at(func(int) float64 { return v }) }
	even := at(func(q int) float64 { return float64(q % 2) })
	odd := at(func(q int) float64 { return float64(1 - q%2) })
	near := func(a, b, by float64) bool { return math.Abs(a-b) <= by }
	if got := electionOf(same(.6), same(.5), same(.55)).shares(); got[0] != 1 || got[1] != 0 {
		t.Errorf("the first is better everywhere: %v", got)
	}
	if got := electionOf(even, odd, same(.2)).shares(); !near(got[0], .5, .1) || !near(got[0]+got[1], 1, 1e-12) {
		t.Errorf("each is better for half: %v", got)
	}
	if got := electionOf(same(.5), same(.5), same(.6)).shares(); !near(got[0], .5, 1e-12) {
		t.Errorf("the mixture is better everywhere: %v", got)
	}
	// The gain is 1 for some and −1 for the others: of 40 queries 21 and 19, a mean of .05 with a standard error of .158.
	wild := at(func(q int) float64 {
		if q < 21 {
			return 1.5
		}
		return -.5
	})
	e := electionOf(same(.5), same(.4), wild)
	e.ways[2] = []float64{0, 1} // tells resamples that take it
	if got := e.shares(); !(got[0] > .5 && got[1] > .1) {
		t.Errorf("a gain within its error: %v", got)
	}
}

// Others than the usual model have the less, the fewer queries speak for them. A gain of .1 with a standard deviation of .3 is 2.1 standard
// errors of 40 queries, .7 of 4, and 6.7 of 400.
func TestSharesOfOthersGrowWithTheQueries(t *testing.T) {
	last := -1.
	for _, queries := range []int{4, 40, 400} {
		usual, other := make([]float64, queries), make([]float64, queries)
		for q := range other {
			usual[q], other[q] = .5, .6+.3
			if q%2 == 0 {
				other[q] = .6 - .3
			}
		}
		e := electionOf(other, usual, usual)
		e.usual = 1
		share := e.shares()[0]
		if share <= last && last < 1 || queries == 4 && share > .3 || queries == 400 && share != 1 {
			t.Errorf("%d queries: the other has %v, after %v of fewer", queries, share, last)
		}
		last = share
	}
}

// Shares below a tenth count as none, unless all are.
func TestSharesBelowATenth(t *testing.T) {
	if got := atLeast(.1, []float64{.05, .38, .57}); got[0] != 0 || math.Abs(got[1]-.4) > 1e-12 || math.Abs(got[2]-.6) > 1e-12 {
		t.Error(got)
	}
	if got := atLeast(.1, []float64{.09, .01}); math.Abs(got[0]-1) > 1e-12 || got[1] != 0 {
		t.Error(got)
	}
}

// A rival ends a training that gains too little, and none that may catch up.
func TestRivalEndsWhatStaysBehind(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 12, Vali: 6, Test: 4, Seed: 3})
	c := train.Default()
	c.Members, c.Epochs, c.Metric = 1, 40, "ndcg@10"
	for best, stops := range map[float64]bool{100: true, 0: false, 0.01: false} {
		r := &Rival{metric: "ndcg@10", best: best}
		tr, err := train.New(c, train.Custom{Hooks: []train.Hook{r}}, s)
		if err != nil {
			t.Fatal(err)
		}
		r.Trainer = tr
		result, err := tr.Run(t.Context(), train.Hooks{})
		if err != nil || (len(result.History) == 10) != stops {
			t.Errorf("the best is %v: %d epochs (%v)", best, len(result.History), err)
		}
	}
}
