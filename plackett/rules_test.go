package plackett

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/plrank/plrank/internal/testkit"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// obeys reports whether the first ranks of a ranking can be completed to a ranking of all documents that obeys the rules.
func obeys(r Rules, documents int, ranking []int) bool {
	if len(ranking) < documents {
		for d := range documents {
			if !slices.Contains(ranking, d) && obeys(r, documents, append(slices.Clone(ranking), d)) {
				return true
			}
		}
		return false
	}
	for _, pin := range r.Pins {
		if ranking[pin.Rank-1] != pin.Document {
			return false
		}
	}
	for _, q := range r.Quotas {
		n := 0
		for _, d := range ranking[:min(q.First, documents)] {
			if slices.Contains(q.Documents, d) {
				n++
			}
		}
		if n < q.Least || n > q.Most {
			return false
		}
	}
	return true
}

// ruleCases are rules for lists of seven documents.
var ruleCases = map[string]Rules{
	"none":                  {},
	"offsets":               {Offsets: []float64{0, 1, -2, 0, 3, 0, .5}},
	"pins":                  {Pins: []Pin{{4, 2}, {0, 7}, {6, 1}}},
	"least":                 {Quotas: []Quota{{[]int{0, 1, 2}, 4, 3, 4}}},
	"most":                  {Quotas: []Quota{{[]int{0, 1, 2, 3}, 3, 0, 1}}},
	"exactly":               {Quotas: []Quota{{[]int{5, 6}, 3, 1, 1}}},
	"beyond the ranks":      {Quotas: []Quota{{[]int{5, 6}, 6, 2, 2}, {[]int{0}, 20, 0, 1}}},
	"every two":             {Quotas: []Quota{{[]int{0, 1, 2}, 2, 1, 2}, {[]int{0, 1, 2}, 4, 2, 4}, {[]int{0, 1, 2}, 5, 3, 3}}},
	"two columns":           {Quotas: []Quota{{[]int{0, 1, 2}, 3, 2, 3}, {[]int{2, 3, 4}, 4, 0, 1}}},
	"pins and quotas":       {Pins: []Pin{{2, 1}, {5, 3}}, Quotas: []Quota{{[]int{2, 3, 5}, 4, 0, 2}, {[]int{0, 6}, 5, 1, 1}}},
	"all of them":           {Offsets: []float64{0, -1, 2, 0, 0, 1, 0}, Pins: []Pin{{6, 4}}, Quotas: []Quota{{[]int{0, 1, 6}, 4, 3, 3}}},
	"nothing but the pins":  {Pins: []Pin{{0, 7}, {1, 6}, {2, 5}, {3, 4}, {4, 3}, {5, 2}, {6, 1}}},
	"a quota without ranks": {Quotas: []Quota{{nil, 3, 0, 0}}},
}

func eachRuleCase(t *testing.T, f func(t *testing.T, r Rules, scores []float64)) {
	scores := map[string][]float64{"near": {.3, -1, .2, 1.5, 0, -.7, .9}, "far": {0, 900, -300, 40, 41, -2000, 3}}
	for name, r := range ruleCases {
		for how, m := range scores {
			t.Run(name+"/"+how, func(t *testing.T) { f(t, r, m) })
		}
	}
}

// By enumeration the probabilities of the rankings that obey add up to 1 at every cutoff, and placements and exposures are their sums.
func TestRuledProbabilitiesAddUpToOne(t *testing.T) {
	eachRuleCase(t, func(t *testing.T, r Rules, scores []float64) {
		p := Ruled{Expectation: Expectation{Tolerance: smallestTolerance}}
		if err := p.Set(scores, r); err != nil {
			t.Fatal(err)
		}
		for _, cutoff := range []int{1, 4, 7} {
			sum, placements, logs := 0.0, make([]float64, 7*cutoff), make([]float64, cutoff)
			check(t, testkit.Enumerate(scores, cutoff, func(ranking []int, _ float64) {
				err := p.LogProbs(ranking, logs)
				if ok := obeys(r, 7, ranking); ok != (err == nil) {
					t.Fatalf("%v: %v, but it obeys: %v", ranking, err, ok)
				}
				if err != nil {
					return
				}
				q := math.Exp(floats.Sum(logs))
				sum += q
				for k, d := range ranking {
					placements[d*cutoff+k] += q
				}
			}))
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%d ranks: the probabilities add up to %v", cutoff, sum)
			}
			got, exposure, discounts := make([]float64, 7*cutoff), make([]float64, 7), []float64{1, -.5, .3, 2, .1, .7, 3}[:cutoff]
			check(t, p.Placements(cutoff, got))
			check(t, p.Exposure(discounts, exposure))
			for i, want := range placements {
				if math.Abs(got[i]-want) > 1e-12 {
					t.Errorf("document %d at rank %d of %d: %v, want %v", i/cutoff, i%cutoff+1, cutoff, got[i], want)
				}
			}
			for d, e := range exposure {
				if want := floats.Dot(discounts, placements[d*cutoff:(d+1)*cutoff]); math.Abs(e-want) > 1e-11 {
					t.Errorf("%d ranks: the exposure of document %d is %v, want %v", cutoff, d, e, want)
				}
			}
		}
	})
}

