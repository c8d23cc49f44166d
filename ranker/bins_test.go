package ranker

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/forward"
)

// A model of no hidden layer with bins is by its definition: e_k = min(max(p − k, 0), 1) of the
// positions times weights, and the vectors of categories times weights.
func TestBinsAreTheDefinition(t *testing.T) {
	d := names(20, 1, 150)
	for _, dtype := range []string{"float32", "float64"} {
		f := categorical(t, "none+rank", dtype, d, []int{2}, 1)
		withBins(t, f, d, 5)
		m := reopen(t, f)
		width := f.Transform.Width()
		x := make([]float32, d.Rows()*width)
		for q := range d.Queries() {
			f.Transform.Query(x[d.Offsets[q]*width:d.Offsets[q+1]*width], features(d, q))
		}
		var got []float64
		for q := range d.Queries() {
			var err error
			if got, err = m.Score(got, features(d, q)); err != nil {
				t.Fatal(err)
			}
		}
		w, b, table := f.Arrays[0].Values, f.Arrays[1].Values, f.Arrays[2]
		for r := range d.Rows() {
			want, at := b[0], 0
			row := x[r*width : (r+1)*width]
			for i, bins := range f.Transform.BinCounts() {
				for k := range bins {
					want += min(max(float64(row[i])-float64(k), 0), 1) * w[at]
					at++
				}
			}
			for _, v := range table.Values[int(row[width-1])*table.Shape[1]:][:table.Shape[1]] {
				want += v * w[at]
				at++
			}
			if at != len(w) {
				t.Fatalf("%d weights, want %d", len(w), at)
			}
			if tolerance := map[string]float64{"float32": 1e-5, "float64": 1e-12}[dtype]; math.Abs(got[r]-want) > tolerance {
				t.Fatalf("%s: document %d: %v, want %v", dtype, r, got[r], want)
			}
		}
	}
}

// Files whose bins do not fit the transform, or the weights, are refused.
func TestBinsMustFitTheTransform(t *testing.T) {
	for want, change := range map[string]func(*File){
		"do not fit": func(f *File) { f.Transform.Bins = nil },
		"feature 0 has 0 bins: want 1 to 255": func(f *File) {
			f.Settings = bytes.Replace(f.Settings, []byte(`"bins":[4`), []byte(`"bins":[0`), 1)
		},
		"a model of bins [3 ": func(f *File) {
			f.Settings = bytes.Replace(f.Settings, []byte(`"bins":[4`), []byte(`"bins":[3`), 1)
		},
		"bins of 1 features: want 5": func(f *File) {
			f.Settings = bytes.Replace(f.Settings, []byte(`"bins":[`), []byte(`"bins":[1],"x":[`), 1)
		},
		`array "w0" has shape`: func(f *File) {
			a := &f.Arrays[0]
			a.Shape, a.Values = []int{a.Shape[0] - 1, a.Shape[1]}, a.Values[a.Shape[1]:]
		},
		"must ascend": func(f *File) { f.Transform.Bins[1].Knots = []float32{2, 1} },
	} {
		d := queries(5, 20, 30)
		f := network(t, "rank", "float32", d, 1, 4)
		withBins(t, f, d, 3)
		change(f)
		if _, err := New(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// Rows that change places keep their scores, and a model scores a document as if it were alone.
func TestBinsSeeEveryDocumentByItself(t *testing.T) {
	d := queries(7, 300)
	f := network(t, "none", "float32", d, 2, 70, 8)
	withBins(t, f, d, 16)
	checkByThemselves(t, reopen(t, f), d)
}

// checkByThemselves checks that documents, of one query, keep their scores in other places and alone.
func checkByThemselves(t *testing.T, m *Model, d *datasets.Dataset) {
	t.Helper()
	all, err := m.Score(nil, d.Features)
	if err != nil {
		t.Fatal(err)
	}
	var turned []float32
	for r := d.Rows() - 1; r >= 0; r-- {
		turned = append(turned, d.Row(r)...)
	}
	back, err := m.Score(nil, turned)
	if err != nil {
		t.Fatal(err)
	}
	for r, s := range all {
		alone, err := m.Score(nil, d.Row(r))
		if err != nil || alone[0] != s || back[len(back)-1-r] != s {
			t.Fatalf("document %d: %v, alone %v, in another place %v (%v)", r, s, alone, back[len(back)-1-r], err)
		}
	}
}

// BenchmarkScoreWithBins is one query of 100 documents in the networks of the default recipe, with its transform and with
// 16 bins instead, and in that of the recipe for large data, without and with its bins. "best" is the shortest run, which
// other programs disturb least.
func BenchmarkScoreWithBins(b *testing.B) {
	for _, c := range []struct {
		features, members int
		spec, binned      string
		hidden            []int
		act               forward.Activation
	}{
		{46, 3, "minmax+log-standard+quantile", "none", []int{64}, forward.ReLU},
		{136, 3, "minmax+log-standard+quantile", "none", []int{64}, forward.ReLU},
		{136, 1, "quantile", "quantile", []int{256, 32}, forward.SwiGLU},
		{46, 1, "quantile", "quantile", []int{256, 32}, forward.SwiGLU},
	} {
		d := queries(c.features, 100, 2000)
		for _, bins := range []bool{false, true} {
			spec := c.spec
			if bins {
				spec = c.binned
			}
			f := network(b, spec, "float32", d, c.members, c.hidden...)
			if bins {
				withBins(b, f, d, 16)
			}
			activated(b, f, c.act)
			m := reopen(b, f)
			b.Run(fmt.Sprintf("features=%d/networks=%d/hidden=%v/bins=%t", c.features, c.members, c.hidden, bins), func(b *testing.B) {
				var scores []float64
				best := time.Hour
				for b.Loop() {
					start := time.Now()
					var err error
					if scores, err = m.Score(scores[:0], d.Features[:100*c.features]); err != nil {
						b.Fatal(err)
					}
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(best.Nanoseconds()), "best-ns/op")
			})
		}
	}
}
