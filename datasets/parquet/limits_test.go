package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// A column of a crafted file has the first entry of its dictionary in all rows.
type column struct {
	name       string
	kind       format.Type
	dictionary []byte // plain values
	entries    int    // in it
}

// crafted is a file with these columns, whose metadata are changed last. All of them are at the same place if there is one.
func crafted(t testing.TB, rows int, codec format.CompressionCodec, oneplace bool, columns []column,
	change ...func(*format.FileMetaData)) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	protocol := new(thrift.CompactProtocol)
	marshal := func(v any) []byte {
		b, err := thrift.Marshal(protocol, v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	file := []byte(magic)
	addPage := func(h format.PageHeader, body []byte) {
		h.UncompressedPageSize = int32(len(body))
		if codec == format.Zstd {
			body = encoder.EncodeAll(body, nil)
		}
		h.CompressedPageSize = int32(len(body))
		file = append(append(file, marshal(&h)...), body...)
	}
	schema := []format.SchemaElement{{Name: "schema"}}
	schema[0].NumChildren.Valid, schema[0].NumChildren.V = true, int32(len(columns))
	group := format.RowGroup{NumRows: int64(rows)}
	from := len(file)
	for i, c := range columns {
		if i == 0 || !oneplace {
			from = len(file)
			h := format.PageHeader{Type: format.DictionaryPage}
			h.DictionaryPageHeader.Valid = true
			h.DictionaryPageHeader.V = format.DictionaryPageHeader{NumValues: int32(c.entries), Encoding: format.Plain}
			addPage(h, c.dictionary)
			h = format.PageHeader{Type: format.DataPage}
			h.DataPageHeader.Valid, h.DataPageHeader.V = true, format.DataPageHeader{NumValues: int32(rows), Encoding: format.RLEDictionary}
			addPage(h, binary.AppendUvarint([]byte{0}, uint64(rows)<<1)) // indexes of no bits, in one run
		}
		e := format.SchemaElement{Name: c.name}
		e.Type.Valid, e.Type.V = true, c.kind
		schema = append(schema, e)
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: c.kind, Codec: codec, NumValues: int64(rows), DataPageOffset: int64(from), TotalCompressedSize: int64(len(file) - from)}})
	}
	meta := format.FileMetaData{Version: 1, Schema: schema, NumRows: int64(rows), RowGroups: []format.RowGroup{group}}
	for _, f := range change {
		f(&meta)
	}
	footer := marshal(&meta)
	file = binary.LittleEndian.AppendUint32(append(file, footer...), uint32(len(footer)))
	return append(file, magic...)
}

// with returns a query id, a label, and more columns.
func with(more ...column) []column {
	return append([]column{{"qid", format.Int32, make([]byte, 4), 1}, {"label", format.Int32, make([]byte, 4), 1}}, more...)
}

