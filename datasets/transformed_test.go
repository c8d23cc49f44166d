package datasets

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/transforms"
)

// equalBits reports whether two lists of numbers are the same, bit for bit.
func equalBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// What is kept is what the transform gives, whatever fits into the file, also while
// several goroutines ask, and after Close.
func TestTransformedIsTheTransform(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := &Dataset{Offsets: []int{0, 3, 4, 4, 9, 21, 23}, FeatureIDs: []int{1, 2, 3}, Labels: make([]float32, 23)} // one without documents
	for range 23 * 3 {
		d.Features = append(d.Features, float32(rng.NormFloat64()))
	}
	d.Features[5], d.Features[30] = float32(math.NaN()), float32(math.Inf(1))
	tr, err := FitTransform("minmax+log-standard+quantile", d)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("numbers", func(t *testing.T) { testTransformed(t, d, tr) })
	if err := FitBins(tr, d, 7); err != nil {
		t.Fatal(err)
	}
	t.Run("positions", func(t *testing.T) { testTransformed(t, d, tr) })
}

func testTransformed(t *testing.T, d *Dataset, tr *transforms.Transform) {
	var want [][]float32
	whole := 0
	for q := range d.Queries() {
		rows := d.Features[d.Offsets[q]*d.Width() : d.Offsets[q+1]*d.Width()]
		want = append(want, make([]float32, len(rows)/d.Width()*tr.Width()))
		tr.Query(want[q], rows)
		whole += 4 * len(want[q])
	}
	rapid.Check(t, func(t *rapid.T) {
		x := NewTransformed(d, tr)
		x.limit = int64(rapid.IntRange(0, whole+10).Draw(t, "limit"))
		orders := rapid.SliceOfN(rapid.SliceOf(rapid.IntRange(0, d.Queries()-1)), 1, 4).Draw(t, "queries")
		ask := func() {
			var wait sync.WaitGroup
			for _, order := range orders {
				wait.Go(func() {
					for _, q := range order {
						got := make([]float32, len(want[q]))
						if x.Query(got, q); !equalBits(got, want[q]) {
							t.Errorf("query %d differs", q)
						}
					}
				})
			}
			wait.Wait()
		}
		ask()
		ask()
		if x.end > x.limit {
			t.Errorf("%d bytes are kept, the limit is %d", x.end, x.limit)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		ask()
	})
}

// The file has no name that would be left behind, and where there can be none, all goes on
// without it.
func TestTransformedFileIsNotLeftBehind(t *testing.T) {
	d := Synthetic(SyntheticOptions{Train: 2, Vali: 1, Test: 1}).Train
	tr, err := FitTransform("log-standard", d)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float32, d.Offsets[1]*tr.Width())
	tr.Query(want, d.Features[:d.Offsets[1]*d.Width()])
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		t.Setenv("TMPDIR", dir)
		x := NewTransformed(d, tr)
		for range 3 {
			got := make([]float32, len(want))
			if x.Query(got, 0); !equalBits(got, want) {
				t.Errorf("%s: the query differs", dir)
			}
		}
		if kept, here := x.kept[0].Load() > 0, filepath.Base(dir) != "none"; kept != here {
			t.Errorf("%s: kept is %t", dir, kept)
		}
		if list, _ := os.ReadDir(dir); len(list) > 0 && filepath.Separator == '/' {
			t.Errorf("%s holds %v", dir, list)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkTransformed is a query of the default recipe's inputs that is kept, next to
// one that is transformed and one that is copied from memory.
func BenchmarkTransformed(b *testing.B) {
	d := Synthetic(SyntheticOptions{Train: 100, Vali: 1, Test: 1}).Train
	tr, err := FitTransform("minmax+log-standard+quantile", d)
	if err != nil {
		b.Fatal(err)
	}
	x := NewTransformed(d, tr)
	defer x.Close()
	all := make([]float32, d.Rows()*tr.Width())
	dst := make([]float32, len(all))
	width := tr.Width()
	each := func(b *testing.B, f func(dst []float32, q int)) {
		for b.Loop() {
			for q := range d.Queries() {
				f(dst[d.Offsets[q]*width:d.Offsets[q+1]*width], q)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(d.Rows()), "ns/document")
	}
	b.Run("kept", func(b *testing.B) { each(b, x.Query) })
	b.Run("transformed", func(b *testing.B) { each(b, (&Transformed{d: d, t: tr}).Query) })
	b.Run("copied", func(b *testing.B) {
		each(b, func(dst []float32, q int) { copy(dst, all[d.Offsets[q]*width:]) })
	})
}
