// Package parquet reads Parquet files, one row a document. It has no names: a program that imports it
// can read them with package datasets.
//
//	import _ "github.com/plrank/plrank/datasets/parquet"
//
// Pages are decoded here, a few rows at a time: no module reads all files, and within bounds (docs/architecture.md). The
// metadata are decoded by github.com/parquet-go/parquet-go, with a check that their lists are no longer than their bytes.
package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/datasets/internal/reader"
)

const magic = "PAR1"

func init() { reader.Register(magic, readRows) }

// errDamaged is the error of bytes that are no Parquet.
var errDamaged = errors.New("the file is damaged, or cut short")

// errUnread is the error of bytes that are Parquet of a kind that is not read.
var errUnread = errors.New("the column cannot be read")

// leaf is a column of the file that is not nested, or one of lists of numbers.
type leaf struct {
	name    string
	index   int // among the leaves of the schema
	kind    format.Type
	form    form
	isList  bool
	empty   uint32        // of a list: the level of one that is empty; 0 is null, unless this is 0
	deepest uint32        // the level of a value: 0 if there are no nulls, 1 if there may be, or the level of a list's numbers
	size    int           // bytes of a plain value; 0: bits, or each has its own
	scale   int           // of a decimal number
	unit    time.Duration // of a time
	zone    string        // of a time: "Z" if it is UTC, "" if it is local
}

// form is what the values of a column mean. Those from textual on are not numbers.
type form int

const (
	unread form = iota - 1
	number      // with the sign of its kind, or a boolean
	unsigned
	decimal
	half // a number of two bytes with an exponent
	textual
	uuid
	date      // in days since 1970
	timeOfDay // in units since midnight
	timestamp // in units since 1970, or with a Julian day
)

// moments names the forms whose numbers mean nothing without their unit, which differs between files. They are read as
// text, as text files have them.
var moments = map[form]string{date: "date", timeOfDay: "time", timestamp: "timestamp"}

func (l *leaf) isNumber() bool { return l.form < textual }

// sizes are the bytes of plain values where they do not depend on the column.
var sizes = map[format.Type]int{format.Int32: 4, format.Int64: 8, format.Int96: 12, format.Float: 4, format.Double: 8}

// mostDecimal bounds the bytes of a decimal number, and mostScale its scale: 76 digits.
const mostDecimal, mostScale = 32, 76

// fileMeta is what is read of the metadata of a file. The rest is skipped, whatever it is.
type fileMeta struct {
	Schema    thrift.Slice[format.SchemaElement] `thrift:"2,required"`
	RowGroups thrift.Slice[rowGroup]             `thrift:"4,required"`
	Pairs     thrift.Slice[pair]                 `thrift:"5,optional"`
}

type rowGroup struct {
	Columns thrift.Slice[columnChunk] `thrift:"1,required"`
	NumRows int64                     `thrift:"3,required"`
}

type columnChunk struct {
	FilePath string `thrift:"1,optional"`
	MetaData struct {
		Codec                format.CompressionCodec `thrift:"4,required"`
		TotalCompressedSize  int64                   `thrift:"7,required"`
		DataPageOffset       int64                   `thrift:"9,required"`
		DictionaryPageOffset int64                   `thrift:"11,optional"`
	} `thrift:"3,optional"`
}

type pair struct {
	Key   string `thrift:"1,required"`
	Value string `thrift:"2,optional"`
}

// readMeta reads what the end of a file says of it.
func readMeta(file []byte) (*fileMeta, error) {
	const tail = 8 // length and magic
	n := len(file) - tail
	if n < len(magic) || string(file[n+4:]) != magic {
		return nil, errDamaged
	}
	length := int64(binary.LittleEndian.Uint32(file[n:]))
	if length > int64(n) {
		return nil, errDamaged
	}
	meta := new(fileMeta)
	_, err := decode(bytes.Clone(file[n-int(length):n]), meta)
	return meta, err
}