// Without quotas the law is Plackett–Luce's of the documents that are not pinned; with equal scores in each class it is Plackett–Luce's,
// conditional on the quotas.
func TestRuledIsPlackettLuce(t *testing.T) {
	scores := []float64{.3, .3, .3, 1, 1, 1, 1}
	for name, r := range map[string]Rules{
		"free": {}, "pins": ruleCases["pins"], "least": ruleCases["least"], "most": {Quotas: []Quota{{[]int{3, 4, 5, 6}, 3, 0, 1}}},
		"a quota that always holds": {Quotas: []Quota{{[]int{0, 4, 6}, 4, 0, 3}, {[]int{1, 2, 3, 4, 5}, 4, 2, 4}}},
	} {
		m := scores
		if name != "least" && name != "most" {
			m = []float64{.3, -1, .2, 1.5, 0, -.7, .9}
		}
		var p Ruled
		check(t, p.Set(m, r))
		holding, logs := 0.0, make([]float64, 4)
		type drawn struct{ log, plain float64 }
		var all []drawn
		check(t, testkit.Enumerate(m, 4, func(ranking []int, probability float64) {
			if p.LogProbs(ranking, logs) != nil {
				return
			}
			if name == "pins" { // 6 and 4 first; 0 is last
				rest := []int{ranking[2], ranking[3]}
				probability = 1
				left := 0.0
				for _, d := range []int{1, 2, 3, 5} {
					left += math.Exp(m[d])
				}
				for _, d := range rest {
					probability *= math.Exp(m[d]) / left
					left -= math.Exp(m[d])
				}
			}
			holding += probability
			all = append(all, drawn{floats.Sum(logs), probability})
		}))
		for _, x := range all {
			if want := math.Log(x.plain / holding); math.Abs(x.log-want) > 1e-12 {
				t.Fatalf("%s: log-probability %v, want %v", name, x.log, want)
			}
		}
	}
}

// Draws have the frequencies of their probabilities, by χ² over the first three ranks.
func TestRuledDraws(t *testing.T) {
	const draws = 20_000
	for name, r := range ruleCases {
		var p Ruled
		check(t, p.Set([]float64{.3, -1, .2, 1.5, 0, -.7, .9}, r))
		seen, logs := map[[3]int]float64{}, make([]float64, 3)
		for i := range uint64(draws) {
			var y [3]int
			check(t, p.Draw(Stream{Seed: i}, y[:]))
			seen[y]++
		}
		chi, free, few, rest := 0.0, -1.0, 0.0, 0.0
		check(t, testkit.Enumerate(make([]float64, 7), 3, func(ranking []int, _ float64) {
			if err := p.LogProbs(ranking, logs); err != nil {
				return
			}
			y := [3]int(ranking)
			expected := draws * math.Exp(floats.Sum(logs))
			if expected < 5 { // together
				few += expected
				rest += seen[y]
			} else {
				chi += (seen[y] - expected) * (seen[y] - expected) / expected
				free++
			}
			delete(seen, y)
		}))
		if few > 5 {
			chi += (rest - few) * (rest - few) / few
			free++
		}
		if len(seen) > 0 {
			t.Errorf("%s: rankings that break the rules: %v", name, seen)
		}
		if free > 0 && (distuv.ChiSquared{K: free}).Survival(chi) < 1e-4 {
			t.Errorf("%s: χ² is %v with %v degrees of freedom", name, chi, free)
		}
	}
}

