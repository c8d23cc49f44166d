package metrics

import "github.com/plrank/plrank/plackett"

// Exposure is the expected exposure of every row under the Plackett–Luce policy of the
// scores, E_d = E_y[Σ_k θ_k 1[y_k = d]], with θ the Input's discounts (0 at ranks beyond
// them): exact to 1e-10 of the largest discount, see [plackett.Expectation] for the cost.
// Over given rankings it is the mean of the exposure in them; they must be as long as
// there are discounts, or reach the end of a shorter list. Rows outside of all queries
// have 0. Errors are those of [Measure.PerQuery].
func Exposure(in Input) ([]float64, error) {
	if in.Rankings != nil {
		return in.exposureOver()
	}
	exposure := make([]float64, len(in.Labels))
	expectation := plackett.Expectation{Tolerance: tolerance}
	err := in.each(func(q query) error {
		return expectation.Exposure(q.scores, in.Discounts, exposure[q.first:q.first+len(q.scores)])
	})
	if err != nil {
		return nil, err
	}
	return exposure, nil
}

// RankExposure is the exposure of every row in the ranking by descending scores. Errors
// are those of [Measure.PerQuery].
func RankExposure(in Input) ([]float64, error) {
	exposure := make([]float64, len(in.Labels))
	var order ranking
	err := in.each(func(q query) error {
		depth := min(len(in.Discounts), len(q.scores))
		order.rank(q.scores, depth, in.Ties)
		for first, block := range order.blocks() {
			sum := 0.0
			for k := first; k < min(first+len(block), depth); k++ {
				sum += in.Discounts[k]
			}
			for _, d := range block {
				exposure[q.first+d] = sum / float64(len(block))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return exposure, nil
}

// exposureOver is the mean exposure in given rankings.
func (in Input) exposureOver() ([]float64, error) {
	given, err := in.rankings()
	if err != nil {
		return nil, err
	}
	exposure := make([]float64, len(in.Labels))
	err = in.each(func(q query) error {
		depth := min(len(in.Discounts), len(q.scores))
		ranked, err := given.of(q, depth)
		if err != nil || depth == 0 {
			return err
		}
		samples := float64(len(ranked) / depth)
		for i, d := range ranked {
			exposure[q.first+d] += in.Discounts[i%depth] / samples
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return exposure, nil
}

// exposure is the one given, or that of the policy, computed once for all measures.
func (in Input) exposure(s *shared) ([]float64, error) {
	if in.Exposure != nil {
		return in.Exposure, nil
	}
	if s.exposure == nil {
		exposure, err := Exposure(in)
		if err != nil {
			return nil, err
		}
		s.exposure = exposure
	}
	return s.exposure, nil
}
