package losses_test

import (
	"math"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// small is a query with rankings, longer than the discounts, and noise.
type small struct {
	query
	rankings             [][]int
	noise                [][]float64
	logged, loggedScores []float64
}

func newSmall() small {
	return small{
		query: query{
			scores: []float64{.4, -.7, 1.2, .1}, gains: []float64{3, 0, 1, 7}, labels: []float64{2, 0, 1, 3},
			groups: []int{0, 1, 1, 0}, discounts: []float64{1, .63},
		},
		rankings: [][]int{{2, 0, 3, 1}, {3, 2, 1, 0}},
		noise:    [][]float64{{.3, 1.1, -.4, .2}, {-.6, .5, .9, 2.5}},
		logged:   []float64{4, 2, 5, 1}, loggedScores: []float64{.3, .2, .4, -1.9},
	}
}

func (s small) batch() losses.Batch {
	f := fixture{offsets: []int{0, 4}, scores: s.scores, gains: s.gains, labels: s.labels, groups: s.groups, discounts: s.discounts}
	b := f.batch(tensor.Float64)
	g := b.Lists.Scores.Graph()
	var rows []int
	var noise []float64
	for i, y := range s.rankings {
		rows, noise = append(rows, y...), append(noise, s.noise[i]...)
	}
	b.Rankings, b.Noise = ints(g, "rankings", rows, 1, 2, 4), vector(g, "noise", tensor.Float64, noise)
	b.Logged, b.LoggedScores = vector(g, "logged exposure", tensor.Float64, s.logged), vector(g, "log-scores", tensor.Float64, s.loggedScores)
	return b
}

// next is the probability of every document to come next after those placed.
func next(scores []float64, placed []int) []float64 {
	p, sum := make([]float64, len(scores)), 0.0
	for d, m := range scores {
		p[d] = math.Exp(m)
	}
	for _, d := range placed {
		p[d] = 0
	}
	for _, v := range p {
		sum += v
	}
	for d := range p {
		p[d] /= sum
	}
	return p
}

// exposure is the expected discount of every document, over all rankings of the policy.
func (s small) exposure(scores []float64) []float64 {
	e := make([]float64, len(scores))
	var place func(placed []int, p float64)
	place = func(placed []int, p float64) {
		if len(placed) == len(s.discounts) {
			return
		}
		for d, q := range next(scores, placed) {
			if q > 0 {
				e[d] += p * q * s.discounts[len(placed)]
				place(append(placed[:len(placed):len(placed)], d), p*q)
			}
		}
	}
	place(nil, 1)
	return e
}

// pair is the probability that two documents are at the ranks 1 and 2.
func (s small) pair(first, second int) float64 {
	return next(s.scores, nil)[first] * next(s.scores, []int{first})[second]
}

func (s small) earned(y []int) (sum float64) {
	for k, theta := range s.discounts {
		sum += theta * s.gains[y[k]]
	}
	return sum
}

// sampledMetric is minus the mean metric of the rankings, expectedNext minus the metric of the gains that
// are expected at each rank, given those before.
func (s small) sampledMetric() (mean float64) {
	for _, y := range s.rankings {
		mean -= s.earned(y) / 2
	}
	return mean
}

func (s small) expectedNext() (mean float64) {
	for _, y := range s.rankings {
		for k, theta := range s.discounts {
			for d, p := range next(s.scores, y[:k]) {
				mean -= theta * p * s.gains[d] / 2
			}
		}
	}
	return mean
}

// meanNoisy is the mean of a function of scores with noise.
func (s small) meanNoisy(f func(q query) float64) (mean float64) {
	for _, noise := range s.noise {
		q := s.query
		q.scores = make([]float64, 4)
		for d := range q.scores {
			q.scores[d] = s.scores[d] + noise[d]
		}
		mean += f(q) / 2
	}
	return mean
}

func (s small) disparity() (sum float64) {
	e := s.exposure(s.scores)
	for d := range e {
		for j := range e {
			gap := e[j]*s.gains[d] - e[d]*s.gains[j]
			sum += gap * gap / 12
		}
	}
	return sum
}

// groupGap is the squared difference of a number of the two groups.
func (s small) groupGap(number func(documents []int, e []float64) float64) float64 {
	e := s.exposure(s.scores)
	gap := number([]int{0, 3}, e) - number([]int{1, 2}, e)
	return gap * gap
}

// rows has the formulas of the table that definitions lacks.
var rows = map[string]func(s small) float64{
	"plrank-exact": func(s small) (sum float64) {
		for d, e := range s.exposure(s.scores) {
			sum -= e * s.gains[d]
		}
		return sum
	},
	// the documents 0, 2 and 3 are relevant; intents of 0 to 3 are –, 0 1, 0, 2
	"exact-mrr": func(s small) float64 {
		p := next(s.scores, nil)
		return -(1 - p[1] + p[1]/2)
	},
	"exact-map": func(s small) float64 { // divided by 2 ranks, not 3 documents
		p := next(s.scores, nil)
		return -(p[1]*(1/2.)/2 + (1 - p[1]) - (s.pair(0, 1)+s.pair(2, 1)+s.pair(3, 1))/2)
	},
	"exact-err": func(s small) (sum float64) {
		stop := []float64{3 / 16., 0, 1 / 16., 7 / 16.}
		for d, first := range next(s.scores, nil) {
			sum -= first * stop[d]
			for j, second := range next(s.scores, []int{d}) {
				sum -= first * (1 - stop[d]) * second * stop[j] / 2
			}
		}
		return sum
	},
	"exact-success": func(small) float64 { return -1 }, // one of two is relevant
	"exact-alpha-ndcg": func(s small) (sum float64) {
		gain := []float64{0, 2, 1, 1}
		for d, first := range next(s.scores, nil) {
			sum -= first * gain[d]
			for j, second := range next(s.scores, []int{d}) {
				earned := gain[j]
				if d == 1 && j == 2 || d == 2 && j == 1 {
					earned -= .5 // intent 0 once more
				}
				sum -= first * second * earned / math.Log2(3)
			}
		}
		return sum / (2 + 1/math.Log2(3))
	},
	"exact-err-ia": func(s small) (sum float64) { // of three intents
		gain := []float64{0, 2, 1, 1}
		for d, first := range next(s.scores, nil) {
			sum -= first * gain[d]
			for j, second := range next(s.scores, []int{d}) {
				earned := gain[j]
				if d == 1 && j == 2 || d == 2 && j == 1 {
					earned -= .5
				}
				sum -= first * second * earned / 2
			}
		}
		return sum / (3 * (1 + .5/2))
	},
	"exact-pair-accuracy": func(s small) (sum float64) { // of the pairs 3 0, 3 2, 3 1, 0 2, 0 1, 2 1, at both ranks
		for _, pair := range [][2]int{{3, 0}, {3, 2}, {3, 1}, {0, 2}, {0, 1}, {2, 1}} {
			for first, p := range next(s.scores, nil) {
				for second, q := range next(s.scores, []int{first}) {
					switch {
					case first == pair[0], second == pair[0] && first != pair[1]:
						sum -= p * q / 6
					case first != pair[1] && second != pair[1]:
						sum -= p * q / 12
					}
				}
			}
		}
		return sum
	},
	"deviation-mrr": func(s small) float64 { // 1, or ½ if document 1 is first
		p := next(s.scores, nil)[1]
		return math.Sqrt(p*(1-p)) / 2
	},
	"deviation-success": func(small) float64 { return 0 },
	"similarity": func(s small) float64 { // of the groups 0, 3 and 1, 2, at both ranks
		return s.pair(0, 3) + s.pair(3, 0) + s.pair(1, 2) + s.pair(2, 1)
	},
	"plrank1": small.sampledMetric, "plrank1-loo": small.sampledMetric, "plrank2": small.sampledMetric, "plrank2-loo": small.sampledMetric,
	"policy-gradient-loo": small.sampledMetric, "plrank2-expected": small.expectedNext, "plrank-rb": small.expectedNext,
	"policy-gradient": func(s small) (sum float64) { // of the ranks that have discounts
		for _, y := range s.rankings {
			for k := range s.discounts {
				sum -= s.earned(y) * math.Log(next(s.scores, y[:k])[y[k]]) / 2
			}
		}
		return sum
	},
	"placement-policy-gradient": func(s small) (sum float64) {
		for _, y := range s.rankings {
			for k := range s.discounts {
				for x := k; x < len(s.discounts); x++ {
					sum -= s.discounts[x] * s.gains[y[x]] * math.Log(next(s.scores, y[:k])[y[k]]) / 2
				}
			}
		}
		return sum
	},
	"stochasticrank": func(s small) float64 {
		return s.meanNoisy(func(q query) float64 { return -s.earned(order(q.scores)) })
	},
	"disparity": small.disparity,
	"ee-l": func(s small) (sum float64) {
		best := []float64{.63, 0, 0, 1} // the discounts in the order of gain
		for d, e := range s.exposure(s.scores) {
			sum += (e - best[d]) * (e - best[d])
		}
		return sum
	},
	"group-exposure": func(s small) float64 {
		return s.groupGap(func(group []int, e []float64) float64 { return (e[group[0]] + e[group[1]]) / 2 })
	},
	"group-treatment": func(s small) float64 {
		return s.groupGap(func(group []int, e []float64) float64 {
			return (e[group[0]] + e[group[1]]) / (s.gains[group[0]] + s.gains[group[1]])
		})
	},
	"exposure-risk": func(s small) float64 {
		z, sum := 0.0, 0.0
		for d, e := range s.exposure(s.scores) {
			z += e
			sum += e * e / s.logged[d]
		}
		return math.Sqrt(z * (1 - .95) / .95 * sum)
	},
	"prpo": func(s small) (sum float64) {
		former := s.exposure(s.loggedScores)
		for d, e := range s.exposure(s.scores) {
			if s.gains[d] >= 0 {
				sum -= s.gains[d] * min(e, former[d]/.5)
			} else {
				sum -= s.gains[d] * max(e, .5*former[d])
			}
		}
		return sum
	},
	"lambdaloss": func(s small) float64 {
		return s.meanNoisy(definitions["lambdaloss-deterministic"])
	},
	"gumbel-approxndcg": func(s small) float64 { return s.meanNoisy(definitions["approxndcg"]) },
	"xe-ndcg": func(s small) (sum float64) {
		for _, noise := range s.noise {
			phi, all := make([]float64, 4), 0.0
			for d, v := range noise {
				phi[d] = s.gains[d] + math.Exp(-math.Exp(-v))
				all += phi[d]
			}
			for d, p := range softmax(s.scores) {
				sum -= phi[d] / all * math.Log(p) / 2
			}
		}
		return sum
	},
	"listmle": func(s small) (sum float64) { // of the rankings that are given
		for _, y := range s.rankings {
			for k := range y {
				sum -= math.Log(next(s.scores, y[:k])[y[k]])
			}
		}
		return sum
	},
}

// Every row of the table has the value that it documents, by plain arithmetic.
func TestEveryRowHasItsFormula(t *testing.T) {
	negative := newSmall()
	negative.gains = []float64{3, -2, 1, -4}
	for _, name := range losses.EntryNames() {
		formula, ok := rows[name]
		if definition, also := definitions[name]; !ok && also {
			formula, ok = func(s small) float64 { return definition(s.query) }, true
		}
		if !ok {
			t.Errorf("%s has no formula: write it in plain arithmetic, in rows of rows_test.go", name)
			continue
		}
		lists := []small{newSmall()}
		if name == "prpo" {
			lists = append(lists, negative)
		}
		for _, s := range lists {
			b := s.batch()
			got, _ := differentiate(t, build(t, name, b), b.Lists.Scores)
			if want := formula(s); math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
				t.Errorf("%s: %v, its formula gives %v", name, got, want)
			}
		}
	}
}

