package datasets

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// wide returns documents of many features, a few of which each document has, and their text in LETOR and separated values. Feature 7
// is NaN in places, feature 9 a 0 that is there, and a query has no values.
func wide(t *testing.T, rows, ids int) (values []map[int]float32, letor, csv string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(rows)))
	var b, c strings.Builder
	c.WriteString("label,qid")
	for id := 1; id <= ids; id++ {
		fmt.Fprintf(&c, ",%d", id)
	}
	c.WriteByte('\n')
	for r := range rows {
		row := map[int]float32{}
		for range 4 {
			row[1+random.IntN(ids)] = float32(1+random.IntN(50)) / 4
		}
		row[1+r%ids] = 2 // all are there
		if q := r / 8; q == 3 {
			row = map[int]float32{}
		}
		fmt.Fprintf(&b, "%d qid:%d 9:0", r%3, r/8)
		for id, v := range row { // in no order
			if id != 7 && id != 9 {
				fmt.Fprintf(&b, " %d:%g", id, v)
			}
		}
		delete(row, 9)
		delete(row, 7)
		if r%5 == 1 {
			b.WriteString(" 7:NaN")
			row[7] = float32(math.NaN())
		}
		b.WriteByte('\n')
		if csv == "" && rows*ids > 1<<24 {
			fmt.Fprintf(&c, "%d,%d", r%3, r/8)
			for id := 1; id <= ids; id++ {
				switch v := row[id]; {
				case v != v:
					c.WriteByte(',')
				case v == 0:
					c.WriteString(",0")
				default:
					fmt.Fprintf(&c, ",%g", v)
				}
			}
			c.WriteByte('\n')
		}
		values = append(values, row)
	}
	return values, b.String(), c.String()
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkWide returns whether documents have the values.
func checkWide(d *Dataset, values []map[int]float32) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if !d.IsSparse() || d.Rows() != len(values) {
		return fmt.Errorf("sparse: %t, %d documents", d.IsSparse(), d.Rows())
	}
	for r, want := range values {
		got := map[int]float32{}
		columns, numbers := d.Sparse.Row(r)
		for i, v := range numbers {
			got[d.FeatureIDs[columns[i]]] = v
		}
		for _, one := range []map[int]float32{got, want} {
			for id := range one {
				if math.Float32bits(got[id]) != math.Float32bits(want[id]) && (got[id] == got[id] || want[id] == want[id]) {
					return fmt.Errorf("document %d, feature %d: %v, want %v", r, id, got[id], want[id])
				}
			}
		}
	}
	return nil
}

