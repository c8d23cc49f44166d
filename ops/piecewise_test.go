package ops

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// binsOf3 are the bins of the first of three columns: with those, the weights have four rows.
var binsOf3 = []int{2}

// binnedLayer sees the first three columns of the leaf x through bins, and is Dense elsewhere.
func binnedLayer(x, w, b *G.Node, act Activation) (*G.Node, error) {
	if x.Op() != nil {
		return Dense(x, w, b, act)
	}
	first, err := G.Slice(x, nil, G.S(0, 3))
	if err != nil {
		return nil, err
	}
	return PiecewiseLinear(first, w, b, binsOf3, act)
}

// encodedLayer is the same by the formula of the encoding.
func encodedLayer(x, w, b *G.Node, act Activation) (*G.Node, error) {
	if x.Op() != nil {
		return Dense(x, w, b, act)
	}
	v := asFloat64(x.Value())
	var e []float64
	for ; len(v) > 0; v = v[4:] {
		e = append(e, min(max(v[0], 0), 1), min(max(v[0]-1, 0), 1), v[1], v[2])
	}
	c := denseCase{dt: x.Dtype()}
	return Dense(G.NewConstant(c.tensor(e, len(e)/4, 4)), w, b, act)
}

// The numbers of a layer with bins, and its gradients on both machines and in both dtypes, are those
// of a dense layer of encoded features, which are finite differences.
func TestPiecewiseLinearIsDenseOfItsEncoding(t *testing.T) {
	for act := range SwiGLU {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			for _, out := range []int{0, 1, 3} {
				c := newDenseCase(dt, act, 40, 4, 37, out)
				for i := 0; i < len(c.values["x"]); i += 4 {
					c.values["x"][i] = float64(int(65536*(1+c.values["x"][i]))) / 65536 // within the bins and beyond
				}
				_, want, wantGrads := c.run(t, encodedLayer, false)
				for _, lisp := range []bool{false, true} {
					_, y, grads := c.run(t, binnedLayer, lisp)
					near(t, "y", y, want, 1e-5)
					for _, name := range denseParams {
						near(t, fmt.Sprint(act, dt, " d", name), grads[name], wantGrads[name], 1e-5)
					}
				}
			}
		}
	}
}

// Rows that change places take their outputs along, and rows of padding change nothing of the others.
func TestPiecewiseLinearSeesEveryRowByItself(t *testing.T) {
	c := newDenseCase(tensor.Float32, ReLU, 9, 4, 5, 2)
	_, y, _ := c.run(t, binnedLayer, false)
	turned := newDenseCase(tensor.Float32, ReLU, 9, 4, 5, 2)
	slices.Reverse(turned.values["x"])
	for r := range 9 {
		slices.Reverse(turned.values["x"][4*r : 4*r+4])
	}
	_, back, _ := turned.run(t, binnedLayer, false)
	for r := range 9 {
		near(t, "y of a row in another place", back[2*(8-r):2*(8-r)+2], y[2*r:2*r+2], 0)
	}
	c.rows, c.values["x"], c.lossCoeff = 12, append(c.values["x"], make([]float64, 12)...), append(c.lossCoeff, make([]float64, 6)...)
	_, padded, _ := c.run(t, binnedLayer, false)
	near(t, "y next to padding", padded[:18], y, 0)
}

func TestPiecewiseLinearArgumentsThatDoNotFitAreErrors(t *testing.T) {
	g := G.NewGraph()
	node := func(shape ...int) *G.Node {
		return G.NewTensor(g, tensor.Float64, len(shape), G.WithShape(shape...), G.WithName(fmt.Sprint(shape)))
	}
	for _, c := range []struct {
		w    *G.Node
		bins []int
		want string
	}{
		{node(4, 2), []int{2, 2}, "w has shape (4, 2), want [5, out]"},
		{node(3, 2), []int{0}, "feature 0 has 0 bins: want 1 to 255"},
		{node(258, 2), []int{1, 256}, "feature 1 has 256 bins: want 1 to 255"},
		{node(4, 2), []int{1, 1, 1, 1}, "bins of 4 features for 3 columns"},
	} {
		_, err := PiecewiseLinear(node(5, 3), c.w, node(2), c.bins, ReLU)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
