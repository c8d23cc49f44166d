package datasets

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// made returns the name of a file that pyarrow made; see make.py in its folder.
func made(name string) string { return filepath.Join("testdata", "parquet", name+".parquet") }

// Row groups without rows are valid; a file without any row is not data, whatever its columns.
func TestParquetMayHaveRowGroupsWithoutRows(t *testing.T) {
	got, err := ReadFile(made("empty-groups"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := ReadFile(dataFile(t, "f.csv", "label,qid,x\n2,a,1\n0,a,2\n1,b,3\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameDataset(got, want); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"no-rows", "nothing"} {
		if _, err := ReadFile(made(name), ReadOptions{}); err == nil || !strings.Contains(err.Error(), "no documents in the file") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Parts without documents, as Spark writes some, are a warning, also where they come first, and lines stay right.
func TestPartsWithoutDocumentsAreAWarning(t *testing.T) {
	folder, o := t.TempDir(), Options{Cache: t.TempDir()}
	for i, name := range []string{"nothing", "empty-groups", "no-rows"} {
		b, err := os.ReadFile(made(name))
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			b = []byte("label,qid,x\n2,a,1\n0,a,2\n1,b,3\n")
		}
		if err := os.WriteFile(filepath.Join(folder, "part-0000"+string(rune('0'+i))), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // read, and from the cache
		s, err := Open(folder, o)
		if err != nil {
			t.Fatal(err)
		}
		w := strings.Join(s.Warnings(), "\n")
		if !strings.Contains(w, "2 of 3 parts have no documents: part-00000, part-00002") || strings.Contains(w, "cache") {
			t.Errorf("warnings %s", w)
		}
		if where := s.Train.Where(0); !strings.HasSuffix(where, "part-00001:2") && !strings.HasSuffix(where, "part-00001:4") {
			t.Errorf("row 0 is at %s", where)
		}
	}
	if err := os.Remove(filepath.Join(folder, "part-00001")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder, Options{}); err == nil || !strings.Contains(err.Error(), "all 2 parts are empty") {
		t.Errorf("error %v", err)
	}
}

// Dates and times are text, as in separated values: the same in every unit. Durations have no type of their own in
// Parquet, and are not taken for numbers in a unit that is not known.
func TestDatesAndTimesAreNotFeatures(t *testing.T) {
	d, err := ReadFile(made("times"), ReadOptions{Schema: plainNames})
	if err != nil {
		t.Fatal(err)
	}
	w := strings.Join(d.Warnings, "\n")
	for _, want := range []string{"columns of timestamp were left out: at_ms, at_us", "columns of time were left out: clock_ms", "columns of date were left out: day",
		"types that are not read were left out: took_s (duration), took_ms (duration), took_us (duration), took_ns (duration)"} {
		if !strings.Contains(w, want) {
			t.Errorf("warnings %s, want %q", w, want)
		}
	}
	if len(d.Features) != 0 || strings.Contains(w, "columns of text") {
		t.Errorf("features %v of %q, warnings %s", d.Features, d.FeatureNames, w)
	}
	if d, err = ReadFile(made("times"), ReadOptions{Categorical: []string{"at_*", "utc_*", "clock_*"}, DocumentColumn: "day", Schema: plainNames}); err != nil {
		t.Fatal(err)
	}
	at, utc := []string{"2024-05-01T10:00:00.25", "1969-12-31T23:59:59"}, []string{"2024-05-01T10:00:00.25Z", "1969-12-31T23:59:59Z"}
	clock := []string{"01:02:03", "23:59:59"}
	if want := [][]string{at, at, at, utc, utc, utc, clock, clock, clock}; !slices.EqualFunc(d.Levels, want, slices.Equal) {
		t.Errorf("levels %q, want %q", d.Levels, want)
	}
	if want := []string{"2024-05-01", "1969-12-31", ""}; !slices.Equal(d.DocumentIDs, want) {
		t.Errorf("ids %q, want %q", d.DocumentIDs, want)
	}
	if _, err := ReadFile(made("times"), ReadOptions{FeatureIDs: []int{1}, FeatureNames: []string{"at_ns"}}); err == nil || !strings.Contains(err.Error(), `column "at_ns": "2024-05-01T10:00:00.25" is not a number`) {
		t.Errorf("error %v", err)
	}
	if d, err = ReadFile(made("int96"), ReadOptions{Categorical: []string{"at"}, Schema: plainNames}); err != nil || !slices.Equal(d.Levels[0], at) {
		t.Errorf("int96: %v, error %v", d, err)
	}
}

// What is a number is read as the number that it is, whatever it is kept in, and all else is named with its type.
func TestParquetTypesOfNumbersAreFeatures(t *testing.T) {
	d, err := ReadFile(made("types"), ReadOptions{DocumentColumn: "doc", Schema: plainNames})
	if err != nil {
		t.Fatal(err)
	}
	no := float32(math.NaN())
	names := []string{"u8", "u16", "u32", "u64", "i8", "d5", "d70", "half", "none", "new", "figures", "empty"}
	want := []float32{
		255, 65535, math.MaxUint32, math.MaxUint64, -128, 1.25, 1.25, 1.5, no, 1, 1.5, no,
		0, 0, 0, 1 << 63, 0, -.05, -.05, -2, no, 0, 2, no,
		no, 1, 1, 1, no, no, no, 0, no, no, no, no,
	}
	if !slices.Equal(d.FeatureNames, names) || !numbers(d.Features, want) {
		t.Errorf("%q: %v, want %v", d.FeatureNames, d.Features, want)
	}
	if d.DocumentIDs[2] != "00000000-0000-0000-0000-000000000002" {
		t.Errorf("ids %q", d.DocumentIDs)
	}
	w := strings.Join(d.Warnings, "\n")
	for _, want := range []string{"columns of text were left out: json, kind:", "left out: raw (FIXED_LEN_BYTE_ARRAY), list (LIST), struct (nested), map (MAP)"} {
		if !strings.Contains(w, want) {
			t.Errorf("warnings %s, want %q", w, want)
		}
	}
}

// Ids that a table keeps as floats, because one is missing, are digits.
func TestFloatIDsAreDigits(t *testing.T) {
	type row struct {
		Label    int32    `parquet:"label"`
		Query    float64  `parquet:"qid"`
		Document *float64 `parquet:"docid,optional"`
		Group    float32  `parquet:"seller"`
		X        float64  `parquet:"x"`
	}
	id := func(v float64) *float64 { return &v }
	write := func(rows ...row) string {
		path := filepath.Join(t.TempDir(), "f.parquet")
		writeParquet(t, path, rows)
		return path
	}
	o := ReadOptions{GroupColumn: "seller"}
	d, err := ReadFile(write(row{1, 100001, id(1000001), 2e6, 1}, row{0, 100001, nil, 7, 2}, row{0, 1e15, id(1.5), float32(math.NaN()), 2}, row{1, math.Copysign(0, -1), id(12345678901), 7, 1}), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.QueryIDs, []string{"100001", "1000000000000000", "0"}) || !slices.Equal(d.DocumentIDs, []string{"1000001", "", "1.5", "12345678901"}) {
		t.Errorf("queries %q, documents %q", d.QueryIDs, d.DocumentIDs)
	}
	if !slices.Equal(d.GroupNames, []string{"2000000", "7"}) || !slices.Equal(d.Groups, []int{0, 1, -1, 1}) {
		t.Errorf("groups %q %v", d.GroupNames, d.Groups)
	}
	for want, bad := range map[string]row{
		`f.parquet:1: column "qid": no query id`:                                                          {1, math.NaN(), id(1), 1, 1},
		`column "qid": the id 9007199254740992 is kept as a float, which is not exact from 2^53 on`:       {1, 1 << 53, id(1), 1, 1},
		`column "docid": the id -1000000000000000000 is kept as a float, which is not exact from 2^53 on`: {1, 1, id(-1e18), 1, 1},
		`column "seller": the id 16777216 is kept as a float, which is not exact from 2^24 on`:            {1, 1, id(1), 1 << 24, 1},
	} {
		if _, err := ReadFile(write(bad), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// One rule says in both formats, in training and in scoring, whether numbers that are kept as text are features.
func TestNumbersKeptAsTextAreFeaturesInEveryFormat(t *testing.T) {
	type row struct {
		Label int32   `parquet:"label"`
		Query string  `parquet:"qid,plain"`
		Price *string `parquet:"price,optional,plain"`
		Mixed string  `parquet:"mixed,dict"`
		Title string  `parquet:"title,plain"`
		Long  string  `parquet:"long,delta"` // in an encoding that is not read
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	text := func(s string) *string { return &s }
	rows := []row{{1, "a", nil, "1", "lamp", "l"}, {0, "a", text("2.5"), "x", "7", "l"}, {1, "b", text(""), "NA", "chair", "l"}, {0, "b", text("-3"), "y", "sofa", "l"}}
	writeParquet(t, path, rows, parquet.MaxRowsPerRowGroup(1))
	csv := dataFile(t, "f.csv", "label,qid,price,mixed,title,long\n1,a,,1,lamp,l\n0,a,2.5,x,7,l\n1,b,,NA,chair,l\n0,b,-3,y,sofa,l\n")
	for _, path := range []string{path, csv} {
		d, err := ReadFile(path, ReadOptions{Ignore: []string{"mixed"}, Schema: plainNames})
		if err != nil {
			t.Fatal(err)
		}
		no := float32(math.NaN())
		if want := []float32{no, 2.5, no, -3}; !slices.Equal(d.FeatureNames, []string{"price"}) || !numbers(d.Features, want) {
			t.Errorf("%s: %q %v", path, d.FeatureNames, d.Features)
		}
		warnings := strings.Join(d.Warnings, "\n")
		if typed := path != csv; !strings.Contains(warnings, "columns of text were left out: title, long:") ||
			strings.Contains(warnings, "were read as numbers, 1.10 as 1.1: price:") != typed {
			t.Errorf("%s: warnings %q, want one of text that was left out, and in Parquet one of text that was not", path, warnings)
		}
		scored, err := ReadFile(path, ReadOptions{FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames})
		if err != nil || !numbers(scored.Features, d.Features) || strings.Contains(strings.Join(scored.Warnings, " "), "price") {
			t.Errorf("%s, scored: %v, error %v", path, scored, err)
		}
	}
}

// Whatever the encodings and the compression of a program, its file reads as the same table in CSV.
func TestParquetEncodingsReadAsSeparatedValues(t *testing.T) {
	o := ReadOptions{Categorical: []string{"city"}}
	want, err := ReadFile(filepath.Join("testdata", "parquet", "encoded.csv"), o)
	if err != nil {
		t.Fatal(err)
	}
	for name, has := range map[string]string{
		"delta":        "DELTA_BINARY_PACKED DELTA_BYTE_ARRAY PLAIN RLE UNCOMPRESSED",
		"delta-length": "DELTA_BINARY_PACKED DELTA_LENGTH_BYTE_ARRAY LZ4_RAW PLAIN RLE",
		"split":        "BROTLI BYTE_STREAM_SPLIT PLAIN RLE",
		"polars":       "LZ4_RAW PLAIN RLE RLE_DICTIONARY",
		"duckdb":       "BYTE_STREAM_SPLIT DELTA_BINARY_PACKED DELTA_LENGTH_BYTE_ARRAY LZ4_RAW PLAIN RLE_DICTIONARY",
	} {
		if found := encodingsOf(t, made(name)); found != has {
			t.Errorf("%s has %s, want %s", name, found, has)
		}
		for _, size := range []int{1, 1 << 20} {
			got, err := readFile(made(name), inChunks(o, size))
			if err != nil {
				t.Fatal(err)
			}
			if err := sameDataset(got, want); err != nil || !slices.EqualFunc(got.Levels, want.Levels, slices.Equal) {
				t.Errorf("%s: %v; levels %q, want %q", name, err, got.Levels, want.Levels)
			}
		}
	}
}

// encodingsOf returns the encodings and compressions that the metadata of a file name.
func encodingsOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, group := range f.Metadata().RowGroups {
		for _, c := range group.Columns {
			names = append(names, c.MetaData.Codec.String())
			for _, e := range c.MetaData.Encoding {
				names = append(names, e.String())
			}
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// A flipped bit of a page that has a checksum gives an error that names the file, the column and the page.
func TestChecksumErrorsNameFileColumnAndPage(t *testing.T) {
	type row struct {
		Label int32  `parquet:"label,plain"`
		Query string `parquet:"qid,dict"`
		Title string `parquet:"title,plain"`
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	writeParquet(t, path, []row{{1, "query", "lamp"}, {0, "query", "chair"}})
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bit := range []byte{1, 2, 128} {
		flipped := bytes.Clone(b)
		flipped[bytes.LastIndex(b, []byte("\x05\x00\x00\x00query"))+4] ^= bit
		err := os.WriteFile(path, flipped, 0o666)
		if err == nil {
			_, err = ReadFile(path, ReadOptions{})
		}
		if want := "datasets: " + path + `: column "qid": the file is damaged, or cut short: the checksum of page 1 is `; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Parquet that is compressed as a whole is said to be so, and not to be text in an encoding other than UTF-8.
func TestCompressedParquetIsNamed(t *testing.T) {
	b, err := os.ReadFile(made("empty-groups"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(b); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	_, err = ReadFile(fileOf(t, packed.String()), ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "neither compressed as a whole nor from a pipe") || strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("error %v", err)
	}
}
