package datasets

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// writePacked writes files into a new folder, those of an ending of a compression compressed.
func writePacked(t *testing.T, files map[string]string) string {
	t.Helper()
	packed := map[string]string{}
	for name, text := range files {
		var b bytes.Buffer
		switch filepath.Ext(name) {
		case ".gz":
			z := gzip.NewWriter(&b)
			z.Write([]byte(text))
			z.Close()
			text = b.String()
		case ".zst":
			z, err := zstd.NewWriter(&b)
			if err != nil {
				t.Fatal(err)
			}
			z.Write([]byte(text))
			z.Close()
			text = b.String()
		}
		packed[name] = text
	}
	return writeFiles(t, packed)
}

// Files next to data may be compressed as the data are, whichever of the two names they have.
func TestFilesBesideDataMayBeCompressed(t *testing.T) {
	const data = "2 1:1\n0 1:2\n1 1:3\n"
	kinds := map[string]string{".query": "2\n1\n", ".weight": "1\n2\n3\n", ".init": "4\n5\n6\n", ".groups": "x\ny\nx\n", ".names": "1 page rank\n"}
	for _, file := range []string{"train.txt", "train.txt.gz", "train.txt.zst"} {
		for _, ending := range []string{"", ".gz", ".zst"} {
			for _, after := range slices.Compact([]string{"train.txt", file}) {
				files := map[string]string{file: data}
				for kind, text := range kinds {
					files[after+kind+ending] = text
				}
				path := filepath.Join(writePacked(t, files), file)
				for _, cache := range []string{"", t.TempDir()} {
					s, err := Open(path, Options{Vali: path, Cache: cache})
					if err != nil {
						t.Fatalf("%s%s next to %s: %v", after, ending, file, err)
					}
					d := s.Train
					if !slices.Equal(d.Offsets, []int{0, 2, 3}) || !slices.Equal(d.Weights, []float32{1, 2, 3}) || !slices.Equal(d.BaseScores, []float32{4, 5, 6}) || !slices.Equal(d.Groups, []int{0, 1, 0}) || !slices.Equal(d.FeatureNames, []string{"page rank"}) {
						t.Errorf("%s%s next to %s: %v, weights %v, base scores %v, groups %v, names %q", after, ending, file, d.Offsets, d.Weights, d.BaseScores, d.Groups, d.FeatureNames)
					}
				}
			}
		}
	}
	// A file in a folder of parts that belongs to another is not a part.
	folder := writePacked(t, map[string]string{"train/1.csv.gz": "label,qid,x\n1,a,1\n0,a,2\n1,b,3\n", "train/1.csv.weight.gz": "1\n2\n3\n"})
	if s, err := Open(folder, Options{}); err != nil || s.Train.Weights == nil {
		t.Errorf("%v, error %v", s, err)
	}
}

// Of two files that say the same it is not known which is meant, unless they agree.
func TestFilesBesideDataThatContradictEachOtherAreErrors(t *testing.T) {
	for _, c := range []struct{ one, two, want string }{
		{".query", ".group", "f.txt.query and "},
		{".query", ".group.gz", "f.txt.group.gz have different query sizes: want one of the two"},
		{".weight", ".weight.gz", "f.txt.weight.gz are next to "},
		{".init.gz", ".init.zst", "f.txt: want one of the two"},
	} {
		folder := writePacked(t, map[string]string{"f.txt": "2 qid:1 1:1\n0 qid:2 1:2\n", "f.txt" + c.one: "1\n1\n", "f.txt" + c.two: "1\n1\n0\n"})
		if _, err := ReadFile(filepath.Join(folder, "f.txt"), ReadOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s and %s: error %v, want %q", c.one, c.two, err, c.want)
		}
	}
	folder := writeFiles(t, map[string]string{"f.txt": "2 1:1\n0 1:2\n", "f.txt.query": "2\n", "f.txt.group": "2\n\n"})
	if d, err := ReadFile(filepath.Join(folder, "f.txt"), ReadOptions{}); err != nil || d.Queries() != 1 || d.Warnings != nil {
		t.Errorf("%v, error %v", d, err)
	}
}

// A file next to the data that is not used, as something else takes its place, is named in a warning.
func TestUnusedFilesBesideDataAreWarnedOf(t *testing.T) {
	folder := writePacked(t, map[string]string{"f.csv": "label,qid,x,g,b\n1,1,1,u,3\n0,1,2,v,4\n", "f.csv.init": "1\n2\n", "f.csv.groups.gz": "1\n2\n", "f.csv.names": "1 bm25\n", "f.csv.position": "1\n2\n"})
	path := filepath.Join(folder, "f.csv")
	d, err := ReadFile(path, ReadOptions{GroupColumn: "g", BaseColumn: "b"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		path + `.groups.gz is not used: groups are in column "g"`, path + `.init is not used: base scores are in column "b"`,
		path + ".names is not used: columns have names of their own", path + ".position is not used: positions are for LightGBM",
	} {
		if i >= len(d.Warnings) || !strings.HasSuffix(d.Warnings[i], want) {
			t.Errorf("warnings %q, want %q", d.Warnings, want)
		}
	}
}

// A name is all of what stands after the id, except the type in a feature map of XGBoost, which all lines have.
func TestNamesOfFeaturesMayHaveBlanks(t *testing.T) {
	for text, want := range map[string]string{
		"1 page rank\n2 bm25\n":                  "page rank",
		"1\tpage rank\n2\tbm25\n":                "page rank",
		"1\tpage rank\tq\n2\tbm25\tint\n":        "page rank",
		"1 page rank\tq\n2 bm25\tint\n":          "page rank",
		"1 page rank q\n2 bm25 float\n":          "page rank",
		"1 bm25 q\r\n2 length int\r\n":           "bm25",
		"1 vitamin c\n2 bm25\n":                  "vitamin c", // the other has no type
		"1\tvitamin c\n2\tplan i\n":              "vitamin c",
		"1 of a query, inverse (log)\n2 other\n": "of a query, inverse (log)",
		"1 q\n2 i\n":                             "q",
	} {
		folder := writeFiles(t, map[string]string{"f.txt": "1 qid:1 1:1 2:2\n", "f.txt.names": text})
		d, err := ReadFile(filepath.Join(folder, "f.txt"), ReadOptions{})
		if err != nil || d.FeatureNames[0] != want {
			t.Errorf("%q: %v, error %v, want %q", text, d, err, want)
		}
	}
}
