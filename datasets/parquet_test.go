package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	_ "github.com/plrank/plrank/datasets/parquet"
)

// product is a document with a column of each type.
type product struct {
	Label   *int32   `parquet:"label,optional"`
	Query   string   `parquet:"qid,dict"`
	Price   *float64 `parquet:"price,optional"`
	Sales   int64    `parquet:"sales"`
	Stars   float32  `parquet:"stars,dict"`
	Stock   uint32   `parquet:"stock"`
	New     bool     `parquet:"new"`
	City    *string  `parquet:"city,optional,dict"`
	Title   string   `parquet:"title"`
	Weight  float64  `parquet:"weight"`
	Numbers []int32  `parquet:"numbers"`
}

// products are n documents, and the text of the same in CSV.
func products(n int) (list []product, csv string) {
	rng := rand.New(rand.NewPCG(3, 0))
	var text strings.Builder
	text.WriteString("label,qid,price,sales,stars,stock,new,city,title,weight\n")
	for d := range n {
		p := product{
			Query: fmt.Sprintf("q%d", d/7), Sales: rng.Int64N(1000) - 500, Stars: float32(rng.IntN(10)) / 2,
			Stock: math.MaxUint32 - uint32(rng.IntN(3)), New: rng.IntN(2) == 1, Title: fmt.Sprintf("title %d", d), Weight: float64(1 + d%3), Numbers: []int32{1, 2},
		}
		label, price, city := "", "", ""
		if v := int32(rng.IntN(5)); rng.IntN(9) > 0 {
			p.Label, label = &v, fmt.Sprint(v)
		}
		if v := rng.NormFloat64(); rng.IntN(5) > 0 && d > n/3 {
			p.Price, price = &v, fmt.Sprint(v)
		}
		if v := []string{"Oslo", "Bern", "7.0"}[rng.IntN(3)]; rng.IntN(4) > 0 {
			p.City, city = &v, v
		}
		list = append(list, p)
		fmt.Fprintf(&text, "%s,%s,%s,%d,%g,%d,%t,%s,%s,%g\n", label, p.Query, price, p.Sales, p.Stars, p.Stock, p.New, city, p.Title, p.Weight)
	}
	return list, text.String()
}

