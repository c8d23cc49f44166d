package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/plackett"
)

// fairness is a measure of how exposure is shared between the documents of a query.
// The package comment has the formulas and sources.
type fairness int

const (
	disparity fairness = iota
	absDisparity
	eel
	eed
	eer
	exposureRatio
	treatmentRatio
)

var fairnessNames = []string{
	disparity:      "disparity",
	absDisparity:   "abs-disparity",
	eel:            "ee-l",
	eed:            "ee-d",
	eer:            "ee-r",
	exposureRatio:  "exposure-ratio",
	treatmentRatio: "treatment-ratio",
}

// FairnessNames lists the measures of fairness that ParseMeasure knows.
func FairnessNames() []string { return slices.Clone(fairnessNames) }

func (f fairness) String() string { return nameOf(fairnessNames, int(f), "fairness") }

func (f fairness) lowerIsBetter() bool {
	return f == disparity || f == absDisparity || f == eel || f == eed
}

func (f fairness) ofGroups() bool { return f == exposureRatio || f == treatmentRatio }

// fairness computes a measure of every query.
func (in Input) fairness(f fairness) ([]float64, error) {
	rows := len(in.Labels)
	switch {
	case in.Exposure != nil && len(in.Exposure) != rows:
		return nil, fmt.Errorf("metrics: %d exposures but %d labels: one of each a row", len(in.Exposure), rows)
	case len(in.Discounts) == 0 && (in.Exposure == nil || f == eel || f == eer):
		return nil, fmt.Errorf("metrics: %v needs the discounts of the ranks", f)
	case f.ofGroups() && len(in.Groups) != rows:
		return nil, fmt.Errorf("metrics: %v needs the group of every row: %d groups for %d rows", f, len(in.Groups), rows)
	}
	offsets, err := in.offsets()
	if err != nil {
		return nil, err
	}
	everyExposure, err := in.exposure()
	if err != nil {
		return nil, err
	}
	perQuery := make([]float64, len(offsets)-1)
	for n, first := range offsets[:len(offsets)-1] {
		end := offsets[n+1]
		exposure, groups := everyExposure[first:end], in.Groups
		if groups != nil {
			groups = groups[first:end]
		}
		if err := allFinite(exposure, "exposure"); err != nil {
			return nil, located(err, n, first)
		}
		gains, err := in.Gain.gains(in.Labels[first:end])
		if err != nil {
			return nil, located(err, n, first)
		}
		perQuery[n] = f.value(exposure, gains, in.Discounts, groups)
	}
	return perQuery, nil
}

// value is the measure of one query.
func (f fairness) value(exposure, gains, discounts []float64, groups []int) float64 {
	switch f {
	case disparity:
		return meanSquareDisparity(exposure, gains)
	case absDisparity:
		return meanAbsDisparity(exposure, gains)
	case eel:
		distance := floats.Distance(exposure, targetExposure(gains, discounts), 2)
		return distance * distance
	case eed:
		return floats.Dot(exposure, exposure)
	case eer:
		return floats.Dot(exposure, targetExposure(gains, discounts))
	case exposureRatio:
		return groupRatio(exposure, nil, groups)
	default: // treatmentRatio
		return groupRatio(exposure, gains, groups)
	}
}

// meanSquareDisparity is Σ_{d,d'} (E_{d'}ρ_d − E_dρ_{d'})² / D(D−1), in O(D): with c the
// exposure per gain that fits best, Σ Eρ / Σ ρ², the double sum is
// 2 Σ ρ² Σ (E − cρ)², in which nothing cancels.
func meanSquareDisparity(exposure, gains []float64) float64 {
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
func meanAbsDisparity(exposure, gains []float64) float64 {
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

// groupRatio is the smallest over the largest of the groups' exposure per
// document, or per gain where gains are given.
func groupRatio(exposure, gains []float64, groups []int) float64 {
	type sums struct {
		group        int
		exposure, of float64
	}
	var all []sums
	for d, group := range groups {
		if group < 0 {
			continue
		}
		at, found := slices.BinarySearchFunc(all, group, func(s sums, g int) int { return cmp.Compare(s.group, g) })
		if !found {
			all = slices.Insert(all, at, sums{group: group})
		}
		all[at].exposure += exposure[d]
		if gains == nil {
			all[at].of++
		} else {
			all[at].of += gains[d]
		}
	}
	count, low, high := 0, math.Inf(1), 0.0
	for _, s := range all {
		if s.of > 0 {
			count++
			low = min(low, s.exposure/s.of)
			high = max(high, s.exposure/s.of)
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

// targetExposure is the E* of expected exposure.
func targetExposure(gains, discounts []float64) []float64 {
	target := make([]float64, len(gains))
	plackett.RankedExposure(gains, discounts, target)
	return target
}
