package judges

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// made returns pairs of queries whose judge errs by grade, with the truth as People, and the value by people and by the judge: the
// difference of the DCG of two systems.
func made(seed uint64, queries int) (all []Pair, truth, judge float64) {
	r := rand.New(rand.NewPCG(seed, 7))
	for range queries {
		for d := range 20 {
			grade := min(3, int(r.ExpFloat64()*1.3))
			said := grade
			switch u := r.Float64(); {
			case u < .3:
				said = max(0, grade-1)
			case u < .45:
				said = min(3, grade+1)
			case u < .5:
				said = r.IntN(4)
			}
			weight := 0.0
			if d < 12 {
				weight = (1/math.Log2(float64(d)+2) - 1/math.Log2(float64(r.IntN(12))+2)) / float64(queries)
			}
			p := Pair{Weight: weight, Grade: said, Judge: math.Exp2(float64(said)) - 1, People: math.Exp2(float64(grade)) - 1}
			truth += p.Weight * p.People
			judge += p.Weight * p.Judge
			all = append(all, p)
		}
	}
	return all, truth, judge
}

// drawn returns the pairs with People only where they were drawn, before and in this round.
func drawn(all, known []Pair, p []float64, round int, seed uint64) []Pair {
	now := slices.Clone(known)
	for i, is := range Draw(p, seed) {
		if is {
			now[i].People, now[i].Probability, now[i].Round = all[i].People, p[i], round
		}
	}
	return now
}

func unknown(all []Pair) []Pair {
	list := slices.Clone(all)
	for i := range list {
		list[i].People = math.NaN()
	}
	return list
}

const runs = 1000

// Intervals of 95 % have the truth in 93 to 97 % of the runs, estimates have no bias, and drawing by Probabilities is better than at
// random among the pairs that count.
func TestIntervalsOfPairsHold(t *testing.T) {
	t.Parallel()
	all, truth, judge := made(1, 30)
	for _, budget := range []int{30, 60, 150} {
		errors := map[string][]float64{}
		for name, p := range map[string][]float64{"chosen": Probabilities(unknown(all), budget), "random": random(all, budget)} {
			held, heldPeople := 0, 0
			for seed := range uint64(runs) {
				both, people, err := ByPairs(judge, drawn(all, unknown(all), p, 1, seed))
				if err != nil {
					t.Fatal(err)
				}
				errors[name] = append(errors[name], both.Value-truth)
				errors[name+" people"] = append(errors[name+" people"], people.Value-truth)
				if low, high := both.Interval(.95); low <= truth && truth <= high {
					held++
				}
				if low, high := people.Interval(.95); low <= truth && truth <= high {
					heldPeople++
				}
			}
			t.Logf("%d pairs, %s: %.3f of the intervals hold, %.3f of those of people alone; errors %.4f and %.4f", budget, name,
				float64(held)/runs, float64(heldPeople)/runs, rms(errors[name]), rms(errors[name+" people"]))
			if held < .93*runs || held > .97*runs || heldPeople < .9*runs { // people alone are few outliers where they are drawn at random
				t.Errorf("%d pairs, %s: %d and %d of %d intervals hold", budget, name, held, heldPeople, runs)
			}
		}
		for name, e := range errors {
			if mean := stat.Mean(e, nil); math.Abs(mean) > 3.5*rms(e)/math.Sqrt(runs) {
				t.Errorf("%d pairs, %s: a bias of %v, with a standard error of %v", budget, name, mean, rms(e)/math.Sqrt(runs))
			}
		}
		if a, b := rms(errors["chosen"]), rms(errors["random"]); a > .85*b || a > .65*rms(errors["random people"]) {
			t.Errorf("%d pairs: an error of %v where pairs are chosen, %v at random, %v by people alone", budget, a, b, rms(errors["random people"]))
		}
	}
}

func random(all []Pair, budget int) []float64 {
	size := make([]float64, len(all))
	for i, p := range all {
		if p.Weight != 0 {
			size[i] = 1
		}
	}
	return proportional(size, budget)
}

func rms(values []float64) float64 { return floats.Norm(values, 2) / math.Sqrt(float64(len(values))) }

// Who looks after each of ten rounds, and stops at the first interval without the truth, finds one in less than 5 % of the runs by
// Always, and in more by Interval. Later rounds know the judge's errors, and the estimate of all has a smaller error and no bias.
func TestIntervalsHoldForWhoLooksEveryRound(t *testing.T) {
	t.Parallel()
	all, truth, judge := made(2, 30)
	const runs = 400
	wrong, always := 0, 0
	var last, widths []float64
	for run := range uint64(runs) {
		now, missed, missedAlways := unknown(all), false, false
		var both Estimate
		for round := 1; round <= 10; round++ {
			now = drawn(all, now, Probabilities(now, 25), round, run*100+uint64(round))
			var err error
			if both, _, err = ByPairs(judge, now); err != nil {
				t.Fatal(err)
			}
			low, high := both.Interval(.95)
			missed = missed || truth < low || truth > high
			alwaysLow, alwaysHigh := both.Always(.95)
			missedAlways = missedAlways || truth < alwaysLow || truth > alwaysHigh
			if alwaysHigh-alwaysLow < high-low {
				t.Fatalf("round %d: the interval for every round is narrower", round)
			}
			if round == 4 {
				widths = append(widths, (alwaysHigh-alwaysLow)/(high-low))
			}
		}
		last = append(last, both.Value-truth)
		if missed {
			wrong++
		}
		if missedAlways {
			always++
		}
	}
	t.Logf("wrong at some round: %d of %d, and %d by Always, which is %.2f times as wide", wrong, runs, always, stat.Mean(widths, nil))
	if always > .05*runs || wrong < 2*always {
		t.Errorf("%d and %d of %d", wrong, always, runs)
	}
	if mean := stat.Mean(last, nil); math.Abs(mean) > 3.5*rms(last)/math.Sqrt(runs) {
		t.Errorf("a bias of %v, with a standard error of %v", mean, rms(last)/math.Sqrt(runs))
	}
}