func writeParquet[T any](t testing.TB, path string, rows []T, o ...parquet.WriterOption) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewGenericWriter[T](f, o...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Files of every compression and version of pages, written by another program, read as CSV does.
func TestParquetReadsAsSeparatedValues(t *testing.T) {
	list, csv := products(500)
	o := ReadOptions{WeightColumn: "weight", Categorical: []string{"city"}, Schema: plainNames}
	want, err := ReadFile(dataFile(t, "f.csv", csv), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(want.FeatureNames, []string{"price", "sales", "stars", "stock", "new", "city"}) || !slices.Equal(want.Levels[5], []string{"Oslo", "Bern", "7"}) && len(want.Levels[5]) != 3 {
		t.Fatalf("of CSV: %q, levels %q", want.FeatureNames, want.Levels)
	}
	for name, codec := range map[string]compress.Codec{"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "zstd": &parquet.Zstd, "gzip": &parquet.Gzip} {
		for version := 1; version <= 2; version++ {
			path := filepath.Join(t.TempDir(), "f.parquet")
			writeParquet(t, path, list, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(700), parquet.MaxRowsPerRowGroup(180))
			for _, size := range []int{1, 1000, 1 << 20} {
				got, err := readFile(path, inChunks(o, size))
				if err != nil {
					t.Fatalf("%s, version %d: %v", name, version, err)
				}
				if err := sameDataset(got, want); err != nil {
					t.Errorf("%s, version %d: %v", name, version, err)
				}
				if !slices.EqualFunc(got.Levels, want.Levels, slices.Equal) || !slices.Equal(got.Weights, want.Weights) || !slices.Equal(got.FeatureNames, want.FeatureNames) {
					t.Errorf("%s, version %d: levels %q, names %q", name, version, got.Levels, got.FeatureNames)
				}
				if w := got.Warnings; len(w) != 3 || !strings.Contains(w[0], "columns of text were left out: title:") || !strings.Contains(w[1], "numbers") ||
					!strings.Contains(w[2], "rounded to 24 bits: stock (") {
					t.Errorf("warnings %q", got.Warnings)
				}
			}
		}
	}
}

// True is 1 and false is 0 in every format, as a number; as a text of a category it is itself, and the text of a boolean is 1 or 0.
func TestBooleansAreTheSameInEveryFormat(t *testing.T) {
	type row struct {
		Label bool   `parquet:"label"`
		Query string `parquet:"qid,plain"`
		New   bool   `parquet:"new"`
		Sale  bool   `parquet:"sale"`
		Mood  string `parquet:"mood,plain"`
	}
	o := ReadOptions{Categorical: []string{"sale", "mood"}}
	path := filepath.Join(t.TempDir(), "f.parquet")
	writeParquet(t, path, []row{{true, "a", true, true, "maybe"}, {false, "a", false, false, "true"}, {true, "a", true, true, "1"}})
	for _, path := range []string{path,
		dataFile(t, "f.csv", "label,qid,new,sale,mood\nTrue,a,True,1,maybe\nFalse,a,FALSE,0,true\n1,a,true,1,1\n")} {
		d, err := ReadFile(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if want := []float32{1, 1, 1, 0, 2, 2, 1, 1, 3}; !slices.Equal(d.Features, want) || !slices.Equal(d.Labels, []float32{1, 0, 1}) || d.Warnings != nil {
			t.Errorf("%s: features %v, labels %v, warnings %q", path, d.Features, d.Labels, d.Warnings)
		}
		if !slices.EqualFunc(d.Levels, [][]string{nil, {"1", "0"}, {"maybe", "true", "1"}}, slices.Equal) {
			t.Errorf("%s: levels %q", path, d.Levels)
		}
	}
	// Booleans find their text in any spelling, and texts find booleans.
	csv := dataFile(t, "f.csv", "label,qid,new,sale,mood\nTrue,a,1,False,maybe\nFalse,a,1,True,true\n")
	for path, levels := range map[string][]string{path: {"False", "True"}, csv: {"0", "1"}} {
		model := ReadOptions{FeatureIDs: []int{2}, FeatureNames: []string{"sale"}, Levels: [][]string{levels}}
		if path == csv {
			model.NumberLevels = []int{2}
		}
		d, err := ReadFile(path, model)
		if want := map[bool][]float32{false: {2, 1, 2}, true: {1, 2}}[path == csv]; err != nil || !slices.Equal(d.Features, want) {
			t.Errorf("%s with levels %q: %v, error %v, want %v", path, levels, d, err, want)
		}
	}
	if d, err := ReadFile(dataFile(t, "f", "1 qid:1 1:true 2:False\n"), ReadOptions{}); err != nil || !slices.Equal(d.Features, []float32{1, 0}) {
		t.Errorf("LETOR text: %v, error %v", d, err)
	}
}

// Decimal numbers are read whatever they are kept in, and keep all their digits where they are texts. What is not read
// is told with its type.
func TestParquetDecimalsAreRead(t *testing.T) {
	type row struct {
		Label int32    `parquet:"label"`
		Query [16]byte `parquet:"qid,decimal(0:38)"`
		Cost  int32    `parquet:"cost,decimal(2:9)"`
		Fee   int64    `parquet:"fee,decimal(3:18)"`
		Price [9]byte  `parquet:"price,optional,decimal(2:20)"`
		City  [3]byte  `parquet:"city,decimal(1:5)"`
		ID    [16]byte `parquet:"id,uuid"`
		List  []int32  `parquet:"list"`
	}
	wide := func(low byte) (b [16]byte) { // 2^64 + low, which float64 does not hold
		b[7], b[15] = 1, low
		return b
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	rows := []row{
		{1, wide(1), 1250, -5, [9]byte{0, 0, 0, 0, 0, 0, 0, 1, 3}, [3]byte{0, 0, 15}, [16]byte{}, nil},
		{0, wide(2), -7, 1500, [9]byte{255, 255, 255, 255, 255, 255, 255, 255, 206}, [3]byte{255, 255, 251}, [16]byte{}, nil},
		{0, wide(2), 0, 0, [9]byte{}, [3]byte{0, 0, 15}, [16]byte{}, nil},
	}
	writeParquet(t, path, rows)
	d, err := ReadFile(path, ReadOptions{Categorical: []string{"city"}, Schema: plainNames})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{12.5, -.005, 2.59, 1, -.07, 1.5, -.5, 2, 0, 0, float32(math.NaN()), 1}; !numbers(d.Features, want) {
		t.Errorf("features %v, want %v", d.Features, want)
	}
	if !slices.Equal(d.QueryIDs, []string{"18446744073709551617", "18446744073709551618"}) || !slices.Equal(d.Levels[3], []string{"1.5", "-0.5"}) {
		t.Errorf("query ids %q, levels %q", d.QueryIDs, d.Levels)
	}
	if len(d.Warnings) != 2 || !strings.Contains(d.Warnings[0], "columns of text were left out: id:") || !strings.HasSuffix(d.Warnings[1], "columns of types that are not read were left out: list (repeated)") {
		t.Errorf("warnings %q", d.Warnings)
	}
	if _, err := ReadFile(path, ReadOptions{FeatureIDs: []int{1}, FeatureNames: []string{"list"}}); err == nil || !strings.Contains(err.Error(), `no column for feature "list"; columns of types that are not read: list (repeated)`) {
		t.Errorf("error %v", err)
	}
}

// Values that no feature, label or query id can have are errors that name the row and the column.
func TestParquetErrorsNameTheColumn(t *testing.T) {
	type row struct {
		Label float32 `parquet:"label"`
		Query string  `parquet:"qid,plain"`
		X     float64 `parquet:"x"`
		Name  string  `parquet:"name,plain"`
	}
	good := row{1, "q", 2, "n"}
	for want, bad := range map[string]row{
		`f.parquet:2: column "x": the value is infinite`:               {1, "q", math.Inf(1), "n"},
		`f.parquet:2: column "x": the value is beyond the range`:       {1, "q", 1e300, "n"},
		`f.parquet:2: column "qid": no query id`:                       {1, "", 1, "n"},
		`f.parquet:2: column "label": the label "NaN" is not a number`: {float32(math.NaN()), "q", 1, "n"},
	} {
		path := filepath.Join(t.TempDir(), "f.parquet")
		writeParquet(t, path, []row{good, bad, good})
		if _, err := ReadFile(path, ReadOptions{Schema: plainNames}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	writeParquet(t, path, []row{good, good})
	for want, o := range map[string]ReadOptions{
		`column "name": "n" is not a number`:                          {FeatureIDs: []int{2}, FeatureNames: []string{"name"}},
		`no column for feature "y"`:                                   {FeatureIDs: []int{2}, FeatureNames: []string{"y"}},
		`no feature "y": want one of x, name`:                         {Features: []string{"y"}},
		`header: no weight column "w": there are label, qid, x, name`: {WeightColumn: "w"},
	} {
		if _, err := ReadFile(path, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Blocks, splits and caches are the same as of other formats.
func TestParquetIsReadInBlocksAndKept(t *testing.T) {
	list, csv := products(300)
	folder := t.TempDir()
	writeParquet(t, filepath.Join(folder, "train.parquet"), list)
	if err := os.WriteFile(filepath.Join(folder, "test.csv"), []byte(csv), 0o666); err != nil {
		t.Fatal(err)
	}
	o := Options{Cache: t.TempDir(), Unlabelled: "keep", Read: ReadOptions{Categorical: []string{"city"}, Ignore: []string{"weight"}, Schema: plainNames}}
	for range 2 { // read, and from the cache
		s, err := Open(folder, o)
		if err != nil {
			t.Fatal(err)
		}
		if !numbers(append(slices.Clone(s.Train.Features), s.Vali.Features...)[:5], s.Train.Features[:5]) || s.Train.Rows()+s.Vali.Rows() != s.Test.Rows() || len(s.Train.Levels[5]) != 3 {
			t.Errorf("%v, %v, %v, levels %q", s.Train, s.Vali, s.Test, s.Train.Levels)
		}
	}
	want, err := ReadFile(filepath.Join(folder, "train.parquet"), o.Read)
	if err != nil {
		t.Fatal(err)
	}
	blocks := o.Read
	blocks.FeatureIDs, blocks.FeatureNames, blocks.Levels, blocks.Categorical = want.FeatureIDs, want.FeatureNames, want.Levels, nil
	var got []float32
	last := int64(0)
	_, err = readBlocks(filepath.Join(folder, "train.parquet"), inChunks(blocks, 2000), func(b *Dataset, read int64) error {
		got, last = append(got, b.Features...), read
		return nil
	})
	if info, _ := os.Stat(filepath.Join(folder, "train.parquet")); err != nil || !numbers(got, want.Features) || last != info.Size() {
		t.Errorf("%d values in blocks, want %d; read %d bytes; error %v", len(got), len(want.Features), last, err)
	}
}

// Whatever the bytes, reading ends without a panic, and takes memory in proportion to them.
func FuzzParquet(f *testing.F) {
	list, _ := products(40)
	for version := 1; version <= 2; version++ {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Zstd} {
			path := filepath.Join(f.TempDir(), "f.parquet")
			writeParquet(f, path, list, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(200))
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	for _, name := range []string{"types", "times", "empty-groups", "delta", "delta-length", "split", "duckdb"} { // which have no checksums
		text, err := os.ReadFile(made(name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "f.parquet")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if d, err := ReadFile(path, ReadOptions{Categorical: []string{"city"}}); err == nil {
			checkShape(t, d)
		}
	})
}
