package plackett

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/cputime"
)

// timedLists calls f for lists of flat, spread and far scores, and few and many ranks.
func timedLists(f func(docs, cutoff int, spread float64, scores, discounts []float64)) {
	for _, docs := range []int{2, 10, 100, 1000, 10_000} {
		for _, cutoff := range []int{1, 10, 100, 300, docs - 1} {
			if cutoff >= docs || docs == 10_000 && cutoff > 300 {
				continue
			}
			for _, spread := range []float64{0, 1, 20, 500} {
				rng := rand.New(rand.NewPCG(1, 2))
				scores := make([]float64, docs)
				for d := range scores {
					scores[d] = spread * rng.NormFloat64()
				}
				f(docs, cutoff, spread, scores, slices.Repeat([]float64{1}, cutoff))
			}
		}
	}
}

// The estimate goes through the blocks that the computation goes through, and changes nothing for it.
func TestExposureTimeGoesThroughTheBlocks(t *testing.T) {
	timedLists(func(docs, cutoff int, spread float64, scores, discounts []float64) {
		if docs > 1000 {
			return
		}
		var e, fresh Expectation
		if took, err := e.ExposureTime(scores, discounts); err != nil || took <= 0 {
			t.Fatal(took, err)
		}
		estimated := e.Nodes()
		got, want := make([]float64, docs), make([]float64, docs)
		if err := e.Exposure(scores, discounts, got); err != nil {
			t.Fatal(err)
		}
		if err := fresh.Exposure(scores, discounts, want); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d documents, %d ranks, spread %v: other exposures after an estimate", docs, cutoff, spread)
		}
		if done := e.Nodes(); 2*estimated < done || estimated > 2*done {
			t.Errorf("%d documents, %d ranks, spread %v: %d nodes estimated, %d done", docs, cutoff, spread, estimated, done)
		}
	})
	var e Expectation
	if took, err := e.ExposureTime(nil, []float64{1}); err != nil || took != 0 {
		t.Errorf("no documents: %v, %v", took, err)
	}
}

// BenchmarkExposureTime reports the estimate over the time, and what making the estimate takes of it.
func BenchmarkExposureTime(b *testing.B) {
	timedLists(func(docs, cutoff int, spread float64, scores, discounts []float64) {
		b.Run(fmt.Sprintf("sd=%g/D=%d/K=%d", spread, docs, cutoff), func(b *testing.B) {
			var e Expectation
			exposure := make([]float64, docs)
			for b.Loop() {
				took := cputime.Shortest(50*time.Millisecond, func() { e.Exposure(scores, discounts, exposure) })
				estimate, _ := e.ExposureTime(scores, discounts)
				b.ReportMetric(estimate.Seconds()/took.Seconds(), "estimate/time")
				estimating := cputime.Shortest(50*time.Millisecond, func() { e.ExposureTime(scores, discounts) })
				b.ReportMetric(estimating.Seconds()/took.Seconds(), "estimating/time")
			}
		})
	})
}
