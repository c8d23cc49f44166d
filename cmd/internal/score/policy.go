package score

import (
	"fmt"
	"io"
	"math"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/plackett"
)

// A policy is the Plackett–Luce policy of scores that are divided by a temperature, and
// drawn from by a seed.
type policy struct {
	seed        uint64
	temperature float64
}

// runTag begins the last word of the lines of a TREC run, the tag. The temperature of the policy
// follows, unless it is 1, and the number of a draw.
const runTag = "plrank"

func (p policy) tag(draw int) string {
	if p.temperature == 1 {
		return fmt.Sprintf("%s-%d", runTag, draw+1)
	}
	return fmt.Sprintf("%s-temperature-%v-%d", runTag, p.temperature, draw+1)
}

// scores are the scores of the model divided by the temperature.
func (p policy) scores(d *datasets.Dataset, scores []float64) ([]float64, error) {
	if p.temperature == 1 {
		return scores, nil
	}
	divided := make([]float64, len(scores))
	for q, id := range d.QueryIDs {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			if divided[r] = scores[r] / p.temperature; math.IsInf(divided[r], 0) {
				return nil, fmt.Errorf("score: query %s: the score %v, divided by -temperature %v, is beyond the range of float64", id, scores[r], p.temperature)
			}
		}
	}
	return divided, nil
}

// exposures are the expected exposures of all documents under the policy of the scores.
func exposures(d *datasets.Dataset, scores, discounts []float64) ([]float64, error) {
	exposure := make([]float64, len(scores))
	expectations := make([]plackett.Expectation, parallel.Workers(d.Queries()))
	err := parallel.Each(d.Queries(), len(expectations), func(worker, q int) error {
		from, to := d.Offsets[q], d.Offsets[q+1]
		if err := expectations[worker].Exposure(scores[from:to], discounts, exposure[from:to]); err != nil {
			return fmt.Errorf("score: query %s: %w", d.QueryIDs[q], err)
		}
		return nil
	})
	return exposure, err
}

// draw writes rankings drawn from the policy of the scores to TREC runs, one of each query to
// each run. A draw is the order of the scores plus Gumbel noise, and these sums are what is
// written, of scores that plackett.Compact gives. The first query is number first of the file.
func draw[W io.Writer](p policy, d *datasets.Dataset, scores []float64, first int, runs []W) error {
	noisy, compact := make([]float64, len(scores)), make([]float64, len(scores))
	for q := range d.Queries() {
		plackett.Compact(scores[d.Offsets[q]:d.Offsets[q+1]], compact[d.Offsets[q]:d.Offsets[q+1]])
	}
	for i, run := range runs {
		for q := range d.Queries() {
			of := noisy[d.Offsets[q]:d.Offsets[q+1]]
			plackett.Gumbel(plackett.Stream{Seed: p.seed, Query: uint64(first + q)}, uint64(i), of)
			for r := range of {
				of[r] += compact[d.Offsets[q]+r]
			}
		}
		if err := datasets.WriteRun(run, d, noisy, p.tag(i)); err != nil {
			return err
		}
	}
	return nil
}
