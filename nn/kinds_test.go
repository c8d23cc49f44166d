package nn

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/ops"
)

// stored is the model as it is read from its settings and weights, with the arrays in another
// order.
func stored(t *testing.T, m *MLP) *MLP {
	t.Helper()
	settings, err := json.Marshal(m.Settings())
	if err != nil {
		t.Fatal(err)
	}
	arrays := m.Weights().Arrays()
	slices.Reverse(arrays)
	w, err := m.Weights().Select(arrays...)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Read(m.Kind(), settings, w)
	if err != nil {
		t.Fatal(err)
	}
	return back.(*MLP)
}

func TestReadGivesTheSameModel(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		m := newMLP(t, MLPConfig{Features: 3, Hidden: []int{4, 2}, Activation: ops.GELU, Dropout: 0.25, Seed: 1, Dtype: dt})
		back := stored(t, m)
		if !reflect.DeepEqual(back.Config(), m.Config()) || !reflect.DeepEqual(back.weights, m.weights) {
			t.Errorf("got %+v, want %+v", back, m)
		}
		x := random(6, 1)
		want, _ := run(t, m, Train, x, []float64{1, 1})
		got, _ := run(t, back, Train, x, []float64{1, 1})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("scores %v, want %v", got, want)
		}
	}
}

func TestReadRefusesArraysThatDoNotFit(t *testing.T) {
	weights := func(arrays ...Array) *Weights {
		w, err := NewWeights(tensor.Float32, arrays...)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w, b := Array{Name: "w0", Shape: []int{2}}, Array{Name: "b0", Shape: []int{1}}
	for _, c := range []struct {
		kind, settings string
		stored         *Weights
		want           string
	}{
		{"x", "{}", weights(w, b), `unknown kind of model "x": want one of attention, mlp`},
		{"mlp", "[", weights(w, b), "settings of an MLP"},
		{"mlp", `{"features":2}`, weights(w), `no array "b0"`},
		{"mlp", `{"features":2}`, weights(w, b, Array{Name: "b1", Shape: []int{1}}), "3 arrays, want 2"},
		{"mlp", `{"features":3}`, weights(w, b), `array "w0" has shape [2], want [3]`},
		{"mlp", `{"features":1152921504606846976}`, weights(w, b), `array "w0" has shape [2]`},
		{"mlp", `{"features":2,"hidden":[-3]}`, weights(w, b), "hidden layer 1 has width -3"},
		{"mlp", `{"features":2,"members":-1}`, weights(w, b), "-1 members"},
	} {
		if _, err := Read(c.kind, []byte(c.settings), c.stored); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", c.settings, err, c.want)
		}
	}
	if _, err := Read("mlp", []byte(`{"features":2}`), weights(b, w)); err != nil {
		t.Errorf("the right arrays: %v", err)
	}
}

func TestWeightsShareOneMemory(t *testing.T) {
	for _, dt := range []tensor.Dtype{{}, tensor.Float32, tensor.Float64} {
		w, err := NewWeights(dt, Array{Name: "a", Shape: []int{2, 3}}, Array{Name: "b", Shape: []int{1}, Bias: true})
		if err != nil {
			t.Fatal(err)
		}
		if w.Size() != 7 || len(w.Float32s())+len(w.Float64s()) != 7 {
			t.Errorf("%d weights", w.Size())
		}
		values := []float64{1, 2, 3, 4, 5, 6}
		if err := w.Set("a", values); err != nil || !slices.Equal(w.Get("a"), values) || !slices.Equal(w.Get("b"), []float64{0}) || w.Get("c") != nil {
			t.Errorf("%v, %v, %v", w.Get("a"), w.Get("b"), err)
		}
		// Nodes are views of the memory.
		n := w.Nodes(G.NewGraph())
		if err := w.Set("b", []float64{7}); err != nil {
			t.Fatal(err)
		}
		if got := floats(t, n[1].Value()); !slices.Equal(got, []float64{7}) || n[0].Name() != "a" || !n[0].Shape().Eq(tensor.Shape{2, 3}) {
			t.Errorf("%v", got)
		}
		for name, values := range map[string][]float64{"c": {1}, "a": {1}, "b": {math.Inf(1)}} {
			if w.Set(name, values) == nil {
				t.Errorf("%s: no error for %v", name, values)
			}
		}
	}
	for want, arrays := range map[string][]Array{
		`array ""`:      {{Shape: []int{1}}},
		`array "a"`:     {{Name: "a", Shape: []int{1}}, {Name: "a", Shape: []int{1}}},
		"shape []":      {{Name: "a"}},
		"shape [1 1 1]": {{Name: "a", Shape: []int{1, 1, 1}}},
		"shape [2 0]":   {{Name: "a", Shape: []int{2, 0}}},
		"entries":       {{Name: "a", Shape: []int{1 << 40, 1 << 40}}},
		"more than":     {{Name: "a", Shape: []int{1 << 30}}, {Name: "b", Shape: []int{1}}},
	} {
		if _, err := NewWeights(tensor.Float32, arrays...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := NewWeights(tensor.Int); err == nil {
		t.Error("no error for int")
	}
}

func TestFloat64sCopiesAllDtypes(t *testing.T) {
	for _, v := range []G.Value{
		tensor.New(tensor.WithBacking([]float32{2})), tensor.New(tensor.WithBacking([]float64{2})),
		G.NewF32(2), G.NewF64(2),
	} {
		if got := floats(t, v); !slices.Equal(got, []float64{2}) {
			t.Errorf("%T: %v", v, got)
		}
	}
	m := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float32{1, 2, 3, 4}))
	if err := m.T(); err != nil {
		t.Fatal(err)
	}
	if got := floats(t, m); !slices.Equal(got, []float64{1, 3, 2, 4}) {
		t.Errorf("a transposed view: %v", got)
	}
	for _, v := range []G.Value{nil, tensor.New(tensor.WithBacking([]int{2}))} {
		if _, err := Float64s(v); err == nil {
			t.Errorf("%v: no error", v)
		}
	}
}
