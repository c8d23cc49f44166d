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

	_ "github.com/plrank/plrank/datasets/parquet"
	"github.com/plrank/plrank/transforms"
)

// arrayFolder has data, and the arrays of testdata, which NumPy 2.4 wrote: queries [[1, 0], [0, 1]] as float32 and documents
// [[3, 4], [0, 2], [.1, .001]] as float64.
func arrayFolder(t *testing.T) (write func(name, text string) string, o ReadOptions) {
	t.Helper()
	folder := t.TempDir()
	write = func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, ids := range map[string]string{"queries.npy": "qid\ny\nx\n", "documents.npy": "docid\r\nA\r\nB\r\nunused\r\n\r\n"} {
		text, err := os.ReadFile(filepath.Join("testdata", "numpy", name))
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(text))
		write(name+".ids", ids)
	}
	o = ReadOptions{Products: productsOf("dot(v,d)"), Vectors: []transforms.Vector{{Name: "v", File: filepath.Join(folder, "queries.npy")},
		{Name: "d", File: filepath.Join(folder, "documents.npy")}}}
	return write, o
}

// Arrays of NumPy have vectors by the ids in a file next to them.
func TestArraysOfNumPyAreVectors(t *testing.T) {
	write, o := arrayFolder(t)
	path := write("f.csv", "qid,label,docid,f\nx,1,A,5\nx,0,B,6\ny,1,B,7\ny,0,A,8\ny,0,C,9\n")
	d, err := ReadFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{5, 4, 6, 2, 7, 0, 8, 3, 9}; !slices.Equal(d.Features[:9], want) || d.Row(4)[1] == d.Row(4)[1] {
		t.Errorf("%v, want %v and a missing value", d.Features, want)
	}
	// The cache of splits is read anew where ids have changed.
	for ids, want := range map[string]map[string]float32{"qid\nx\ny\n": {"x": 3, "y": 2}, "qid\ny\nx\n": {"x": 4, "y": 0}} {
		write("queries.npy.ids", ids)
		s, err := Open(path, Options{Read: o, Cache: filepath.Join(filepath.Dir(path), "cache")})
		if err != nil {
			t.Fatal(err)
		}
		if q := s.Train.QueryIDs[0]; s.Train.Row(0)[1] != want[q] {
			t.Errorf("ids %q: query %s has %v, want %v", ids, q, s.Train.Row(0), want[q])
		}
	}
}

func TestErrorsOfArraysSayWhatIsMissing(t *testing.T) {
	header := func(kind, shape string) string {
		return fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-117s\n", "{'descr': '"+kind+"', 'fortran_order': False, 'shape': "+shape+", }")
	}
	nested := "\x93NUMPY\x01\x00\x00\x40" + fmt.Sprintf("%-16383s\n", "{'descr': '<f4', 'fortran_order': False, 'shape': "+strings.Repeat("(", 9000)+", }")
	inf := "\x00\x00\x80\x7f\x00\x00\x80\x7f"
	for want, change := range map[string][2]string{
		"documents.npy: 3 rows, but":                                                             {"documents.npy.ids", "docid\nA\nB\n"},
		"documents.npy.ids has 2 ids below its first line":                                       {"documents.npy.ids", "docid\nA\nB\n"},
		"documents.npy.ids has more ids: want one for each row":                                  {"documents.npy.ids", "docid\nA\nB\nC\nD\n"},
		"documents.npy.ids:1: the columns are not known: want qid, docid":                        {"documents.npy.ids", "A\nB\nC\n"},
		"documents.npy.ids:1: the columns are not known: want qid":                               {"documents.npy.ids", ""},
		"documents.npy.ids:3: an empty id: want one for each row of the array":                   {"documents.npy.ids", "docid\nA\n \nC\n"},
		"documents.npy.ids:4: an empty id":                                                       {"documents.npy.ids", "docid\nA\nB\n\n"},
		"documents.npy: the array has 3 dimension(s): want a matrix, with a row for each vector": {"documents.npy", header("<f4", "(1, 2, 1)") + "abcdefgh"},
		"documents.npy: the rows have no numbers":                                                {"documents.npy", header("<f4", "(3, 0)")},
		"documents.npy: the array has 0 dimension(s): want a matrix, with a row for each vector": {"documents.npy", header("<f4", "()") + "abcd"},
		`documents.npy:2: "A" has two vectors`:                                                   {"documents.npy.ids", "docid\nA\nA\nC\n"},
		"none of its documents has a vector in":                                                  {"documents.npy.ids", "docid\nE\nF\nG\n"},
		"documents.npy: the array has 1 dimension(s): want a matrix, with a row for each vector": {"documents.npy", header("<f4", "(3,)") + "abcdefghijkl"},
		"type <i4 (Fortran order: false), want <f4 or <f8 in C order":                            {"documents.npy", header("<i4", "(1, 2)") + "abcdefgh"},
		"shape [9 2] takes 72 bytes, but there are 8":                                            {"documents.npy", header("<f4", "(9, 2)") + "abcdefgh"},
		"number 1 of the vector is +Inf: want finite numbers":                                    {"documents.npy", header("<f4", "(3, 2)") + strings.Repeat(inf, 3)},
		"documents.npy: malformed .npy header":                                                   {"documents.npy", nested},
		"documents.npy.ids:2: a line of more than 65535":                                         {"documents.npy.ids", "docid\n" + strings.Repeat("a", 1<<17)},
	} {
		write, o := arrayFolder(t)
		write(change[0], change[1])
		_, err := ReadFile(write("f.csv", "qid,label,docid,f\nx,1,A,5\nx,0,B,6\n"), o)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 600 || strings.Count(err.Error(), "datasets: ") > 1 {
			t.Errorf("error %.600v, want %q", err, want)
		}
	}
	write, o := arrayFolder(t)
	if err := os.Remove(o.Vectors[0].File + ".ids"); err != nil {
		t.Fatal(err)
	}
	_, err := ReadFile(write("f.csv", "qid,label,docid,f\nx,1,A,5\n"), o)
	if want := "queries.npy: an array needs a file "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "queries.npy.ids: want") {
		t.Errorf("error %v, want %q", err, want)
	}
}

// Arrays and ids with other bytes are read, or are errors.
func TestMutatedArraysAreReadOrErrors(t *testing.T) {
	write, o := arrayFolder(t)
	data := write("f.csv", "qid,label,docid,f\nx,1,A,5\nx,0,B,6\n")
	rng := rand.New(rand.NewPCG(71, 0))
	errors := 0
	for range 1000 {
		name := []string{"documents.npy", "documents.npy.ids"}[rng.IntN(2)]
		path := filepath.Join(filepath.Dir(data), name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		other := slices.Clone(text)
		for range 1 + rng.IntN(3) {
			other[rng.IntN(len(other))] = byte(rng.IntN(256))
		}
		write(name, string(other[:len(other)-rng.IntN(2)*rng.IntN(len(other))]))
		d, err := ReadFile(data, o)
		if err != nil {
			errors++
		} else if at := slices.IndexFunc(d.Vectors.Values, func(x float32) bool { return math.IsNaN(float64(x)) }); at >= 0 {
			t.Fatalf("%q: vectors %v", other, d.Vectors.Values)
		}
		write(name, string(text))
	}
	if errors < 100 || errors == 1000 {
		t.Errorf("%d errors of 1000", errors)
	}
}
