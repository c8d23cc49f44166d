package worth

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// RankInterval is the rank of an item by worth, from 1, with the ends of a confidence interval.
type RankInterval struct{ Rank, Low, High int }

// Ranks returns the ranks of the items. Rank is one more than the number of items with larger worths; [Fit] makes
// worths equal that it cannot tell apart. The interval from Low to High contains the rank of the item's true worth with
// at least the given confidence, such as 0.95, in large samples. The item is compared with each of the n − 1 others in a
// two-sided test at the level (1 − confidence)/(n − 1), by Bonferroni. Low is one more than the number of significantly larger worths,
// and High is n minus the number of significantly smaller ones (Mogstad, Romano, Shaikh and Wilhelm, Review of
// Economic Studies 91, 2024, section 3). Ranks returns an error for an uncertainty without Covariance or of another
// model, and for a confidence that is not between 0 and 1.
func (m *Model) Ranks(u *Uncertainty, confidence float64) ([]RankInterval, error) {
	n := len(m.LogWorths)
	if u.Covariance == nil || u.items != n {
		return nil, fmt.Errorf("ranks need the covariances of the model's %d items", n)
	}
	if !(confidence > 0 && confidence < 1) {
		return nil, fmt.Errorf("the confidence is %v: want a number between 0 and 1", confidence)
	}
	if n < 2 {
		return nil, errors.New("ranks need two items or more")
	}
	z := -distuv.UnitNormal.Quantile((1 - confidence) / float64(2*(n-1)))
	ranks := make([]RankInterval, n)
	for i, worth := range m.LogWorths {
		ranks[i] = RankInterval{1, 1, n}
		for j, other := range m.LogWorths {
			if other > worth {
				ranks[i].Rank++
			}
			switch margin := z * u.Difference(i, j); {
			case other-worth > margin:
				ranks[i].Low++
			case worth-other > margin:
				ranks[i].High--
			}
		}
	}
	return ranks, nil
}
