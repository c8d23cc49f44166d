package ranker

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/internal/model"
)

// queries has queries of these sizes, of features as in LETOR: some on a
// logarithmic scale, many zeros, few values missing.
func queries(width int, sizes ...int) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(1, 2))
	d := &datasets.Dataset{Name: "test", Offsets: []int{0}}
	for id := range width {
		d.FeatureIDs = append(d.FeatureIDs, id+1)
	}
	for _, n := range sizes {
		for range n * width {
			v := float32(math.Exp(3 * rng.NormFloat64()))
			switch rng.IntN(20) {
			case 0, 1, 2, 3:
				v = 0
			case 4:
				v = float32(math.NaN())
			}
			d.Features = append(d.Features, v)
		}
		d.Offsets = append(d.Offsets, d.Offsets[len(d.Offsets)-1]+n)
	}
	d.Labels = make([]float32, d.Offsets[len(sizes)])
	return d
}

// network is a model file of an MLP with weights at random.
func network(tb testing.TB, spec, dtype string, d *datasets.Dataset, members int, hidden ...int) *File {
	tb.Helper()
	return categorical(tb, spec, dtype, d, nil, members, hidden...)
}

// categorical is network with features of these ids that are categorical.
func categorical(tb testing.TB, spec, dtype string, d *datasets.Dataset, ids []int, members int, hidden ...int) *File {
	tb.Helper()
	t, err := datasets.FitTransform(spec, d, ids...)
	if err != nil {
		tb.Fatal(err)
	}
	s := model.Settings{Features: t.Width(), Hidden: hidden, Activation: forward.ReLU, Members: members}
	for i := range t.Categories {
		s.Embeddings = append(s.Embeddings, forward.Embedding{Codes: t.Categories[i].Codes(), Width: 3 + i})
	}
	f := &File{Dtype: dtype, Transform: t, FeatureIDs: d.FeatureIDs, Gain: "exp2"}
	atRandom(tb, f, model.MLP, s)
	return f
}

// atRandom makes f a model of that kind and of these settings, with weights at random.
func atRandom(tb testing.TB, f *File, kind string, s model.Settings) {
	tb.Helper()
	settings, err := json.Marshal(s)
	if err != nil {
		tb.Fatal(err)
	}
	f.Kind, f.Settings, f.Arrays = kind, settings, nil
	rng := rand.New(rand.NewPCG(3, 4))
	for _, a := range s.Arrays() {
		array := Array{Name: a.Name, Shape: a.Shape}
		size := 1
		for _, n := range a.Shape {
			size *= n
		}
		for range size {
			array.Values = append(array.Values, float64(float32(rng.NormFloat64()/math.Sqrt(float64(a.Shape[0])))))
		}
		f.Arrays = append(f.Arrays, array)
	}
}

// with makes f a model of that kind, of settings that change has changed, with weights at random.
func with(tb testing.TB, f *File, kind string, change func(*model.Settings)) {
	tb.Helper()
	s, err := model.Read(f.Kind, f.Settings)
	if err != nil {
		tb.Fatal(err)
	}
	change(&s)
	atRandom(tb, f, kind, s)
}

// withAttention makes f, an MLP, a transformer.
func withAttention(tb testing.TB, f *File, attention model.Attention) {
	tb.Helper()
	with(tb, f, model.Transformer, func(s *model.Settings) { s.Attention = &attention })
}

// activated has the layers of f end in an activation.
func activated(tb testing.TB, f *File, act forward.Activation) {
	tb.Helper()
	with(tb, f, f.Kind, func(s *model.Settings) { s.Activation = act })
}

// attending is network with blocks of attention.
func attending(tb testing.TB, spec, dtype string, d *datasets.Dataset, members, blocks, heads int, hidden ...int) *File {
	tb.Helper()
	f := network(tb, spec, dtype, d, members, hidden...)
	withAttention(tb, f, model.Attention{Blocks: blocks, Heads: heads})
	return f
}

// withBins gives the first layer of f the transform's outputs through bins.
func withBins(tb testing.TB, f *File, d *datasets.Dataset, bins int) {
	tb.Helper()
	if err := datasets.FitBins(f.Transform, d, bins); err != nil {
		tb.Fatal(err)
	}
	with(tb, f, f.Kind, func(s *model.Settings) { s.Bins = f.Transform.BinCounts() })
}

func reopen(tb testing.TB, f *File) *Model {
	tb.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		tb.Fatal(err)
	}
	m, err := Read(&b)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// features returns the features of query q.
func features(d *datasets.Dataset, q int) []float32 {
	return d.Features[d.Offsets[q]*d.Width() : d.Offsets[q+1]*d.Width()]
}