// Whoever judged everything knows the value, whatever the judge says.
func TestAllPairsAreTheTruth(t *testing.T) {
	t.Parallel()
	all, truth, judge := made(3, 5)
	now := drawn(all, unknown(all), Probabilities(unknown(all), 20), 1, 1)
	p := Probabilities(now, len(all))
	now = drawn(all, now, p, 2, 1)
	both, people, err := ByPairs(judge, now)
	if err != nil || both.StdErr != 0 || people.StdErr != 0 || math.Abs(both.Value-truth) > 1e-12 || math.Abs(people.Value-truth) > 1e-12 {
		t.Errorf("%+v, %+v, %v, want %v", both, people, err, truth)
	}
	if n := Needed(both, now, .95, 0); n != 0 {
		t.Errorf("%d more", n)
	}
}

// By hand: of four queries, people judged two, of which the judge is 1 and 2 off: λ needs more than five, so it is 0.
func TestQueriesByHand(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	both, people, lambda, err := ByQueries([]float64{1, 2, 3, 4}, []float64{2, nan, 5, nan})
	want := Estimate{Value: 3.5, StdErr: math.Sqrt(.5 * 4.5 / 2), Judged: 2, Freedom: 1}
	if err != nil || lambda != 0 || both != want || people != want {
		t.Errorf("%+v, %+v, %v, %v", both, people, lambda, err)
	}
	// Residuals of people − λ·judge with λ = 1 are all 1; the variance of the judge's values is 112/6.
	both, _, lambda, err = ByQueries([]float64{1, 2, 3, 4, 5, 6, 14}, []float64{2, 3, 4, 5, 6, 7, nan})
	if err != nil || lambda != 1 || both.Value != 6 || math.Abs(both.StdErr-math.Sqrt(1./7*112/6/6/6)) > 1e-12 || both.Freedom != 4 {
		t.Errorf("%+v, %v, %v", both, lambda, err)
	}
	for _, c := range [][2][]float64{{{1, 2}, {1, nan}}, {{1, nan}, {1, 1}}, {{1, 2}, {1, math.Inf(1)}}} {
		if both, _, _, err := ByQueries(c[0], c[1]); err == nil {
			t.Errorf("%v: %+v", c, both)
		}
	}
}

func TestIntervalsOfQueriesHold(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	const queries = 40
	truth, judge := make([]float64, queries), make([]float64, queries)
	for q := range truth {
		truth[q] = r.Float64()
		judge[q] = .6*truth[q] + .3*r.Float64()
	}
	for _, n := range []int{5, 6, 8, 10, 25} {
		held, error2, alone2 := 0, 0.0, 0.0
		const runs = 4000
		for range runs {
			people := make([]float64, queries)
			for q := range people {
				people[q] = math.NaN()
			}
			for _, q := range r.Perm(queries)[:n] {
				people[q] = truth[q]
			}
			both, alone, _, err := ByQueries(judge, people)
			if err != nil {
				t.Fatal(err)
			}
			mean := stat.Mean(truth, nil)
			if low, high := both.Interval(.95); low <= mean && mean <= high {
				held++
			}
			error2 += (both.Value - mean) * (both.Value - mean)
			alone2 += (alone.Value - mean) * (alone.Value - mean)
		}
		t.Logf("%d queries: %d of %d hold; the error is %.2f times that of people alone", n, held, runs, math.Sqrt(error2/alone2))
		if held < .925*runs || held > .97*runs { // Student's intervals of five evenly spread values hold less often
			t.Errorf("%d queries: %d of %d intervals hold", n, held, runs)
		}
		if n > 5 && error2 > .7*alone2 {
			t.Errorf("%d queries: the judge saves nothing: %v, %v", n, error2, alone2)
		}
	}
}

