package plackett

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A value that was used before, on other lists, other numbers of rankings and bad input,
// computes what a fresh one does, bit for bit.
func TestReusedValuesGiveTheSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var used Kernel
		var sampler Sampler
		for range rapid.IntRange(2, 6).Draw(t, "calls") {
			l := drawList(t, 12)
			docs := len(l.scores)
			cutoff := rapid.IntRange(1, docs+2).Draw(t, "rows of")
			r := pack(l.rankings, cutoff, 5)
			for i := range l.rankings {
				if rapid.Bool().Draw(t, "absent") {
					for k := range cutoff {
						r.Documents[i*cutoff+k] = -1
					}
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "fault") == 0 {
				r.Documents[len(r.Documents)-1] = 1000
			}
			w := make([]float64, len(r.Documents))
			for i := range w {
				w[i] = math.Sin(float64(i))
			}
			// run is every method with k, and what it gives.
			run := func(k func() *Kernel) map[string]string {
				out := map[string]string{}
				per := func(method string, size int, f func(k *Kernel, numbers []float64) (float64, error)) {
					numbers := slices.Repeat([]float64{math.NaN()}, size)
					value, err := f(k(), numbers)
					if err != nil {
						numbers = nil // not defined
					}
					out[method] = fmt.Sprintf("%b %b %v", value, numbers, err)
				}
				for _, e := range estimators {
					per(e.String(), docs, func(k *Kernel, lambda []float64) (float64, error) {
						return k.Gradient(e, l.scores, l.gains, l.discounts, r, lambda)
					})
				}
				per("exposure", docs, func(k *Kernel, exposure []float64) (float64, error) {
					return 0, k.Exposure(l.scores, l.discounts, r, exposure)
				})
				per("log π", len(w), func(k *Kernel, logs []float64) (float64, error) {
					return 0, k.LogProbs(l.scores, r, logs)
				})
				per("∇ log π", docs, func(k *Kernel, lambda []float64) (float64, error) {
					return 0, k.LogProbsGradient(l.scores, r, w, lambda)
				})
				return out
			}
			want := run(func() *Kernel { return new(Kernel) })
			for method, got := range run(func() *Kernel { return &used }) {
				if got != want[method] {
					t.Fatalf("%s: %s, a fresh kernel gives %s", method, got, want[method])
				}
			}

			draw := func(s *Sampler) (out []int) {
				for _, samples := range []int{9, 2} { // by different methods
					y := NewRankings(samples, cutoff)
					if err := s.Draw(l.scores, Stream{Seed: 1}, y); err != nil {
						t.Fatal(err)
					}
					out = append(out, y.Documents...)
				}
				return out
			}
			if got, want := draw(&sampler), draw(new(Sampler)); !slices.Equal(got, want) {
				t.Fatalf("drew %v, a fresh sampler %v", got, want)
			}
		}
	})
}