// leaves returns the columns that can be read, and the names and types of the others. To Parquet, durations are
// plain numbers.
func leaves(schema []format.SchemaElement, durations map[string]bool) (read []leaf, others []string, err error) {
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
		switch l, ok := newLeaf(e, first); {
		case durations[e.Name] && l.form == number && l.kind == format.Int64:
			others = append(others, e.Name+" (duration)")
		case ok && i == top+1 && !repeated:
			read = append(read, l)
		case listOf(schema[top:i], &l, first):
			read = append(read, l)
		default:
			others = append(others, fmt.Sprintf("%s (%s)", e.Name, typeOf(e, repeated)))
		}
	}
	return read, others, nil
}

var convertedNames = map[deprecated.ConvertedType]string{
	deprecated.List: "LIST", deprecated.Map: "MAP", deprecated.Bson: "BSON", deprecated.Interval: "INTERVAL"}

// typeOf names the type of a column that is not read.
func typeOf(e format.SchemaElement, repeated bool) string {
	logical, converted := e.LogicalType.Value, e.ConvertedType
	switch {
	case repeated:
		return "repeated"
	case logical != nil && logical.String() != "STRING":
		return logical.String()
	case converted.Valid && convertedNames[converted.V] != "":
		return convertedNames[converted.V]
	case e.NumChildren.V > 0:
		return "nested"
	}
	return e.Type.V.String()
}

// forms are what values mean by their kind alone. Int96 is nothing but the timestamps of older writers, and writers of text do
// not all say that it is.
var forms = map[format.Type]form{
	format.Boolean: number, format.Int32: number, format.Int64: number, format.Float: number, format.Double: number,
	format.Int96: timestamp, format.ByteArray: textual, format.FixedLenByteArray: unread,
}

// newLeaf returns a column that is not nested; not ok: its type is not read.
func newLeaf(e format.SchemaElement, index int) (l leaf, ok bool) {
	l = leaf{name: e.Name, index: index, kind: e.Type.V}
	if e.RepetitionType.Valid && e.RepetitionType.V == format.Optional {
		l.deepest = 1
	}
	if l.form, ok = forms[l.kind]; !ok {
		return l, false
	}
	if l.size = sizes[l.kind]; l.kind == format.FixedLenByteArray {
		l.size = int(e.TypeLength.V)
	}
	switch {
	case e.LogicalType.Value != nil:
		l.setLogical(e.LogicalType.Value)
	case e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal:
		l.setLogical(&format.DecimalType{Scale: e.Scale.V})
	case e.ConvertedType.Valid:
		l.setLogical(logical[e.ConvertedType.V])
	}
	return l, l.form != unread
}

// setLogical sets the form of a logical type; unread where there is none for values of the column's kind.
func (l *leaf) setLogical(is format.LogicalTypeValue) {
	zone := map[bool]string{true: "Z"}
	whole, size := l.kind == format.Int32 || l.kind == format.Int64, 0 // of values of fixed length
	if l.kind == format.FixedLenByteArray {
		size = l.size
	}
	ok, as := false, unread
	switch is := is.(type) {
	case *format.NullType: // all values are null
		ok, as = true, l.form
	case *format.StringType, *format.EnumType, *format.JsonType:
		ok, as = l.kind == format.ByteArray, textual
	case *format.IntType:
		if ok, as = whole, number; !is.IsSigned {
			as = unsigned
		}
	case *format.DecimalType:
		bytes := l.kind == format.ByteArray || size > 0 && size <= mostDecimal
		ok, as, l.scale = (whole || bytes) && is.Scale >= 0 && is.Scale <= mostScale, decimal, int(is.Scale)
	case *format.Float16Type:
		ok, as = size == 2, half
	case *format.UUIDType:
		ok, as = size == 16, uuid
	case *format.DateType:
		ok, as = l.kind == format.Int32, date
	case *format.TimeType:
		l.zone, l.unit = zone[is.IsAdjustedToUTC], duration(is.Unit)
		ok, as = whole && l.unit > 0, timeOfDay
	case *format.TimestampType:
		l.zone, l.unit = zone[is.IsAdjustedToUTC], duration(is.Unit)
		ok, as = l.kind == format.Int64 && l.unit > 0 || l.kind == format.Int96, timestamp
	}
	if l.form = as; !ok {
		l.form = unread
	}
}

func duration(u format.TimeUnit) time.Duration {
	if u.Value == nil {
		return 0
	}
	return u.Value.Duration()
}

