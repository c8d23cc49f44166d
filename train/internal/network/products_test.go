package network

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/transforms"
)

// vectored has three queries of four documents, a feature x, and a bilinear product of rank 2 of vectors of three dimensions. The vector
// of document 5 is missing.
func vectored(t *testing.T) *datasets.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 0))
	draw := func(n int) (v []float32) {
		for range n {
			v = append(v, float32(rng.NormFloat64()))
		}
		return v
	}
	d := &datasets.Dataset{Name: "made", FeatureIDs: []int{1}, FeatureNames: []string{"x"}, Features: draw(12), Labels: make([]float32, 12),
		Offsets: []int{0, 4, 8, 12}, QueryIDs: []string{"a", "b", "c"},
		Vectors: datasets.Vectors{Names: []string{"q", "d"}, Dimensions: []int{3, 3}, Values: draw(3 * 15)}}
	for r := range 12 {
		d.VectorAt = append(d.VectorAt, 3*(r/4), 9+3*r)
	}
	d.VectorAt[11] = -1
	p := transforms.Product{Name: "bilinear(q,d,2)", Left: [][]float32{draw(3), draw(3)}, Right: [][]float32{draw(3), draw(3)}}
	d, err := d.WithProducts([]transforms.Product{p})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A graph makes the inputs of a product that the transform makes of its feature, bit for bit, and derivatives by the matrices are
// what finite differences give.
func TestProductsOfGraphsAreThoseOfFeatures(t *testing.T) {
	for _, c := range []struct {
		spec string
		bins int
	}{{"standard+log-standard+missing", 0}, {"minmax+rank+standard", 0}, {"standard", 3}} {
		d := vectored(t)
		transform, err := datasets.FitTransform(c.spec, d)
		if err == nil && c.bins > 0 {
			err = datasets.FitBins(transform, d, c.bins)
		}
		if err != nil {
			t.Fatal(err)
		}
		all := NewProducts(d, []int{0}, transform)
		model, err := nn.NewMLP(nn.MLPConfig{Features: transform.Width(), Bins: transform.BinCounts()})
		if err != nil {
			t.Fatal(err)
		}
		s, err := all.Of(model)
		if err != nil {
			t.Fatal(err)
		}
		var b datasets.Batch
		b.PackTransformed(datasets.NewTransformed(d, transform), []int{2, 0, 1}, 16, 4, all.Vectors...)
		w, width := s.(*withProducts), transform.Width()
		matrices := w.weights.Float32s()[model.Weights().Size():]
		in := []op.Tensor{{F32: b.X}, {Int: b.Offsets}, {F32: matrices[:6]}, {F32: matrices[6:]}}
		inputs := func() []float32 {
			y := make([]float32, 16*width)
			w.compute(in, y)
			return y
		}
		var want datasets.Batch
		want.PackTransformed(datasets.NewTransformed(d, transform), []int{2, 0, 1}, 16, 4)
		begun := inputs()
		if !slices.Equal(begun, want.X) {
			t.Errorf("%s: inputs %v, want %v", c.spec, begun, want.X)
		}
		if c.spec[0] == 'm' { // comparisons have no derivative, and a slope that stands for it
			continue
		}
		slopes := make([]float32, 16*width)
		for i := range slopes {
			slopes[i] = float32(math.Cos(float64(i)))
		}
		value := func() (sum float64) {
			for i, v := range inputs() {
				sum += float64(slopes[i]) * float64(v)
			}
			return sum
		}
		for side := range 2 {
			got := make([]float32, 6)
			w.differentiate(w.list[0], side, append(slices.Clone(in), op.Tensor{F32: slopes}), got)
			for i, g := range got {
				const h = 2e-3
				at := &matrices[6*side+i]
				was := *at
				*at = was + h
				above := value()
				*at = was - h
				slope := (above - value()) / (2 * h)
				if *at = was; math.Abs(slope-float64(g)) > .02*(1+math.Abs(slope)) {
					t.Errorf("%s: number %d of side %d: %v, by differences %v", c.spec, i, side, g, slope)
				}
			}
		}
	}
}
