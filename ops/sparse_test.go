package ops

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// sparse returns the case with most of x zeros, and as a sparse one, with the layer that takes this.
func (c *denseCase) sparse() (*denseCase, layerFunc) {
	rng := rand.New(rand.NewPCG(3, uint64(c.rows)))
	var starts []int
	var columns []int32
	var values []float64
	x := c.values["x"]
	for r := range c.rows {
		starts = append(starts, len(values))
		for k := range c.in {
			if at := r*c.in + k; rng.IntN(4) > 0 || r == 2 || k == 1 { // a row and a column are empty
				x[at] = 0
			} else {
				columns, values = append(columns, int32(k)), append(values, x[at])
			}
		}
	}
	starts, columns, values = append(starts, len(values)), append(columns, 0, 0), append(values, 7, 7) // padding
	s := *c
	s.values, s.entries = maps.Clone(c.values), len(values)
	s.values["x"] = values
	return &s, func(x, w, b *G.Node, act Activation) (*G.Node, error) {
		if x.Name() != "x" {
			return Dense(x, w, b, act)
		}
		g := w.Graph()
		return SparseDense(Sparse{
			Starts:  G.NewVector(g, tensor.Int, G.WithShape(len(starts)), G.WithName("starts"), G.WithValue(tensor.New(tensor.WithBacking(starts)))),
			Columns: G.NewVector(g, tensor.Int32, G.WithShape(len(columns)), G.WithName("columns"), G.WithValue(tensor.New(tensor.WithBacking(columns)))),
			Values:  x,
		}, w, b, act)
	}
}

func TestSparseDenseHasTheBitsOfDense(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for act := range SwiGLU {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			for _, size := range [][2]int{{3, 2}, {40, 36}, {1100, 64}} { // rows, units
				c := newDenseCase(dt, act, size[0], 30, size[1], 0)
				s, layer := c.sparse()
				name := fmt.Sprintf("%v %v %v", act, dt, size)
				_, want, dense := c.run(t, Dense, false)
				for _, n := range []int{1, 3} {
					runtime.GOMAXPROCS(n)
					for _, lisp := range []bool{false, true} {
						_, got, sparse := s.run(t, layer, lisp)
						near(t, name, got, want, 0)
						for _, param := range denseParams {
							near(t, name+" d"+param, sparse[param], dense[param], 0)
						}
					}
				}
			}
		}
	}
}

func TestSparseDenseRefusesWhatDoesNotFit(t *testing.T) {
	for want, c := range map[string]struct {
		starts  []int
		columns []int32
		w       []int
	}{
		"column 3 of sparse rows, want 0 to 2": {[]int{0, 1, 2}, []int32{0, 3}, []int{3}},
		"column -1 of sparse rows":             {[]int{0, 1, 2}, []int32{0, -1}, []int{3}},
		"must ascend from 0":                   {[]int{0, 2, 1}, []int32{0, 1}, []int{3}},
		"up to the number of entries":          {[]int{0, 1, 3}, []int32{0, 1}, []int{3}},
		"w has shape":                          {[]int{0, 1, 2}, []int32{0, 1}, []int{2, 3, 1}},
	} {
		g := G.NewGraph()
		node := func(name string, value tensor.Tensor) *G.Node {
			return G.NewTensor(g, value.Dtype(), value.Dims(), G.WithShape(value.Shape()...), G.WithName(name), G.WithValue(value))
		}
		b := node("b", tensor.New(tensor.WithShape(1), tensor.WithBacking([]float32{1})))
		w := node("w", tensor.New(tensor.WithShape(c.w...), tensor.WithBacking(make([]float32, tensor.Shape(c.w).TotalSize()))))
		_, err := SparseDense(Sparse{
			Starts: node("starts", tensor.New(tensor.WithBacking(c.starts))), Columns: node("columns", tensor.New(tensor.WithBacking(c.columns))),
			Values: node("values", tensor.New(tensor.WithBacking([]float32{1, 1}))),
		}, w, b, Identity)
		if err == nil {
			vm := G.NewTapeMachine(g)
			err = vm.RunAll()
			vm.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
