package metrics

import (
	"github.com/plrank/plrank/plackett"
)

// Exposure estimates the expected exposure of every row under the Plackett–Luce
// policy of the scores, E_d = E_y[Σ_k θ_k 1[y_k = d]], with θ the Input's discounts (0
// at ranks beyond them), from rankings that it draws. It averages the chances
// that the policy gave a document at every rank and not the ranks it got, which
// has the same expectation and mostly less variance. Over given rankings it is the mean
// of the exposure in them; they must be as long as there are discounts, except where
// the list is shorter. Rows outside of all queries have 0. It costs
// O(documents + samples · discounts) a query. Errors are those of
// [Measure.PerQuery].
func Exposure(in Input) ([]float64, error) {
	if in.Rankings != nil {
		return in.exposureOver()
	}
	draws, err := in.Policy.draws()
	if err != nil {
		return nil, err
	}
	exposure := make([]float64, len(in.Labels))
	var kernel plackett.Kernel
	err = in.each(func(q query) error {
		depth := min(len(in.Discounts), len(q.scores))
		places, err := draws.of(q, depth)
		if err != nil {
			return err
		}
		rankings := plackett.Rankings{Documents: places, Cutoff: depth}
		return kernel.Exposure(q.scores, in.Discounts[:depth], rankings, exposure[q.first:q.first+len(q.scores)])
	})
	if err != nil {
		return nil, err
	}
	return exposure, nil
}

// RankExposure is the exposure of every row in the ranking by descending scores.
// Errors are those of [Measure.PerQuery].
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
		places, err := given.read(q, depth)
		if err != nil || depth == 0 {
			return err
		}
		samples := float64(len(places) / depth)
		for i, d := range places {
			exposure[q.first+d] += in.Discounts[i%depth] / samples
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return exposure, nil
}

// exposure is the one given, or that of the policy, computed once where measures share it.
func (in Input) exposure() ([]float64, error) {
	if in.Exposure != nil {
		return in.Exposure, nil
	}
	if in.shared == nil {
		in.shared = &shared{}
	}
	if in.shared.exposure == nil {
		in.Policy.Samples = exposureSamples
		exposure, err := Exposure(in)
		if err != nil {
			return nil, err
		}
		in.shared.exposure = exposure
	}
	return in.shared.exposure, nil
}

// exposureSamples is the number of rankings that exposure is estimated from, that
// of Oosterhuis (2021), section 7.
const exposureSamples = 1000
