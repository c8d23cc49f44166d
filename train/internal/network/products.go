package network

import (
	"errors"
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// Products are the bilinear products of vectors that a network learns. Its graphs compute them, and the inputs that are made of them,
// from vectors that stand after the other inputs in each row.
type Products struct {
	Vectors []int // of the dataset, in their order in a row
	Width   int   // of a row
	inputs  int   // before the vectors
	list    []product
}

// A product is one of them. Its matrices are weights times a unit, a power of two of about twice their size at the beginning, so that a
// step of Adam is as long for vectors of any length.
type product struct {
	transforms.Product         // as it begins
	at                 [2]int  // where its vectors begin in a row
	dimension          int     // of them
	unit               float32 // of the weights
	step               float32 // of its value, for derivatives
	inputs             []int   // that are made of it
	transform          *transforms.Transform
}

// NewProducts returns those products of a dataset, by position, nil if there are none. Their values go through a transform.
func NewProducts(d *datasets.Dataset, learned []int, t *transforms.Transform) *Products {
	all := &Products{Width: t.Width(), inputs: t.Width()}
	places := map[string]int{}
	for _, i := range learned {
		p := product{Product: d.Products[i]}
		column := slices.Index(d.FeatureNames, p.Name)
		if p.transform, p.inputs = t.Restrict(column); p.inputs == nil {
			continue // the same for all documents
		}
		_, a, b, _ := transforms.ParseProduct(p.Name)
		for side, name := range []string{a, b} {
			vector := slices.Index(d.Vectors.Names, name)
			p.dimension = d.Vectors.Dimensions[vector]
			if _, placed := places[name]; !placed {
				places[name] = all.Width
				all.Vectors, all.Width = append(all.Vectors, vector), all.Width+p.dimension
			}
			p.at[side] = places[name]
		}
		squares := 0.
		for _, row := range slices.Concat(p.Left, p.Right) {
			squares += float64(blas32.Dot(vector(row), vector(row)))
		}
		p.unit = float32(math.Exp2(1 + math.Round(math.Log2(squares/float64(2*len(p.Left)*p.dimension))/2)))
		n, sum := 0., 0.
		for r := range d.Rows() {
			if v := float64(d.Row(r)[column]); v == v {
				n, sum = n+1, sum+math.Abs(v)
			}
		}
		p.step = float32(.01 * sum / n)
		all.list = append(all.list, p)
	}
	if all.list == nil {
		return nil
	}
	return all
}

// withProducts is a model of inputs with these products.
type withProducts struct {
	nn.Scorer             // whose memory of weights is not used
	weights   *nn.Weights // its own, and the matrices
	*Products
}

// Of returns a model with products for one of the inputs alone, with the same weights and the matrices as they begin.
func (all *Products) Of(s nn.Scorer) (nn.Scorer, error) {
	arrays, values := s.Weights().Arrays(), slices.Clone(s.Weights().Float32s())
	for i := range all.list {
		p := &all.list[i]
		for side, rows := range [][][]float32{p.Left, p.Right} {
			arrays = append(arrays, nn.Array{Name: p.array(side), Shape: []int{len(rows), p.dimension}, Bias: true}) // without decay
			for _, v := range slices.Concat(rows...) {
				values = append(values, v/p.unit)
			}
		}
	}
	weights, err := nn.NewWeights(tensor.Float32, arrays...)
	if err != nil {
		return nil, err
	}
	copy(weights.Float32s(), values)
	return &withProducts{s, weights, all}, nil
}

// array returns the name of the array of a matrix.
func (p *product) array(side int) string { return fmt.Sprintf("%s.%d", p.Name, side) }

func (w *withProducts) Weights() *nn.Weights { return w.weights }
func (w *withProducts) SetStep(step uint64)  { nn.SetStep(w.Scorer, step) }
func (w *withProducts) String() string       { return Words(w.Scorer) + "; with bilinear products" }

func (w *withProducts) Build(in nn.Input, mode nn.Mode) (*G.Node, error) {
	in, err := w.input(in)
	if err != nil {
		return nil, err
	}
	return w.Scorer.Build(in, mode)
}

// BuildMembers builds members, which have the products in common.
func (w *withProducts) BuildMembers(in nn.Input, mode nn.Mode) (G.Nodes, error) {
	in, err := w.input(in)
	if err != nil {
		return nil, err
	}
	return nn.BuildMembers(w.Scorer, in, mode)
}

// input returns the inputs of the model without products.
func (w *withProducts) input(in nn.Input) (nn.Input, error) {
	own := len(w.Scorer.Weights().Arrays())
	if in.Features == nil || in.Offsets == nil {
		return in, errors.New("train: bilinear products need features and offsets")
	}
	id := op.NewID()
	f := &op.Func{
		Name: "train: Bilinear", Settings: fmt.Sprint(id), VJPs: []*op.Term{nil, nil},
		Shape: func(in []tensor.Shape) tensor.Shape { return tensor.Shape{in[0][0], w.inputs} },
		Do: func(in []op.Tensor, result op.Tensor) error {
			w.compute(in, result.F32)
			return nil
		},
	}
	for i := range w.list {
		for side := range 2 {
			slope := &op.Func{Name: "train: BilinearVJP", Settings: fmt.Sprint(id, i, side), Do: func(in []op.Tensor, result op.Tensor) error {
				w.differentiate(w.list[i], side, in, result.F32)
				return nil
			}}
			f.VJPs = append(f.VJPs, slope.Of(op.Input(0), op.Input(1), op.Input(2+2*i), op.Input(3+2*i), op.Incoming))
		}
	}
	x, err := f.Apply(append(G.Nodes{in.Features, in.Offsets}, in.Weights[own:]...)...)
	return nn.Input{Features: x, Offsets: in.Offsets, Weights: in.Weights[:own]}, err
}

// set sets the matrices to weights times the unit.
func (p *product) set(left, right []float32) {
	for side, to := range []*[][]float32{&p.Left, &p.Right} {
		numbers := slices.Clone([][]float32{left, right}[side])
		blas32.Scal(p.unit, vector(numbers))
		*to = slices.Collect(slices.Chunk(numbers, p.dimension))
	}
}

// vectorOf returns a vector of a row, nil if it is missing.
func (p *product) vectorOf(row []float32, side int) []float32 {
	if v := row[p.at[side]:][:p.dimension]; v[0] == v[0] {
		return v
	}
	return nil
}

// queries calls a function with the rows of each query, and the values of the product there.
func (w *withProducts) queries(p *product, x []float32, offsets []int, f func(from, to int, values []float32)) {
	parallel.For(len(offsets)-1, parallel.Workers(len(offsets)-1), func(_, q int) {
		from, to := offsets[q], offsets[q+1]
		values := make([]float32, to-from)
		for i := range values {
			row := x[(from+i)*w.Width:]
			values[i] = p.Value(p.vectorOf(row, 0), p.vectorOf(row, 1))
		}
		f(from, to, values)
	})
}

// apply returns the inputs that are made of values of a query.
func (p *product) apply(values []float32) []float32 {
	inputs := make([]float32, len(values)*len(p.inputs))
	p.transform.Query(inputs, values)
	return inputs
}

// compute is rows, offsets, matrices → inputs.
func (w *withProducts) compute(in []op.Tensor, y []float32) {
	x := in[0].F32
	for r := range len(y) / w.inputs {
		copy(y[r*w.inputs:(r+1)*w.inputs], x[r*w.Width:])
	}
	for i, p := range w.list {
		p.set(in[2+2*i].F32, in[3+2*i].F32)
		w.queries(&p, x, in[1].Int, func(from, to int, values []float32) {
			for k, v := range p.apply(values) {
				y[(from+k/len(p.inputs))*w.inputs+p.inputs[k%len(p.inputs)]] = v
			}
		})
	}
}

// differentiate is rows, offsets, matrices, incoming → the derivative by a matrix. Inputs are differentiated by a small step of the
// values of a query, all in the same direction, which those that compare documents do not change with: their slope is the one of a
// line from the least value of the query to the largest.
func (w *withProducts) differentiate(p product, side int, in []op.Tensor, result []float32) {
	x, dy := in[0].F32, in[4].F32
	p.set(in[2].F32, in[3].F32)
	slopes := make([]float32, len(dy)/w.inputs)
	w.queries(&p, x, in[1].Int, func(from, to int, values []float32) {
		up, down := make([]float32, to-from), make([]float32, to-from)
		least, most := float32(math.MaxFloat32), float32(-math.MaxFloat32)
		for i, v := range values {
			if up[i], down[i] = v+p.step, v-p.step; v == v {
				least, most = min(least, v), max(most, v)
			}
		}
		now, above, below := p.apply(values), p.apply(up), p.apply(down)
		for k := range now {
			i, at := k/len(p.inputs), k%len(p.inputs)
			slope := (above[k] - below[k]) / (up[i] - down[i])
			if part := p.transform.Parts[at].Name; (part == "minmax" || part == "rank") && p.transform.Bins == nil {
				slope = map[string]float32{"minmax": 1, "rank": 3.4641016}[part] / (most - least)
			}
			if slope-slope == 0 {
				slopes[from+i] += dy[(from+i)*w.inputs+p.inputs[at]] * slope
			}
		}
	})
	other := [][][]float32{p.Right, p.Left}[side]
	parallel.For(len(other), parallel.Workers(len(other)), func(_, k int) {
		to := vector(result[k*p.dimension : (k+1)*p.dimension])
		clear(to.Data)
		for r, slope := range slopes {
			if slope != 0 {
				row := x[r*w.Width:]
				factor := blas32.Dot(vector(other[k]), vector(p.vectorOf(row, 1-side)))
				blas32.Axpy(slope*factor*p.unit, vector(p.vectorOf(row, side)), to)
			}
		}
	})
}

// inner returns the scorer inside a model with products, which takes them as features, or the model itself.
func inner(s nn.Scorer) nn.Scorer {
	if w, is := s.(*withProducts); is {
		return w.Scorer
	}
	return s
}

// fill writes the products that weights have into a file.
func (all *Products) fill(f *ranker.File, weights *nn.Weights) {
	f.Products = slices.Clone(f.Products)
	for _, p := range all.list {
		at := slices.IndexFunc(f.Products, func(other transforms.Product) bool { return other.Name == p.Name })
		p.set(float32s(weights.Get(p.array(0))), float32s(weights.Get(p.array(1))))
		f.Products[at] = p.Product
	}
}

func float32s(list []float64) (numbers []float32) {
	for _, v := range list {
		numbers = append(numbers, float32(v))
	}
	return numbers
}
