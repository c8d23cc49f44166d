package op_test

import (
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
)

// Ops read the entries of tensors in the order of their indices, however these stand in memory.
func TestTensorsAreReadInTheOrderOfTheirIndices(t *testing.T) {
	want := []float64{1, 2, 3, 4, 5, 6}
	wide := func() *tensor.Dense {
		return tensor.New(tensor.WithShape(3, 4), tensor.WithBacking([]float64{0, 1, 2, 9, 0, 3, 4, 9, 0, 5, 6, 9}))
	}
	slice := func(d *tensor.Dense, s ...tensor.Slice) *tensor.Dense {
		v, err := d.Slice(s...)
		if err != nil {
			t.Fatal(err)
		}
		return v.(*tensor.Dense)
	}
	transposed := func(d *tensor.Dense) *tensor.Dense {
		if err := d.T(); err != nil {
			t.Fatal(err)
		}
		return d
	}
	fortran := func(x []float64, shape ...int) *tensor.Dense {
		return tensor.New(tensor.WithShape(shape...), tensor.AsFortran(x))
	}
	moved := transposed(tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 3, 5, 2, 4, 6})))
	if err := moved.Transpose(); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*tensor.Dense{
		"row-major":                tensor.New(tensor.WithShape(3, 2), tensor.WithBacking(slices.Clone(want))),
		"column-major":             fortran(slices.Clone(want), 3, 2),
		"column-major memory":      tensor.New(tensor.WithShape(3, 2), tensor.AsFortran(nil), tensor.WithBacking([]float64{1, 3, 5, 2, 4, 6})),
		"a slice of columns":       slice(wide(), nil, G.S(1, 3)),
		"a transposed matrix":      transposed(tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 3, 5, 2, 4, 6}))),
		"a transposed one, too":    moved,
		"transposed, column-major": transposed(fortran([]float64{1, 3, 5, 2, 4, 6}, 2, 3)),
		"rows of column-major":     slice(fortran([]float64{9, 9, 1, 2, 3, 4, 5, 6, 9, 9}, 5, 2), G.S(1, 4)),
		"columns of column-major":  slice(fortran([]float64{0, 1, 2, 9, 0, 3, 4, 9, 0, 5, 6, 9}, 3, 4), nil, G.S(1, 3)),
	} {
		if at, err := x.At(1, 0); err != nil || at != 3. {
			t.Fatalf("%s: [1, 0] is %v, %v", name, at, err)
		}
		if got, err := op.Numbers(x); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	column := slice(wide(), nil, G.S(1))
	if got, err := op.Numbers(column); err != nil || !slices.Equal(got, []float64{1, 3, 5}) {
		t.Errorf("a column: %v, %v", got, err)
	}
	cube := tensor.New(tensor.WithShape(2, 3, 2), tensor.AsFortran([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}))
	if got, err := op.Numbers(cube); err != nil || !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {
		t.Errorf("a column-major cube: %v, %v", got, err)
	}
}

// A gradient of a column-major input is right on both machines, or an error.
func TestGradientOfColumnMajorInputIsRightOrAnError(t *testing.T) {
	square := &op.Func{Name: "square", Do: func(in []op.Tensor, result op.Tensor) error {
		for i, v := range in[0].F64 {
			result.F64[i] = v * v
		}
		return nil
	}}
	double := &op.Func{Name: "double", Do: func(in []op.Tensor, result op.Tensor) error {
		for i, v := range in[0].F64 {
			result.F64[i] = 2 * v * in[1].F64[i]
		}
		return nil
	}}
	square.VJPs = []*op.Term{double.Of(op.Input(0), op.Incoming)}
	build := func() (x, sum *G.Node) {
		g := G.NewGraph()
		x = G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(2, 3), G.WithValue(tensor.New(tensor.WithShape(2, 3), tensor.AsFortran([]float64{1, 2, 3, 4, 5, 6}))))
		return x, G.Must(G.Sum(G.Must(square.Apply(x))))
	}
	want := []float64{2, 4, 6, 8, 10, 12}
	check := func(machine string, v G.Value) {
		if got, err := op.Numbers(v); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", machine, got, err)
		}
	}
	x, sum := build()
	grads, err := G.Grad(sum, x)
	if err != nil {
		t.Fatal(err)
	}
	tape := G.NewTapeMachine(sum.Graph())
	defer tape.Close()
	if err := tape.RunAll(); err != nil {
		t.Fatal(err)
	}
	check("tape machine", grads[0].Value())
	x, sum = build()
	lisp := G.NewLispMachine(sum.Graph())
	defer lisp.Close()
	if err := lisp.RunAll(); err != nil {
		if !strings.Contains(err.Error(), "column-major") {
			t.Error(err)
		}
		return
	}
	v, err := x.Grad()
	if err != nil {
		t.Fatal(err)
	}
	check("Lisp machine", v)
}
