package nn

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/internal/op"
)

// An Array is one of the arrays of a model's weights.
type Array struct {
	// Name tells the array from the others of the model.
	Name string
	// Shape is one length, or rows and columns.
	Shape []int
	// Network is the member of an ensemble that the array belongs to, from 1, see [Network]; 0: the model has no members, or they
	// have the array in common.
	Network int
	// Bias says that the array holds offsets or gains, which weight decay leaves alone.
	Bias bool
	// Inputs says that every row holds the weights of one input of the model.
	Inputs bool
	// Bins are the numbers of bins of the first inputs, which have a row for each bin instead of one. nil: no input has bins.
	Bins []int
	// AddedTo names, for biases, the array to whose product with the inputs they are added; "": another array than of a first layer.
	AddedTo string
}

// Size returns the number of weights in the array.
func (a Array) Size() int {
	size := 1
	for _, n := range a.Shape {
		size *= n
	}
	return size
}

// Weights are the parameters of a model: named arrays, one after another in one slice. All
// graphs of a model work on that memory.
type Weights struct {
	arrays   []Array
	number   map[string]int // of the arrays by name
	starts   []int          // of the arrays; and the end of the last
	float32s []float32      // of a float32 model, else nil
	float64s []float64      // of a float64 model, else nil
}

// maxWeights is the most that a model may have: 4 GB as float32.
const maxWeights = 1 << 30

// NewWeights makes arrays of zeros, of float32 or float64; the zero dtype is float32. Names must
// differ, and a shape is one length or two, of 1 or more.
func NewWeights(dtype tensor.Dtype, arrays ...Array) (*Weights, error) {
	w := &Weights{starts: []int{0}, number: map[string]int{}}
	size := 0
	for _, a := range arrays {
		if a.Name == "" || w.index(a.Name) >= 0 {
			return nil, fmt.Errorf("nn: array %q: want a name that no other array has", a.Name)
		}
		w.number[a.Name] = len(w.number)
		if len(a.Shape) < 1 || len(a.Shape) > 2 {
			return nil, fmt.Errorf("nn: array %q has shape %v: want one length or two", a.Name, a.Shape)
		}
		entries := 1
		for _, n := range a.Shape {
			if n < 1 || n > maxWeights/entries {
				return nil, fmt.Errorf("nn: array %q has shape %v: want lengths of 1 or more, and %d entries at most", a.Name, a.Shape, maxWeights)
			}
			entries *= n
		}
		if size += entries; size > maxWeights {
			return nil, fmt.Errorf("nn: more than %d weights", maxWeights)
		}
		a.Shape = slices.Clone(a.Shape)
		w.arrays, w.starts = append(w.arrays, a), append(w.starts, size)
	}
	switch dtype {
	case tensor.Dtype{}, tensor.Float32:
		w.float32s = make([]float32, size)
	case tensor.Float64:
		w.float64s = make([]float64, size)
	default:
		return nil, fmt.Errorf("nn: dtype %v, want float32 or float64", dtype)
	}
	return w, nil
}

// Dtype returns float32 or float64.
func (w *Weights) Dtype() tensor.Dtype {
	if w.float64s != nil {
		return tensor.Float64
	}
	return tensor.Float32
}

// Arrays lists the arrays, in the order of their memory.
func (w *Weights) Arrays() []Array { return slices.Clone(w.arrays) }

// Size returns the number of weights.
func (w *Weights) Size() int { return w.starts[len(w.arrays)] }

// Float32s returns the memory of all arrays, nil if the dtype is float64.
func (w *Weights) Float32s() []float32 { return w.float32s }

// Float64s returns the memory of all arrays, nil if the dtype is float32.
func (w *Weights) Float64s() []float64 { return w.float64s }

// memory returns the memory of array i.
func (w *Weights) memory(i int) any {
	from, to := w.starts[i], w.starts[i+1]
	if w.float64s != nil {
		return w.float64s[from:to:to]
	}
	return w.float32s[from:to:to]
}

// Get returns a copy of the array of that name, nil if there is none.
func (w *Weights) Get(name string) []float64 {
	i := w.index(name)
	if i < 0 {
		return nil
	}
	t := op.Tensor{F32: w.float32s, F64: w.float64s}
	return t.Read(nil, w.starts[i], w.starts[i+1])
}

// Set sets the array of that name. It returns an error for another number of values than it has,
// and for one that is not finite.
func (w *Weights) Set(name string, values []float64) error {
	i := w.index(name)
	if i < 0 {
		return fmt.Errorf("nn: no array %q", name)
	}
	if want := w.arrays[i].Size(); len(values) != want {
		return fmt.Errorf("nn: %d values for array %q, want %d", len(values), name, want)
	}
	for j, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("nn: array %q: entry %d is %v, want a finite number", name, j, v)
		}
		w.put(i, j, v)
	}
	return nil
}

// put sets number j of array i.
func (w *Weights) put(i, j int, v float64) {
	if w.float64s != nil {
		w.float64s[w.starts[i]+j] = v
	} else {
		w.float32s[w.starts[i]+j] = float32(v)
	}
}

func (w *Weights) index(name string) int {
	if i, ok := w.number[name]; ok {
		return i
	}
	return -1
}

// Select returns new weights with the values of the arrays of those names, in that order: it
// makes a model of the weights of a file. It returns an error if an
// array is missing, has another shape, or is left over.
func (w *Weights) Select(arrays ...Array) (*Weights, error) {
	for _, a := range arrays {
		var shape []int
		if i := w.index(a.Name); i >= 0 {
			shape = w.arrays[i].Shape
		}
		if err := model.CheckShape(a.Name, shape, a.Shape); err != nil {
			return nil, fmt.Errorf("nn: %w", err)
		}
	}
	if len(w.arrays) != len(arrays) {
		return nil, fmt.Errorf("nn: %d arrays, want %d", len(w.arrays), len(arrays))
	}
	s, err := NewWeights(w.Dtype(), arrays...)
	if err != nil {
		return nil, err
	}
	for _, a := range arrays {
		if err := s.Set(a.Name, w.Get(a.Name)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Nodes adds the arrays to a graph as leaves, in the order of Arrays. Each is a new view of
// the memory: graphs that share a view cannot run at the same time.
func (w *Weights) Nodes(g *G.ExprGraph) G.Nodes {
	nodes := make(G.Nodes, len(w.arrays))
	for i, a := range w.arrays {
		view := tensor.New(tensor.WithShape(a.Shape...), tensor.WithBacking(w.memory(i)))
		nodes[i] = G.NewTensor(g, w.Dtype(), len(a.Shape), G.WithShape(a.Shape...), G.WithName(a.Name), G.WithValue(view))
	}
	return nodes
}

// Float64s returns a copy of the numbers of a value, such as the scores that a graph has
// computed. It returns an error for a value that is not a float32 or float64 tensor or scalar.
func Float64s(v G.Value) ([]float64, error) {
	if v == nil {
		return nil, fmt.Errorf("nn: there is no value: has the graph run?")
	}
	values, err := op.Numbers(v)
	if err != nil {
		return nil, fmt.Errorf("nn: the value is a %T of %v, want numbers of float32 or float64", v, v.Dtype())
	}
	return values, nil
}