// Rank is the first in the lexicographic order of scores among the rankings that obey.
func TestRuledRank(t *testing.T) {
	eachRuleCase(t, func(t *testing.T, r Rules, scores []float64) {
		var p Ruled
		check(t, p.Set(scores, r))
		sums := slices.Clone(scores)
		for d, x := range r.Offsets {
			sums[d] += x
		}
		var best []int
		check(t, testkit.Enumerate(scores, 7, func(ranking []int, _ float64) {
			better := slices.CompareFunc(ranking, best, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
			if obeys(r, 7, ranking) && (best == nil || better < 0) {
				best = slices.Clone(ranking)
			}
		}))
		got := make([]int, 7)
		check(t, p.Rank(got))
		if !slices.Equal(got, best) {
			t.Errorf("%v, want %v", got, best)
		}
	})
}

func TestRulesThatCannotBeObeyed(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	infeasible := 0
	for range 300 {
		r := Rules{}
		for _, rank := range rng.Perm(6)[:rng.IntN(3)] {
			r.Pins = append(r.Pins, Pin{[]int{3, 0, 5, 1, 4, 2}[rank], rank + 1})
		}
		for range 1 + rng.IntN(3) {
			q := Quota{Documents: rng.Perm(6)[:rng.IntN(7)], First: 1 + rng.IntN(6), Least: rng.IntN(4)}
			q.Most = q.Least + rng.IntN(3)
			r.Quotas = append(r.Quotas, q)
		}
		var p Ruled
		err := p.Set(make([]float64, 6), r)
		want := (*QuotaError)(nil)
		for i, q := range r.Quotas { // the first one that cannot be obeyed, and what is possible
			before := Rules{Pins: r.Pins, Quotas: r.Quotas[:i]}
			least, most, ok := 7, -1, false
			check(t, testkit.Enumerate(make([]float64, 6), 6, func(ranking []int, _ float64) {
				if obeys(before, 6, ranking) {
					n := 0
					for _, d := range ranking[:q.First] {
						if slices.Contains(q.Documents, d) {
							n++
						}
					}
					least, most = min(least, n), max(most, n)
					ok = ok || n >= q.Least && n <= q.Most
				}
			}))
			if !ok {
				want = &QuotaError{i, least, most}
				infeasible++
				break
			}
		}
		var got *QuotaError
		if errors.As(err, &got) != (want != nil) || want != nil && *got != *want {
			t.Fatalf("%+v: %v, want %+v", r, err, want)
		}
	}
	if infeasible < 50 || infeasible > 250 {
		t.Errorf("%d of 300 cases were infeasible", infeasible)
	}
	for text, r := range map[string]Rules{
		"pin 1: rank 2 has document 0 already":            {Pins: []Pin{{0, 2}, {1, 2}}},
		"pin 1: document 0 is pinned to rank 2 already":   {Pins: []Pin{{0, 2}, {0, 1}}},
		"pin 0: rank 4: want one from 1 to 3":             {Pins: []Pin{{0, 4}}},
		"pin 0: document 3 of 3":                          {Pins: []Pin{{3, 1}}},
		"quota 0: from 2 to 1 of the first 2":             {Quotas: []Quota{{[]int{0}, 2, 2, 1}}},
		"quota 0: document 0 of 3: want indices from 0, ": {Quotas: []Quota{{[]int{0, 0}, 2, 0, 1}}},
		"offsets: 2 numbers, want 3":                      {Offsets: make([]float64, 2)},
		"the score of document 1 is +Inf":                 {Offsets: []float64{0, math.MaxFloat64, 0}},
	} {
		if err := new(Ruled).Set([]float64{0, math.MaxFloat64, 1}, r); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", r, err, text)
		}
	}
}

// Many documents under one quota take as little as few.
func TestRuledLongLists(t *testing.T) {
	scores, members := make([]float64, 1000), make([]int, 0, 500)
	rng := rand.New(rand.NewPCG(1, 2))
	for d := range scores {
		if scores[d] = rng.NormFloat64(); d%2 == 0 {
			scores[d] -= 8
			members = append(members, d)
		}
	}
	var p Ruled
	check(t, p.Set(scores, Rules{Pins: []Pin{{1, 3}}, Quotas: []Quota{{members, 10, 4, 10}}}))
	exposure := make([]float64, len(scores))
	check(t, p.Exposure(slices.Repeat([]float64{1}, 10), exposure))
	among := 0.0
	for _, d := range members {
		among += exposure[d]
	}
	if math.Abs(floats.Sum(exposure)-10) > 1e-6 || !(among > 4-1e-6 && among < 4.1) {
		t.Errorf("%v documents among the first ten, %v of the quota", floats.Sum(exposure), among)
	}
}

// By hand: with λ = 1/2 document 3, like none, comes second, and then 1, which is like the first, and 2, like it to .6.
func TestDiversify(t *testing.T) {
	scores, offsets := []float64{1, .9, .5, .2}, make([]float64, 4)
	vectors := []float64{1, 0, 2, 0, 3, 4, 0, -5}
	for lambda, want := range map[float64][]float64{1: {1, .9, .5, .2}, .5: {1, .9 - 1, .5 - .6, .2}, .75: {1, .9 - 1/3., .5 - .6/3, .2}} {
		check(t, Diversify(scores, vectors, 2, lambda, nil, offsets))
		for d := range want {
			if got := scores[d] + offsets[d]; math.Abs(got-want[d]) > 1e-15 {
				t.Errorf("λ %v, document %d: %v, want %v", lambda, d, got, want[d])
			}
		}
	}
	for _, lambda := range []float64{0, -1, 1.1, 1e-305, math.NaN()} {
		if err := Diversify(scores, vectors, 2, lambda, nil, offsets); err == nil {
			t.Errorf("λ %v", lambda)
		}
	}
}

