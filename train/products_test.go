package train

import (
	"math"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/blas"
)

// BenchmarkWide is an epoch of the default recipe for large data in MSLR's shape, once the policy
// is sharp, with one of the first, and with the bare products of matrices of its layers:
// forward, and for the gradients of weights and inputs.
func BenchmarkWide(b *testing.B) {
	s, err := datasets.SyntheticShape("mslr", .01, 1)
	if err != nil {
		b.Fatal(err)
	}
	t := sharp(b, wide(), s)
	fresh := min(t.history.epochs[1].TrainSeconds, t.history.epochs[2].TrainSeconds) // the first one compiles the graphs
	var rows []int
	for i := 0; i < len(t.data.Queries); i += t.Config.Batch {
		n := 0
		for _, q := range t.data.Queries[i:min(i+t.Config.Batch, len(t.data.Queries))] {
			n += s.Train.Offsets[q+1] - s.Train.Offsets[q]
		}
		rows = append(rows, n)
	}
	bare := func() float64 {
		widths := append([]int{t.transform.Width()}, append(t.Config.Hidden, 1)...)
		start := time.Now()
		for _, n := range rows {
			bareProducts(n, widths)
		}
		return time.Since(start).Seconds()
	}
	bare()
	last, products := math.Inf(1), math.Inf(1) // the shortest times
	for b.Loop() {
		e, err := t.loop.epoch(ctx, len(t.history.epochs))
		if err != nil {
			b.Fatal(err)
		}
		last = min(last, e.TrainSeconds)
		products = min(products, bare())
	}
	b.ReportMetric(last, "s/epoch")
	b.ReportMetric(products, "s/products")
	b.ReportMetric(last/products, "epoch/products")
	b.ReportMetric(last/fresh, "last/first")
}

// bareProducts multiplies the matrices of a step on a number of rows through layers of those
// widths.
func bareProducts(rows int, widths []int) {
	x := blas.RowMajor(make([]float32, rows*widths[0]), rows, widths[0])
	for i, out := range widths[1:] {
		in := widths[i]
		w, y := blas.RowMajor(make([]float32, in*out), in, out), blas.RowMajor(make([]float32, rows*out), rows, out)
		blas.Product(y, x, w, blas.End[float32]{}, nil)
		blas.Product(w, x.T(), y, blas.End[float32]{}, nil)
		if i > 0 {
			blas.Product(x, y, w.T(), blas.End[float32]{}, nil)
		}
		x = y
	}
}