// oneText is a dictionary of one text.
func oneText(text string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// read reads a file. It gives the number of its rows, and how many bytes reading allocates.
func read(file []byte, o reader.Options) (rows, allocated int, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = readRows(file, o, reader.Sidecar{}, 1<<16, func(c *reader.Chunk, _ *reader.Layout, _ float64) error {
		if rows += len(c.Labels); c.FaultCount > 0 {
			return fmt.Errorf("%v", c.Faults)
		}
		return nil
	})
	runtime.ReadMemStats(&after)
	return rows, int(after.TotalAlloc - before.TotalAlloc), err
}

// A file that asks for much more memory than it has bytes is refused before it has got it.
func TestCraftedFilesAllocateLittle(t *testing.T) {
	text := func(name, text string) column { return column{name, format.ByteArray, oneText(text), 1} }
	long := strings.Repeat("1", 1<<20-4)
	wide := make([]column, 200)
	for i := range wide {
		wide[i] = column{fmt.Sprint("f", i), format.Int32, make([]byte, 1<<20), 1 << 18}
	}
	const tooMuch = "bytes unpack to more than"
	for _, c := range []struct {
		what, want string
		file       []byte
		options    reader.Options
	}{
		{"a long document id in all rows", tooMuch, crafted(t, 1000, format.Zstd, false, with(text("docid", long))), reader.Options{}},
		{"a long query id in all rows", tooMuch, crafted(t, 1000, format.Zstd, false, append(with()[1:], text("qid", long))), reader.Options{}},
		{"a long text as a feature of all rows", tooMuch, crafted(t, 1000, format.Zstd, false, with(text("f", strings.Repeat("0", 1<<20-4)))),
			reader.Options{FeatureIDs: []int{2}, FeatureNames: []string{"f"}}},
		{"columns at one place", "two of its columns overlap", crafted(t, 2, format.Zstd, true, append(wide[:200:200], with()...)),
			reader.Options{}},
		{"pages that unpack well", tooMuch, crafted(t, 2, format.Zstd, false, with(wide...)), reader.Options{}},
		{"a dictionary of less than nothing", "the file is damaged", crafted(t, 2, format.Zstd, false,
			with(column{"f", format.Int32, make([]byte, 4), -1})), reader.Options{}},
	} {
		_, n, err := read(c.file, c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 200 {
			t.Errorf("%s: error %.300v, want %q", c.what, err, c.want)
		}
		if most := 200<<20 + 100*len(c.file); n > most {
			t.Errorf("%s: %d bytes allocated for a file of %d, want %d at most", c.what, n, len(c.file), most)
		}
	}
}

// What is kept of a dictionary is in proportion to its bytes, and so it is if no number of it can be a
// feature, or if all its texts are empty.
func TestDictionariesTakeLittle(t *testing.T) {
	zeros, infinities := make([]byte, 4<<20), make([]byte, 4<<20)
	for i := 4; i < len(infinities); i += 4 {
		binary.LittleEndian.PutUint32(infinities[i:], math.Float32bits(float32(math.Inf(1))))
	}
	for _, c := range []column{
		{"f", format.Int32, zeros, 1 << 20}, {"f", format.Float, infinities, 1 << 20}, {"f", format.ByteArray, zeros, 1 << 20},
	} {
		file := crafted(t, 2, format.Uncompressed, false, with(c))
		rows, n, err := read(file, reader.Options{Categorical: []string{"f"}})
		if most := 1<<20 + 2*len(file); err != nil || rows != 2 || n > most {
			t.Errorf("%v: %d rows, error %v, %d bytes allocated for a file of %d, want %d at most", c.kind, rows, err, n, len(file), most)
		}
	}
}

// A number of a dictionary that cannot be a feature is refused where a row has it.
func TestErrorsOfNumbersInDictionaries(t *testing.T) {
	huge := binary.LittleEndian.AppendUint64(nil, math.Float64bits(-1e300))
	file := crafted(t, 2, format.Uncompressed, false, with(column{"f", format.Double, huge, 1}))
	if _, _, err := read(file, reader.Options{}); err == nil || !strings.Contains(err.Error(), errRange.Error()) {
		t.Errorf("error %v, want %v", err, errRange)
	}
}

// Texts that many rows have in common, as most programs write them, are no attack.
func TestLongTextsOfManyRowsAreRead(t *testing.T) {
	text := oneText(strings.Repeat("category ", 10))
	file := crafted(t, 100_000, format.Zstd, false, append(with()[1:],
		column{"qid", format.ByteArray, text, 1}, column{"docid", format.ByteArray, text, 1}, column{"c", format.ByteArray, text, 1}))
	rows, _, err := read(file, reader.Options{Categorical: []string{"c"}})
	if err != nil || rows != 100_000 {
		t.Errorf("%d rows, error %v", rows, err)
	}
}

// Metadata that are nested without end are refused, whatever is nested: the stack does not grow with them.
func TestMetadataAreNotNestedWithoutEnd(t *testing.T) {
	for _, nested := range []string{"\x1c", "\x19", "\x1a", "\x1b\x01\xcc"} { // structs, lists, sets and maps
		footer := bytes.Repeat([]byte(nested), 10_000_000/len(nested))
		footer[0] = 0xf0 | footer[0]&15 // a field that is not known
		file := binary.LittleEndian.AppendUint32(append([]byte(magic), footer...), uint32(len(footer)))
		_, _, err := read(append(file, magic...), reader.Options{})
		if !errors.Is(err, errDamaged) {
			t.Errorf("%x: error %v", nested, err)
		}
	}
}

// The format lets a pair of metadata have a key without a value, for a file and for a column.
func TestMetadataMayHaveKeysWithoutValues(t *testing.T) {
	pairs := []format.KeyValue{{Key: "alone", Value: "value"}}
	file := crafted(t, 2, format.Uncompressed, false, with(), func(m *format.FileMetaData) {
		m.KeyValueMetadata = pairs
		m.RowGroups[0].Columns[1].MetaData.KeyValueMetadata = pairs
	})
	const with, without = "\x18\x05alone\x18\x05value\x00", "\x18\x05alone\x00"
	if n := bytes.Count(file, []byte(with)); n != 2 {
		t.Fatalf("%d pairs", n)
	}
	length := binary.LittleEndian.Uint32(file[len(file)-8:])
	file = bytes.ReplaceAll(file, []byte(with), []byte(without))
	binary.LittleEndian.PutUint32(file[len(file)-8:], length-2*uint32(len(with)-len(without)))
	if rows, _, err := read(file, reader.Options{}); rows != 2 || err != nil {
		t.Errorf("%d rows, error %v", rows, err)
	}
}

// Damage of any kind ends in an error or in rows, in memory in proportion to the file. The files have no checksums.
func TestDamagedFilesAllocateLittle(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "parquet", "*.parquet"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	refused := 0
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			file := damaged(rng, whole)
			_, n, err := read(file, reader.Options{Categorical: []string{"city"}})
			if err != nil {
				refused++
			}
			if most := 200<<20 + 100*len(file); n > most {
				t.Errorf("%s: %d bytes allocated for a file of %d, want %d at most", path, n, len(file), most)
			}
		}
	}
	if refused < 100*len(files) {
		t.Errorf("%d of %d files refused", refused, 200*len(files))
	}
}

// damaged returns a file with a few bytes that are others, half of them in its metadata.
func damaged(rng *rand.Rand, file []byte) []byte {
	file = bytes.Clone(file)
	footer := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	for range 1 + rng.IntN(4) {
		at := rng.IntN(len(file) - 8 - footer)
		if rng.IntN(2) == 0 {
			at = len(file) - 9 - rng.IntN(footer)
		}
		switch rng.IntN(4) {
		case 0:
			file[at] ^= 1 << rng.IntN(8)
		case 1:
			file[at] = []byte{0, 1, 2, 0x7f, 0x80, 0xfe, 0xff}[rng.IntN(7)]
		case 2:
			file[at] = byte(rng.IntN(256))
		case 3:
			copy(file[at:len(file)-8], file[rng.IntN(len(file)-8):][:rng.IntN(8)])
		}
	}
	return file
}
