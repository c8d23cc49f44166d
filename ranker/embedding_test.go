package ranker

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// names has queries of five features, of which the second and the fourth are categories
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

// withAttention makes a categorical network one with a block of attention.
func withAttention(t *testing.T, f *File) *File {
	t.Helper()
	f.Kind = transformerKind
	f.Settings = append(bytes.TrimSuffix(f.Settings, []byte("}")), `,"blocks":1,"heads":2}`...)
	s, _, err := f.mlpSettings("")
	if err != nil {
		t.Fatal(err)
	}
	f.Arrays = atRandom(append(transformerArrays(s.inputs(), s.Hidden, 1, s.Members), s.embeddingArrays()...))
	return f
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
func TestEmbeddingErrors(t *testing.T) {
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

// ONNX Runtime looks up the same vectors: for known, unseen and missing values, with no
// other feature beside them, and in front of attention.
func TestEmbeddingsONNX(t *testing.T) {
	python := python(t)
	dir := t.TempDir()
	for i, c := range []struct {
		transform, dtype string
		ids              []int
		attention        bool
	}{
		{"minmax+quantile", "float32", []int{2, 4}, false},
		{"standard", "float64", []int{4}, false},
		{"none", "float32", []int{1, 2, 3, 4, 5}, false},
		{"minmax", "float32", []int{2, 4}, true},
	} {
		sizes := []int{1, 2, 40, 200}
		d := names(sizes...)
		f := categorical(t, c.transform, c.dtype, d, c.ids, 1+i%2, 16, 8)
		if c.attention {
			f = withAttention(t, f)
		}
		m := reopen(t, f)
		other := names(sizes...) // with values that were not seen
		for r := range other.Rows() {
			other.Row(r)[3] = float32(r%17) - 2
		}
		got, _, err := runtimeScores(python, dir, m, other, sizes)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		row := 0
		for q := range sizes {
			want, err := m.Score(nil, features(other, q))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range want {
				if !(math.Abs(got[row]-s) <= 1e-5*(1+math.Abs(s))) {
					t.Fatalf("%+v: row %d: %v by ONNX Runtime, want %v", c, row, got[row], s)
				}
				row++
			}
		}
	}
}
