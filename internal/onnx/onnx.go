// Package onnx writes models in ONNX format: the few protocol buffers that a graph of numbers needs
// of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
package onnx

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// opsetVersion is the version of the operators, and irVersion that of the format: those of
// ONNX 1.12 (2022), which all runtimes in use can read.
const (
	opsetVersion = 17
	irVersion    = 8
)

// Type is the type of the numbers of a tensor.
type Type int

const (
	Float  Type = 1
	Int64  Type = 7
	Double Type = 11
)

// A Graph is built node by node. Values are known by their names.
type Graph struct {
	body   message // of the GraphProto
	values int     // that have been named
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

// Attributes of a node are whole numbers, or slices of them, by name.
type Attributes map[string]any

// Node adds a node with one output, and returns the name of the output.
func (g *Graph) Node(op string, attributes Attributes, inputs ...string) string {
	g.values++
	output := fmt.Sprintf("%s_%d", op, g.values)
	g.node(op, attributes, inputs, output)
	return output
}

// Second adds a node with two outputs, and returns the name of the second.
func (g *Graph) Second(op string, attributes Attributes, inputs ...string) string {
	g.values++
	first := fmt.Sprintf("%s_%d", op, g.values)
	g.node(op, attributes, inputs, first, first+"_second")
	return first + "_second"
}

// Output makes a value the output of the graph, with a name and a shape.
func (g *Graph) Output(value, name string, t Type, shape ...any) {
	g.node("Identity", nil, []string{value}, name)
	g.body = g.body.with(12, valueInfo(name, t, shape))
}

// Input adds an input of the graph.
func (g *Graph) Input(name string, t Type, shape ...any) {
	g.body = g.body.with(11, valueInfo(name, t, shape))
}

func (g *Graph) node(op string, attributes Attributes, inputs []string, outputs ...string) {
	var n message
	for _, in := range inputs {
		n = n.with(1, in)
	}
	for _, out := range outputs {
		n = n.with(2, out)
	}
	n = n.with(3, outputs[0]).with(4, op)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		const ofInt, ofInts = 2, 7 // AttributeType
		m := message{}.with(1, name)
		switch value := attributes[name].(type) {
		case int:
			m = m.with(3, value).with(20, ofInt)
		case []int:
			for _, v := range value {
				m = m.with(8, v)
			}
			m = m.with(20, ofInts)
		}
		n = n.with(5, m)
	}
	g.body = g.body.with(1, n)
}

// valueInfo describes an input or an output. Dimensions are numbers, or names where they vary.
func valueInfo(name string, t Type, shape []any) message {
	var dims message
	for _, d := range shape {
		if _, varies := d.(string); varies {
			dims = dims.with(1, message{}.with(2, d))
		} else {
			dims = dims.with(1, message{}.with(1, d))
		}
	}
	tensor := message{}.with(1, int(t)).with(2, dims)
	return message{}.with(1, name).with(2, message{}.with(1, tensor))
}

// Constant adds a tensor of numbers, and returns its name.
func (g *Graph) Constant(t Type, values []float64, shape ...int) string {
	g.values++
	name := fmt.Sprintf("constant_%d", g.values)
	raw := make(message, 0, 8*len(values))
	for _, v := range values {
		switch t {
		case Float:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		case Double:
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		case Int64:
			raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(v)))
		}
	}
	var tensor message
	for _, n := range shape {
		tensor = tensor.with(1, n)
	}
	g.body = g.body.with(5, tensor.with(2, int(t)).with(8, name).with(9, raw))
	return name
}

// Model returns the content of a model file, as written by that version of plrank.
func (g *Graph) Model(version string, metadata map[string]string) []byte {
	body := slices.Clone(g.body).with(2, "plrank")
	opset := message{}.with(1, "").with(2, opsetVersion)
	m := message{}.with(1, irVersion).with(2, "plrank").with(3, version).with(7, body).with(8, opset)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		m = m.with(14, message{}.with(1, key).with(2, metadata[key]))
	}
	return m
}