// The documents in descending order of score and offset are the ranking by maximal marginal relevance, rank by rank.
func TestDiversifyRanksByMarginalRelevance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		const documents, dimension = 9, 3
		scores, vectors, offsets := make([]float64, documents), make([]float64, documents*dimension), make([]float64, documents)
		for i := range vectors {
			vectors[i] = rng.NormFloat64()
		}
		for d := range scores {
			scores[d] = 2 * rng.NormFloat64()
		}
		first := rng.Perm(documents)[:rng.IntN(3)]
		check(t, Diversify(scores, vectors, dimension, .6, first, offsets))
		above := slices.Clone(first)
		for len(above) < documents {
			best, most := -1, math.Inf(-1)
			for d, m := range scores {
				if slices.Contains(above, d) {
					continue
				}
				largest := math.Inf(-1)
				for _, e := range above {
					v, w := vectors[d*dimension:(d+1)*dimension], vectors[e*dimension:(e+1)*dimension]
					largest = max(largest, floats.Dot(v, w)/floats.Norm(v, 2)/floats.Norm(w, 2))
				}
				if len(above) == 0 {
					largest = 0
				}
				if value := m - .4/.6*largest; value > most {
					best, most = d, value
				}
			}
			if got := scores[best] + offsets[best]; math.Abs(got-most) > 1e-12 {
				t.Fatalf("document %d comes next with %v, want %v", best, got, most)
			}
			above = append(above, best)
		}
	}
}

// Where a quota binds, the policy is nearer to Plackett–Luce's than a softmax over the documents that are still possible, and little
// further than Plackett–Luce conditional on the quota, which is the nearest. These are the figures of docs/slates.md.
func TestRuledIsNearThePolicy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const problems, ranks, members = 50, 4, 3
	for least := 1; least <= members; least++ {
		var ours, softmax, conditional float64
		for range problems {
			scores := make([]float64, 7)
			for d := range scores {
				scores[d] = rng.NormFloat64()
			}
			var p Ruled
			check(t, p.Set(scores, Rules{Quotas: []Quota{{[]int{0, 1, 2}, ranks, least, ranks}}}))
			logs, holding := make([]float64, ranks), 0.0
			check(t, testkit.Enumerate(scores, ranks, func(ranking []int, q float64) {
				if p.LogProbs(ranking, logs) != nil {
					return
				}
				holding += q
				own := floats.Sum(logs)
				ours += math.Exp(own) * (own - math.Log(q)) / problems
				other, n, placed := 1.0, 0, make([]bool, len(scores))
				for k, d := range ranking {
					possible := 0.0
					for e, m := range scores {
						if !placed[e] && (e < members || n+min(ranks-k-1, members-n) >= least) {
							possible += math.Exp(m)
						}
					}
					other *= math.Exp(scores[d]) / possible
					placed[d] = true
					n += max(0, min(1, members-d))
				}
				softmax += other * math.Log(other/q) / problems
			}))
			conditional -= math.Log(holding) / problems
		}
		t.Logf("at least %d: %.2f, softmax %.2f, conditional %.2f", least, ours, softmax, conditional)
		if !(conditional <= ours && conditional <= softmax) || least > 1 && ours > softmax || ours > conditional+.3 {
			t.Errorf("at least %d: divergence %v, of the softmax %v, of the conditional law %v", least, ours, softmax, conditional)
		}
	}
}

// Eight values of a column may have quotas among the first ten, as the combinations of counts with up to ten in all are few.
func TestRuledManyValues(t *testing.T) {
	scores, quotas := make([]float64, 160), make([]Quota, 8)
	rng := rand.New(rand.NewPCG(6, 2))
	for d := range scores {
		scores[d] = 2 * rng.NormFloat64()
		if value := d % 10; value < 8 {
			quotas[value].Documents = append(quotas[value].Documents, d)
		}
	}
	for i := range quotas {
		quotas[i].First, quotas[i].Least, quotas[i].Most = 10, 1, 2
	}
	var p Ruled
	check(t, p.Set(scores, Rules{Quotas: quotas}))
	exposure := make([]float64, len(scores))
	check(t, p.Exposure(slices.Repeat([]float64{1}, 10), exposure))
	for value := range 8 {
		sum := 0.0
		for _, d := range quotas[value].Documents {
			sum += exposure[d]
		}
		if !(sum > 1-1e-6 && sum < 2) {
			t.Errorf("%v documents of value %d among the first ten", sum, value)
		}
	}
	if sum := floats.Sum(exposure); math.Abs(sum-10) > 1e-5 {
		t.Errorf("%v documents among the first ten", sum)
	}
}
