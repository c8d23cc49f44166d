package ranker

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/plrank/plrank/transforms"
)

func BenchmarkRead(b *testing.B) {
	d := queries(46, 1000)
	var file bytes.Buffer
	if err := network(b, "minmax+log-standard+quantile", "float32", d, 3, 64).Write(&file); err != nil {
		b.Fatal(err)
	}
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		if _, err := Read(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(best.Microseconds()), "best-µs/op")
}

// The network of the default recipe on queries of 46 features, with its transform and with
// a part of it. "best" is the shortest run, which other programs on the machine disturb
// least.
func BenchmarkScore(b *testing.B) {
	d := queries(46, 2000)
	for i, v := range d.Features {
		if v != v {
			d.Features[i] = 1 // as in LETOR, where nothing is missing
		}
	}
	for _, spec := range []string{"quantile", "minmax+log-standard+quantile", "minmax+log-standard+quantile+rank"} {
		m := reopen(b, network(b, spec, "float32", d, 3, 64))
		for _, rows := range []int{1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/documents=%d", spec, rows), func(b *testing.B) {
				var dst []float64
				best := time.Hour
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					dst, _ = m.Score(dst[:0], d.Features[:rows*46])
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(best.Nanoseconds()), "best-ns/op")
			})
		}
		b.Run(spec+"/parallel=100", func(b *testing.B) {
			b.RunParallel(func(p *testing.PB) {
				var dst []float64
				for p.Next() {
					dst, _ = m.Score(dst[:0], d.Features[:100*46])
				}
			})
		})
	}
}

// BenchmarkVectors is 100 documents of 20 features, by a network of the default recipe, without and with a cosine of 384 dimensions.
func BenchmarkVectors(b *testing.B) {
	const documents, dimension = 100, 384
	for _, with := range []int{0, 1} {
		d := queries(20+with, 2000)
		f := network(b, "minmax+log-standard+quantile+rank", "float32", d, 3, 64)
		for c := range 20 + with {
			f.FeatureNames = append(f.FeatureNames, fmt.Sprint("f", c))
		}
		if with > 0 {
			f.FeatureNames[20], f.Products = "cosine(q,d)", []transforms.Product{{Name: "cosine(q,d)"}}
			f.Vectors = []transforms.Vector{{Name: "q", Dimension: dimension}, {Name: "d", Dimension: dimension}}
		}
		m := reopen(b, f)
		vectors := make([]float32, (documents+1)*dimension)
		for i := range vectors {
			vectors[i] = float32(i % 7)
		}
		b.Run(fmt.Sprintf("cosines=%d", with), func(b *testing.B) {
			var dst []float64
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				rows := d.Features[:documents*d.Width()]
				if err := m.Multiply(rows, func(v, document int) []float32 { return vectors[v*(1+document)*dimension:][:dimension] }); err != nil {
					b.Fatal(err)
				}
				dst, _ = m.Score(dst[:0], rows)
				best = min(best, time.Since(start))
			}
			b.ReportMetric(float64(best.Nanoseconds()), "best-ns/op")
		})
	}
}
