package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSizesAgreeWithQueryIDs(t *testing.T) {
	for sizes, want := range map[string]string{
		"2\n1\n2\n":    "",
		"2\n0\n1\n2\n": "",
		"1\n2\n2\n":    `f.txt.query: the size of query 1 is 1, but`,
		"2\n2\n1\n":    `f.txt has 1 documents with query id "b" from line 3 on`,
		"2\n1\n1\n1\n": `the size of query 3 is 1, but`,
		"3\n0\n2\n":    `has 2 documents with query id "a" from line 1 on`,
		"2\n1\n":       "the sizes sum to 3",
	} {
		folder := writeFiles(t, map[string]string{"f.txt": threeQueries, "f.txt.query": sizes})
		_, err := readFile(filepath.Join(folder, "f.txt"), inChunks(ReadOptions{}, few))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", sizes, err, want)
		}
	}
}

func TestUnusedFilesAreAWarning(t *testing.T) {
	folder := writeFiles(t, map[string]string{"f.txt": threeQueries, "f.txt.position": "1\n"})
	d, err := ReadFile(filepath.Join(folder, "f.txt"), ReadOptions{})
	if err != nil || len(d.Warnings) != 1 || !strings.HasSuffix(d.Warnings[0], "f.txt.position is not used: positions are for LightGBM") {
		t.Errorf("%v, error %v", d.Warnings, err)
	}
}

// The one who reads −1 as SVMrank means it, and the one who reads it as LETOR does,
// are asked which it is.
func TestMeaningOfMinusOneMustBeChosen(t *testing.T) {
	open := func(train, vali string, o Options) (*Splits, error) {
		return Open(writeFiles(t, map[string]string{"train.txt": train, "vali.txt": vali}), o)
	}
	const svm, letor = "1 qid:1 1:1\n-1 qid:1 1:2\n", "1 qid:9 1:1\n-1 qid:9 1:2\n0 qid:9 1:3\n"
	for _, test := range []struct {
		vali, minusOne, unlabelled string
		labels                     []float32 // of the training split; nil: ErrMinusOne
	}{
		{svm, "", "", nil},
		{letor, "", "", []float32{1}}, // another split has zeros
		{svm, "irrelevant", "", []float32{1, 0}},
		{svm, "unlabelled", "", []float32{1}},
		{svm, "", "keep", []float32{1, -1}},
	} {
		s, err := open(svm, test.vali, Options{chunkSize: few, Unlabelled: test.unlabelled, Read: ReadOptions{MinusOne: test.minusOne}})
		if test.labels == nil {
			if !errors.Is(err, ErrMinusOne) || !strings.Contains(err.Error(), "train.txt") {
				t.Errorf("error %v", err)
			}
			continue
		}
		if err != nil || !slices.Equal(s.Train.Labels, test.labels) {
			t.Errorf("%+v: %v, %v", test, s, err)
		}
	}
	if _, err := readFile("f", inChunks(ReadOptions{MinusOne: "0"}, few)); err == nil || !strings.Contains(err.Error(), "want unlabelled or irrelevant") {
		t.Errorf("error %v", err)
	}
	// An empty label is none, whatever −1 means.
	csv := "label,qid,x\n1,a,1\n,a,2\n-1,a,3\n"
	d, err := readFile(dataFile(t, "f.csv", csv), inChunks(ReadOptions{MinusOne: "irrelevant"}, few))
	if err != nil || !slices.Equal(d.Labels, []float32{1, -1, 0}) {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := open(strings.ReplaceAll(csv, "-1", ""), svm[:12], Options{chunkSize: few}); errors.Is(err, ErrMinusOne) {
		t.Error(err)
	}
}

func TestHeaderlessColumnsHaveNumbers(t *testing.T) {
	const text = "# a comment\n1,a,.5,7\n0,a,-1,8\n\n2,b,0,\n"
	d, err := readFile(dataFile(t, "f.csv", text), inChunks(ReadOptions{Headerless: true, QueryColumn: "2"}, few))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Labels, []float32{1, 0, 2}) || !slices.Equal(d.QueryIDs, []string{"a", "b"}) || !slices.Equal(d.FeatureIDs, []int{1, 2}) ||
		!slices.Equal(d.FeatureNames, []string{"3", "4"}) || !slices.Equal(d.Features[:5], []float32{.5, 7, -1, 8, 0}) || d.Features[5] == d.Features[5] {
		t.Errorf("%#v", d)
	}
	if d.Where(2) != d.Name+":5" {
		t.Errorf("row 2 comes from %s", d.Where(2))
	}
	// As LightGBM has it: the label first, and query sizes next to the data.
	folder := writeFiles(t, map[string]string{"f.tsv": "1\t7\n0\t8\n2\t9\n", "f.tsv.query": "2\n1\n"})
	if d, err = readFile(filepath.Join(folder, "f.tsv"), inChunks(ReadOptions{Headerless: true}, few)); err != nil || d.Queries() != 2 || !slices.Equal(d.Features, []float32{7, 8, 9}) {
		t.Errorf("%v, %v", d, err)
	}
	for _, test := range []struct {
		text string
		o    ReadOptions
		want string
	}{
		{text, ReadOptions{}, "separated values without a header: want names of the columns in the first line, or Headerless"},
		{text, ReadOptions{Headerless: true}, "want the number of the query id's column, counted from 1, or query sizes in a file"},
		{text, ReadOptions{Headerless: true, QueryColumn: "qid"}, `no query id column "qid": there are 1, 2, 3, 4`},
		{text, ReadOptions{Headerless: true, QueryColumn: "1"}, `column "1" is the label, and cannot be the query id as well`},
		{"1,a\n1\n", ReadOptions{Headerless: true, QueryColumn: "2"}, "1 fields, but the first line has 2"},
		{"1 qid:1 1:1\n", ReadOptions{Headerless: true}, "the first line has no comma, tab or semicolon"},
	} {
		if _, err := readFile(dataFile(t, "f.csv", test.text), inChunks(test.o, few)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", test.o, err, test.want)
		}
	}
}

