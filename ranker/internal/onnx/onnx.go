// Package onnx writes models in ONNX format, with their transforms of features inside: the few
// protocol buffers that a graph of numbers needs of
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
package onnx

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/transforms"
)

// opsetVersion is the version of the operators, and irVersion the version of the format. ONNX 1.12
// (2022) has them, and all runtimes in use can read them. Trees are an operator of a domain of its own, whose version 3 has
// thresholds and sums in double precision.
const (
	opsetVersion = 17
	irVersion    = 8

	treesDomain       = "ai.onnx.ml"
	treesOpsetVersion = 3
)

// A Type is the type of the numbers of a tensor.
type Type int

const (
	Float  Type = 1
	uint8s Type = 2
	int64s Type = 7
	Double Type = 11
)

// A Part is a network or a forest, whose scores, with a weight, are a part of a model's.
type Part struct {
	Weight    float64
	Transform *transforms.Transform
	Dtype     Type
	Network   model.Settings
	Arrays    func(name string) []float64 // of the network
	Forest    *forest.Forest              // in place of a network
}

// A Model is what a file has: the sum of its parts.
type Model struct {
	Parts    []Part
	Dtype    Type
	OnBase   bool                 // base scores are added
	Vectors  []transforms.Vector  // that features are made of
	Products []transforms.Product // the last features
	Version  string               // of plrank
	Metadata map[string]string
}

// Encode returns the content of a model's file: a graph from the input "features" [documents,
// features], raw values in float32, to the output "scores" [documents]. Vectors are further inputs, see products, and so are
// "base_scores" [documents], in float32.
func (m *Model) Encode() ([]byte, error) {
	g := &graph{features: "features"}
	parts, dtype := m.Parts, m.Dtype
	g.body = g.body.with(11, valueInfo("features", Float, "documents", parts[0].Transform.Inputs-len(m.Products)))
	if m.Products != nil {
		var err error
		if g.features, err = g.products("features", m.Vectors, m.Products); err != nil {
			return nil, err
		}
	}
	var scores string
	withTrees := false
	for i, p := range parts {
		g.dtype, g.weights, g.arrays = p.Dtype, p.Arrays, map[string]string{}
		var part string
		if p.Forest != nil {
			part, withTrees = g.forest(p.Forest, p.Transform), true
		} else {
			part = model.Mean(g, model.Build(p.Network, g, g.inputs(p.Transform, g.vectors(p.Network.Embeddings))))
		}
		if g.dtype = dtype; p.Dtype != dtype {
			part = g.to(dtype, part)
		}
		if p.Weight != 1 {
			part = g.Mul(part, g.Number(p.Weight))
		}
		if i > 0 {
			part = g.Add(scores, part)
		}
		scores = part
	}
	scores = g.node("Squeeze", scores, g.ints(1))
	if m.OnBase {
		g.body = g.body.with(11, valueInfo("base_scores", Float, "documents"))
		scores = g.node("Add", scores, g.to(g.dtype, "base_scores"))
	}
	g.add("Identity", nil, []string{scores}, "scores")
	g.body = g.body.with(12, valueInfo("scores", dtype, "documents")).with(2, "plrank")

	opset := message{}.with(1, "").with(2, opsetVersion)
	file := message{}.with(1, irVersion).with(2, "plrank").with(3, m.Version).with(7, g.body).with(8, opset)
	if withTrees {
		file = file.with(8, message{}.with(1, treesDomain).with(2, treesOpsetVersion))
	}
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		file = file.with(14, message{}.with(1, key).with(2, m.Metadata[key]))
	}
	return file, nil
}

// A graph is built node by node. Values are known by their names.
type graph struct {
	features string                      // the columns of all features
	dtype    Type                        // of the model
	weights  func(name string) []float64 // the array of that name
	arrays   map[string]string           // those that were added: their values
	body     message                     // of the GraphProto
	values   int                         // that have been named
}

// attributes of a node are whole numbers, slices of them, tensors, or texts, by name.
type attributes map[string]any

// node adds a node with one output, and returns the name of the output.
func (g *graph) node(op string, inputs ...string) string { return g.nodeWith(op, nil, inputs...) }

func (g *graph) nodeWith(op string, with attributes, inputs ...string) string {
	g.values++
	output := fmt.Sprintf("%s_%d", op, g.values)
	g.add(op, with, inputs, output)
	return output
}

// second adds a node with two outputs, and returns the name of the second.
func (g *graph) second(op string, with attributes, inputs ...string) string {
	g.values++
	first := fmt.Sprintf("%s_%d", op, g.values)
	g.add(op, with, inputs, first, first+"_second")
	return first + "_second"
}

func (g *graph) add(op string, with attributes, inputs []string, outputs ...string) {
	var n message
	for _, in := range inputs {
		n = n.with(1, in)
	}
	for _, out := range outputs {
		n = n.with(2, out)
	}
	n = n.with(3, outputs[0]).with(4, op)
	if op == treeEnsemble {
		n = n.with(7, treesDomain)
	}
	for _, name := range slices.Sorted(maps.Keys(with)) {
		const ofInt, ofTensor, ofInts, ofTexts = 2, 4, 7, 8 // AttributeType
		m := message{}.with(1, name)
		switch value := with[name].(type) {
		case int:
			m = m.with(3, value).with(20, ofInt)
		case []int:
			for _, v := range value {
				m = m.with(8, v)
			}
			m = m.with(20, ofInts)
		case message:
			m = m.with(5, value).with(20, ofTensor)
		case []string:
			for _, v := range value {
				m = m.with(9, v)
			}
			m = m.with(20, ofTexts)
		}
		n = n.with(5, m)
	}
	g.body = g.body.with(1, n)
}

// constant adds a tensor of numbers, and returns its name.
func (g *graph) constant(t Type, values []float64, shape ...int) string {
	g.values++
	name := fmt.Sprintf("constant_%d", g.values)
	g.body = g.body.with(5, tensor(name, t, values, shape...))
	return name
}

// tensor is a TensorProto.
func tensor(name string, t Type, values []float64, shape ...int) (m message) {
	raw := make(message, 0, 8*len(values))
	for _, v := range values {
		switch t {
		case uint8s:
			raw = append(raw, uint8(v))
		case Float:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		case Double:
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		case int64s:
			raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(v)))
		}
	}
	for _, n := range shape {
		m = m.with(1, n)
	}
	return m.with(2, int(t)).with(8, name).with(9, raw)
}

// valueInfo describes an input or an output. Its length varies, and has a name.
func valueInfo(name string, t Type, length string, width ...int) message {
	dims := message{}.with(1, message{}.with(2, length))
	for _, n := range width {
		dims = dims.with(1, message{}.with(1, n))
	}
	tensor := message{}.with(1, int(t)).with(2, dims)
	return message{}.with(1, name).with(2, message{}.with(1, tensor))
}

// A message is a protocol buffer.
type message []byte

// with is the message with one more field: a whole number, a text or a message.
func (m message) with(field protowire.Number, value any) message {
	switch v := value.(type) {
	case int:
		return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
	case string:
		return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), v)
	}
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), value.(message))
}
