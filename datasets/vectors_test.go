package datasets

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets/schema"
	"github.com/plrank/plrank/transforms"
)

// vectorsOf are text columns that hold vectors.
func vectorsOf(names ...string) (list []transforms.Vector) {
	for _, name := range names {
		list = append(list, transforms.Vector{Name: name})
	}
	return list
}

func productsOf(names ...string) (list []transforms.Product) {
	for _, name := range names {
		list = append(list, transforms.Product{Name: name})
	}
	return list
}

// Lists by Arrow, pandas, Polars and DuckDB are the vectors that text has, with the same products to the last bit.
func TestListsAreVectorsOfEveryWriter(t *testing.T) {
	o := ReadOptions{Vectors: vectorsOf("q", "d"), Products: productsOf("cosine(q,d)", "dot(q,d)", "distance(q,d)")}
	want, err := ReadFile(filepath.Join("testdata", "parquet", "lists.csv"), o)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for r := range want.Rows() {
		var sums [4]float64
		q, d := want.Vector(0, r), want.Vector(1, r)
		for i, x := range d {
			x, y := float64(q[i]), float64(x)
			sums[0], sums[1], sums[2], sums[3] = sums[0]+x*y, sums[1]+x*x, sums[2]+y*y, sums[3]+(x-y)*(x-y)
		}
		row := want.Row(r)[1:]
		if d == nil {
			if missing++; row[0] == row[0] || row[1] == row[1] || row[2] == row[2] {
				t.Fatalf("row %d: %v, want missing values", r, row)
			}
			continue
		}
		for i, v := range []float64{sums[0] / math.Sqrt(sums[1]*sums[2]), sums[0], math.Sqrt(sums[3])} {
			if math.Abs(float64(row[i])-v) > 1e-6 {
				t.Errorf("row %d, %s: %v, want %v", r, want.FeatureName(1+i), row[i], v)
			}
		}
	}
	if missing != 11 || want.Rows() != 60 || len(want.Vectors.Values) != 4*(12+60-11) {
		t.Errorf("%d missing in %d rows, %d numbers: want each vector once", missing, want.Rows(), len(want.Vectors.Values))
	}
	files, err := filepath.Glob(filepath.Join("testdata", "parquet", "lists-*.parquet"))
	if err != nil || len(files) < 11 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, path := range files {
		d, err := ReadFile(path, ReadOptions{Products: o.Products})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		half := strings.Contains(path, "half")
		for r := range d.Rows() {
			for k := range 2 {
				if got, want := d.Vector(k, r), want.Vector(k, r); !slices.EqualFunc(got, want, func(a, b float32) bool {
					return a == b || half && k == 1 && math.Abs(float64(a-b)) < .001*math.Abs(float64(b))+1e-6
				}) {
					t.Fatalf("%s: row %d, %s: %v, want %v", path, r, d.Vectors.Names[k], got, want)
				}
			}
		}
		if same := slices.EqualFunc(d.Features, want.Features, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }); !same && !half {
			t.Errorf("%s: other products than of text", path)
		}
	}
}

