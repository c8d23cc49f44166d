package worth

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Accuracy describes how well a model predicts rankings.
type Accuracy struct {
	Weight        float64 // the sum of the weights of the rankings
	LogLikelihood float64 // Σ weight · log P(ranking); divided by Weight it is the mean
	Tau           float64 // the weighted mean of Kendall's τ between a ranking and the order by worth
}

// Evaluate measures how well the model predicts rankings of the same items, such as ones held out from
// the fit. It returns an error if there are no rankings, the items differ, the model is invalid, or
// the rankings have ties of a size that the model does not have.
//
// Kendall's τ of a ranking is (C − D)/N, where N is the number of pairs of items that it orders. C of them
// have the same order by worth, D the reverse one; equal worths are neither. A ranking does not order
// items at one place, nor the Rest among themselves. The mean leaves out rankings without ordered pairs,
// and is NaN if none is left.
func (m *Model) Evaluate(r *Observations) (Accuracy, error) {
	if err := m.checkRankings(r); err != nil {
		return Accuracy{}, err
	}
	var e Accuracy
	var tau, ordered float64
	for _, s := range r.spans {
		e.Weight += s.weight
		if t, pairs := m.tau(r, s); pairs > 0 {
			tau += s.weight * t
			ordered += s.weight
		}
	}
	e.Tau = tau / ordered
	e.LogLikelihood = newLikelihood(r, len(r.Items), m.TieOrders).value(m.parameters())
	return e, nil
}

// checkRankings returns an error if the model is invalid or gives the rankings no probability.
func (m *Model) checkRankings(r *Observations) error {
	if err := m.check(); err != nil {
		return err
	}
	if r.Len() == 0 {
		return errors.New("there are no rankings to evaluate")
	}
	if !slices.Equal(r.Items, m.Items) {
		return errors.New("the rankings and the model have different items: read the rankings with ReadOptions.Items")
	}
	for _, n := range r.tieOrders() {
		if !slices.Contains(m.TieOrders, n) {
			return fmt.Errorf("the rankings have a tie of %d items, which has the probability 0: the model was fitted to rankings without such ties",
				n)
		}
	}
	return nil
}

// tau returns Kendall's τ of a ranking, and the number of pairs that it orders.
func (m *Model) tau(r *Observations, s span) (tau float64, pairs int) {
	var below []float64 // the worths of the items after a place, ascending
	for _, e := range r.entries[s.from:s.to] {
		below = append(below, m.LogWorths[item(e)])
	}
	slices.Sort(below)
	concordance := 0
	for from, to := range r.places(s) {
		for _, e := range r.entries[from:to] {
			at, _ := slices.BinarySearch(below, m.LogWorths[item(e)])
			below = slices.Delete(below, at, at+1)
		}
		for _, e := range r.entries[from:to] {
			worth := m.LogWorths[item(e)]
			lower, _ := slices.BinarySearch(below, worth)
			notHigher, _ := slices.BinarySearch(below, math.Nextafter(worth, math.Inf(1)))
			concordance += lower - (len(below) - notHigher)
			pairs += len(below)
		}
	}
	return float64(concordance) / float64(max(1, pairs)), pairs
}
