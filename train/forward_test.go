package train

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/network"
	"github.com/plrank/plrank/transforms"
)

// reopened is the model as package ranker reads it.
func reopened(t *testing.T, f *ranker.File) *ranker.Model {
	t.Helper()
	var file bytes.Buffer
	if err := f.Write(&file); err != nil {
		t.Fatal(err)
	}
	m, err := ranker.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// queriesOf has queries of these sizes, with everything that features can be.
func queriesOf(sizes []int, width int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0))
	d := &datasets.Dataset{Name: "hard", Offsets: []int{0}}
	for id := range width {
		d.FeatureIDs = append(d.FeatureIDs, id+1)
	}
	for _, n := range sizes {
		for range n {
			for id := range width {
				v := float32(rng.NormFloat64())
				switch rng.IntN(12) {
				case 0:
					v = float32(math.NaN())
				case 1:
					v = 0
				case 2:
					v *= 1e8
				case 3:
					v *= 1e-8
				}
				if id == 0 {
					v = 7
				}
				d.Features = append(d.Features, v)
			}
			d.Labels = append(d.Labels, float32(rng.IntN(3)))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
		d.QueryIDs = append(d.QueryIDs, "q")
	}
	return d
}

// Package ranker gives the scores of the graphs, bit for bit, for every transform and
// activation, and for lists of any length.
func TestRankerIsTheGraph(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 2, 3, 4, 5, 8, 9, 129}
	d := queriesOf(sizes, 6, 1)
	for i, transform := range []string{"none", "minmax", "standard", "log-standard", "quantile", "rank", "minmax+quantile"} {
		fitted, err := datasets.FitTransform(transform, d)
		if err != nil {
			t.Fatal(err)
		}
		for act := ops.Identity; act <= ops.SwiGLU; act++ {
			for j, hidden := range [][]int{nil, {32}, {64, 7}} {
				if j == (i+int(act))%3 {
					continue // pairs of a transform, an activation and layers, not all triples
				}
				if transform == "none" && act != ops.Sigmoid && act != ops.Tanh {
					continue // 1e8 of a feature are beyond float32 sums of use
				}
				c := nn.MLPConfig{Features: fitted.Width(), Hidden: hidden, Activation: act, Members: 1 + i%3, Seed: uint64(act)}
				mlp, err := nn.NewMLP(c)
				if err != nil {
					t.Fatal(err)
				}
				checkRanker(t, mlp, fitted, d)
				if hidden == nil || i > 2 {
					continue
				}
				transformer, err := nn.NewTransformer(nn.TransformerConfig{MLPConfig: c, Blocks: i, Heads: 1 + 6*(len(hidden)-1)})
				if err != nil {
					t.Fatal(err)
				}
				checkRanker(t, transformer, fitted, d)
			}
		}
	}
}

// graphScores returns the scores of the graph.
func graphScores(t *testing.T, model nn.Scorer, fitted *transforms.Transform, d *datasets.Dataset) []float64 {
	t.Helper()
	g := network.NewScoring(model, map[*datasets.Dataset]*datasets.Transformed{d: datasets.NewTransformed(d, fitted)}, fitted.Width())
	scores, err := g.Score(d, d.Blocks(chunkRows))
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// checkRanker compares package ranker's scores with the graph's.
func checkRanker(t *testing.T, model nn.Scorer, fitted *transforms.Transform, d *datasets.Dataset) {
	t.Helper()
	f, err := File(model, fitted, d, "exp2")
	if err != nil {
		t.Fatal(err)
	}
	m := reopened(t, f)
	want := graphScores(t, model, fitted, d)
	var got []float64
	for q := range d.Queries() {
		if got, err = m.Score(got, d.Features[d.Offsets[q]*d.Width():d.Offsets[q+1]*d.Width()]); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, transform %s: scores differ", model, fitted.Spec)
	}
}

// A kind without a plain forward pass is refused until package nn knows it: then its graphs are
// run, which several goroutines may do.
func TestGraphsAreTheForwardPassOfOtherKinds(t *testing.T) {
	d := queriesOf([]int{1, 5, 30}, 4, 2)
	fitted, err := datasets.FitTransform("standard", d)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := nn.NewWeights(tensor.Float32, nn.Array{Name: "w0", Shape: []int{fitted.Width()}}, nn.Array{Name: "b0", Shape: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := weights.Set("w0", []float64{1, -2, 0.5}); err != nil {
		t.Fatal(err)
	}
	settings, err := json.Marshal(nn.MLPConfig{Features: fitted.Width()})
	if err != nil {
		t.Fatal(err)
	}
	f := &ranker.File{Kind: "plain line", Settings: settings, Dtype: "float32", Transform: fitted, FeatureIDs: d.FeatureIDs, Gain: "exp2"}
	for _, a := range weights.Arrays() {
		f.Arrays = append(f.Arrays, ranker.Array{Name: a.Name, Shape: a.Shape, Values: weights.Get(a.Name)})
	}
	if _, err := reopened(t, f).Score(nil, d.Features); err == nil {
		t.Error("a kind without a forward pass: no error")
	}
	nn.Register("plain line", func(settings []byte, stored *nn.Weights) (nn.Scorer, error) { return nn.Read("mlp", settings, stored) })
	m := reopened(t, f)
	model, err := Scorer(f)
	if err != nil {
		t.Fatal(err)
	}
	want := graphScores(t, model, fitted, d)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			var got []float64
			for q := range d.Queries() {
				var err error
				if got, err = m.Score(got, d.Features[d.Offsets[q]*d.Width():d.Offsets[q+1]*d.Width()]); err != nil {
					t.Error(err)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	group.Wait()
}
