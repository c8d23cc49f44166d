package datasets

import (
	"slices"
	"strings"
	"testing"
)

// A row of separated values is data whatever its first field begins with, and so is a
// header that names a label and a query id.
func TestSeparatedValuesHaveNoComments(t *testing.T) {
	ids := []string{"#a", "b", " #c", "#", "#e"}
	for name, c := range map[string]struct {
		text string
		o    ReadOptions
	}{
		"comma":               {"docid,label,qid,x\n#a,1,1,2\nb,0,1,3\n #c,0,1,4\n#,0,1,5\n\"#e\",0,1,6", ReadOptions{}},
		"tab":                 {"docid\tlabel\tqid\tx\n#a\t1\t1\t2\nb\t0\t1\t3\n #c\t0\t1\t4\n#\t0\t1\t5\n#e\t0\t1\t6\n", ReadOptions{}},
		"header":              {"#docid,label,qid,x\n#a,1,1,2\nb,0,1,3\n #c,0,1,4\n#,0,1,5\n#e,0,1,6\n", ReadOptions{DocumentColumn: "#docid"}},
		"only such rows":      {"#docid;label;qid;x\n#a;1;1;2\n", ReadOptions{DocumentColumn: "#docid"}},
		"without a header":    {"#a,1,1,2\nb,0,1,3\n #c,0,1,4\n#,0,1,5\n#e,0,1,6\n", ReadOptions{Headerless: true, LabelColumn: "2", QueryColumn: "3", DocumentColumn: "1"}},
		"after other comment": {"# made by hand, with care\n\ndocid,label,qid,x\n#a,1,1,2\nb,0,1,3\n #c,0,1,4\n#,0,1,5\n#e,0,1,6\n", ReadOptions{}},
	} {
		d, err := readFile(dataFile(t, "f.csv", c.text), inChunks(c.o, few))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := ids
		if name == "only such rows" {
			want = ids[:1]
		}
		for i, id := range d.DocumentIDs {
			if got := want[i]; id != got || d.Row(i)[0] != float32(i+2) {
				t.Errorf("%s: document %q of feature %v, want %q of %d", name, id, d.Row(i)[0], got, i+2)
			}
		}
		if d.Rows() != len(want) {
			t.Errorf("%s: %d rows, want %d", name, d.Rows(), len(want))
		}
		var rows int
		c.o.FeatureIDs, c.o.FeatureNames = d.FeatureIDs, d.FeatureNames
		if _, err := readBlocksInChunks(dataFile(t, "f.csv", c.text), c.o, few, func(block *Dataset, _ int64) error { rows += block.Rows(); return nil }); err != nil || rows != len(want) {
			t.Errorf("%s, in blocks: %d rows, want %d, error %v", name, rows, len(want), err)
		}
	}
	// LETOR text has comments, with commas too.
	d, err := readFile(dataFile(t, "f.txt", "# label, qid: and features\n1 qid:1 1:2\n# 0, 1, 3\n0 qid:1 1:3\n"), inChunks(ReadOptions{}, few))
	if err != nil || d.Rows() != 2 {
		t.Errorf("%v, error %v", d, err)
	}
}

// A comment that takes all features of a document is one to warn of.
func TestFeaturesInComments(t *testing.T) {
	for text, want := range map[string]string{
		"1 qid:a 1:1\n0 qid:a 1:2\n1 qid:b#1 1:3 2:4\n0 qid:b#2 1:5\n": "f.txt:3: documents from this line on that have all their features in a comment: 2.",
		"1 qid:a 1:1\n0 qid:a #1:2\n":                                  "f.txt:2: documents from this line on that have all their features in a comment: 1.",
		"1 qid:a 1:1\n0 qid:a # docid = D 2:NULL\n":                    "f.txt:2: documents",
		// What is lost here is nothing, or not all.
		"1 qid:a 1:1\n0 qid:a # docid = 12:x inc = 1 http://a:8080 a:1 :1 1:\n": "",
		"1 qid:a 1:1\n0 qid:a#docid=D\n":                                        "",
		"1 qid:a 1:1\n0 qid:a 1:2 # 2:3\n":                                      "",
	} {
		path := dataFile(t, "f.txt", text)
		d, err := ReadFile(path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := ReadBlocks(path, ReadOptions{FeatureIDs: []int{1, 2}}, func(*Dataset, int64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(blocks, d.Warnings) || len(d.Warnings) > 1 || want == "" && d.Warnings != nil || want != "" && (d.Warnings == nil || !strings.Contains(d.Warnings[0], want)) {
			t.Errorf("%q: warnings %q and in blocks %q, want %q", text, d.Warnings, blocks, want)
		}
	}
}
