package ranker

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// names has queries of five features. The second and the fourth are categories
// with values that occur often, once, or are missing.
func names(sizes ...int) *datasets.Dataset {
	d := queries(5, sizes...)
	for r := range d.Rows() {
		row := d.Row(r)
		row[1] = float32([]float64{3, -7, 3, 1e6, math.NaN(), 0, float64(1000 + r)}[r%7])
		row[3] = float32(r % 11)
	}
	return d
}

// A model of no hidden layer with embeddings is by its definition: numbers times weights,
// and of each category the vector of the code times weights.
func TestEmbeddingsAreTheDefinition(t *testing.T) {
	d := names(20, 1, 150)
	for _, dtype := range []string{"float32", "float64"} {
		f := categorical(t, "standard", dtype, d, []int{2, 4}, 1)
		m := reopen(t, f)
		x := make([]float32, d.Rows()*f.Transform.Width())
		f.Transform.Query(x, d.Features)
		got, err := m.Score(nil, d.Features)
		if err != nil {
			t.Fatal(err)
		}
		w, b, tables := f.Arrays[0].Values, f.Arrays[1].Values, f.Arrays[2:]
		for r := range d.Rows() {
			want, at := b[0], 3
			row := x[r*5 : (r+1)*5]
			for i, v := range row[:3] {
				want += float64(v) * w[i]
			}
			for i, width := range []int{3, 4} {
				for j := range width {
					want += tables[i].Values[int(row[3+i])*width+j] * w[at]
					at++
				}
			}
			tolerance := map[string]float64{"float32": 1e-5, "float64": 1e-12}[dtype]
			if math.Abs(got[r]-want) > tolerance {
				t.Fatalf("%s: document %d: %v, want %v", dtype, r, got[r], want)
			}
		}
	}
}

// Files whose embeddings do not fit the transform are refused.
func TestEmbeddingsMustFitTheTransform(t *testing.T) {
	for want, change := range map[string]func(*File){
		"a model of 2 embeddings and a transform of 1 categories": func(f *File) {
			f.Transform.Categories = f.Transform.Categories[:1]
			f.Transform.Columns = []int{0, 2, 3, 4}
		},
		"embedding 1 has 13 codes and a width of 4: want 12 codes": func(f *File) { f.Transform.Categories[1].Values = f.Transform.Categories[1].Values[1:] },
		`array "embedding0" has shape`:                             func(f *File) { f.Arrays[len(f.Arrays)-2].Shape = []int{3, 6} },
		`no array "embedding1"`:                                    func(f *File) { f.Arrays = f.Arrays[:len(f.Arrays)-1] },
	} {
		f := categorical(t, "none", "float32", names(60), []int{2, 4}, 1, 4)
		change(f)
		var b bytes.Buffer
		err := f.Write(&b)
		if err == nil {
			_, err = Read(&b)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
