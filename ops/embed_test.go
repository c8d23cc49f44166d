package ops_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// embedded has two numbers and two codes in each of four rows, and tables of 3 × 2 and of
// 2 × 1.
func embedded(g *G.ExprGraph, dt tensor.Dtype, numbers ...float64) (x, a, b *G.Node) {
	matrix := func(name string, columns int, v []float64) *G.Node {
		shape := tensor.Shape{len(v) / columns, columns}
		return G.NewMatrix(g, dt, G.WithName(name), G.WithShape(shape...), G.WithValue(optest.Dense(dt, v, shape...)))
	}
	return matrix("x", 4, numbers), matrix("a", 2, []float64{1, 2, 3, 4, 5, 6}), matrix("b", 1, []float64{7, 8})
}

var codes = []float64{.1, .2, 0, 1, .3, .4, 2, 1, .5, .6, 2, 0, .7, .8, 0, 0}

// Codes become rows of the tables, and the gradient of a row is the sum of what comes in
// where it was looked up.
func TestEmbedLooksUpRows(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for machine, run := range optest.Machines {
			for table := range 3 {
				g := G.NewGraph()
				x, a, b := embedded(g, dt, codes...)
				y, err := ops.Embed(x, G.Nodes{a, b})
				if err != nil {
					t.Fatal(err)
				}
				var value G.Value
				G.Read(y, &value)
				weights := make([]float64, 20)
				for i := range weights {
					weights[i] = float64(i + 1)
				}
				w := G.NewMatrix(g, dt, G.WithName("w"), G.WithShape(4, 5), G.WithValue(optest.Dense(dt, weights, 4, 5)))
				_, gradient, err := run(G.Must(G.Sum(G.Must(G.HadamardProd(w, y)))), G.Nodes{a, b, x}[table])
				if err != nil {
					t.Fatal(err)
				}
				want := [][]float64{{3 + 18, 4 + 19, 0, 0, 8 + 13, 9 + 14}, {15 + 20, 5 + 10}, {1, 2, 0, 0, 6, 7, 0, 0, 11, 12, 0, 0, 16, 17, 0, 0}}[table]
				if !slices.Equal(gradient, want) {
					t.Errorf("%v, %s, table %d: gradient %v, want %v", dt, machine, table, gradient, want)
				}
				if machine != "tape" {
					continue
				}
				for i, want := range []float64{.1, .2, 1, 2, 8, .3, .4, 5, 6, 8, .5, .6, 5, 6, 7, .7, .8, 1, 2, 7} {
					if got := optest.Numbers(value)[i]; math.Abs(got-want) > 1e-7 {
						t.Errorf("%v: entry %d is %v, want %v", dt, i, got, want)
					}
				}
			}
		}
	}
}

func TestEmbedArgumentsThatDoNotFitAreErrors(t *testing.T) {
	for code, want := range map[float64]string{
		3:          "ops: Embed: row 3: the code of categorical feature 0 is 3: want a whole number from 0 to 2",
		-1:         "is -1",
		.5:         "is 0.5",
		math.NaN(): "is NaN",
	} {
		g := G.NewGraph()
		numbers := slices.Clone(codes)
		numbers[14] = code
		x, a, b := embedded(g, tensor.Float64, numbers...)
		y, err := ops.Embed(x, G.Nodes{a, b})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := optest.Tape(G.Must(G.Sum(y)), a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	g := G.NewGraph()
	x, a, b := embedded(g, tensor.Float64, codes...)
	_, narrow, _ := embedded(g, tensor.Float32, codes...)
	for want, tables := range map[string]G.Nodes{
		"no tables":              {},
		"5 tables for 4 columns": {a, b, a, b, a},
		"tables[1] are of dtype": {a, narrow},
		"no tables[0]":           {nil},
	} {
		if _, err := ops.Embed(x, tables); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
