package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Fairness is a measure of how exposure is shared between the documents of a
// query. E_d is the exposure of a document, ρ_d its gain, D the number of
// documents.
type Fairness int

const (
	// Disparity is that of the PL-Rank paper (Oosterhuis, SIGIR 2021, §6):
	// Σ_{d,d'} (E_{d'}ρ_d − E_dρ_{d'})² / D(D−1). 0 is fair: exposure in
	// proportion to gain. One document has none, and neither has a query without
	// gains.
	Disparity Fairness = iota
	// AbsDisparity is the same with absolute values in place of squares.
	AbsDisparity
	// EEL is the expected-exposure loss of Diaz et al. (CIKM 2020), ‖E − E*‖²,
	// where E* is the exposure under the policy that is best for relevance and
	// lets documents of equal gain share their ranks. 0 is fair. In a query without
	// gains all documents are equally relevant, and E* is the same for all.
	EEL
	// EED is its disparity part ‖E‖². A deterministic ranking has the most.
	EED
	// EER is its relevance part Σ_d E_d E*_d; EEL = EED − 2·EER + ‖E*‖².
	EER
	// ExposureRatio is the smallest mean exposure of a group of documents divided
	// by the largest, the disparity that demographic parity forbids. 1 is fair.
	ExposureRatio
	// TreatmentRatio is the same for mean exposure / mean gain of a group: the
	// disparate treatment ratio of Singh & Joachims (KDD 2018), which for two
	// groups is this value or its inverse. Groups without gain in a query do
	// not count. 1 is fair.
	TreatmentRatio
)

var fairnessNames = []string{
	Disparity:      "disparity",
	AbsDisparity:   "abs-disparity",
	EEL:            "ee-l",
	EED:            "ee-d",
	EER:            "ee-r",
	ExposureRatio:  "exposure-ratio",
	TreatmentRatio: "treatment-ratio",
}

// String is the name that ParseFairness reads.
func (f Fairness) String() string { return nameOf(fairnessNames, int(f), "Fairness") }

// ParseFairness reads the name of a measure: disparity, abs-disparity, ee-l,
// ee-d, ee-r, exposure-ratio or treatment-ratio.
func ParseFairness(name string) (Fairness, error) {
	i, err := indexOf(fairnessNames, name, "fairness measure")
	return Fairness(i), err
}

// FairnessNames lists the measures that ParseFairness knows.
func FairnessNames() []string { return slices.Clone(fairnessNames) }

// LowerIsBetter tells whether a smaller value is fairer: true but for ee-r and the
// ratios.
func (f Fairness) LowerIsBetter() bool {
	return f == Disparity || f == AbsDisparity || f == EEL || f == EED
}

// Exposed are documents with the exposure that they get, packed like Lists.
type Exposed struct {
	Exposure  []float64 // [rows] as from Exposure, ExposureOver or RankExposure
	Labels    []float32 // [rows] raw grades, 0 or more
	Groups    []int     // [rows] the group of each document, negative: none; only for the ratios
	Offsets   []int     // as in Lists
	Discounts []float64 // of the ranks, with which E* is computed; only for ee-l and ee-r
}

// PerQuery computes the measure of every query. All are defined for queries of
// one document and for those without gains, but the ratios: they are NaN where
// fewer than two groups count, which LabelFreeSkip leaves out of a Mean. Groups
// that all have no exposure are treated alike, 1.
//
// Disparity, ee-l and ee-d grow with the square of the exposure, so that noise in
// an estimated exposure adds to them: with N samples by O(1/N).
//
// Exposures that are not finite, labels without a gain and missing groups or
// discounts are errors that name the row or the field.
func (f Fairness) PerQuery(e Exposed, gain Gain) ([]float64, error) {
	if err := f.check(e); err != nil {
		return nil, err
	}
	offsets, err := checked(e.Offsets, len(e.Exposure))
	if err != nil {
		return nil, err
	}
	perQuery := make([]float64, len(offsets)-1)
	for n, first := range offsets[:len(offsets)-1] {
		end := offsets[n+1]
		exposure, groups := e.Exposure[first:end], e.Groups
		if groups != nil {
			groups = groups[first:end]
		}
		if err := allFinite(exposure, "exposure"); err != nil {
			return nil, located(err, n, first)
		}
		gains, err := gain.gains(e.Labels[first:end])
		if err != nil {
			return nil, located(err, n, first)
		}
		perQuery[n] = f.value(exposure, gains, e.Discounts, groups)
	}
	return perQuery, nil
}

// check tells whether e has what the measure needs.
func (f Fairness) check(e Exposed) error {
	rows := len(e.Exposure)
	switch {
	case f < 0 || int(f) >= len(fairnessNames):
		return errors.New("metrics: no such measure: " + f.String())
	case len(e.Labels) != rows:
		return fmt.Errorf("metrics: %d exposures but %d labels: one of each a row", rows, len(e.Labels))
	case (f == EEL || f == EER) && len(e.Discounts) == 0:
		return fmt.Errorf("metrics: %v needs the discounts of the ranks", f)
	case (f == ExposureRatio || f == TreatmentRatio) && len(e.Groups) != rows:
		return fmt.Errorf("metrics: %v needs the group of every row: %d groups for %d rows", f, len(e.Groups), rows)
	}
	return nil
}

// value is the measure of one query.
func (f Fairness) value(exposure, gains, discounts []float64, groups []int) float64 {
	switch f {
	case Disparity:
		return disparity(exposure, gains)
	case AbsDisparity:
		return absDisparity(exposure, gains)
	case EEL:
		distance := floats.Distance(exposure, TargetExposure(gains, discounts), 2)
		return distance * distance
	case EED:
		return floats.Dot(exposure, exposure)
	case EER:
		return floats.Dot(exposure, TargetExposure(gains, discounts))
	case ExposureRatio:
		return groupRatio(exposure, nil, groups)
	default: // TreatmentRatio
		return groupRatio(exposure, gains, groups)
	}
}

// disparity is Σ_{d,d'} (E_{d'}ρ_d − E_dρ_{d'})² / D(D−1), in O(D): with c the
// exposure per gain that fits best, Σ Eρ / Σ ρ², the double sum is
// 2 Σ ρ² Σ (E − cρ)², in which nothing cancels.
func disparity(exposure, gains []float64) float64 {
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

// absDisparity is Σ_{d,d'} |E_{d'}ρ_d − E_dρ_{d'}| / D(D−1).
func absDisparity(exposure, gains []float64) float64 {
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

// TargetExposure is E* of expected exposure (Diaz et al., CIKM 2020): documents
// stand in the order of their gains, and those of equal gain share the discounts
// of their ranks equally. Ranks beyond the discounts have none.
func TargetExposure(gains, discounts []float64) []float64 {
	order := Rank(gains)
	target := make([]float64, len(gains))
	for first := 0; first < len(order); {
		end, sum := first, 0.0
		for ; end < len(order) && gains[order[end]] == gains[order[first]]; end++ {
			if end < len(discounts) {
				sum += discounts[end]
			}
		}
		for _, d := range order[first:end] {
			target[d] = sum / float64(end-first)
		}
		first = end
	}
	return target
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
