package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/plackett"
)

// fairness is a measure of how the documents of a query share exposure. The table is in
// names.go, the formulas and sources in the comment of ParseMeasure.
type fairness struct {
	name          string
	lowerIsBetter bool
	ofGroups      bool // it compares groups of documents
	ofTarget      bool // it compares the exposure with the target, which takes discounts
	value         func(q exposed) float64
}

// exposed is one query.
type exposed struct {
	exposure, gains []float64 // of the documents
	discounts       []float64 // of the ranks
	groups          []int     // of the documents; nil: none
}

// target is the E* of expected exposure.
func (q exposed) target() []float64 {
	target := make([]float64, len(q.gains))
	plackett.RankedExposure(q.gains, q.discounts, target)
	return target
}

// fairness computes a measure of every query.
func (in Input) fairness(f *fairness, s *shared) ([]float64, error) {
	rows := len(in.Labels)
	switch {
	case in.Exposure != nil && len(in.Exposure) != rows:
		return nil, fmt.Errorf("metrics: %d exposures but %d labels: want one of each per row", len(in.Exposure), rows)
	case len(in.Discounts) == 0 && (in.Exposure == nil || f.ofTarget):
		return nil, fmt.Errorf("metrics: %s needs the discounts of the ranks", f.name)
	case f.ofGroups && len(in.Groups) != rows:
		return nil, fmt.Errorf("metrics: %s needs the group of every row: %d groups for %d rows", f.name, len(in.Groups), rows)
	}
	offsets, err := in.offsets()
	if err != nil {
		return nil, err
	}
	exposure, err := in.exposure(s)
	if err != nil {
		return nil, err
	}
	perQuery := make([]float64, len(offsets)-1)
	for n, first := range offsets[:len(offsets)-1] {
		end := offsets[n+1]
		q := exposed{exposure: exposure[first:end], discounts: in.Discounts}
		if in.Groups != nil {
			q.groups = in.Groups[first:end]
		}
		if err := allFinite(q.exposure, "exposure"); err != nil {
			return nil, located(err, n, first)
		}
		if q.gains, err = in.Gain.gains(in.Labels[first:end]); err != nil {
			return nil, located(err, n, first)
		}
		perQuery[n] = f.value(q)
	}
	return perQuery, nil
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
	type sums struct {
		group           int
		exposure, merit float64
	}
	var all []sums
	for d, group := range q.groups {
		if group < 0 {
			continue
		}
		at, found := slices.BinarySearchFunc(all, group, func(s sums, g int) int { return cmp.Compare(s.group, g) })
		if !found {
			all = slices.Insert(all, at, sums{group: group})
		}
		all[at].exposure += q.exposure[d]
		all[at].merit += merit(d)
	}
	count, low, high := 0, math.Inf(1), 0.0
	for _, s := range all {
		if s.merit > 0 {
			count++
			low = min(low, s.exposure/s.merit)
			high = max(high, s.exposure/s.merit)
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
