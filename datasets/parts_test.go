package datasets

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/textfile"
)

// sameData compares what datasets hold, whatever the files that they come from.
func sameData(t interface {
	Helper()
	Errorf(string, ...any)
}, got, want *Splits) {
	t.Helper()
	for i, g := range got.all() {
		w := want.all()[i]
		if g == nil || w == nil {
			if g != w {
				t.Errorf("split %d: %v, want %v", i, g, w)
			}
			continue
		}
		if d := g.Fingerprint().Differences(w.Fingerprint()); d != "" || !reflect.DeepEqual(g.DocumentIDs, w.DocumentIDs) {
			t.Errorf("split %d: %s differ, or document ids", i, d)
		}
	}
}

// Queries in any number of parts, opened by any way, are what they are in one file.
func TestQueriesInPartFilesAreThoseOfOneFile(t *testing.T) {
	t.Parallel()
	z := gzip.NewWriter(nil) // one for all files: it is large
	rapid.Check(t, func(t *rapid.T) {
		chunkSize := rapid.IntRange(40, 400).Draw(t, "chunk")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		csv := rapid.Bool().Draw(t, "csv")
		docs, weights, groups := rapid.Bool().Draw(t, "docs"), rapid.Bool().Draw(t, "weights"), rapid.Bool().Draw(t, "groups")
		dir, err := os.MkdirTemp("", "parts")
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer os.RemoveAll(dir)
		put := func(name, text string) {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
				t.Fatalf("%v", err)
			}
			if strings.HasSuffix(name, ".gz") {
				var packed bytes.Buffer
				z.Reset(&packed)
				z.Write([]byte(text))
				z.Close()
				text = packed.String()
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatalf("%v", err)
			}
		}
		type text struct{ data, weights, groups string }
		header := "label,qid,a,b\n"
		if docs {
			header = "label,qid,a,b,docid\n"
		}
		if !csv {
			header = ""
		}
		naming := rapid.SampledFrom([]string{"one/train/%d.txt", "one/train-%05d-of-%05d.txt", "one/train.part%d.csv.gz", "one/part-%05d"}).Draw(t, "naming")
		n := rapid.SampledFrom([]int{1, 2, 3, 5, 12}).Draw(t, "parts")
		whole := text{data: header}
		query := 0
		for p := range n {
			part := text{data: header}
			for range 1 + rng.IntN(4) {
				query++
				for d := range 1 + rng.IntN(3) {
					line := fmt.Sprintf("%d,%d,%d,%d", rng.IntN(3), query, rng.IntN(9), p)
					doc := fmt.Sprintf("d%d", d)
					if csv && docs {
						line += "," + doc
					} else if !csv {
						line = fmt.Sprintf("%d qid:%d %d:%d %d:.5", rng.IntN(3), query, 1+rng.IntN(2), rng.IntN(9), 3+p)
						if docs {
							line += " # docid = " + doc
						}
					}
					part.data += line + "\n"
					part.weights += fmt.Sprintln(rng.IntN(3))
					part.groups += fmt.Sprintln([]string{"x", "y", "z"}[rng.IntN(3)])
				}
			}
			name := fmt.Sprintf(naming, p)
			if strings.Contains(naming, "-of-") {
				name = fmt.Sprintf(naming, p, n)
			}
			put(name, part.data)
			whole.data += strings.TrimPrefix(part.data, header)
			whole.weights += part.weights
			whole.groups += part.groups
			plain := strings.TrimSuffix(name, ".gz")
			if weights {
				put(plain+".weight", part.weights)
			}
			if groups {
				put(plain+".groups", part.groups)
			}
		}
		put("one/_SUCCESS", "")
		put("whole/train.txt", whole.data)
		if weights {
			put("whole/train.txt.weight", whole.weights)
		}
		if groups {
			put("whole/train.txt.groups", whole.groups)
		}
		o := Options{Seed: 1, chunkSize: chunkSize}
		if query >= 3 && rapid.Bool().Draw(t, "folds") {
			o.Folds, o.Fold = 3, 2
		} else if query == 1 {
			return
		}
		want, err := Open(filepath.Join(dir, "whole"), o)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, cache := range []string{"", filepath.Join(dir, "cache"), filepath.Join(dir, "cache"), filepath.Join(dir, "whole", "train.txt")} {
			o.Cache = cache // at first there is none, then it is there; at last it cannot be written
			got, err := Open(filepath.Join(dir, "one"), o)
			if err != nil && strings.HasSuffix(cache, ".txt") && strings.Contains(err.Error(), "features to the disk") {
				continue
			}
			if err != nil {
				t.Fatalf("%v", err)
			}
			sameData(t, got, want)
			lines := map[string][]string{} // by file
			for r := range got.Train.Rows() {
				path, number, _ := strings.Cut(got.Train.Where(r), ":")
				line := 0
				fmt.Sscan(number, &line)
				if lines[path] == nil {
					lines[path] = readPart(t, path)
				}
				lines := lines[path]
				if line < 1 || line > len(lines) || !strings.Contains(lines[line-1], got.Train.QueryIDs[queryOf(got.Train, r)]) {
					t.Fatalf("row %d: %s", r, got.Train.Where(r))
				}
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "cache", "*")); len(left) != 1 {
			t.Errorf("in the cache folder: %q", left)
		}
	})
}

