package parquet

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// Types that are given in the words of older writers, and the text that a value of them is.
func TestConvertedTypesAreThoseOfToday(t *testing.T) {
	element := func(kind format.Type, is deprecated.ConvertedType, size int32) format.SchemaElement {
		e := format.SchemaElement{Name: "x"}
		e.Type.V, e.ConvertedType.V, e.ConvertedType.Valid, e.TypeLength.V, e.Scale.V = kind, is, true, size, 2
		return e
	}
	whole := func(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
	for _, c := range []struct {
		kind  format.Type
		is    deprecated.ConvertedType
		size  int32
		value []byte
		want  string // "": it is not read
	}{
		{format.Int32, deprecated.Date, 0, whole(-1)[:4], "1969-12-31"},
		{format.Int32, deprecated.TimeMillis, 0, whole(90_000_001)[:4], "25:00:00.001Z"},
		{format.Int64, deprecated.TimeMicros, 0, whole(1), "00:00:00.000001Z"},
		{format.Int64, deprecated.TimestampMillis, 0, whole(-1), "1969-12-31T23:59:59.999Z"},
		{format.Int64, deprecated.TimestampMicros, 0, whole(1_714_557_600_000_000), "2024-05-01T10:00:00Z"},
		{format.Int64, deprecated.Uint64, 0, whole(-1), "18446744073709551615"},
		{format.Int32, deprecated.Uint8, 0, whole(255)[:4], "255"},
		{format.Int32, deprecated.Int8, 0, whole(-128)[:4], "-128"},
		{format.ByteArray, deprecated.Decimal, 0, []byte{255}, "-0.01"},
		{format.ByteArray, deprecated.Decimal, 0, []byte{1, 0}, "2.56"},
		{format.FixedLenByteArray, deprecated.Decimal, 3, []byte{255, 255, 255}, "-0.01"},
		{format.Int32, deprecated.Decimal, 0, whole(-5)[:4], "-0.05"},
		{format.ByteArray, deprecated.Json, 0, []byte("{}"), "{}"},
		{format.ByteArray, deprecated.Enum, 0, []byte("A"), "A"},
		{kind: format.ByteArray, is: deprecated.Bson},
		{kind: format.FixedLenByteArray, is: deprecated.Interval, size: 12},
		{kind: format.ByteArray, is: deprecated.Date},
		{kind: format.Double, is: deprecated.TimestampMillis},
		{kind: format.Boolean, is: deprecated.Decimal},
	} {
		l, ok := newLeaf(element(c.kind, c.is, c.size), 0)
		if ok != (c.want != "") {
			t.Errorf("%v as %v: is read: %v, want %q", c.kind, c.is, ok, c.want)
		} else if ok && string(l.text(c.value)) != c.want {
			t.Errorf("%v as %v is %q, want %q", c.kind, c.is, l.text(c.value), c.want)
		}
	}
}

// Decimal numbers of any length are features; no length, or one that is too long, is refused.
func TestDecimalsMayHaveLengthsOfTheirOwn(t *testing.T) {
	const damaged = "the file is damaged"
	for value, want := range map[string]string{"\x01\x00": "", "": damaged, strings.Repeat("a", mostDecimal+1): damaged} {
		f := column{"f", format.ByteArray, oneText(value), 1}
		file := crafted(t, 3, format.Uncompressed, false, with(f), func(m *format.FileMetaData) {
			e := &m.Schema[3]
			e.ConvertedType.V, e.ConvertedType.Valid, e.Scale.V, e.Scale.Valid = deprecated.Decimal, true, 1, true
		})
		got := []float32(nil)
		err := readRows(file, reader.Options{}, reader.Sidecar{}, 1<<16, func(c *reader.Chunk, _ *reader.Layout, _ float64) error {
			got = append(got, c.Values.Values...)
			return nil
		})
		if want == "" && (err != nil || len(got) != 3 || got[0] != 25.6) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, error %v, want %q", value, got, err, want)
		}
	}
}

// A row group with fewer rows than its pages have values is damaged.
func TestPagesHaveNoMoreValuesThanRows(t *testing.T) {
	file := crafted(t, 5, format.Uncompressed, false, with(), func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 4 })
	_, _, err := read(file, reader.Options{})
	if want := `": the file is damaged, or cut short: too many values`; err == nil || !strings.HasPrefix(err.Error(), `column "`) ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v", err)
	}
}