// A column that is named for one use is not found for another by its usual name.
func TestNamedColumnsAreNotFoundForOthers(t *testing.T) {
	d, err := ReadFile(dataFile(t, "f.csv", "label,doc,x,query\n1,a,7,3\n0,a,8,4\n"), ReadOptions{QueryColumn: "doc", WeightColumn: "query"})
	if err != nil || !slices.Equal(d.QueryIDs, []string{"a"}) || d.DocumentIDs != nil || !slices.Equal(d.Weights, []float32{3, 4}) {
		t.Errorf("%v, %v", d, err)
	}
}

// Ids of features that no file can have are refused, and a feature may have the name of another use.
func TestWantedFeatures(t *testing.T) {
	text := "query,rating,size\na,7,3\na,8,4\n"
	for want, ids := range map[string][]int{"-7: want 0 to 2147483647": {-7, 2}, "1 after 2: want them ascending": {2, 1}, "1 after 1: want": {1, 1}} {
		if _, err := ReadFile(dataFile(t, "f.csv", text), ReadOptions{FeatureIDs: ids}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", ids, err)
		}
	}
	d, err := ReadFile(dataFile(t, "f.csv", text), ReadOptions{QueryColumn: "query", FeatureIDs: []int{1, 2}, FeatureNames: []string{"rating", "size"}})
	if err != nil || !slices.Equal(d.Features, []float32{7, 3, 8, 4}) || slices.Max(d.Labels) > 0 {
		t.Errorf("%v, %v", d, err)
	}
}

// A header need not name a query id where there are query sizes.
func TestSeparatedValuesWithQuerySizes(t *testing.T) {
	folder := writeFiles(t, map[string]string{"f.csv": "label,x\n1,7\n0,8\n2,9\n", "f.csv.query": "2\n1\n"})
	d, err := ReadFile(filepath.Join(folder, "f.csv"), ReadOptions{})
	if err != nil || !slices.Equal(d.Offsets, []int{0, 2, 3}) || !slices.Equal(d.Features, []float32{7, 8, 9}) {
		t.Errorf("%v, %v", d, err)
	}
}

