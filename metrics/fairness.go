package metrics

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/plackett"
)

// Exposure returns the expected exposure of every row under the Plackett–Luce policy of the
// scores, E_d = E_y[Σ_k θ_k 1[y_k = d]], with θ the discounts of the Queries (0 at ranks beyond
// them): exact to 1e-10 of the largest discount, see [plackett.Expectation] for the cost.
// Rows outside of all queries have 0. It returns the same errors as [Measure.PerQuery].
func Exposure(in Queries) ([]float64, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Unranked != nil {
		return nil, errors.New("metrics: exposure needs the score of every document, but some are unranked")
	}
	in.Exposure = nil
	exposure := make([]float64, len(in.Labels))
	return exposure, in.visitQueries(func() func(q query) error {
		w := newWorker(in)
		return func(q query) error {
			documents, err := w.exposure(q)
			copy(exposure[q.first:], documents)
			return err
		}
	})
}

// exposed holds the exposure and the gains of one query.
type exposed struct {
	exposure, gains []float64 // of the documents
	discounts       []float64 // of the ranks
	groups          []int     // of the documents; nil: none
}

// fairness computes a fairness measure of a query.
func (w *worker) fairness(f *family, q query) (float64, error) {
	exposure, err := w.exposure(q)
	if err == nil {
		err = allFinite(exposure, "exposure")
	}
	if err != nil {
		return 0, err
	}
	gains, err := appendValues(nil, q.labels, w.Gain.Of)
	if err != nil {
		return 0, err
	}
	e := exposed{exposure: exposure, gains: gains, discounts: w.Discounts}
	if w.Groups != nil {
		e.groups = w.Groups[q.first : q.first+len(q.labels)]
	}
	return f.fairness(e), nil
}

// target returns E*, the exposure that is best for relevance and equal for equal gains.
func (q exposed) target() []float64 {
	target := make([]float64, len(q.gains))
	plackett.RankedExposure(q.gains, q.discounts, target)
	return target
}

// exposureLoss is ‖E − E*‖².
func exposureLoss(q exposed) float64 {
	distance := floats.Distance(q.exposure, q.target(), 2)
	return distance * distance
}

// exposureDisparity is ‖E‖².
func exposureDisparity(q exposed) float64 { return floats.Dot(q.exposure, q.exposure) }

// exposureRelevance is Σ_d E_d E*_d.
func exposureRelevance(q exposed) float64 { return floats.Dot(q.exposure, q.target()) }

// meanSquareDisparity is Σ_{d,d'} (E_{d'}ρ_d − E_dρ_{d'})² / D(D−1), in O(D): with c the
// exposure per gain that fits best, Σ Eρ / Σ ρ², the double sum is
// 2 Σ ρ² Σ (E − cρ)², in which nothing cancels.
func meanSquareDisparity(q exposed) float64 {
	exposure, gains := q.exposure, q.gains
	n := len(exposure)
	merit := floats.Dot(gains, gains)
	if n < 2 || merit == 0 {
		return 0
	}
	c := floats.Dot(exposure, gains) / merit
	unearned := 0.0
	for d, e := range exposure {
		unearned += (e - c*gains[d]) * (e - c*gains[d])
	}
	return 2 * merit * unearned / float64(n*(n-1))
}

// meanAbsDisparity is Σ_{d,d'} |E_{d'}ρ_d − E_dρ_{d'}| / D(D−1).
func meanAbsDisparity(q exposed) float64 {
	exposure, gains := q.exposure, q.gains
	n := len(exposure)
	if n < 2 {
		return 0
	}
	sum := 0.0
	for d := range exposure {
		for other := range d {
			sum += math.Abs(exposure[other]*gains[d] - exposure[d]*gains[other])
		}
	}
	return 2 * sum / float64(n*(n-1))
}

// exposureRatio is the smallest over the largest of the groups' exposure per document.
func exposureRatio(q exposed) float64 { return groupRatio(q, func(int) float64 { return 1 }) }

// treatmentRatio is the smallest over the largest of the groups' exposure per gain.
func treatmentRatio(q exposed) float64 {
	return groupRatio(q, func(d int) float64 { return q.gains[d] })
}

// groupRatio is the smallest over the largest of the groups' exposure per merit.
func groupRatio(q exposed, merit func(document int) float64) float64 {
	exposures, merits := map[int]float64{}, map[int]float64{}
	for d, group := range q.groups {
		if group >= 0 {
			exposures[group] += q.exposure[d]
			merits[group] += merit(d)
		}
	}
	count, low, high := 0, math.Inf(1), 0.0
	for group, merit := range merits {
		if merit > 0 {
			count++
			low, high = min(low, exposures[group]/merit), max(high, exposures[group]/merit)
		}
	}
	switch {
	case count < 2:
		return math.NaN()
	case high == 0:
		return 1
	}
	return low / high
}
