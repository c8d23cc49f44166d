package ranker

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Draws and exposures at a temperature equal draws and exposures of the scores divided by it, bit for bit.
func TestTemperatureDividesScores(t *testing.T) {
	scores, discounts := []float64{3, -1, 0.5, 2, 2}, []float64{1, 0.5, 0.25}
	for _, temperature := range []float64{0, 1, 0.1, 2, 1e9, 1e-9, math.MaxFloat64} {
		policy, divided := Policy{Temperature: temperature}, slices.Clone(scores)
		for d := range divided {
			if temperature != 0 {
				divided[d] /= temperature
			}
		}
		for seed := range uint64(20) {
			got, gotLog, err := policy.Draw([]int{-1}, scores, 3, seed)
			if err != nil {
				t.Fatal(err)
			}
			want, wantLog, err := Policy{}.Draw([]int{-1}, divided, 3, seed)
			if err != nil || !slices.Equal(got, want) || gotLog != wantLog {
				t.Errorf("temperature %v, seed %d: %v, %v, want %v, %v, %v", temperature, seed, got, gotLog, want, wantLog, err)
			}
		}
		got, err := policy.Exposure(t.Context(), []float64{-1}, scores, discounts)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := (Policy{}).Exposure(context.Background(), []float64{-1}, divided, discounts); err != nil || !slices.Equal(got, want) {
			t.Errorf("temperature %v: %v, want %v, %v", temperature, got, want, err)
		}
	}
}

func TestTemperatureMustBePositiveAndFinite(t *testing.T) {
	for _, c := range []struct {
		temperature float64
		scores      []float64
		want        string
	}{
		{math.NaN(), []float64{1}, "temperature NaN, want a positive, finite number"},
		{math.Inf(1), []float64{1}, "temperature +Inf, want"},
		{-1, nil, "temperature -1, want"},
		{1e-300, []float64{0, 1e10}, "the score 1e+10 of document 1, divided by the temperature 1e-300, is beyond the range of float64"},
		{2, []float64{0, math.Inf(1)}, "the score of document 1 is +Inf"},
		{2, []float64{0, math.NaN()}, "the score of document 1 is NaN"},
	} {
		policy := Policy{Temperature: c.temperature}
		ranking, _, err := policy.Draw([]int{5}, c.scores, 1, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) || !slices.Equal(ranking, []int{5}) {
			t.Errorf("%+v: %v, %v", c, ranking, err)
		}
		shown, err := policy.Exposure(t.Context(), []float64{5}, c.scores, []float64{1})
		if err == nil || !strings.Contains(err.Error(), c.want) || !slices.Equal(shown, []float64{5}) {
			t.Errorf("%+v: %v, %v", c, shown, err)
		}
	}
}

// Long computations end soon after their context, with its error.
func TestContextEndsComputing(t *testing.T) {
	d := queries(46, 3000)
	attention := reopen(t, attending(t, "quantile", "float32", d, 1, 1, 2, 64))
	layers := reopen(t, network(t, "quantile", "float32", d, 1, 64))
	scores, discounts := make([]float64, 3000), slices.Repeat([]float64{1}, 1000)
	for name, compute := range map[string]func(ctx context.Context) error{
		"exposure":  func(ctx context.Context) error { _, err := Policy{}.Exposure(ctx, nil, scores, discounts); return err },
		"attention": func(ctx context.Context) error { _, err := attention.ScoreContext(ctx, nil, d.Features); return err },
		"layers":    func(ctx context.Context) error { _, err := layers.ScoreContext(ctx, nil, d.Features); return err },
	} {
		ended := &endsLater{Context: t.Context(), asks: 3}
		if err := compute(ended); !errors.Is(err, context.Canceled) || ended.asks != -1 {
			t.Errorf("%s: %v, asked %d times more than it should", name, err, -1-ended.asks)
		}
	}
}

// endsLater is a context that ends after a number of questions.
type endsLater struct {
	context.Context
	asks int
}

func (c *endsLater) Err() error {
	if c.asks--; c.asks >= 0 {
		return nil
	}
	return context.Canceled
}

func (c *endsLater) Done() <-chan struct{}       { return make(chan struct{}) }
func (c *endsLater) Deadline() (time.Time, bool) { return time.Time{}, false }

// The scratch space of large lists, tens of megabytes, is not kept when they are done.
func TestLargeScratchSpaceIsNotKept(t *testing.T) {
	d := queries(46, 3000)
	attention := reopen(t, attending(t, "minmax+log-standard+quantile+rank", "float32", d, 1, 1, 2, 64))
	scores, discounts := make([]float64, 1000), slices.Repeat([]float64{1}, 700)
	inUse := func() uint64 {
		runtime.GC() // one: pools keep what they have through it
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, compute := range map[string]func() error{
		"exposure":  func() error { _, err := Policy{}.Exposure(context.Background(), nil, scores, discounts); return err },
		"attention": func() error { _, err := attention.Score(nil, d.Features); return err },
	} {
		before := inUse()
		if err := compute(); err != nil {
			t.Fatal(err)
		}
		if after := inUse(); after > before+6<<20 {
			t.Errorf("%s: %d MB are kept", name, (after-before)>>20)
		}
	}
}
