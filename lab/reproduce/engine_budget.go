package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A cost is the seconds of an epoch, with evaluation, of a loss with a number of
// samples.
type cost struct {
	Loss    string
	Samples int
	Seconds float64
}

// A choice is what of an experiment fits a budget.
type choice struct {
	Runs, Epochs int
	Without      []cost  // left out
	Seconds      float64 // that it will take by these costs
}

const (
	leastRuns   = 2 // below, there is no standard deviation
	leastEpochs = 5
	// An expensive trial takes this many times as long as the median one.
	expensive = 4
)

// choose fits an experiment into a budget of seconds, with the given number of runs at once. Of
// all trials in leastRuns runs, it leaves out expensive ones, the most expensive
// first, until those left fit; then it takes fewer epochs, and leaves out more trials
// where leastEpochs are still too many; what is left of the budget goes into runs.
// One trial always stays.
func choose(budget float64, costs []cost, runs, epochs, workers int) choice {
	left := slices.Clone(costs)
	slices.SortStableFunc(left, func(a, b cost) int { return cmp.Compare(a.Seconds, b.Seconds) })
	c := choice{Runs: min(runs, leastRuns), Epochs: epochs}
	perEpoch := func() float64 { // one run of all trials
		sum := 0.0
		for _, c := range left {
			sum += c.Seconds
		}
		return sum / float64(workers)
	}
	dropLast := func() {
		c.Without = append(c.Without, left[len(left)-1])
		left = left[:len(left)-1]
	}
	for len(left) > 1 && perEpoch()*float64(c.Runs*c.Epochs) > budget && left[len(left)-1].Seconds > expensive*left[len(left)/2].Seconds {
		dropLast()
	}
	c.Epochs = fit(budget/perEpoch()/float64(c.Runs), min(epochs, leastEpochs), epochs)
	for len(left) > 1 && perEpoch()*float64(c.Runs*c.Epochs) > budget {
		dropLast()
	}
	c.Runs = fit(budget/perEpoch()/float64(c.Epochs), c.Runs, runs)
	c.Seconds = perEpoch() * float64(c.Runs*c.Epochs)
	return c
}

// fit is the whole part of x, within limits.
func fit(x float64, least, most int) int {
	return int(math.Max(float64(least), math.Min(float64(most), math.Floor(x))))
}

// reasons say what a choice leaves out of what was wanted.
func (c choice) reasons(runs, epochs int, budget float64) []string {
	var list []string
	for _, w := range c.Without {
		list = append(list, fmt.Sprintf("%s, of which an epoch takes %s s", w.label(), short(w.Seconds)))
	}
	if c.Epochs < epochs {
		list = append(list, fmt.Sprintf("epochs from %d to %d: the budget is %s s", c.Epochs+1, epochs, short(budget)))
	}
	if c.Runs < runs {
		list = append(list, fmt.Sprintf("runs from %d to %d: the budget is %s s", c.Runs+1, runs, short(budget)))
	}
	return list
}

func (c cost) label() string {
	if m := methodOfFair(c.Loss); m.loss != c.Loss { // the disparity's, with a growing number
		return m.label
	}
	return fmt.Sprintf("%s with N = %d", methodOf(c.Loss).label, c.Samples)
}
