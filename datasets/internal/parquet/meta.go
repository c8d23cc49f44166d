// Package parquet reads Parquet files, one row a document.
//
// The metadata are read by github.com/parquet-go/parquet-go/format, after a check that their lists
// are no longer than their bytes. Pages are decoded here, a few rows at a time: that module
// allocates what the run lengths of a page claim, which in a file of a few bytes may be all
// memory.
package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const magic = "PAR1"

// Is tells whether a file is Parquet by its first bytes.
func Is(first []byte) bool { return string(first) == magic }

// errDamaged is the error of bytes that are no Parquet.
var errDamaged = errors.New("the file is damaged, or cut short")

// leaf is a column of the file that is not nested.
type leaf struct {
	name     string
	index    int // among the leaves of the schema
	kind     format.Type
	optional bool
	unsigned bool
	size     int  // bytes of a plain value; 0: bits, or each has its own
	scale    int  // of a decimal number
	half     bool // a number of two bytes with an exponent
}

// sizes are the bytes of plain values where they do not depend on the column.
var sizes = map[format.Type]int{format.Int32: 4, format.Int64: 8, format.Float: 4, format.Double: 8}

// mostDecimal bounds the bytes of a decimal number, and mostScale its scale: 76 digits.
const mostDecimal, mostScale = 32, 76

// isText tells whether the values are text.
func (l leaf) isText() bool { return l.kind == format.ByteArray }

// readMeta reads what the end of a file says of it.
func readMeta(file []byte) (*format.FileMetaData, error) {
	const tail = 8 // length and magic
	n := len(file) - tail
	if n < len(magic) || string(file[n+4:]) != magic {
		return nil, errDamaged
	}
	length := int64(binary.LittleEndian.Uint32(file[n:]))
	if length > int64(n) {
		return nil, errDamaged
	}
	footer := file[n-int(length) : n]
	meta := new(format.FileMetaData)
	if _, err := decode(footer, meta); err != nil {
		return nil, err
	}
	return meta, nil
}

// decode decodes the struct at the beginning of b, and gives its length.
func decode(b []byte, to any) (n int, err error) {
	rest, err := skipStruct(b, 0)
	if err != nil {
		return 0, err
	}
	n = len(b) - len(rest)
	return n, thrift.Unmarshal(new(thrift.CompactProtocol), b[:n], to)
}

// leaves are the columns that can be read, and the names and types of those that cannot.
func leaves(schema []format.SchemaElement) (read []leaf, others []string, err error) {
	if len(schema) == 0 {
		return nil, nil, errDamaged
	}
	index := 0
	for i := 1; i < len(schema); {
		e := schema[i]
		top, first := i, index
		for open := 1; open > 0; i++ { // over all that is within
			if i == len(schema) {
				return nil, nil, errDamaged
			}
			children := int(schema[i].NumChildren.V)
			if children < 0 || children > len(schema) {
				return nil, nil, errDamaged
			}
			if children == 0 {
				index++
			}
			open += children - 1
		}
		repeated := e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated
		if l, ok := newLeaf(e, first); ok && i == top+1 && !repeated {
			read = append(read, l)
		} else {
			others = append(others, fmt.Sprintf("%s (%s)", e.Name, typeOf(e, repeated)))
		}
	}
	return read, others, nil
}

// typeOf names the type of a column that is not read.
func typeOf(e format.SchemaElement, repeated bool) string {
	switch value := e.LogicalType.Value.(type) {
	case *format.ListType, *format.MapType, *format.UUIDType, *format.DecimalType, *format.VariantType:
		return value.String()
	}
	switch {
	case repeated:
		return "repeated"
	case e.NumChildren.V > 0:
		return "nested"
	}
	return e.Type.V.String()
}

