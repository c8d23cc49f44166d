package train

import (
	"math"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/ops"
)

// BenchmarkWide is an epoch of layers of 256 and 128 on batches of 32 queries in MSLR's
// shape, once the policy is sharp, beside the bare products of matrices of its layers:
// forward, and for the gradients of weights and inputs. In programs with -tags openblas the
// epoch uses the products of the project, the bare ones are by OpenBLAS.
func BenchmarkWide(b *testing.B) {
	s, err := datasets.SyntheticShape("mslr", .01, 1)
	if err != nil {
		b.Fatal(err)
	}
	c := Default()
	c.Hidden, c.Activation, c.Dropout, c.Members = []int{256, 128}, ops.ReLU, .1, 1
	c.Transform, c.LearningRate, c.Batch = "log-standard+quantile", .0015, 32
	t, err := New(c, Parts{}, s)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"AVX-512", "AVX2", "NEON"} {
		if restore, ok := blas.Use(name); ok {
			defer restore()
			break
		}
	}
	epoch := func() float64 {
		e, err := t.runEpoch(ctx, Hooks{})
		if err != nil {
			b.Fatal(err)
		}
		t.history = append(t.history, e)
		return e.TrainSeconds
	}
	epoch() // compiles the graphs
	fresh := epoch()
	for range 20 {
		epoch()
	}
	var rows []int
	for i := 0; i < len(t.queries); i += t.Batch {
		n := 0
		for _, q := range t.queries[i:min(i+t.Batch, len(t.queries))] {
			n += s.Train.Offsets[q+1] - s.Train.Offsets[q]
		}
		rows = append(rows, n)
	}
	bare := func() float64 {
		if restore, ok := blas.Use("OpenBLAS"); ok {
			defer restore()
		}
		widths := append([]int{t.transform.Width()}, append(c.Hidden, 1)...)
		start := time.Now()
		for _, n := range rows {
			bareProducts(n, widths)
		}
		return time.Since(start).Seconds()
	}
	bare()
	sharp, products := math.Inf(1), math.Inf(1) // the shortest times
	for b.Loop() {
		sharp = min(sharp, epoch())
		products = min(products, bare())
	}
	b.ReportMetric(sharp, "s/epoch")
	b.ReportMetric(products, "s/products")
	b.ReportMetric(sharp/products, "epoch/products")
	b.ReportMetric(fresh, "s/first")
}

// bareProducts multiplies the matrices of a step on so many rows through layers of those
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
