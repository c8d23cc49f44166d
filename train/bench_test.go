package train

import (
	"fmt"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// An epoch over 200 queries in MSLR's shape.
func BenchmarkEpoch(b *testing.B) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 200, Vali: 2, Test: 1})
	for name, c := range map[string]Config{"paper": Paper(), "default": Default()} {
		for _, n := range []SampleCount{1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/N=%d", name, n), func(b *testing.B) {
				c.Samples = n
				t, err := New(c, s)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := t.runEpoch(ctx, Hooks{}); err != nil { // compiles the graphs
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := t.runEpoch(ctx, Hooks{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(t.queries)), "µs/query")
			})
		}
	}
}
