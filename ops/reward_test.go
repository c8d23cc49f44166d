package ops_test

import (
	"math"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ops"
)

// reciprocalRank is the expected reciprocal rank of documents that satisfy with these chances.
func reciprocalRank(chances []float64, ranking []int) float64 {
	sum, reading := 0.0, 1.0
	for k, d := range ranking {
		sum += reading * chances[d] / float64(k+1)
		reading *= 1 - chances[d]
	}
	return sum
}

// The estimates for all tuples of N rankings, each in a query of its own, in the mean by
// their probabilities, are the expected reward and its derivative, exactly.
func TestRewardFuncIsUnbiased(t *testing.T) {
	scores, chances := []float64{.3, -1, 1.2, .4}, []float64{.8, 0, .3, .5}
	reward := func(ranking []int) float64 {
		bonus := 0.0
		if ranking[0] == 3 { // a rule that is not a sum over ranks
			bonus = float64(ranking[1])
		}
		return reciprocalRank(chances, ranking) + bonus
	}
	for _, c := range []struct{ documents, cutoff, samples int }{{4, 2, 1}, {4, 2, 2}, {3, 2, 3}, {3, 5, 2}, {4, 4, 1}} {
		m := scores[:c.documents]
		expected := func() (sum float64) {
			if err := testkit.Enumerate(m, c.cutoff, func(y []int, p float64) { sum += p * reward(y) }); err != nil {
				t.Fatal(err)
			}
			return sum
		}
		var rankings [][]int
		var probabilities []float64
		if err := testkit.Enumerate(m, c.cutoff, func(y []int, p float64) {
			rankings, probabilities = append(rankings, append([]int{}, y...)), append(probabilities, p)
		}); err != nil {
			t.Fatal(err)
		}
		// Tuple n has as its rankings the digits of n.
		tuples := int(math.Pow(float64(len(rankings)), float64(c.samples)))
		b := optest.Batch{Offsets: []int{0}}
		weights := make([]float64, tuples)
		for n := range tuples {
			first := n * c.documents
			b.Scores, b.Offsets = append(b.Scores, m...), append(b.Offsets, first+c.documents)
			weights[n] = 1
			for i, digits := 0, n; i < c.samples; i, digits = i+1, digits/len(rankings) {
				y := rankings[digits%len(rankings)]
				weights[n] *= probabilities[digits%len(rankings)]
				for k := range c.cutoff {
					place := -1
					if k < len(y) {
						place = first + y[k]
					}
					b.Places = append(b.Places, place)
				}
			}
		}
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			for machine, run := range optest.Machines {
				g := G.NewGraph()
				l := b.Lists(g, dt)
				r, err := ops.RewardFunc(l, optest.Ints(g, "rankings", b.Places, tuples, c.samples, c.cutoff), func(query int, ranking []int) float64 {
					for k := range ranking {
						ranking[k] -= query * c.documents
					}
					return reward(ranking)
				})
				if err != nil {
					t.Fatal(err)
				}
				value, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(optest.Vector(g, "w", dt, weights), r)))), l.Scores)
				if err != nil {
					t.Fatal(err)
				}
				tolerance := 1e-9 // of differences
				if dt == tensor.Float32 {
					tolerance = 1e-5
				}
				if want := expected(); math.Abs(value[0]-want) > tolerance {
					t.Errorf("%+v, %v, %s: reward %v, want %v", c, dt, machine, value[0], want)
				}
				for d := range m {
					lambda := 0.0
					for n := range tuples {
						lambda += gradient[n*c.documents+d]
					}
					const h = 1e-5
					m[d] += h
					up := expected()
					m[d] -= 2 * h
					down := expected()
					m[d] += h
					if want := (up - down) / (2 * h); math.Abs(lambda-want) > tolerance {
						t.Errorf("%+v, %v, %s: E λ[%d] = %v, want %v", c, dt, machine, d, lambda, want)
					}
				}
			}
		}
	}
}

// Absent samples and empty queries have no part; a reward that is always the same has a
// gradient from a single ranking only.
func TestRewardFuncLeavesOutAbsentSamples(t *testing.T) {
	b := optest.Batch{Scores: []float64{9, 1, 2, 3, 4, 9}, Offsets: []int{1, 3, 3, 5, 5}}
	places := []int{
		1, 2, -1, -1, -1, -1, // a ranking, an absent one
		-1, -1, -1, -1, -1, -1, // no documents
		3, 4, -1, 4, 3, -1,
		-1, -1, -1, -1, -1, -1,
	}
	g := G.NewGraph()
	l := b.Lists(g, tensor.Float64)
	r, err := ops.RewardFunc(l, optest.Ints(g, "rankings", places, 4, 2, 3), func(query int, ranking []int) float64 {
		if len(ranking) != 2 || ranking[0] < b.Offsets[query] || ranking[1] >= b.Offsets[query+1] {
			t.Errorf("query %d, ranking %v", query, ranking)
		}
		return 7
	})
	if err != nil {
		t.Fatal(err)
	}
	var value G.Value
	G.Read(r, &value)
	_, gradient, err := optest.Tape(G.Must(G.Sum(r)), l.Scores)
	if err != nil {
		t.Fatal(err)
	}
	p := 1 / (1 + math.Exp(1)) // of document 1 before 2
	for i, want := range []float64{7, 0, 7, 0} {
		if got := optest.Numbers(value)[i]; got != want {
			t.Errorf("query %d: reward %v, want %v", i, got, want)
		}
	}
	for d, want := range []float64{0, 7 * (1 - p), -7 * (1 - p), 0, 0, 0} {
		if math.Abs(gradient[d]-want) > 1e-14 {
			t.Errorf("gradient[%d] = %v, want %v", d, gradient[d], want)
		}
	}
}

func TestRewardFuncErrorsNameQueryAndSample(t *testing.T) {
	for _, c := range []struct {
		places []int
		reward float64
		want   string
	}{
		{[]int{0, 1, 2, 3, 3, 2}, math.NaN(), "ops: RewardFunc: query 1: sample 1: the reward is NaN: rewards must be finite"},
		{[]int{0, 1, 2, 3, 3, 2}, math.Inf(-1), "query 1: sample 1: the reward is -Inf"},
		{[]int{0, 1, 2, 3, 1, 2}, 0, "query 1: ranking 1, place 0: entry 1 is outside the list"},
		{[]int{0, 1, 2, 3, 3, 3}, 0, "query 1: ranking 1, place 1: entry 3 is placed twice"},
	} {
		b := optest.Batch{Scores: make([]float64, 4), Offsets: []int{0, 2, 4}}
		g := G.NewGraph()
		l := b.Lists(g, tensor.Float64)
		places := append([]int{0, 1}, c.places...)
		r, err := ops.RewardFunc(l, optest.Ints(g, "rankings", places, 2, 2, 2), func(query int, ranking []int) float64 {
			if query == 1 && ranking[0] == 3 {
				return c.reward
			}
			return 1
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = optest.Tape(G.Must(G.Sum(r)), l.Scores)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	b := optest.Batch{Scores: make([]float64, 4), Offsets: []int{0, 4}}
	g := G.NewGraph()
	if _, err := ops.RewardFunc(b.Lists(g, tensor.Float64), optest.Ints(g, "rankings", make([]int, 4), 1, 2, 2), nil); err == nil || !strings.Contains(err.Error(), "no reward") {
		t.Errorf("error %v without a function", err)
	}
}
