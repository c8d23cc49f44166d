package network

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/transforms"
)

// coordinates reparameterizes first layers that see bins. With a_k, what an input
// rises in its bin k of n, the weights w of a unit for these bins are
//
//	w = R·(‖a‖·v, ρ·d_2, …, ρ·d_n),
//
// where R, the reflection that takes (1, 0, …) to a/‖a‖ (Golub & Van Loan 2013, section 5.1), is its own
// inverse. The line v is the weight that the input would have without bins; the bends d are how the unit
// differs from a line, and ρ = min(1, √12/n), for a position has a standard deviation of n/√12 where a number
// has 1. Steps of Adam, which are as long for every number, then move lines as they do without bins, and
// bends no faster. The group lasso can leave out the bends of an input and keep its line. At first v
// is at random, and d is 0.
//
// A bias b is learned as b + m·w, where m is the encoding of inputs of 0, their medians by quantile: the
// weights then turn units around there, and do not move them up and down as well. It costs three passes over the weights
// a step. After the step there are w and b again.
type coordinates struct {
	inputs []axes
	origin blas32.Vector // m, of the bins of all inputs
	layers []binnedLayer
}

// axes are the coordinates of one input.
type axes struct {
	row    int           // the first one
	mirror blas32.Vector // h with R = I − h·hᵀ
	line   float32       // ‖a‖, or −‖a‖ where R takes (1, 0, …) to −a/‖a‖
	bend   float32       // ρ
}

// A binnedLayer is where a first layer has its weights and its biases.
type binnedLayer struct{ weights, biases, outputs int }

func newCoordinates(bins []transforms.Bins, arrays []nn.Array) *coordinates {
	c := &coordinates{}
	var counts []int
	for i := range bins {
		a, m := rises(&bins[i])
		x := newAxes(a)
		x.row = len(c.origin.Data)
		c.inputs, counts = append(c.inputs, x), append(counts, len(a))
		c.origin.Data = append(c.origin.Data, m...)
	}
	c.origin.N, c.origin.Inc = len(c.origin.Data), 1
	starts, at := map[string]int{}, 0
	for _, a := range arrays {
		starts[a.Name] = at
		at += a.Size()
	}
	for _, b := range arrays {
		w := slices.IndexFunc(arrays, func(a nn.Array) bool { return a.Inputs && a.Name == b.AddedTo })
		if w >= 0 && bins != nil && slices.Equal(arrays[w].Bins, counts) {
			c.layers = append(c.layers, binnedLayer{starts[b.AddedTo], starts[b.Name], b.Size()})
		}
	}
	return c
}

// rises returns how much an input rises in each of its bins, and the encoding of 0. They are in units of its spread, which
// is 1 for normal scores, so that inputs of any size learn alike, and 3 at most, which bounds outliers. On the line a
// missing value is as 0.
func rises(b *transforms.Bins) (a []float64, origin []float32) {
	const quartiles, most = 1.349, 3 // of the normal distribution: how far they are apart
	n := len(b.Knots) - 1
	knot := func(k int) float64 { return float64(b.Knots[k]) }
	spread, missing := (knot(n-n/4)-knot(n/4))/quartiles, 0.
	for k := range n {
		rise := knot(k+1) - knot(k)
		part := min(max(-knot(k)/rise, 0), 1)
		a, origin = append(a, min(rise/spread, most)), append(origin, float32(part))
		missing -= part * a[k]
	}
	if b.Missing {
		a, origin = slices.Insert(a, 0, missing), slices.Insert(origin, 0, 1)
	}
	if n == 0 { // one value
		return []float64{1}, make([]float32, 1)
	}
	return a, origin
}

// newAxes returns the axes of an input with such rises.
func newAxes(a []float64) axes {
	line := floats.Norm(a, 2)
	h := blas32.Vector{N: len(a), Inc: 1}
	first := math.Copysign(1, a[0]) // of two reflections the one that cancels nothing
	for k, v := range a {
		v /= line
		if k == 0 {
			v += first
		}
		h.Data = append(h.Data, float32(v/math.Sqrt(1+math.Abs(a[0])/line)))
	}
	return axes{mirror: h, line: float32(-first * line), bend: float32(min(1, math.Sqrt(12)/float64(len(a))))}
}

// rows returns the rows of the layer in an array of weights or of derivatives.
func (l binnedLayer) rows(array []float32, rows int) blas32.General {
	return blas32.General{Rows: rows, Cols: l.outputs, Stride: l.outputs, Data: array[l.weights:][:rows*l.outputs]}
}

// forInputs calls f with the axes of every input and its rows, on all cores.
func (c *coordinates) forInputs(rows blas32.General, f func(x axes, own blas32.General)) {
	parallel.For(len(c.inputs), parallel.Workers(len(c.inputs)), func(_, i int) {
		own, x := rows, c.inputs[i]
		own.Rows, own.Data = x.mirror.N, own.Data[x.row*own.Cols:]
		f(x, own)
	})
}

// reflect sets w to R·w.
func (x axes) reflect(w blas32.General) {
	sums := vector(make([]float32, w.Cols))
	blas32.Gemv(blas.Trans, 1, w, x.mirror, 0, sums)
	blas32.Ger(-1, x.mirror, sums, w)
}

// stretch multiplies the first row by line, and the others by bend.
func (x axes) stretch(w blas32.General, line, bend float32) {
	blas32.Scal(line, vector(w.Data[:w.Cols]))
	blas32.Scal(bend, vector(w.Data[w.Cols:w.Rows*w.Cols]))
}

// enter sets weights to v and d, biases to b + m·w, and the gradient to that by them.
func (c *coordinates) enter(weights, gradient []float32) {
	for _, l := range c.layers {
		w, dw := l.rows(weights, c.origin.N), l.rows(gradient, c.origin.N)
		c.shift(l, weights, 1)
		blas32.Ger(-1, c.origin, vector(gradient[l.biases:][:l.outputs]), dw)
		c.forInputs(w, func(x axes, own blas32.General) {
			x.reflect(own)
			x.stretch(own, 1/x.line, 1/x.bend)
		})
		c.forInputs(dw, func(x axes, own blas32.General) {
			x.reflect(own)
			x.stretch(own, x.line, x.bend)
		})
	}
}

// shift adds sign times m·w to the biases of a layer.
func (c *coordinates) shift(l binnedLayer, weights []float32, sign float32) {
	product := vector(make([]float32, l.outputs))
	blas32.Gemv(blas.Trans, 1, l.rows(weights, c.origin.N), c.origin, 0, product)
	blas32.Axpy(sign, product, vector(weights[l.biases:][:l.outputs]))
}

// leave goes back from v and d to weights.
func (c *coordinates) leave(weights []float32) {
	for _, l := range c.layers {
		w := l.rows(weights, c.origin.N)
		c.forInputs(w, func(x axes, own blas32.General) {
			x.stretch(own, x.line, x.bend)
			x.reflect(own)
		})
		c.shift(l, weights, -1)
	}
}

// straighten makes the first weight of every input its v, and its d 0.
func (c *coordinates) straighten(weights []float32) {
	for _, l := range c.layers {
		c.forInputs(l.rows(weights, c.origin.N), func(_ axes, own blas32.General) { clear(own.Data[own.Cols : own.Rows*own.Cols]) })
	}
	c.leave(weights)
}
