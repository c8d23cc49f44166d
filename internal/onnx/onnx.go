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

// Opset is the version of the operators, and irVersion that of the format: those of
// ONNX 1.12 (2022), which all runtimes in use can read.
const (
	Opset     = 17
	irVersion = 8
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

// A message is a protocol buffer being written.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) number(field protowire.Number, v int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
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
	g.body.bytes(12, valueInfo(name, t, shape))
}

// Input adds an input of the graph. Dimensions are numbers, or names where they vary.
func (g *Graph) Input(name string, t Type, shape ...any) {
	g.body.bytes(11, valueInfo(name, t, shape))
}

func (g *Graph) node(op string, attributes Attributes, inputs []string, outputs ...string) {
	var n message
	for _, in := range inputs {
		n.text(1, in)
	}
	for _, out := range outputs {
		n.text(2, out)
	}
	n.text(3, outputs[0])
	n.text(4, op)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		const ofInt, ofInts = 2, 7 // AttributeType
		var m message
		m.text(1, name)
		switch value := attributes[name].(type) {
		case int:
			m.number(3, value)
			m.number(20, ofInt)
		case []int:
			for _, v := range value {
				m.number(8, v)
			}
			m.number(20, ofInts)
		}
		n.bytes(5, m)
	}
	g.body.bytes(1, n)
}

func valueInfo(name string, t Type, shape []any) []byte {
	var dims message
	for _, d := range shape {
		var dim message
		switch d := d.(type) {
		case int:
			dim.number(1, d)
		case string:
			dim.text(2, d)
		}
		dims.bytes(1, dim)
	}
	var tensor, of, info message
	tensor.number(1, int(t))
	tensor.bytes(2, dims)
	of.bytes(1, tensor)
	info.text(1, name)
	info.bytes(2, of)
	return info
}

// Constant adds a tensor of numbers, and returns its name.
func (g *Graph) Constant(t Type, values []float64, shape ...int) string {
	g.values++
	name := fmt.Sprintf("constant_%d", g.values)
	raw := make([]byte, 0, 8*len(values))
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
		tensor.number(1, n)
	}
	tensor.number(2, int(t))
	tensor.text(8, name)
	tensor.bytes(9, raw)
	g.body.bytes(5, tensor)
	return name
}

// Model returns the content of a model file, as written by that version of plrank.
func (g *Graph) Model(version string, metadata map[string]string) []byte {
	body := slices.Clone(g.body)
	body.text(2, "plrank")
	var opset, m message
	opset.text(1, "")
	opset.number(2, Opset)
	m.number(1, irVersion)
	m.text(2, "plrank")
	m.text(3, version)
	m.bytes(7, body)
	m.bytes(8, opset)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		var entry message
		entry.text(1, key)
		entry.text(2, metadata[key])
		m.bytes(14, entry)
	}
	return m
}