// newLeaf is a column that is not nested; not ok: its type is not read.
func newLeaf(e format.SchemaElement, index int) (l leaf, ok bool) {
	l = leaf{name: e.Name, index: index, kind: e.Type.V, optional: e.RepetitionType.Valid && e.RepetitionType.V == format.Optional}
	l.size = sizes[l.kind]
	converted := e.ConvertedType
	l.unsigned = converted.Valid && converted.V >= deprecated.Uint8 && converted.V <= deprecated.Uint64
	decimal := converted.Valid && converted.V == deprecated.Decimal
	if decimal {
		l.scale = int(e.Scale.V)
	}
	switch logical := e.LogicalType.Value.(type) {
	case *format.IntType:
		l.unsigned = !logical.IsSigned
	case *format.DecimalType:
		decimal, l.scale = true, int(logical.Scale)
	}
	if decimal && (l.scale < 0 || l.scale > mostScale) {
		return l, false
	}
	switch l.kind {
	case format.Boolean, format.Int32, format.Int64, format.Float, format.Double:
		return l, true
	case format.ByteArray: // or a number of any length
		return l, !decimal
	case format.FixedLenByteArray:
		l.size = int(e.TypeLength.V)
		_, half := e.LogicalType.Value.(*format.Float16Type)
		l.half = half && l.size == 2
		return l, l.half || decimal && l.size > 0 && l.size <= mostDecimal
	}
	return l, false
}

// span is the bytes from, …, to−1 of a file.
type span struct{ from, to int64 }

// part is where a column of a row group is in the file.
func part(file []byte, meta *format.ColumnMetaData, path string) (span, error) {
	from := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 && d < from {
		from = d
	}
	size := meta.TotalCompressedSize
	if path != "" || from < 0 || size < 0 || from > int64(len(file)) || size > int64(len(file))-from {
		return span{}, errDamaged
	}
	return span{from, from + size}, nil
}

// overlap tells whether any two spans do. It sorts them.
func overlap(spans []span) bool {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return true
		}
	}
	return false
}

// The types of Thrift's compact protocol.
const (
	tStop = iota
	tTrue
	tFalse
	tByte
	tInt16
	tInt32
	tInt64
	tDouble
	tBinary
	tList
	tSet
	tMap
	tStruct
)

// skipStruct is what follows a struct of Thrift's compact protocol. It is an error if the struct
// claims more than its bytes: the module would make room for it.
func skipStruct(b []byte, depth int) ([]byte, error) {
	const deepest = 32
	for depth < deepest {
		if len(b) == 0 {
			return nil, errDamaged
		}
		kind, delta := b[0]&15, b[0]>>4
		b = b[1:]
		if kind == tStop {
			return b, nil
		}
		var err error
		if delta == 0 {
			if _, b, err = varint(b); err != nil {
				return nil, err
			}
		}
		if kind > tFalse { // whose values are their types
			if b, err = skip(b, kind, depth); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("%w: structs are nested too deeply", errDamaged)
}

// skip is what follows a value.
func skip(b []byte, kind byte, depth int) (rest []byte, err error) {
	n := uint64(0)
	switch kind {
	case tTrue, tFalse, tByte:
		n = 1
	case tDouble:
		n = 8
	case tInt16, tInt32, tInt64:
		_, b, err = varint(b)
	case tBinary:
		n, b, err = varint(b)
	case tStruct:
		return skipStruct(b, depth+1)
	case tList, tSet:
		return skipList(b, depth)
	default: // the metadata have no maps
		err = errDamaged
	}
	if err != nil || n > uint64(len(b)) {
		return nil, errDamaged
	}
	return b[n:], nil
}

func skipList(b []byte, depth int) (rest []byte, err error) {
	if len(b) == 0 {
		return nil, errDamaged
	}
	kind, n := b[0]&15, uint64(b[0]>>4)
	if b = b[1:]; n == 15 {
		if n, b, err = varint(b); err != nil {
			return nil, err
		}
	}
	least := uint64(1) // bytes of an element
	if kind == tStruct {
		least = 3 // a field, what is in it, and the end
	}
	if n > uint64(len(b))/least {
		return nil, errDamaged
	}
	for range n {
		if b, err = skip(b, kind, depth); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func varint(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errDamaged
	}
	return v, b[n:], nil
}