// logical are the types that older writers give, in the words of today, except decimal numbers, which have a scale.
var logical = map[deprecated.ConvertedType]format.LogicalTypeValue{
	deprecated.UTF8: &format.StringType{}, deprecated.Enum: &format.EnumType{}, deprecated.Json: &format.JsonType{},
	deprecated.Int8: signed, deprecated.Int16: signed, deprecated.Int32: signed, deprecated.Int64: signed,
	deprecated.Uint8: natural, deprecated.Uint16: natural, deprecated.Uint32: natural, deprecated.Uint64: natural,
	deprecated.Date: &format.DateType{},

	deprecated.TimeMillis:      &format.TimeType{IsAdjustedToUTC: true, Unit: millis},
	deprecated.TimeMicros:      &format.TimeType{IsAdjustedToUTC: true, Unit: micros},
	deprecated.TimestampMillis: &format.TimestampType{IsAdjustedToUTC: true, Unit: millis},
	deprecated.TimestampMicros: &format.TimestampType{IsAdjustedToUTC: true, Unit: micros},
}

var (
	signed, natural = &format.IntType{IsSigned: true}, &format.IntType{}
	millis          = format.TimeUnit{Value: &format.MilliSeconds{}}
	micros          = format.TimeUnit{Value: &format.MicroSeconds{}}
)

// span is the bytes from, …, to−1 of a file.
type span struct{ from, to int64 }

// span returns where in a file of the given length the pages of the column are.
func (c *columnChunk) span(length int) (span, error) {
	from, size := c.MetaData.DataPageOffset, c.MetaData.TotalCompressedSize
	if d := c.MetaData.DictionaryPageOffset; d > 0 && d < from {
		from = d
	}
	if c.FilePath != "" || from < 0 || size < 0 || from > int64(length) || size > int64(length)-from {
		return span{}, errDamaged
	}
	return span{from, from + size}, nil
}

// overlap reports whether any two spans overlap. It sorts them.
func overlap(spans []span) bool {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return true
		}
	}
	return false
}

// decode decodes the struct at the beginning of b, whose bytes it may keep, and gives its length.
func decode(b []byte, to any) (n int, err error) {
	r := &bounded{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(b), size: len(b), open: []int{1}}
	if err := thrift.NewDecoder(r).Decode(to); err != nil {
		return 0, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return r.BytesRead(), nil
}

// bounded reads what the module asks for, which makes room for all elements of a list, and calls itself for all that
// is nested. It returns an error for a list that claims more than its bytes, and for what is nested too deeply.
type bounded struct {
	thrift.BytesReader
	size int
	open []int // by depth: the structs that are still to end, of a list or of a field
}

func (r *bounded) ReadField() (thrift.Field, error) {
	f, err := r.BytesReader.ReadField()
	switch last := len(r.open) - 1; {
	case err != nil:
	case f.Type == thrift.STRUCT:
		err = r.begin(1)
	case f.Type == thrift.STOP:
		if r.open[last]--; r.open[last] == 0 {
			r.open = r.open[:last]
		}
	case f.Type == thrift.SET || f.Type == thrift.MAP:
		err = errors.New("metadata have neither sets nor maps")
	}
	return f, err
}

func (r *bounded) ReadList() (thrift.List, error) {
	l, err := r.BytesReader.ReadList()
	n, least := int(l.Size), 1 // bytes of an element
	if l.Type == thrift.STRUCT {
		least = 3 // a field, what is in it, and the end
	}
	switch {
	case err != nil || n == 0:
	case n > (r.size-r.BytesRead())/least:
		err = fmt.Errorf("a list of %d elements", n)
	case l.Type == thrift.STRUCT:
		err = r.begin(n)
	case l.Type == thrift.LIST || l.Type == thrift.SET || l.Type == thrift.MAP:
		err = errors.New("metadata have no lists of lists")
	}
	return l, err
}

// begin begins n structs, one after another.
func (r *bounded) begin(n int) error {
	const deepest = 32
	if r.open = append(r.open, n); len(r.open) > deepest {
		return errors.New("structs are nested too deeply")
	}
	return nil
}

// Discard skips bytes; the module looks for it.
func (r *bounded) Discard(n int) (int, error) {
	return r.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}