func TestWideFilesStaySparse(t *testing.T) {
	const rows, ids = 15_400, 1100
	values, letor, csv := wide(t, rows, ids)
	for name, text := range map[string]string{"a.txt": letor, "a.csv": csv} {
		for _, size := range []int{0, 50_000} {
			d, err := readFile(written(t, name, text), reader.FileOptions{ChunkSize: size})
			if err == nil {
				err = checkWide(d, values)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if at := 8 * len(d.Sparse.Values); at > 1<<20 {
				t.Errorf("%s: %d bytes", name, at)
			}
		}
	}
	path := written(t, "b.txt", letor)
	all := ReadOptions{FeatureIDs: []int{}}
	for id := 1; id <= ids; id++ {
		all.FeatureIDs = append(all.FeatureIDs, id)
	}
	row := 0
	_, err := readBlocks(path, reader.FileOptions{Options: reader.Options(all), ChunkSize: 300_000}, func(block *Dataset, _ int64) error {
		if err := checkWide(block, values[row:row+block.Rows()]); err != nil && block.IsSparse() {
			return err
		}
		row += block.Rows()
		return nil
	})
	if err != nil || row != rows {
		t.Errorf("blocks: %d documents, %v", row, err)
	}
}

func TestSparseDocumentsGoThroughCacheAndFolds(t *testing.T) {
	const rows, ids = 15_400, 1100
	values, letor, _ := wide(t, rows, ids)
	path, cache := written(t, "a.txt", letor), t.TempDir()
	first, err := Open(path, Options{Folds: 4, Fold: 2, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Options{Folds: 4, Fold: 2, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, d := range first.all() {
		mapped := again.all()[i]
		if !d.IsSparse() || d.Fingerprint() != mapped.Fingerprint() {
			t.Errorf("split %d: the cache has other documents", i)
		}
		n += d.Rows()
		var own []map[int]float32
		for q := range d.Queries() {
			for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
				at := 0
				fmt.Sscan(d.QueryIDs[q], &at)
				own = append(own, values[8*at+r-d.Offsets[q]])
			}
		}
		if err := checkWide(mapped, own); err != nil {
			t.Errorf("split %d: %v", i, err)
		}
	}
	if n != rows {
		t.Errorf("%d documents in all", n)
	}
	d := first.Train
	some := d.Select([]int{5, 2})
	at := d.Offsets[2]
	if !reflect.DeepEqual(some.Row(some.Offsets[1]), d.Row(at)) || some.Value(some.Offsets[1], 3) != d.Row(at)[3] {
		t.Error("selected documents differ")
	}
	changed := *d
	changed.Sparse.Columns = append([]int32{}, d.Sparse.Columns...)
	changed.Sparse.Columns[len(changed.Sparse.Columns)-1]--
	if changed.Fingerprint() == d.Fingerprint() {
		t.Error("the fingerprint does not depend on columns")
	}
}

func TestDescriptionsAndDigestsOfSparseDocuments(t *testing.T) {
	_, letor, _ := wide(t, 400, 1100) // small enough for a dense matrix
	dense, err := ReadFile(written(t, "a.txt", letor), ReadOptions{})
	if err != nil || dense.IsSparse() {
		t.Fatal(dense, err)
	}
	sparse := sparsed(dense)
	if !reflect.DeepEqual(Describe("", dense), Describe("", sparse)) {
		t.Error("descriptions differ")
	}
	if !reflect.DeepEqual(dense.QueryDigests(), sparse.QueryDigests()) {
		t.Error("digests differ")
	}
	for _, within := range []bool{false, true} {
		if a, b := dense.Varying(within), sparse.Varying(within); !reflect.DeepEqual(a, b) {
			t.Errorf("columns %v vary, and of sparse documents %v", a, b)
		}
	}
	var a, b bytes.Buffer
	if err := WriteLETOR(&a, dense); err != nil {
		t.Fatal(err)
	}
	if err := WriteLETOR(&b, sparse); err != nil || a.String() != b.String() {
		t.Error("files differ", err)
	}
}

// sparsed returns d with sparse documents.
func sparsed(d *Dataset) *Dataset {
	s := *d
	s.Features = nil
	for r := range d.Rows() {
		var columns []int32
		var values []float32
		for c, v := range d.Row(r) {
			if v != 0 {
				columns, values = append(columns, int32(c)), append(values, v)
			}
		}
		s.Sparse.Append(columns, values)
	}
	return &s
}

func TestHostileSparseFiles(t *testing.T) {
	var many strings.Builder
	many.WriteString("1 qid:1")
	for id := 2_000_000; id > 0; id-- {
		fmt.Fprintf(&many, " %d:1", id)
	}
	many.WriteString("\n0 qid:1 3:1\n")
	d, err := ReadFile(written(t, "a.txt", many.String()), ReadOptions{})
	if err != nil || d.Width() != 2_000_000 {
		t.Fatal(d, err)
	}
	if !d.IsSparse() && len(d.Features) > 1<<24 || d.Value(0, 1_999_999) != 1 || d.Value(1, 2) != 1 || d.Value(1, 3) != 0 {
		t.Error("other values")
	}
	ids := strings.Builder{}
	for id := 1; id < 1500; id++ {
		fmt.Fprintf(&ids, " %d:1", id)
	}
	for text, want := range map[string]string{
		"1 qid:1" + ids.String() + " 2147483648:1\n": "the id is beyond 2147483647",
		"1 qid:1" + ids.String() + " 77:2\n":         "a second value for id 77",
		"1 qid:1 77:2" + ids.String() + "\n":         "a second value for id 77",
	} {
		if _, err := ReadFile(written(t, "b.txt", text), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	last := "1 qid:1" + ids.String() + " 77:2\n0 qid:1 2147483647:4 1:3\n"
	d, err = ReadFile(written(t, "c.txt", last), ReadOptions{Duplicates: "last"})
	if err != nil || d.Value(0, 76) != 2 || d.Value(1, 0) != 3 || d.Value(1, d.Width()-1) != 4 {
		t.Error(d, err)
	}
}
