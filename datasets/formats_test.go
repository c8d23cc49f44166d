package datasets

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// numbers compares features where NaN is equal to itself.
func numbers(got, want []float32) bool {
	return slices.EqualFunc(got, want, func(a, b float32) bool { return a == b || a != a && b != b })
}

func TestMissingValuesAreNaN(t *testing.T) {
	nan := float32(math.NaN())
	d, err := ReadFile(dataFile(t, "f", "0 qid:1 1:NULL 2:NaN 3:?#\n1 qid:1 1:nan 2:NA 3:1\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !numbers(d.Features, []float32{nan, nan, nan, nan, nan, 1}) {
		t.Errorf("features %v", d.Features)
	}
	for _, word := range []string{"nul", "nanx", "inf", "??", "-nan", "none"} {
		if _, err := ReadFile(dataFile(t, "f", "0 qid:1 1:"+word+"\n"), ReadOptions{}); err == nil {
			t.Errorf("%s was read", word)
		}
	}
}

func TestSecondValueIsAnErrorOrTheLastWins(t *testing.T) {
	path := dataFile(t, "f", "0 qid:1 2:1 1:5 2:3\n0 qid:1 2:4\n")
	d, err := ReadFile(path, ReadOptions{Duplicates: "last"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Features, []float32{5, 3, 0, 4}) {
		t.Errorf("features %v", d.Features)
	}
	if _, err := ReadFile(path, ReadOptions{Duplicates: "first"}); err == nil || !strings.Contains(err.Error(), "want error or last") {
		t.Errorf("an invalid option: %v", err)
	}
}

func TestCompressedFilesReadAsPlainOnes(t *testing.T) {
	text := "0 1:1\n1 1:2\n2 1:3\n"
	plain, err := ReadFile(dataFile(t, "f", strings.ReplaceAll(text, " ", " qid:1 ")), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for ending, compress := range map[string]func(w io.Writer) io.WriteCloser{
		".gz": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		".zst": func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		},
	} {
		var b bytes.Buffer
		z := compress(&b)
		io.WriteString(z, text)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		path := dataFile(t, "train.txt"+ending, b.String())
		if err := os.WriteFile(strings.TrimSuffix(path, ending)+".query", []byte("3\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		d, err := ReadFile(path, ReadOptions{})
		if err == nil {
			err = sameDataset(d, plain)
		}
		if err != nil {
			t.Errorf("%s: %v", ending, err)
		}
		if f, err := reader.FindSplits(filepath.Dir(path), 0); err != nil || f[0].Path != path {
			t.Errorf("found %q, error %v", f[0].Path, err)
		}
		// Cut short, it gives an error that names the file.
		if _, err := ReadFile(dataFile(t, "cut", b.String()[:b.Len()-5]), ReadOptions{}); err == nil || !strings.Contains(err.Error(), "cut: ") {
			t.Errorf("%s cut short: %v", ending, err)
		}
	}
}

// Files that are not text are called by their name.
func TestForeignFilesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"BZh91AY&SY\xde\xb1=\xad":          "compressed by bzip2",
		"\xfd7zXZ\x00\x00\x04\xe6":         "compressed by xz",
		"\x04\x22\x4d\x18":                 "compressed by lz4",
		"PK\x03\x04":                       "a zip archive",
		"7z\xbc\xaf\x27\x1c\x00":           "a 7z archive",
		"\xff\xfe2\x00 \x00q\x00i\x00":     "text in UTF-16",
		"\xfe\xff\x002\x00 \x00q\x00i\x00": "text in UTF-16",
	} {
		_, err := ReadFile(dataFile(t, "f", text), ReadOptions{})
		if want := "f: the file is " + want + ": want text in UTF-8"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// Data in formats that are not read are called by their name, with what makes CSV of them; comments may come before.
func TestDataInOtherFormatsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"label":1,"qid":"a","f":0.5}` + "\n":    "the file is JSON: want CSV, in Python by pandas.read_json(FILE, lines=True).to_csv(",
		"[\n {\"label\": 1, \"f\": 2}\n]":         "the file is JSON: want CSV, in Python by pandas.read_json(FILE).to_csv(",
		"# made by hand\n\n{\"label\":1,\"q\":2}": "the file is JSON",
		"% iris\n@RELATION r\n":                   "the file is ARFF: want CSV, or in Go base.ParseDenseARFFToInstances of golearn",
		"label|qid|f\n1|a|0.5\n":                  `the file is separated by |: want CSV, in Python by pandas.read_csv(FILE, sep="|").to_csv(`,
		"ARROW1\x00\x00\xff\xff\xff\xff":          "the file is Arrow IPC, or Feather: want CSV, in Python by pandas.read_feather(FILE).to_csv(",
		"ORC\n\x06\x12\x04\x08\x03P\x00":          "the file is ORC: want CSV, in Python by pandas.read_orc(FILE).to_csv(",
		"SQLite format 3\x00\x10\x00":             "the file is an SQLite database: want CSV, by sqlite3 -csv -header FILE",
		"\x80\x04\x95\xcf":                        "the file is a pickle of Python: want CSV, in Python by pandas.read_pickle(FILE).to_csv(",
		"<!DOCTYPE html>\n<html>":                 "the file is HTML: want the file itself, in whose place a server sent this",
		"version https://git-lfs.github.com/spec": "the file is a pointer of Git LFS: want the file itself, by git lfs pull",
	} {
		for _, headerless := range []bool{false, true} {
			if _, err := ReadFile(dataFile(t, "f", text), ReadOptions{Headerless: headerless}); err == nil || !strings.Contains(err.Error(), "f: "+want) {
				t.Errorf("%q: error %v, want one with %q", text, err, want)
			}
		}
	}
}

// A few bytes that claim to be a lot of text are refused.
func TestDecompressionBombIsAnError(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	zeros := bytes.Repeat([]byte("0 qid:1\n"), 1<<17)
	for range 80 { // 80 MB
		z.Write(zeros)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(dataFile(t, "bomb", b.String()), ReadOptions{}); err == nil || !strings.Contains(err.Error(), "bomb: decompresses to more than") {
		t.Errorf("%d bytes: error %v", b.Len(), err)
	}
}

func TestSeparatedValuesReadAsLETOR(t *testing.T) {
	nan := float32(math.NaN())
	want := &Dataset{
		Features: []float32{.5, nan, 1e-3, 4, 0, 7}, Labels: []float32{2, -1, 0}, Offsets: []int{0, 2, 3},
		QueryIDs: []string{"a", "b"}, DocumentIDs: []string{"d1", "d2", "d3"}, FeatureIDs: []int{1, 2},
	}
	for name, text := range map[string]string{
		"comma":     "label,qid,bm25,docid,\"page, rank\"\n2,a,.5,d1,\n,a,1e-3,d2,4\n0,b,0,d3,7",
		"tab":       "# made by hand\n\nlabel\tqid\tdocid\tbm25\tpage, rank\r\n2\ta\td1\t.5\tNULL\r\n-1\ta\td2\t0.001\t4\r\n0\tb\td3\t0\t7\r\n",
		"semicolon": "bm25;page, rank;docid;qid;label\n.5;?;d1;\"a\";2\n\n1e-3;\"4\";d2;a;-1\n0;7;d3;b;0\n",
		"broken up": "docid,bm25,\"page, rank\",label,qid\nd1,.5,nan,2,a\nd3,0,7,0,b\nd2,.001,4,-1,a\n",
	} {
		for _, size := range []int{1, 1 << 20} {
			d, err := readFile(dataFile(t, "f.csv", text), inChunks(ReadOptions{}, size))
			if err == nil {
				err = sameDataset(d, want)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !slices.Equal(d.FeatureNames, []string{"bm25", "page, rank"}) {
				t.Errorf("%s: names %q", name, d.FeatureNames)
			}
		}
	}
	// By name, for a model.
	o := ReadOptions{FeatureIDs: []int{3, 8}, FeatureNames: []string{"page rank", "bm25"}, LabelColumn: "clicks", QueryColumn: "session"}
	d, err := ReadFile(dataFile(t, "f.csv", "session,clicks,bm25,time,page rank\ns,1,2,3,4\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Features, []float32{4, 2}) || !slices.Equal(d.FeatureIDs, o.FeatureIDs) || !slices.Equal(d.FeatureNames, o.FeatureNames) || len(d.Warnings) != 1 {
		t.Errorf("by name: %v, warnings %q", d.Features, d.Warnings)
	}
	if d, err = ReadFile(dataFile(t, "f.csv", "qid,a,b\ns,1,2\n"), ReadOptions{FeatureIDs: []int{1, 2}}); err != nil || d.Labels[0] != Unlabelled {
		t.Errorf("to be scored: %v, error %v", d, err)
	}
	for text, want := range map[string]string{
		"session,clicks,bm25\ns,1,2\n":               `no column for feature "page rank"`,
		"session,bm25,page rank\ns,1,2\n":            `no label column "clicks"`,
		"session,clicks,bm25,bm25\ns,1,2,3\n":        `two columns are named "bm25"`,
		"session,clicks,bm25,page rank\ns,1,2\n":     `f.csv:2: 3 fields, but the header has 4: none for column "page rank"`,
		"session,clicks,bm25,page rank\ns,1,2,3,4\n": "f.csv:2: field 5: more fields",
		"session,clicks,bm25,page rank\ns,x,2,3\n":   `column "clicks": the label "x" is not a number`,
		"session,clicks,bm25,page rank\ns,1,x,3\n":   `f.csv:2: column "bm25": "x" is not a number`,
		"session,clicks,bm25,page rank\n,1,2,3\n":    "no query id",
		"session,clicks,bm25,page rank\n\"s,1,2,3\n": "closing quote",
		"session,clicks,bm25,page rank\n\n":          "no documents",
		"1,2,3\n":                                    "without a header",
	} {
		if _, err := ReadFile(dataFile(t, "f.csv", text), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := ReadFile(dataFile(t, "f.csv", "a,b\n1,2\n"), ReadOptions{}); err == nil || !strings.Contains(err.Error(), `no label column "label", found a, b (-label-column NAME names it)`) {
		t.Errorf("no label column: %v", err)
	}
}

// Splits with headers agree by name, whatever the order of their columns.
func TestSplitsOfSeparatedValuesHaveNamedColumns(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"train.csv": "label,qid,a,b\n1,1,1,2\n0,1,3,4\n", "vali.csv": "b,a,qid,label\n6,5,2,1\n", "test.csv": "qid,label,c,b,a\n3,1,9,8,7\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(folder, Options{Cache: folder})
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[*Dataset][]float32{s.Train: {1, 2, 3, 4}, s.Vali: {5, 6}, s.Test: {7, 8}} {
		if !slices.Equal(d.Features, want) || !slices.Equal(d.FeatureNames, []string{"a", "b"}) {
			t.Errorf("%s: %v of %q", d, d.Features, d.FeatureNames)
		}
	}
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "not wanted were left out: c") {
		t.Errorf("warnings %q", w)
	}
}

func TestUnlabelledDocumentsAreLeftOut(t *testing.T) {
	const text = "-1 qid:1 1:1\n1 qid:1 1:2\n-1 qid:2 1:3\n0 qid:3 1:4\n-1 qid:3 1:5\n2 qid:3 1:6\n1 qid:1 1:7\n"
	path := dataFile(t, "f", text)
	d, err := ReadFile(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows() != 7 || d.Queries() != 3 {
		t.Errorf("for prediction: %s", d)
	}
	s, err := Open(path, Options{Vali: dataFile(t, "v", text), Test: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range s.all() {
		if !slices.Equal(d.Features, []float32{2, 7, 4, 6}) || !slices.Equal(d.QueryIDs, []string{"1", "3"}) || !slices.Equal(d.Offsets, []int{0, 2, 4}) {
			t.Errorf("for training: %v of %q", d.Features, d.QueryIDs)
		}
		if len(d.Warnings) != 2 || !strings.Contains(d.Warnings[1], "3 documents without a label") {
			t.Errorf("warnings %q", d.Warnings)
		}
	}
	if s, err = Open(path, Options{Vali: path, Unlabelled: "keep"}); err != nil || s.Train.Rows() != 7 {
		t.Errorf("kept: %v, error %v", s, err)
	}
	if _, err = Open(dataFile(t, "g", "-1 qid:1 1:1\n"), Options{}); err == nil || !strings.Contains(err.Error(), "no document has a label") {
		t.Errorf("no labels at all: %v", err)
	}
}

func TestFoldsAreFound(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	one, two := "1 qid:1 1:1\n0 qid:1 1:2\n", "1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:3\n"
	for _, fold := range []string{"Fold1", "FOLD2", "fold 10"} {
		write("c/"+fold+"/trainingset.txt", two)
		write("c/"+fold+"/TestSet.txt", one)
	}
	write("c/readme.txt", "")
	numbers, err := Folds(filepath.Join(folder, "c"))
	if err != nil || !slices.Equal(numbers, []int{1, 2, 10}) {
		t.Errorf("folds %v, error %v", numbers, err)
	}
	for _, fold := range numbers {
		s, err := Open(filepath.Join(folder, "c"), Options{Fold: fold})
		if err != nil {
			t.Fatal(err)
		}
		if s.Train.Queries() != 1 || s.Vali.Queries() != 1 || s.Test.Queries() != 1 {
			t.Errorf("fold %d: %v", fold, s)
		}
	}
	if _, err := Open(filepath.Join(folder, "c"), Options{}); err == nil || !strings.Contains(err.Error(), "please choose one (fold 1 to 10)") {
		t.Errorf("no fold chosen: %v", err)
	}
	if _, err := Open(filepath.Join(folder, "c"), Options{Fold: 3}); err == nil || !strings.Contains(err.Error(), "no fold 3") {
		t.Errorf("no such fold: %v", err)
	}

	// Yahoo!'s layout: two sets in one folder.
	for _, name := range []string{"set1.train.txt", "set1.valid.txt", "set1.test.txt", "set2.train.txt", "set2.test.txt"} {
		write("yahoo/"+name, two)
	}
	if _, err := Open(filepath.Join(folder, "yahoo"), Options{}); err == nil || !strings.Contains(err.Error(), filepath.Join("yahoo", "set2")) {
		t.Errorf("two sets: %v", err)
	}
	for _, path := range []string{"set1", "set1.train.txt"} {
		if s, err := Open(filepath.Join(folder, "yahoo", path), Options{}); err != nil || len(s.Warnings()) != 0 {
			t.Errorf("%s: %v, error %v", path, s, err)
		}
	}
	if _, err := Open(filepath.Join(folder, "yahoo", "set3"), Options{}); err == nil || !strings.Contains(err.Error(), "set3") {
		t.Errorf("no such set: %v", err)
	}

	// Istella's: a folder within, and no validation file.
	text := ""
	for q := range 20 {
		text += strings.ReplaceAll("1 qid:Q 1:1\n", "Q", string(rune('a'+q)))
	}
	write("istella-letor/full/train.txt", text)
	write("istella-letor/full/test.txt", one)
	s, err := Open(filepath.Join(folder, "istella-letor"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Vali.Queries() != 4 || s.Train.Queries() != 16 {
		t.Errorf("held out %d of 20 queries", s.Vali.Queries())
	}
}