func queryOf(d *Dataset, row int) int {
	for q := range d.Queries() {
		if row < d.Offsets[q+1] {
			return q
		}
	}
	return -1
}

func readPart(t *rapid.T, path string) []string {
	s, err := textfile.Open(t.Context(), path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer s.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(s); err != nil {
		t.Fatalf("%v", err)
	}
	return strings.Split(text.String(), "\n")
}

func TestPartFilesThatDoNotFitAreErrors(t *testing.T) {
	const a, b = "1 qid:1 1:1\n0 qid:1 1:2\n", "1 qid:2 1:1\n0 qid:2 1:2\n"
	for _, c := range []struct {
		files map[string]string
		want  string // nothing: it opens
	}{
		{map[string]string{"train/1": a, "train/2": b}, ""},
		{map[string]string{"train/1": a, "vali/1": b, "test/x.txt": a}, ""},
		{map[string]string{"set1.train-0.txt": a, "set1.train-1.txt": b}, ""},
		{map[string]string{"train-1-of-2.txt": a, "train-2-of-2.txt": b}, ""},
		{map[string]string{"train/1": a, "train/2": b + a}, `query "1" is in `},
		{map[string]string{"train-0-of-3.txt": a, "train-2-of-3.txt": b}, "of 3 parts, number 1 is missing"},
		{map[string]string{"train/x-0-of-2": a, "train/x-1-of-2": b, "train/y-0-of-1": "1 qid:3 1:1\n"}, ""},
		{map[string]string{"train-0-of-2.txt": a, "train-00001-of-00002.txt": b}, ""},
		{map[string]string{"train-00000-of-00002.txt": a, "train-00000-of-00003.txt": b, "train-00001-of-00002.txt": "", "train-00001-of-00003.txt": "", "train-00002-of-00003.txt": ""}, "parts of two exports: train-00000-of-00002.txt and train-00000-of-00003.txt"},
		{map[string]string{"train/part-00000-of-00002": a, "train/part-00001-of-00002": b, "train/part-00002-of-00003": "1 qid:3 1:1\n"}, "parts of two exports: part-00000-of-00002 and part-00002-of-00003"},
		{map[string]string{"set1.train-00000-of-00002.txt": a, "set1.train-00002-of-00003.txt": b}, "parts of two exports: "},
		{map[string]string{"train-0-of-1.txt": a, "train-7.txt": b}, "parts of two exports: train-0-of-1.txt and train-7.txt"},
		{map[string]string{"train-0-of-2.txt": a, "train-1-of-2.txt": b, "train-2-of-2.txt": "1 qid:3 1:1\n"}, "3 files for 2 parts, which are counted from 0: train-0-of-2.txt, train-1-of-2.txt, train-2-of-2.txt"},
		{map[string]string{"train-0-of-1.txt": a, "train-0-of-1.csv": b}, "2 files for 1 parts, which are counted from 0: train-0-of-1.csv, train-0-of-1.txt"},
		{map[string]string{"train/x-0-of-2": a, "train/y-0-of-2": b, "train/y-1-of-2": "1 qid:3 1:1\n"}, "of 2 parts, number 1 is missing"},
		{map[string]string{"train/1": "", "train/2": "# nothing\n"}, "no documents in the file: all 2 parts are empty"},
		{map[string]string{"train/1": a, "train/2": "label,qid,1\n", "train/2.weight": "1\n"}, "2.weight: 1 weights, but "},
		{map[string]string{"train/1": a, "train/2": "size,qid,1\n"}, "no label column"},
		{map[string]string{"train-0.txt": a, "train.txt": b}, "could be the train split"},
		{map[string]string{"train/1": a, "train.txt": b}, "could be the train split"},
		{map[string]string{"train/1": a, "train/2": b, "train/1.weight": "1\n2\n"}, "has weights of documents, but"},
		{map[string]string{"train/1": a, "train/2": b, "train/2.groups": "1\n2\n"}, "has groups, but"},
		{map[string]string{"train/1": a, "train/2": "1 1:1\n", "train/2.query": "1\n"}, "has query ids, but"},
		{map[string]string{"train/1": a, "train/more/2": b}, "want part files alone"},
		{map[string]string{"train/1": a, "train/2": "0 qid:2 x\n"}, "2:1: column"},
	} {
		folder := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, cache := range []string{"", t.TempDir()} {
			_, err := Open(folder, Options{Cache: cache})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v: error %v, want %q", c.files, err, c.want)
			}
			if cache != "" && c.want != "" {
				if left, _ := filepath.Glob(filepath.Join(cache, ".*")); left != nil {
					t.Errorf("%v: left behind: %q", c.files, left)
				}
			}
		}
	}
	// -vali and -test may be folders, too.
	folder := t.TempDir()
	for name, text := range map[string]string{"a.txt": a, "held/1": b, "held/2": a} {
		if err := os.MkdirAll(filepath.Join(folder, "held"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		s, err := Open(filepath.Join(folder, "a.txt"), Options{Vali: filepath.Join(folder, "held"), Test: filepath.Join(folder, "held"), Cache: folder})
		if err != nil || s.Vali.Queries() != 2 || s.Test.Queries() != 2 || s.Vali.Rows() != 4 || len(s.Vali.Features) != 4 {
			t.Errorf("%v, %v", s, err)
		}
	}
}

// Queries that only have sizes are numbered on through the parts.
func TestPartFilesWithQuerySizes(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"1": "1 1:1\n0 1:2\n", "1.query": "1\n1\n", "2": "2 1:3\n0 1:4\n", "2.query": "0\n2\n"} {
		if err := os.MkdirAll(filepath.Join(folder, "train"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "train", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(folder, Options{Vali: filepath.Join(folder, "train")})
	if err != nil || !reflect.DeepEqual(s.Train.QueryIDs, []string{"1", "2", "3"}) || s.Train.Where(2) != filepath.Join(folder, "train", "2")+":1" {
		t.Errorf("%v, %v", s, err)
	}
}

// A size of 0 counts in the first file, as in a file alone, and no two queries have one number.
func TestPartFilesWithQuerySizesOf0(t *testing.T) {
	folder := writeFiles(t, map[string]string{"train/1": "1 1:1\n0 1:2\n", "train/1.query": "0\n2\n", "train/2": "2 1:3\n0 1:4\n", "train/2.query": "1\n1\n"})
	s, err := Open(folder, Options{Vali: filepath.Join(folder, "train")})
	if err != nil || !reflect.DeepEqual(s.Train.QueryIDs, []string{"2", "3", "4"}) {
		t.Errorf("%v, %v", s, err)
	}
}

// Parts without rows, as empty partitions give, change nothing, even as the first, and are told.
func TestPartsWithoutDocumentsAreEmpty(t *testing.T) {
	const header, a, b = "label,qid,x,y\n", "1,1,1,2\n0,1,2,3\n", "1,2,3,4\n"
	for _, files := range []map[string]string{
		{"train/1.csv": header, "train/2.csv": header + a, "train/3.csv": header + b},
		{"train/1.csv": header + a, "train/2.csv": strings.TrimSpace(header), "train/3.csv": header + b},
		{"train/1.csv": header + a, "train/2.csv": header + b, "train/3.csv": ""},
		{"train/1.csv": header + a, "train/2.csv": header + b, "train/3.csv": header, "train/3.csv.weight": "", "train/2.csv.weight": "1\n", "train/1.csv.weight": "1\n1\n"},
	} {
		folder := writeFiles(t, files)
		for _, cache := range []string{"", t.TempDir()} {
			s, err := Open(folder, Options{Vali: filepath.Join(folder, "train"), Cache: cache})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(s.Train.Features, []float32{1, 2, 2, 3, 3, 4}) || !reflect.DeepEqual(s.Train.FeatureNames, []string{"x", "y"}) {
				t.Errorf("features %v", s.Train.Features)
			}
			if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "1 of 3 parts have no documents: ") {
				t.Errorf("warnings %q", w)
			}
		}
	}
}