// Where the policy is sure of its ranking, here 3, 0, 2, 1, sampled exposure is the discounts, and losses of it
// have their formulas.
func TestSampledFairnessHasItsFormula(t *testing.T) {
	s := newSmall()
	s.scores = []float64{60, -60, 0, 120}
	exposure := []float64{.63, 0, 0, 1}
	for name, want := range map[string]float64{
		"ee-l(plrank-rb)":            0,                     // the best ranking: E = E*
		"group-exposure(plrank-rb)":  1.63 / 2 * 1.63 / 2,   // groups {0, 3} and {1, 2}
		"group-treatment(plrank-rb)": 1.63 / 10 * 1.63 / 10, // gains 3 + 7, and 0 + 1
		"disparity(plrank2)":         s.disparityBy(exposure),
	} {
		b := s.batch()
		b.Exposure = ops.NewSampler(2, 2, 1)
		got, _ := differentiate(t, build(t, name, b), b.Lists.Scores)
		if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("%s: %v, its formula gives %v", name, got, want)
		}
	}
	s.gains = []float64{0, 3, 7, 1} // E* = 0, .63, 1, 0
	b := s.batch()
	b.Exposure = ops.NewSampler(2, 2, 1)
	got, _ := differentiate(t, build(t, "ee-l(plrank-rb)", b), b.Lists.Scores)
	if want := .63*.63 + .63*.63 + 1 + 1; math.Abs(got-want) > 1e-12 {
		t.Errorf("ee-l(plrank-rb): %v, its formula gives %v", got, want)
	}
}

// disparityBy is minus the mean metric of the rankings, with the gains 4/12 (ρ_d Σ E ρ − E_d Σ ρ²).
func (s small) disparityBy(exposure []float64) float64 {
	earned, squares := 0.0, 0.0
	for d, e := range exposure {
		earned += e * s.gains[d]
		squares += s.gains[d] * s.gains[d]
	}
	gains := make([]float64, len(exposure))
	for d, e := range exposure {
		gains[d] = (s.gains[d]*earned - e*squares) / 3
	}
	s.gains = gains
	return s.sampledMetric()
}