// Of texts only null is missing, whatever the encoding: an empty one, and blanks, are as they are written.
func TestTextsAreExactInEveryEncoding(t *testing.T) {
	type row struct {
		Label  int32   `parquet:"label"`
		Query  string  `parquet:"qid,dict"`
		Coded  *string `parquet:"coded,optional,dict"`
		Plain  *string `parquet:"plain,optional,plain"`
		Length string  `parquet:"length,delta"` // which has no null, as the writer has none in this encoding
	}
	texts := []string{"", " a ", "NA", "1.10", "1.1"}
	rows := []row{{Query: "q"}}
	for i := range texts {
		rows = append(rows, row{0, "q", &texts[i], &texts[i], texts[i]})
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write(rows); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	o := reader.Options{Categorical: []string{"coded", "plain", "length"}}
	err := readRows(b.Bytes(), o, reader.Sidecar{}, 1<<16, func(c *reader.Chunk, _ *reader.Layout, _ float64) error {
		for i, levels := range c.Levels {
			first := c.Values.Values[i]
			if isNull := first != first; !slices.Equal(levels.Names, texts) || isNull != (i < 2) {
				t.Errorf("%s: texts %q, and %v first", o.Categorical[i], levels.Names, first)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Where pages have checksums, no bit of them can flip unsaid: neither in dictionaries nor in data, of either version.
func TestChecksumsOfPagesAreVerified(t *testing.T) {
	type row struct {
		Label int32  `parquet:"label,plain"`
		Query string `parquet:"qid,dict"`
		X     *int64 `parquet:"x,optional,plain"`
	}
	var rows []row
	for i := range 24 {
		x := int64(i)
		rows = append(rows, row{int32(i % 3), string(rune('a' + i/6)), &x})
	}
	add := func(*reader.Chunk, *reader.Layout, float64) error { return nil }
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy} {
		for version := 1; version <= 2; version++ {
			var b bytes.Buffer
			w := parquet.NewGenericWriter[row](&b, parquet.Compression(codec), parquet.DataPageVersion(version))
			if _, err := w.Write(rows); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			file := b.Bytes()
			meta, err := readMeta(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range meta.RowGroups[0].Columns {
				s, err := c.span(len(file))
				if err != nil {
					t.Fatal(err)
				}
				for at, page := int(s.from), 1; at < int(s.to); page++ {
					h := new(format.PageHeader)
					n, err := decode(file[at:s.to], h)
					if err != nil {
						t.Fatal(err)
					}
					at += n
					for end := at + int(h.CompressedPageSize); at < end; at++ {
						file[at] ^= 1 << (at % 8)
						want := fmt.Sprintf("column %q: the file is damaged, or cut short: the checksum of page %d is ", meta.Schema[1+i].Name, page)
						if err := readRows(file, reader.Options{}, reader.Sidecar{}, 1<<16, add); err == nil || !strings.HasPrefix(err.Error(), want) {
							t.Fatalf("version %d, byte %d: error %v, want %q", version, at, err, want)
						}
						file[at] ^= 1 << (at % 8)
					}
				}
			}
			if n, _, err := read(file, reader.Options{}); n != len(rows) || err != nil {
				t.Errorf("version %d: %d rows, error %v", version, n, err)
			}
		}
	}
}

// Whatever the bytes of an Arrow schema, reading it ends without a panic.
func FuzzDurations(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("..", "testdata", "parquet", "times.parquet"))
	if err != nil {
		f.Fatal(err)
	}
	meta, err := readMeta(b)
	if err != nil {
		f.Fatal(err)
	}
	if found := durations(meta); len(found) != 4 || !found["took_ns"] {
		f.Errorf("durations %v", found)
	}
	for _, pair := range meta.Pairs {
		schema, err := base64.StdEncoding.DecodeString(pair.Value)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(schema)
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		durations(&fileMeta{Pairs: []pair{{Key: "ARROW:schema", Value: base64.StdEncoding.EncodeToString(schema)}}})
	})
}