func TestVectorsAreReadFromTextInManyForms(t *testing.T) {
	for text, want := range map[string][]float32{
		"[0.1, 0.2]": {.1, .2}, "0.1 0.2": {.1, .2}, "0.1,0.2": {.1, .2}, "[ 1.\n  2.e0 -3\r\n]": {1, 2, -3}, "[]": nil, "": nil, "NA": nil, "[7]": {7},
	} {
		d, err := ReadFile(dataFile(t, "f.csv", "qid,label,v\na,1,\"[1 "+"2]\"\nb,1,\""+text+"\"\n"), ReadOptions{Vectors: vectorsOf("v")})
		if len(want) == 2 || want == nil {
			if err != nil || !slices.Equal(d.Vector(0, 1), want) || !slices.Equal(d.Vector(0, 0), []float32{1, 2}) {
				t.Errorf("%q: %v, error %v", text, d, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), `f.csv:3: column "v": the vector has the dimension `) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"1;2": "in a vector is", "[1 2": "no ] at the end", "1 x": "in a vector is", "[1 nan]": "in a vector is", "inf 1": "in a vector is", "1 ... 2": "in a vector is",
		"1 1e39": "range", "[[1, 2]]": "in a vector is",
	} {
		_, err := ReadFile(dataFile(t, "f.csv", "qid,label,v\na,1,1 2\nb,1,\""+text+"\"\n"), ReadOptions{Vectors: vectorsOf("v")})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `f.csv:3: column "v"`) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// A zero vector has the cosine 0, and two that differ in dimension have no product.
func TestProductsOfOddVectors(t *testing.T) {
	text := "qid,label,a,b\nx,1,0 0,1 2\nx,0,3 4,3 4\nx,0,,1 2\n"
	o := ReadOptions{Vectors: vectorsOf("a", "b"), Products: productsOf("cosine(a,b)", "bilinear(a,b,2)")}
	d, err := ReadFile(dataFile(t, "f.csv", text), o)
	if err != nil {
		t.Fatal(err)
	}
	if d.Row(0)[0] != 0 || d.Row(1)[0] != 1 || d.Row(2)[0] == d.Row(2)[0] || d.Row(1)[1] != 1 {
		t.Errorf("products %v", d.Features)
	}
	o.Products = []transforms.Product{{Name: "bilinear(a,b,1)", Left: [][]float32{{1, 0}}, Right: [][]float32{{0, 2}}}}
	if d, err = ReadFile(dataFile(t, "f.csv", text), o); err != nil || d.Row(1)[0] != 3*8 {
		t.Errorf("(3·1)(4·2) is %v, error %v", d, err)
	}
	for text, want := range map[string]string{
		"qid,label,a,b\nx,1,0 0,1 2 3\n":              "dot(a,b): a has the dimension 2, and b has 3: want the same",
		"qid,label,a,c\nx,1,0 0,1 2 3\n":              `no column of vectors "b": there are qid, label, a, c (-vector b=FILE reads them from a file)`,
		"qid,label,b,a\nx,1,0 0,1 2\nx,1,0 0,1 3 2\n": `f.csv:3: column "a": the vector has the dimension 3, want 2`,
	} {
		_, err := ReadFile(dataFile(t, "f.csv", text), ReadOptions{Vectors: vectorsOf("a", "b"), Products: productsOf("dot(a,b)")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	for _, name := range []string{"dot(a)", "dot(a,b", "bilinear(a,b)", "bilinear(a,b,0)", "kosine(a,b)", "dot(a,c)"} {
		if _, err := ReadFile(dataFile(t, "f.csv", text), ReadOptions{Vectors: vectorsOf("a", "b"), Products: productsOf(name)}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The vectors of queries and of documents may be in files of their own, whatever the format of the data.
func TestVectorsInFilesOfTheirOwn(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	queries := write("queries.csv", "qid,v\nx,1 0\ny,\"[0, 1]\"\n")
	documents := write("documents.csv", "docid,d\nA,3 4\nB,0 2\n")
	products := productsOf("dot(v,d)", "distance(v,d)")
	vectors := []transforms.Vector{{Name: "v", File: queries}, {Name: "d", File: documents}}
	for name, text := range map[string]string{
		"f.csv": "qid,label,docid,f\nx,1,A,5\nx,0,B,6\ny,1,B,7\ny,0,A,8\ny,0,C,9\n",
		"f.txt": "1 qid:x 1:5 # docid = A\n0 qid:x 1:6 # docid = B\n1 qid:y 1:7 # docid = B\n0 qid:y 1:8 # docid = A\n0 qid:y 1:9 # docid = C\n",
	} {
		o := ReadOptions{Vectors: vectors, Products: products}
		d, err := ReadFile(write(name, text), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		root := func(x float64) float32 { return float32(math.Sqrt(x)) }
		want := []float32{5, 3, root(20), 6, 0, root(5), 7, 2, 1, 8, 4, root(18)}
		if !slices.Equal(d.Features[:12], want) || d.Row(4)[1] == d.Row(4)[1] || d.FeatureName(1) != "dot(v,d)" || len(d.Vectors.Values) != 8 {
			t.Errorf("%s: %v of %v, want %v", name, d.Features, d.FeatureNames, want)
		}
		// As a model reads it, also in blocks.
		o = ReadOptions{OfModel: true, FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames, Vectors: vectors, Products: products}
		var blocks []float32
		if _, err := ReadBlocks(filepath.Join(folder, name), o, func(b *Dataset, _ int64) error {
			blocks = append(blocks, b.Features...)
			return nil
		}); err != nil || !slices.Equal(blocks[:13], d.Features[:13]) || len(blocks) != 15 {
			t.Errorf("%s in blocks: %v, error %v", name, blocks, err)
		}
	}
	wide := "1 qid:x 1:1 # docid = A\n"
	for id := range 1200 {
		wide += fmt.Sprintf("0 qid:x %d:1 # docid = B\n", id+1)
	}
	d, err := ReadFile(write("wide.txt", wide), ReadOptions{Vectors: vectors, Products: products})
	if err != nil || d.IsSparse() || d.Row(0)[1200] != 3 || d.Row(7)[1200] != 0 {
		t.Errorf("wide text: %v, error %v", d, err)
	}
	for part, want := range map[string]string{
		"docid,d\nA,3 4\n":        "f.csv: 3 of 5 documents have no vector by the id of their document in ",
		"qid,d\nx,3 4\n":          "f.csv: 3 of 5 documents have no vector by the id of their query in ",
		"docid,d\nB,3 4\nA,3 4\n": "", // 1 of 5
	} {
		o := ReadOptions{Vectors: []transforms.Vector{{Name: "d", File: write("part.csv", part)}}}
		d, err := ReadFile(filepath.Join(folder, "f.csv"), o)
		if err != nil || (len(d.Warnings) > 0) != (want != "") || !strings.Contains(strings.Join(d.Warnings, "\n"), want) {
			t.Errorf("%q: %v, %v, want %q", part, d, err, want)
		}
	}
	for name, want := range map[string]string{
		write("none.csv", "qid,v\nz,1 0\n"):          "none of its queries has a vector in",
		write("twice.csv", "qid,v\nx,1 0\nx,0 1\n"):  `twice.csv:3: "x" has two vectors`,
		write("empty.csv", "docid,v\nA,1 0\n,1 0\n"): "empty.csv:3: an empty id beside a vector",
		write("ids.csv", "w,v\n1,1 0\n"):             "want a column of query ids or of document ids beside the vectors",
		filepath.Join(folder, "absent.csv"):          "no such file",
		write("ragged.csv", "qid,v\nx,1 0\ny,1\n"):   `ragged.csv:3: column "v": the vector has the dimension 1, want 2`,
	} {
		o := ReadOptions{Vectors: []transforms.Vector{{Name: "v", File: name}}}
		if _, err := ReadFile(filepath.Join(folder, "f.csv"), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// Open refuses a split in which no query has a vector, also after one with vectors.
func TestEachSplitHasVectorsOfAFile(t *testing.T) {
	folder := writeFiles(t, map[string]string{"train.csv": "qid,label,f\nx,1,5\n", "vali.csv": "qid,label,f\nz,1,5\n", "v.csv": "qid,v\nx,1 0\n"})
	o := Options{Read: ReadOptions{Vectors: []transforms.Vector{{Name: "v", File: filepath.Join(folder, "v.csv")}}}}
	if _, err := Open(folder, o); err == nil || !strings.Contains(err.Error(), "vali.csv: none of its queries has a vector in") {
		t.Errorf("error %v", err)
	}
}

// Vectors go with their rows through splits, selections and caches, which keep each once.
func TestVectorsGoWithTheirRows(t *testing.T) {
	folder := t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", "parquet", "lists-pandas.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "f.parquet")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	whole, err := ReadFile(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pairs := func(h schema.Header) (c schema.Columns, err error) {
		c.Roles = map[string]string{"label": "label", "query": "qid"}
		if len(h.Vectors) == 2 && h.Dimensions[0] == 4 && h.Dimensions[1] == 4 {
			c.Products = []string{"cosine(q,d)"}
		}
		return c, nil
	}
	for range 2 { // the second time from the cache
		s, err := Open(path, Options{Cache: filepath.Join(folder, "cache"), Read: ReadOptions{Schema: pairs}})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*Dataset{s.Train, s.Vali, s.Vali.Select([]int{1, 0})} {
			if err := d.Validate(); err != nil || len(d.Products) != 1 || d.Products[0].Name != "cosine(q,d)" {
				t.Fatalf("%v, %v", d.Products, err)
			}
			for r := range d.Rows() {
				cosine := d.Products[0].Value(d.Vector(0, r), d.Vector(1, r))
				if x := d.Row(r)[1]; x != cosine && x == x {
					t.Errorf("%s, row %d: %v, want %v", d.Name, r, x, cosine)
				}
			}
			if &d.Vectors.Values[0] != &s.Train.Vectors.Values[0] || len(d.Vectors.Values) != len(whole.Vectors.Values) {
				t.Error("vectors are there more than once")
			}
		}
	}
}

// Reading returns an error that names the row and the column if a vector is ragged, or has a null, NaN or infinite number.
func TestErrorsOfVectorsNameRowAndColumn(t *testing.T) {
	type ragged struct {
		Query string    `parquet:"qid"`
		Label int32     `parquet:"label"`
		V     []float32 `parquet:"v"`
	}
	type nulls struct {
		Query string     `parquet:"qid"`
		Label int32      `parquet:"label"`
		V     []*float64 `parquet:"v,list"`
	}
	type deep struct {
		Query string      `parquet:"qid"`
		Label int32       `parquet:"label"`
		F     float32     `parquet:"f"`
		V     [][]float32 `parquet:"v,list"`
	}
	one, huge, nan := 1., 1e300, float32(math.NaN())
	folder := t.TempDir()
	written := func(name string) string { return filepath.Join(folder, name) }
	writeParquet(t, written("ragged"), []ragged{{"a", 1, []float32{1, 2}}, {"a", 0, []float32{3}}})
	writeParquet(t, written("nan"), []ragged{{"a", 1, []float32{1, nan}}})
	writeParquet(t, written("null"), []nulls{{"a", 1, []*float64{&one, nil}}})
	writeParquet(t, written("huge"), []nulls{{"a", 1, []*float64{&huge, &one}}})
	writeParquet(t, written("deep"), []deep{{"a", 1, 2, [][]float32{{1}, {2}}}})
	for want, file := range map[string]string{
		`2: column "v": the vector has the dimension 1, want 2`:  "ragged",
		`1: column "v": number 2 of the vector is NaN`:           "nan",
		`1: column "v": number 2 of the vector is NaN: want fin`: "null",
		`number 1 of the vector is +Inf`:                         "huge",
		`v (LIST)`:                                               "deep",
	} {
		d, err := ReadFile(written(file), ReadOptions{})
		said := ""
		if err != nil {
			said = err.Error()
		} else {
			said = strings.Join(d.Warnings, "\n")
		}
		if !strings.Contains(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
}

// A document without an id has no vector, whether the documents around it have ids or not.
func TestDocumentsWithoutIDsHaveNoVector(t *testing.T) {
	folder := writeFiles(t, map[string]string{"v.csv": "docid,v\nA,1 2\n", "f.txt": "1 qid:1 1:1 # docid = A\n0 qid:1 1:2\n0 qid:2 1:3\n", "g.txt": "1 qid:1 1:1\n"})
	o := ReadOptions{Vectors: []transforms.Vector{{Name: "v", File: filepath.Join(folder, "v.csv")}}}
	for _, size := range []int{1, 1000} {
		d, err := readFile(filepath.Join(folder, "f.txt"), inChunks(o, size))
		if err != nil || d.Vector(0, 0) == nil || d.Vector(0, 1) != nil || d.Vector(0, 2) != nil {
			t.Errorf("chunks of %d bytes: %v, error %v", size, d, err)
		}
	}
	if _, err := ReadFile(filepath.Join(folder, "g.txt"), o); err == nil || !strings.Contains(err.Error(), "g.txt: no document ids, by which ") {
		t.Errorf("error %v", err)
	}
}

// A product that is not one of the features to read is left out.
func TestProductsThatAreNotWantedAreLeftOut(t *testing.T) {
	path := dataFile(t, "f.csv", "label,qid,a,b,x\n1,q,1 2,3 4,5\n0,q,2 2,1 1,6\n")
	for _, o := range []ReadOptions{{FeatureIDs: []int{1}}, {FeatureIDs: []int{1}, FeatureNames: []string{"x"}}} {
		o.Vectors, o.Products = vectorsOf("a", "b"), productsOf("dot(a,b)")
		d, err := ReadFile(path, o)
		if err != nil || !slices.Equal(d.Features, []float32{5, 6}) || d.Products != nil || d.Validate() != nil || !strings.Contains(strings.Join(d.Warnings, ""), "not wanted were left out: dot(a,b)") {
			t.Errorf("%v: %+v, error %v", o.FeatureNames, d, err)
		}
	}
}
