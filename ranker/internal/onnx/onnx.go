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

	"github.com/plrank/plrank/internal/model"
	"github.com/plrank/plrank/transforms"
)

// opsetVersion is the version of the operators, and irVersion the version of the format. ONNX 1.12
// (2022) has them, and all runtimes in use can read them.
const (
	opsetVersion = 17
	irVersion    = 8
)

// A Type is the type of the numbers of a tensor.
type Type int

const (
	Float  Type = 1
	int64s Type = 7
	Double Type = 11
)

// Encode returns the content of a model's file: a graph from the input "features" [documents,
// features], raw values in float32, to the output "scores" [documents]. If onBase is true, a second
// input "base_scores" [documents], in float32, is added to the scores. dtype is the dtype of the
// model, and weights returns the array of a name.
func Encode(
	t *transforms.Transform, s model.Settings, dtype Type, weights func(name string) []float64, onBase bool,
	version string, metadata map[string]string,
) []byte {
	g := &graph{dtype: dtype, weights: weights, arrays: map[string]string{}}
	g.body = g.body.with(11, valueInfo("features", Float, "documents", t.Inputs))
	scores := model.Mean(g, model.Build(s, g, g.inputs(t, s.Embeddings)))
	scores = g.node("Squeeze", scores, g.ints(1))
	if onBase {
		g.body = g.body.with(11, valueInfo("base_scores", Float, "documents"))
		scores = g.node("Add", scores, g.to(g.dtype, "base_scores"))
	}
	g.add("Identity", nil, []string{scores}, "scores")
	g.body = g.body.with(12, valueInfo("scores", dtype, "documents")).with(2, "plrank")

	opset := message{}.with(1, "").with(2, opsetVersion)
	m := message{}.with(1, irVersion).with(2, "plrank").with(3, version).with(7, g.body).with(8, opset)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		m = m.with(14, message{}.with(1, key).with(2, metadata[key]))
	}
	return m
}

// A graph is built node by node. Values are known by their names.
type graph struct {
	dtype   Type                        // of the model
	weights func(name string) []float64 // the array of that name
	arrays  map[string]string           // those that were added: their values
	body    message                     // of the GraphProto
	values  int                         // that have been named
}

// attributes of a node are whole numbers, or slices of them, by name.
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
	for _, name := range slices.Sorted(maps.Keys(with)) {
		const ofInt, ofInts = 2, 7 // AttributeType
		m := message{}.with(1, name)
		switch value := with[name].(type) {
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

// constant adds a tensor of numbers, and returns its name.
func (g *graph) constant(t Type, values []float64, shape ...int) string {
	g.values++
	name := fmt.Sprintf("constant_%d", g.values)
	raw := make(message, 0, 8*len(values))
	for _, v := range values {
		switch t {
		case Float:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		case Double:
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		case int64s:
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
