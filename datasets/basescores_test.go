package datasets

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/transforms"
)

func TestBaseScoresFromAFileOrAColumn(t *testing.T) {
	const csv = "label,qid,old,x\n1,a,.5,1\n0,a,-2,2\n1,b,3e2,3\n"
	const letor = "2 qid:a 1:1 7:.5\n0 qid:a 7:-2 1:2\n1 qid:b 1:3\n"
	for _, test := range []struct {
		name, data, init, column string
		want                     []float32
		fails                    string
	}{
		{"f.txt", threeQueries, "1\n-.5\r\n0\n2\n1e3", "", []float32{1, -.5, 0, 2, 1000}, ""},
		{"f.txt", threeQueries, "\ufeff1\n2\n3\n4\n5\n", "", []float32{1, 2, 3, 4, 5}, ""},
		{"f.csv", csv, "", "old", []float32{.5, -2, 300}, ""},
		{"f.csv", csv, "no numbers\n", "old", []float32{.5, -2, 300}, ""}, // the column is enough
		{"f.csv", csv, "", "older", nil, `no base score column "older": there are label, qid, old, x`},
		{"f.csv", csv, "", "qid", nil, `column "qid" is the query id, and cannot be the base score as well`},
		{"f.csv", "label,qid,old,x\n1,a,,1\n0,a,nan,2\n", "", "old", nil, `f.csv:2: column "old": the base score is "": want a finite number`},
		{"f.csv", "label,qid,old,x\n1,a,,1\n0,a,nan,2\n", "", "old", nil, `f.csv:3: column "old": the base score is "nan": want`},
		{"f.txt", letor, "", "old", nil, `no base score column "old": LETOR text names no columns; want the base scores in a file next to it, named as it plus .init`},
		{"f.txt", letor, "", "7", nil, `no base score column "7": LETOR text`},
		{"f.txt", threeQueries, "1\n2\n", "", nil, "f.txt.init: 2 lines, but "},
		{"f.txt", threeQueries, "1\n2\n3\n4\n5\n6\n", "", nil, "f.txt has 5 documents: want the base score of one document a line"},
		{"f.txt", threeQueries, "1\n\n3\n4\n5\n", "", nil, `f.txt.init:2: the base score is "": want a finite number`},
		{"f.txt", threeQueries, "1\n1e39\n3\n4\n5\n", "", nil, `f.txt.init:2: the base score is "1e39"`},
		{"f.txt", threeQueries, "1\n2\t3\n3\n4\n5\n", "", nil, `f.txt.init:2: the base score is "2\t3"`},
	} {
		files := map[string]string{test.name: test.data}
		if test.init != "" {
			files[test.name+".init"] = test.init
		}
		path := filepath.Join(writeFiles(t, files), test.name)
		d, err := readFile(path, inChunks(ReadOptions{BaseColumn: test.column}, few))
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%q: error %v, want %q", test.init+test.column, err, test.fails)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.BaseScores, test.want) || len(d.FeatureIDs) != 1 || (d.Warnings != nil) != (test.init != "" && test.column != "") {
			t.Errorf("%q: base scores %v, features %v, warnings %q", test.init+test.column, d.BaseScores, d.FeatureIDs, d.Warnings)
		}
		blocks, _, err := joined(path, ReadOptions{BaseColumn: test.column, FeatureIDs: d.FeatureIDs}, few)
		if err != nil || !slices.Equal(blocks.BaseScores, test.want) {
			t.Errorf("%q: in blocks %v, %v", test.init+test.column, blocks, err)
		}
	}
}

// Base scores go with their documents through queries that come back, parts, held-out splits,
// dropped documents, folds, the cache and batches.
func TestBaseScoresInSplits(t *testing.T) {
	var parts, bases [2]strings.Builder
	for r := range 60 {
		q, value, label := r%20, formatFloat(float32(r+1)), []string{"1", "-1", "0"}[r/20]
		part := q / 10
		parts[part].WriteString(label + " qid:" + string(rune('a'+q)) + " 1:" + value + "\n")
		bases[part].WriteString(value + "\n") // the value of the feature
	}
	folder := writeFiles(t, map[string]string{
		"one/train.txt": parts[0].String() + parts[1].String(), "one/train.txt.init": bases[0].String() + bases[1].String(),
		"two/train/1.txt": parts[0].String(), "two/train/1.txt.init": bases[0].String(),
		"two/train/2.txt": parts[1].String(), "two/train/2.txt.init": bases[1].String(),
		"half/train/1.txt": parts[0].String(), "half/train/1.txt.init": bases[0].String(),
		"half/train/2.txt": parts[1].String(),
	})
	for _, open := range []struct {
		path string
		Options
	}{{"one", Options{}}, {"one/train.txt", Options{Folds: 4, Fold: 2}}, {"two", Options{}}} {
		open.Cache = t.TempDir()
		path := filepath.Join(folder, open.path)
		first, err := Open(path, open.Options)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Open(path, open.Options)
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, first)
		rows := 0
		for _, d := range again.all() {
			if d == nil {
				continue
			}
			rows += d.Rows()
			if !slices.Equal(d.BaseScores, d.Features) {
				t.Errorf("%s: base scores %v, want %v", d.Name, d.BaseScores, d.Features)
			}
			var b Batch
			b.Pack(d, &transforms.Transform{Inputs: 1}, []int{1, 0}, 8, 3)
			if want := append(slices.Clone(d.BaseScores[2:4]), append(slices.Clone(d.BaseScores[:2]), 0, 0, 0, 0)...); !slices.Equal(b.BaseScores, want) {
				t.Errorf("%s: a batch has %v, want %v", d.Name, b.BaseScores, want)
			}
			if sum := Describe("", d); sum.BaseScores == nil || !strings.Contains(sum.String(), "base scores") {
				t.Errorf("%s", sum)
			}
		}
		if rows != 40 {
			t.Errorf("%d rows", rows)
		}
	}
	if _, err := Open(filepath.Join(folder, "half"), Options{}); err == nil || !strings.Contains(err.Error(), "1.txt has base scores, but ") {
		t.Errorf("error %v", err)
	}
}
