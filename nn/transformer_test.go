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

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

var transformerOffsets = []int{0, 4, 4, 9} // and one row of padding

const transformerRows = 10

// newTransformer is a model with random biases and gains: zero biases would hide a missing one.
func newTransformer(t *testing.T, c TransformerConfig) *Transformer {
	t.Helper()
	m, err := NewTransformer(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range m.Weights().Arrays() {
		if a.Bias {
			if err := m.Weights().Set(a.Name, random(a.Size(), uint64(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// runTransformer gives the scores and the derivatives of Σ cos(7r)·score_r by all weights.
func runTransformer(t *testing.T, m *Transformer, mode Mode, x []float64) (scores []float64, grads [][]float64) {
	t.Helper()
	g := G.NewGraph()
	dt, features := m.Config().Dtype, m.Config().Features
	weights := m.Weights().Nodes(g)
	offsets := tensor.New(tensor.WithBacking(slices.Clone(transformerOffsets)))
	out, err := m.Build(Input{
		Features: G.NewMatrix(g, dt, G.WithName("x"), G.WithShape(transformerRows, features), G.WithValue(optest.Dense(dt, x, transformerRows, features))),
		Offsets:  G.NewVector(g, tensor.Int, G.WithName("offsets"), G.WithShape(4), G.WithValue(offsets)),
		Weights:  weights,
	}, mode)
	if err != nil {
		t.Fatal(err)
	}
	return runGraph(t, out, coefficients(), weights)
}

func coefficients() (c []float64) {
	for r := range transformerRows {
		c = append(c, math.Cos(float64(7*r)))
	}
	return c
}

// naiveTransformer is one member written out, for no dropout and the activation tanh.
func naiveTransformer(m *Transformer, prefix string, x []float64) []float64 {
	get := func(name string) []float64 { return m.weights.Get(prefix + name) }
	rowsOf := func(x []float64) (rows [][]float64) {
		for chunk := range slices.Chunk(x, len(x)/transformerRows) {
			rows = append(rows, chunk)
		}
		return rows
	}
	dense := func(h [][]float64, w, b string, tanh bool) (y [][]float64) {
		weights, bias := get(w), get(b)
		for _, row := range h {
			out := slices.Clone(bias)
			for i, v := range row {
				for j := range out {
					out[j] += v * weights[i*len(out)+j]
				}
			}
			for j := range out {
				if tanh {
					out[j] = math.Tanh(out[j])
				}
			}
			y = append(y, out)
		}
		return y
	}
	norm := func(h [][]float64, name string) (y [][]float64) {
		gain, bias := get(name+".gain"), get(name+".bias")
		for _, row := range h {
			mean, variance := 0.0, 0.0
			for _, v := range row {
				mean += v / float64(len(row))
			}
			for _, v := range row {
				variance += (v - mean) * (v - mean) / float64(len(row))
			}
			out := make([]float64, len(row))
			for i, v := range row {
				out[i] = gain[i]*(v-mean)/math.Sqrt(variance+1e-5) + bias[i]
			}
			y = append(y, out)
		}
		return y
	}
	attention := func(qkv [][]float64) [][]float64 {
		width := len(qkv[0]) / 3
		size := width / m.settings.Heads()
		y := make([][]float64, len(qkv))
		for i := range y {
			y[i] = make([]float64, width)
		}
		for q := range len(transformerOffsets) - 1 {
			for i := transformerOffsets[q]; i < transformerOffsets[q+1]; i++ {
				for h := 0; h < width; h += size {
					sum := 0.0
					total := make([]float64, size)
					for j := transformerOffsets[q]; j < transformerOffsets[q+1]; j++ {
						dot := 0.0
						for e := range size {
							dot += qkv[i][h+e] * qkv[j][width+h+e]
						}
						p := math.Exp(dot / math.Sqrt(float64(size)))
						sum += p
						for e := range size {
							total[e] += p * qkv[j][2*width+h+e]
						}
					}
					for e, v := range total {
						y[i][h+e] = v / sum
					}
				}
			}
		}
		return y
	}
	add := func(h, y [][]float64) (sum [][]float64) {
		for r := range h {
			row := slices.Clone(h[r])
			for i, v := range y[r] {
				row[i] += v
			}
			sum = append(sum, row)
		}
		return sum
	}
	h := rowsOf(x)
	layers := len(m.Config().Hidden)
	for i := range layers {
		h = dense(h, fmt.Sprint("w", i), fmt.Sprint("b", i), true)
	}
	for b := range m.Config().Blocks {
		name := fmt.Sprintf("block%d.", b)
		h = add(h, dense(attention(dense(norm(h, name+"norm1"), name+"qkv.w", name+"qkv.b", false)), name+"merge.w", name+"merge.b", false))
		h = add(h, dense(dense(norm(h, name+"norm2"), name+"up.w", name+"up.b", true), name+"down.w", name+"down.b", false))
	}
	h = norm(h, "norm")
	var scores []float64
	for _, row := range dense(h, fmt.Sprint("w", layers), fmt.Sprint("b", layers), false) {
		scores = append(scores, row[0])
	}
	return scores
}

func transformerConfigs() (all []TransformerConfig) {
	for i, blocks := range []int{0, 1, 2} {
		all = append(all, TransformerConfig{
			MLPConfig: MLPConfig{Features: 5, Hidden: [][]int{{6}, {3, 4}, {6}}[i], Activation: ops.Tanh, Members: i, Seed: 3},
			Blocks:    blocks, Heads: i,
		})
	}
	return all
}

// Scores have their formulas, and derivatives are finite differences.
func TestTransformerIsItsFormula(t *testing.T) {
	x := random(transformerRows*5, 8)
	for _, c := range transformerConfigs() {
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-5} {
			c.Dtype = dt
			m := newTransformer(t, c)
			naive := func() []float64 {
				sum := make([]float64, transformerRows)
				for member := range max(1, m.settings.Members) {
					prefix := ""
					if max(1, m.settings.Members) > 1 {
						prefix = fmt.Sprintf("m%d.", member)
					}
					for r, s := range naiveTransformer(m, prefix, x) {
						sum[r] += s / float64(max(1, m.settings.Members))
					}
				}
				return sum
			}
			want := naive()
			got, grads := runTransformer(t, m, Evaluate, x)
			for r := range want {
				if math.Abs(got[r]-want[r]) > tolerance*10 {
					t.Fatalf("%v, %v: score %d is %v, want %v", m, dt, r, got[r], want[r])
				}
			}
			if dt == tensor.Float32 {
				continue
			}
			loss := func(h float64) (sum float64) {
				before := slices.Clone(m.weights.float64s)
				for i := range m.weights.float64s {
					m.weights.float64s[i] += h * math.Cos(float64(3*i))
				}
				for r, s := range naive() {
					sum += s * coefficients()[r]
				}
				copy(m.weights.float64s, before)
				return sum
			}
			const h = 1e-6
			slope, i := 0.0, 0
			for _, g := range grads {
				for _, v := range g {
					slope += v * math.Cos(float64(3*i))
					i++
				}
			}
			if want := (loss(h) - loss(-h)) / (2 * h); math.Abs(slope-want) > 1e-7*(1+math.Abs(want)) {
				t.Errorf("%v: slope %v, by differences %v", m, slope, want)
			}
		}
	}
}

// A model that is read from its settings and weights is the same, with the same dropout.
func TestReadGivesTheSameTransformer(t *testing.T) {
	for _, c := range transformerConfigs() {
		c.Dropout = .25
		m := newTransformer(t, c)
		settings, err := json.Marshal(m.Settings())
		if err != nil {
			t.Fatal(err)
		}
		back, err := Read(m.Kind(), settings, m.Weights())
		if err != nil {
			t.Fatal(err)
		}
		if got := back.(*Transformer); !reflect.DeepEqual(got.Config(), m.Config()) || !reflect.DeepEqual(got.weights, m.weights) {
			t.Errorf("got %+v, want %+v", got, m)
		}
		x := random(transformerRows*5, 1)
		want, _ := runTransformer(t, m, Train, x)
		got, _ := runTransformer(t, back.(*Transformer), Train, x)
		still, _ := runTransformer(t, m, Evaluate, x)
		if !slices.Equal(got, want) || slices.Equal(got, still) {
			t.Errorf("scores %v, want %v; without dropout %v", got, want, still)
		}
	}
}

func TestTransformerRefusesInvalidConfigsAndInputs(t *testing.T) {
	good := TransformerConfig{MLPConfig: MLPConfig{Features: 3, Hidden: []int{8}}, Blocks: 1, Heads: 2}
	for want, change := range map[string]func(*TransformerConfig){
		"no hidden layers":         func(c *TransformerConfig) { c.Hidden = nil },
		"-1 blocks":                func(c *TransformerConfig) { c.Blocks = -1 },
		"3 heads: want a number":   func(c *TransformerConfig) { c.Heads = 3 },
		"0 features":               func(c *TransformerConfig) { c.Features = 0 },
		"hidden layer 1 has width": func(c *TransformerConfig) { c.Hidden = []int{0} },
	} {
		c := good
		change(&c)
		if _, err := NewTransformer(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	m := newTransformer(t, good)
	if _, err := m.Build(Input{}, Train); err == nil || !strings.Contains(err.Error(), "want a matrix [rows, 3]") {
		t.Errorf("error %v", err)
	}
	if got, want := m.String(), "hidden 8 (none), attention (blocks 1, heads 2)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