// Every element is drawn as often as its probability says, and all draws have one size.
func TestDrawsHaveTheirProbabilities(t *testing.T) {
	t.Parallel()
	p := []float64{.1, .25, 0, .5, .9, 1, .25, .35, .65}
	counts, draws := make([]float64, len(p)), 40_000
	for seed := range draws {
		size := 0
		for i, is := range Draw(p, uint64(seed)) {
			if is {
				counts[i]++
				size++
			}
		}
		if size != 4 {
			t.Fatalf("%d were drawn", size)
		}
	}
	for i, n := range counts {
		if spread := math.Sqrt(float64(draws) * p[i] * (1 - p[i])); math.Abs(n-float64(draws)*p[i]) > 4*spread {
			t.Errorf("%d was drawn %v times, with the probability %v of %d", i, n, p[i], draws)
		}
	}
}

func TestProbabilitiesByHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size []float64
		n    int
		want []float64
	}{
		{[]float64{1, 2, 1}, 2, []float64{.5, 1, .5}},
		{[]float64{10, 2, 1, 1, 0}, 2, []float64{1, .5, .25, .25, 0}},
		{[]float64{10, 5, 1, 1}, 3, []float64{1, 1, .5, .5}},
		{[]float64{1, 0, 3}, 7, []float64{1, 0, 1}},
		{[]float64{0, 0}, 1, []float64{0, 0}},
		{nil, 1, []float64{}},
	} {
		if got := proportional(c.size, c.n); !floats.EqualApprox(got, c.want, 1e-15) {
			t.Errorf("%v, %d: %v, want %v", c.size, c.n, got, c.want)
		}
	}
}

func TestAgreementByHand(t *testing.T) {
	t.Parallel()
	a, err := Agree([]int{0, 0, 1, 1, 2}, []int{0, 1, 1, 1, 0})
	// Weights: seen 1 + 4; by chance (2·2·0 + 2·3·1 + 2·2·1 + 2·3·0 + 1·2·4 + 1·3·1)/5.
	if err != nil || a.Pairs != 5 || math.Abs(a.Same-.6) > 1e-15 || math.Abs(a.Kappa-(1-5/(21./5))) > 1e-15 || a.Counts[1][1] != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Agree([]int{0}, []int{-1}); err == nil {
		t.Error("a grade of -1")
	}
}

// After one round, about as many more judgements are asked for as make the interval as wide as wanted.
func TestNeededJudgementsAreEnough(t *testing.T) {
	t.Parallel()
	all, _, judge := made(4, 30)
	var ratios []float64
	for seed := range uint64(100) {
		now := drawn(all, unknown(all), Probabilities(unknown(all), 60), 1, seed)
		both, _, err := ByPairs(judge, now)
		if err != nil {
			t.Fatal(err)
		}
		low, high := both.Interval(.95)
		half := (high - low) / 4
		more := Needed(both, now, .95, half)
		now = drawn(all, now, Probabilities(now, more), 2, 1000+seed)
		both, _, err = ByPairs(judge, now)
		if err != nil {
			t.Fatal(err)
		}
		low, high = both.Interval(.95)
		ratios = append(ratios, (high-low)/2/half)
	}
	if mean := stat.Mean(ratios, nil); mean < .8 || mean > 1.2 {
		t.Errorf("the interval is %.2f times as wide as wanted", mean)
	}
}

// Nothing is certain until everything was judged: not by one pair that was drawn, not where no error was seen, not by pairs that were
// chosen, and not by a round none of whose pairs counts.
func TestFewJudgementsAreNotCertain(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	pairs := func(people ...Pair) []Pair {
		return append(people, Pair{Weight: 2, Judge: 1, People: nan}, Pair{Weight: -1, Judge: 3, People: nan})
	}
	for _, c := range []struct {
		pairs []Pair
		half  float64 // 0: infinite
		value float64
	}{
		{pairs(Pair{Weight: 1, Judge: 1, People: 2, Probability: .5, Round: 1}), 0, 9 + 2 + 1./6}, // the others have the error 1/(1 + 5)
		{pairs(Pair{Weight: 1, Judge: 1, People: 2, Probability: 1, Round: 1}), 0, 9 + 1 + 1./6},
		// No error: the variance of a gain that is 1 off, Σ (1 − π)(w/π)²/n, and Student's quantile with a degree of freedom.
		{pairs(Pair{Weight: 1, Judge: 1, People: 1, Probability: .5, Round: 1}, Pair{Weight: 3, Judge: 0, People: 0, Probability: .5, Round: 1}),
			math.Sqrt(.5*(4+36)/2) * 12.706204736, 9},
		{pairs(Pair{Weight: 1, Judge: 1, People: 1, Probability: .5, Round: 1}, Pair{Weight: 3, Judge: 0, People: 0, Probability: .5, Round: 1},
			Pair{Weight: 0, Judge: 0, People: 0, Probability: 1, Round: 2}), math.Sqrt(.5*(4+36)/2) * 12.706204736, 9},
	} {
		both, _, err := ByPairs(9, c.pairs)
		if err != nil {
			t.Fatal(err)
		}
		low, high := both.Interval(.95)
		if half := (high - low) / 2; math.Abs(both.Value-c.value) > 1e-12 || c.half == 0 != math.IsInf(half, 1) || c.half > 0 && math.Abs(half-c.half) > 1e-6 {
			t.Errorf("%v: %v ± %v, want %v ± %v", c.pairs, both.Value, half, c.value, c.half)
		}
	}
}
