package metrics

import "github.com/plrank/plrank/plackett"

// Exposure estimates the expected exposure of every row under the Plackett–Luce
// policy of the scores, E_d = E_y[Σ_k θ_k 1[y_k = d]], with the rank discounts θ
// (0 at ranks beyond them), from rankings that it draws. It averages the chances
// that the policy gave a document at every rank and not the ranks it got, which
// has the same expectation and mostly less variance. Rows outside of all queries have
// 0. It costs O(documents + samples · discounts) a query. Errors are those of
// PerQuery.
func Exposure(l Lists, discounts []float64, p Policy) ([]float64, error) {
	draws, err := p.draws()
	if err != nil {
		return nil, err
	}
	exposure := make([]float64, len(l.Scores))
	var kernel plackett.Kernel
	err = l.each(func(q query) error {
		depth := min(len(discounts), len(q.scores))
		places, err := draws.of(q, depth)
		if err != nil {
			return err
		}
		rankings := plackett.Rankings{Documents: places, Cutoff: depth}
		return kernel.Exposure(q.scores, discounts[:depth], rankings, exposure[q.first:q.first+len(q.scores)])
	})
	if err != nil {
		return nil, err
	}
	return exposure, nil
}

// ExposureOver is the mean exposure of every row in given rankings, which must
// be as long as there are discounts, except where the list is shorter. Errors are
// those of OverRankings.
func ExposureOver(l Lists, discounts []float64, r Rankings) ([]float64, error) {
	places := rankingReader{Rankings: r}
	if err := places.check(l.Offsets, len(l.Scores)); err != nil {
		return nil, err
	}
	return exposureIn(l, discounts, places.read)
}

// RankExposure is the exposure of every row in the ranking by descending scores,
// ties by row. Errors are those of PerQuery.
func RankExposure(l Lists, discounts []float64) ([]float64, error) {
	var ranking []int
	return exposureIn(l, discounts, func(q query, depth int) ([]int, error) {
		ranking = top(ranking, q.scores, depth)
		return ranking, nil
	})
}

// exposureIn averages exposure over rankings as expectation has them.
func exposureIn(l Lists, discounts []float64, rankings func(q query, depth int) ([]int, error)) ([]float64, error) {
	exposure := make([]float64, len(l.Scores))
	err := l.each(func(q query) error {
		depth := min(len(discounts), len(q.scores))
		places, err := rankings(q, depth)
		if err != nil || depth == 0 {
			return err
		}
		samples := float64(len(places) / depth)
		for i, d := range places {
			exposure[q.first+d] += discounts[i%depth] / samples
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return exposure, nil
}