func TestFoldsOfOneFileShareItsQueries(t *testing.T) {
	var text strings.Builder
	const queries = 23
	for q := range queries {
		fmt.Fprintf(&text, "1 qid:%d 1:%d\n0 qid:%d 1:0.5\n", q, q, q)
	}
	path := dataFile(t, "all.txt", text.String())
	const folds = 5
	tested := map[string]int{}
	for fold := range folds {
		o := Options{Folds: folds, Fold: fold + 1, Seed: 7}
		s, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, s)
		seen := map[string]bool{}
		for _, d := range s.all() {
			for _, id := range d.QueryIDs {
				if seen[id] {
					t.Errorf("fold %d: query %s is in two splits", fold, id)
				}
				seen[id] = true
			}
			if !strings.HasPrefix(d.Where(1), path+":") {
				t.Errorf("row 1 of %s is from %s", d.Name, d.Where(1))
			}
		}
		if len(seen) != queries || s.Test.Queries() < queries/folds || s.Test.Queries() > queries/folds+1 {
			t.Errorf("fold %d: %d queries, %d in the test split", fold, len(seen), s.Test.Queries())
		}
		for _, id := range s.Test.QueryIDs {
			tested[id]++
		}
		next, err := Open(path, Options{Folds: folds, Fold: (fold+1)%folds + 1, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(next.Test.QueryIDs, s.Vali.QueryIDs) {
			t.Errorf("fold %d: validation is not the test split of the next", fold)
		}
	}
	if len(tested) != queries {
		t.Errorf("%d queries are in test splits", len(tested))
	}
	for id, n := range tested {
		if n != 1 {
			t.Errorf("query %s is in %d test splits", id, n)
		}
	}
	one, _ := Open(path, Options{Folds: folds, Fold: 1, Seed: 7})
	if other, err := Open(path, Options{Folds: folds, Fold: 1, Seed: 8}); err != nil || slices.Equal(one.Test.QueryIDs, other.Test.QueryIDs) {
		t.Errorf("another seed, the same folds; error %v", err)
	}
	folder := writeFiles(t, map[string]string{"train.txt": text.String(), "test.txt": text.String()})
	for _, test := range []struct {
		path string
		o    Options
		want string
	}{
		{path, Options{Folds: 2, Fold: 1}, "2 folds: want 3 or more"},
		{path, Options{Folds: 5}, "fold 0 of 5: want 1 to 5"},
		{path, Options{Folds: 5, Fold: 6}, "fold 6 of 5: want 1 to 5"},
		{path, Options{Folds: 24, Fold: 1}, "23 queries cannot be dealt to 24 folds"},
		{path, Options{Folds: 5, Fold: 1, Test: path}, "folds are made of one file"},
		{folder, Options{Folds: 5, Fold: 1}, "folds are made of one file, but there are files of splits"},
	} {
		if _, err := Open(test.path, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", test.o, err, test.want)
		}
	}
}

func TestWhereIsFileAndLine(t *testing.T) {
	d, err := readFile(dataFile(t, "f.txt", threeQueries+"1 qid:b 1:9\n"), inChunks(ReadOptions{}, few))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for r := range d.Rows() {
		lines = append(lines, strings.TrimPrefix(d.Where(r), d.Name))
	}
	if want := []string{":1", ":2", ":3", ":7", ":5", ":6"}; !slices.Equal(lines, want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
	if s := d.Select([]int{2}); s.Where(0) != d.Name+":5" {
		t.Errorf("selected: %s", s.Where(0))
	}
	if w := weighted().Where(2); w != "w: row 2" {
		t.Errorf("of no file: %s", w)
	}
}

// Reading ends soon after its context, wherever it is: in the file, at a pipe in which
// nothing comes, in the cache.
func TestEndOfContextEndsReading(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	o := Options{Read: ReadOptions{Context: done}}
	folder, cache := cached(t)
	if _, err := Open(folder, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := Open(folder, cache); err != nil {
		t.Fatal(err)
	}
	o.Cache, o.Seed = cache.Cache, cache.Seed
	if _, err := Open(folder, o); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cache: error %v", err)
	}
	cacheFile(t, cache.Cache) // is left alone

	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(threeQueries); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	// Nothing else ends it: the pipe stays open.
	if _, err := ReadFile(pipe, ReadOptions{Context: soon}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
