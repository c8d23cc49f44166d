package parquet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// listSchema returns elements with these repetitions, the first of which has the others within it.
func listSchema(annotated bool, kind format.Type, repetitions ...format.FieldRepetitionType) []format.SchemaElement {
	e := make([]format.SchemaElement, len(repetitions))
	for i, r := range repetitions {
		e[i].RepetitionType.Valid, e[i].RepetitionType.V = true, r
		if i < len(e)-1 {
			e[i].NumChildren.Valid, e[i].NumChildren.V = true, 1
		} else {
			e[i].Type.Valid, e[i].Type.V = true, kind
		}
	}
	if annotated {
		e[0].ConvertedType.Valid, e[0].ConvertedType.V = true, deprecated.List
	}
	return e
}

func TestListsOfNumbersAreVectorsAndOthersAreNot(t *testing.T) {
	const required, optional, repeated = format.Required, format.Optional, format.Repeated
	for _, c := range []struct {
		schema         []format.SchemaElement
		is             bool
		empty, deepest uint32
	}{
		{listSchema(true, format.Float, optional, repeated, optional), true, 1, 3},
		{listSchema(true, format.Double, required, repeated, required), true, 0, 1},
		{listSchema(true, format.Float, optional, repeated), true, 1, 2},
		{listSchema(false, format.Float, repeated), true, 0, 1},
		{listSchema(true, format.Int32, optional, repeated, optional), false, 0, 0},
		{listSchema(true, format.ByteArray, optional, repeated, optional), false, 0, 0},
		{listSchema(false, format.Float, optional, repeated, optional), false, 0, 0},                    // a struct
		{listSchema(true, format.Float, optional, repeated, repeated), false, 0, 0},                     // lists of lists
		{listSchema(true, format.Float, optional, repeated, optional, repeated, optional), false, 0, 0}, // lists of lists
		{listSchema(true, format.Float, optional, optional), false, 0, 0},
		{listSchema(false, format.Float, optional), false, 0, 0},
	} {
		var l leaf
		if is := listOf(c.schema, &l, 0); is != c.is || l.empty != c.empty || l.deepest != c.deepest {
			t.Errorf("%v: %v, levels %d and %d, want %v, %d and %d", c.schema, is, l.empty, l.deepest, c.is, c.empty, c.deepest)
		}
	}
}

// A few bytes that claim many numbers are refused before these take memory.
func TestVectorsOfNoBytesAreRefused(t *testing.T) {
	file := crafted(t, 1<<20, format.Uncompressed, false, with(column{"v", format.Float, make([]byte, 4), 1}), func(m *format.FileMetaData) {
		m.Schema[3].RepetitionType.Valid, m.Schema[3].RepetitionType.V = true, format.Repeated
	})
	if _, n, err := read(file, reader.Options{}); err == nil || n > 200<<20 {
		t.Errorf("error %v, %d bytes allocated", err, n)
	}
	// A page of 2^30 numbers, of a dictionary of one, in one run of each kind.
	var body []byte
	const claimed = 1 << 30
	for _, level := range []byte{1, 1} {
		run := append(binary.AppendUvarint(nil, claimed<<1), level)
		body = append(binary.LittleEndian.AppendUint32(body, uint32(len(run))), run...)
	}
	body = binary.AppendUvarint(append(body, 0), claimed<<1)
	p := &pages{leaf: leaf{kind: format.Float, size: 4, isList: true, deepest: 1}, allowed: newAllowance(100)}
	if err := p.setDictionary(make([]byte, 4), 4, 1); err != nil {
		t.Fatal(err)
	}
	h := &format.DataPageHeader{NumValues: claimed, Encoding: format.RLEDictionary, RepetitionLevelEncoding: format.RLE, DefinitionLevelEncoding: format.RLE}
	if err := p.setV1(body, len(body), h); err != nil {
		t.Fatal(err)
	}
	p.repeats.value = 0
	if err := p.readVectors(1); err == nil || cap(p.lists.Values) > 1<<26 {
		t.Errorf("error %v, %d numbers", err, cap(p.lists.Values))
	}
}

// What a column of lists takes while it is read does not grow with its pages.
func TestPagesOfListsShareMemory(t *testing.T) {
	type row struct {
		Query string    `parquet:"qid"`
		Label int32     `parquet:"label"`
		V     []float32 `parquet:"v"`
	}
	const rows, dimension = 4000, 128
	rng := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.Compression(&parquet.Snappy), parquet.PageBufferSize(1<<14))
	for range rows {
		v := make([]float32, dimension)
		for i := range v {
			v[i] = rng.Float32()
		}
		if _, err := w.Write([]row{{"a", 1, v}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, allocated, err := read(b.Bytes(), reader.Options{})
	if numbers := 4 * rows * dimension; err != nil || got != rows || allocated > numbers/2 {
		t.Errorf("%d rows, %d bytes for %d of numbers, error %v", got, allocated, numbers, err)
	}
}
