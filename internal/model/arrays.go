package model

import (
	"fmt"
	"math"
	"slices"
)

// An Array is one of the arrays of a model's weights. Its initial numbers are Initial, or
// uniform in ±Limit.
type Array struct {
	Name    string
	Shape   []int  // one length, or rows and columns
	Network int    // of an ensemble that it belongs to, from 1; 0: there is one, or they have it in common
	Bias    bool   // an offset or a gain, which weight decay leaves alone
	Inputs  bool   // every row is the weights of one input of the model
	Bins    []int  // of the first inputs, which have a row for each bin instead; nil: none have
	AddedTo string // of a bias: the weights to whose product with the inputs it is added; "": others
	Initial float64
	Limit   float64 // 0: Initial
	Stream  uint64  // of the seed, from which they are drawn
	Zeros   int     // at the beginning of the array, instead of random numbers
}

// Streams of the seed. Those of the layers count from 0 on.
const (
	blockStreams     = 1 << 32
	embeddingStreams = 1 << 33
)

// unknownCodes are the codes for values that training data do not have and for those that are
// missing, whose vectors begin as zeros.
const unknownCodes = 2

// Arrays returns the arrays of the layers of one member after another, the tables of the embeddings,
// and then the arrays of the blocks of one member after another.
func (s Settings) Arrays() (all []Array) {
	members := s.Layers()
	network, stream := 0, uint64(0)
	add := func(a Array) {
		a.Network = network
		all = append(all, a)
	}
	dense := func(d Dense, a Array) {
		a.Name, a.Limit, a.Stream = d.W, glorot(d.In, d.Out), stream
		add(a)
		stream++
		b := Array{Name: d.B, Shape: []int{d.Out}, Bias: true}
		if a.Inputs {
			b.AddedTo = d.W
		}
		add(b)
	}
	for _, m := range members {
		network = m.Network
		for i, d := range m.Hidden {
			dense(d, Array{Shape: []int{d.Rows(), d.Out}, Inputs: i == 0, Bins: d.Bins})
		}
		dense(m.Score, Array{Shape: []int{m.Score.Rows()}, Inputs: len(m.Hidden) == 0, Bins: m.Score.Bins})
	}
	for i, e := range s.Embeddings {
		all = append(all, Array{
			Name: Table(i), Shape: []int{e.Codes, e.Width}, Zeros: min(unknownCodes, e.Codes) * e.Width,
			Limit: glorot(1, e.Width), Stream: embeddingStreams + uint64(i),
		})
	}
	if s.Attention == nil {
		return all
	}
	stream = blockStreams
	norm := func(n Norm) {
		shape := []int{n.Width}
		add(Array{Name: n.Gain, Shape: shape, Bias: true, Initial: 1})
		add(Array{Name: n.Bias, Shape: shape, Bias: true})
	}
	for _, m := range members {
		network = m.Network
		for _, b := range m.Blocks {
			for _, d := range []Dense{b.QKV, b.Merge, b.Up, b.Down} {
				dense(d, Array{Shape: []int{d.In, d.Out}})
			}
		}
		for _, b := range m.Blocks {
			norm(b.First)
			norm(b.Second)
		}
		norm(m.Last)
	}
	return all
}

// glorot is √(6/(in+out)) (Glorot & Bengio 2010, eq. 16).
func glorot(in, out int) float64 { return math.Sqrt(6 / float64(in+out)) }

// count is the number of arrays, without naming them.
func (s Settings) count() int {
	arrays := 2 * (len(s.Hidden) + 1) // of a member
	if s.Attention != nil {
		const layers, norms = 4, 2 // of a block
		arrays += 2*(layers+norms)*s.Blocks + 2
	}
	return arrays*max(1, s.Members) + len(s.Embeddings)
}

// CheckShape returns an error if a stored array has another shape than it should, nil being the shape
// of an array that was not stored.
func CheckShape(name string, has, want []int) error {
	switch {
	case has == nil:
		return fmt.Errorf("no array %q", name)
	case !slices.Equal(has, want):
		return fmt.Errorf("array %q has shape %v, want %v", name, has, want)
	}
	return nil
}
