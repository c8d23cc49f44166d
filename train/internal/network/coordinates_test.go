package network

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/transforms"
)

// drawnBins returns the bins of an input, with knots of about a size.
func drawnBins(t *rapid.T, size float32) transforms.Bins {
	knots := rapid.SliceOfNDistinct(rapid.Float32Range(-size, size), 1, 12, rapid.ID[float32]).Draw(t, "knots")
	slices.Sort(knots)
	return transforms.Bins{Knots: knots, Missing: rapid.Bool().Draw(t, "missing")}
}

// encoded is e(p)·w for one input and unit.
func encoded(p float64, w []float32) (sum float64) {
	for k, v := range w {
		sum += min(max(p-float64(k), 0), 1) * float64(v)
	}
	return sum
}

// binnedArrays are the arrays of a layer of one unit of inputs with such bins.
func binnedArrays(bins []transforms.Bins) []nn.Array {
	a := nn.Array{Name: "w", Inputs: true}
	rows := 0
	for i := range bins {
		a.Bins = append(a.Bins, bins[i].Count())
		rows += a.Bins[i]
	}
	a.Shape = []int{rows, 1}
	return []nn.Array{a, {Name: "b", Shape: []int{1}, Bias: true, AddedTo: "w"}}
}

// Units begin as v·x + b, where x is in units of its spread, and a missing value counts as 0.
func TestBinsBeginAsLines(t *testing.T) {
	knots := []float32{-3.5, -1.2, -.6745, -.6, -.3, .2, .6745, 1, 3.5} // quartiles of the normal distribution
	for _, missing := range []bool{false, true} {
		for _, size := range []float32{1, 1e-30, 1e30} {
			b := transforms.Bins{Missing: missing}
			for _, k := range knots {
				b.Knots = append(b.Knots, size*k)
			}
			c := newCoordinates([]transforms.Bins{b}, binnedArrays([]transforms.Bins{b}))
			w := slices.Repeat([]float32{2}, b.Count()+1)
			c.straighten(w)
			bias := float64(w[b.Count()])
			for k, p := range b.Positions() {
				got, want := encoded(float64(p), w[:b.Count()])+bias, 2*float64(knots[k])+2
				if math.Abs(got-want) > 1e-4 {
					t.Errorf("missing %t, knots times %v: at knot %v %v, want %v", missing, size, knots[k], got, want)
				}
			}
			if missing && math.Abs(bias-2) > 1e-5 {
				t.Errorf("knots times %v: %v of a missing value, want 2", size, bias)
			}
		}
	}
	b := transforms.Bins{Knots: []float32{0, 1, 2, 3, 1e6}}
	if a, _ := rises(&b); a[3] != 3 {
		t.Errorf("an outlier rises by %v, want 3", a[3])
	}
}

// drawnBinned are the arrays of a layer of two units, of inputs with bins and one without, and weights at random.
func drawnBinned(t *rapid.T, bins []transforms.Bins) (arrays []nn.Array, weights []float32) {
	arrays = binnedArrays(bins)[:1]
	arrays[0].Shape = []int{arrays[0].Shape[0] + 1, 2}
	arrays = append(arrays, nn.Array{Name: "b", Shape: []int{2}, Bias: true, AddedTo: "w"})
	n := Size(arrays)
	return arrays, rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "weights")
}

// The gradient in coordinates equals finite differences there, and the way back gives the weights.
func TestCoordinatesHaveTheirGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bins := []transforms.Bins{drawnBins(t, 1), drawnBins(t, 1)}
		arrays, weights := drawnBinned(t, bins)
		slopes := rapid.SliceOfN(rapid.Float32Range(-1, 1), len(weights), len(weights)).Draw(t, "slopes")
		c := newCoordinates(bins, arrays)
		value := func(at []float32) (sum float64) {
			w := slices.Clone(at)
			c.leave(w)
			for i, v := range w {
				sum += float64(v) * (float64(slopes[i]) + float64(v)/2)
			}
			return sum
		}
		own, gradient := slices.Clone(weights), []float32(nil)
		for i, v := range weights {
			gradient = append(gradient, slopes[i]+v)
		}
		c.enter(own, gradient)
		for i, got := range gradient {
			const h = 0.01
			at := slices.Clone(own)
			at[i] += h
			above := value(at)
			at[i] -= 2 * h
			if want := (above - value(at)) / (2 * h); math.Abs(float64(got)-want) > 3e-3*(1+math.Abs(want)) {
				t.Errorf("number %d: the derivative is %v, want %v", i, got, want)
			}
		}
		c.leave(own)
		for i, v := range weights {
			if math.Abs(float64(v-own[i])) > 1e-4 {
				t.Errorf("weight %d came back as %v, was %v", i, own[i], v)
			}
		}
	})
}

// Knots as small or as far apart as float32 has them make no numbers that are not finite.
func TestCoordinatesOfExtremeKnotsAreFinite(t *testing.T) {
	for _, knots := range [][]float32{{0}, {5}, {-math.MaxFloat32, math.MaxFloat32}, {0, math.SmallestNonzeroFloat32}, {-math.MaxFloat32, 0, math.SmallestNonzeroFloat32, math.MaxFloat32}} {
		for _, missing := range []bool{false, true} {
			bins := []transforms.Bins{{Knots: knots, Missing: missing}}
			arrays := binnedArrays(bins)
			c := newCoordinates(bins, arrays)
			own := slices.Repeat([]float32{1}, Size(arrays))
			c.straighten(own)
			for range 3 {
				gradient := slices.Repeat([]float32{1}, Size(arrays))
				c.enter(own, gradient)
				if !batches.AllFinite(own) || !batches.AllFinite(gradient) {
					t.Fatalf("knots %v, missing %t: %v with gradient %v", knots, missing, own, gradient)
				}
				c.leave(own)
				if !batches.AllFinite(own) {
					t.Errorf("knots %v, missing %t: %v", knots, missing, own)
				}
			}
		}
	}
}

// Arrays of other inputs stay, and so do all where there are no bins.
func TestCoordinatesAreOfInputsWithBins(t *testing.T) {
	bins := []transforms.Bins{{Knots: []float32{0, 1, 2}}}
	for _, arrays := range [][]nn.Array{
		{{Name: "w", Shape: []int{3, 2}, Inputs: true}},
		{{Name: "w", Shape: []int{4, 2}, Inputs: true, Bins: []int{2, 2}}},
		{{Name: "w", Shape: []int{2, 2}, Bins: []int{2}}},
	} {
		if c := newCoordinates(bins, arrays); len(c.layers) > 0 {
			t.Errorf("%v: %v", arrays, c.layers)
		}
	}
	if c := newCoordinates(nil, []nn.Array{{Name: "w", Shape: []int{3, 2}, Inputs: true}}); len(c.layers) > 0 {
		t.Errorf("without bins: %v", c.layers)
	}
}
