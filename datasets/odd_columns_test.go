package datasets

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Columns without a name are left out, however many there are, and whatever else is there.
func TestColumnsWithoutANameAreLeftOutTogether(t *testing.T) {
	for text, want := range map[string]string{
		"label,qid,x,,\n1,a,2,3,4\n0,a,5,6,7\n":                `were left out: "", ""`,
		"label,qid,x,  ,,\n1,a,2,3,4,5\n0,a,5,6,7,8\n":         `were left out: "", "", ""`,
		",label,,qid,x\n1,1,9,a,2\n2,0,9,a,5\n":                `were left out: "", ""`,
		",,label,qid,x,Unnamed: 0\n1,1,1,a,2,3\n1,1,0,a,5,6\n": `were left out: "", "", Unnamed: 0`,
	} {
		for _, o := range []ReadOptions{{}, {Features: []string{"x"}}, {FeatureIDs: []int{1}, FeatureNames: []string{"x"}}} {
			d, err := ReadFile(dataFile(t, "f.csv", text), o)
			if err != nil || !slices.Equal(d.Features, []float32{2, 5}) {
				t.Errorf("%q: %v, error %v", text, d, err)
			} else if o.Features == nil && (len(d.Warnings) != 1 || !strings.HasSuffix(d.Warnings[0], want)) {
				t.Errorf("%q: warnings %q, want %q", text, d.Warnings, want)
			}
		}
	}
	if _, err := ReadFile(dataFile(t, "f.csv", "label,qid,x,,\n1,a,2,3,4\n"), ReadOptions{Features: []string{""}}); err == nil || !strings.Contains(err.Error(), `two columns are named ""`) {
		t.Errorf("error %v: it is not known which is meant", err)
	}
}

// Numbers with a decimal comma are called what they are, wherever they stand.
func TestDecimalCommasAreCalledSo(t *testing.T) {
	d, err := ReadFile(dataFile(t, "f.csv", "label;qid;x;y;z;title\n1;a;3,5;1;1.234,5;red\n0;a;-4,25;2;-0,5;blue, green\n"), ReadOptions{Schema: plainNames})
	if err != nil || !slices.Equal(d.FeatureNames, []string{"y"}) || len(d.Warnings) != 2 ||
		!strings.HasSuffix(d.Warnings[0], "columns of decimal commas were left out: x, z: of text") ||
		!strings.HasSuffix(d.Warnings[1], "columns of text were left out: title: of text") {
		t.Errorf("%v, error %v, warnings %q", d, err, d.Warnings)
	}
	type row struct {
		Label float32 `parquet:"label"`
		Query string  `parquet:"qid,plain"`
		Size  float32 `parquet:"size"`
		Price string  `parquet:"price,plain"`
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	writeParquet(t, path, []row{{1, "a", 1, "3,5"}, {0, "a", 2, "4"}, {0, "a", 3, "-0,25"}})
	if d, err = ReadFile(path, ReadOptions{Schema: plainNames}); err != nil || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "decimal commas were left out: price") {
		t.Errorf("%v, error %v, of Parquet", d, err)
	}
	const hint = "looks like one with a decimal comma: want a point"
	for name, c := range map[string]struct {
		files map[string]string
		o     ReadOptions
	}{
		"a value":      {map[string]string{"f": "label;qid;x\n1;a;3\n1;a;3\n0;a;3,5\n"}, ReadOptions{}},
		"wanted":       {map[string]string{"f": "label;qid;x\n1;a;3,5\n"}, ReadOptions{FeatureIDs: []int{1}, FeatureNames: []string{"x"}}},
		"quoted":       {map[string]string{"f": "label,qid,x\n1,a,1\n1,a,2\n0,a,\"3,5\"\n"}, ReadOptions{}},
		"a label":      {map[string]string{"f": "label;qid;x\n1,5;a;3\n"}, ReadOptions{}},
		"a weight":     {map[string]string{"f": "label;qid;x;w\n1;a;3;0,5\n"}, ReadOptions{WeightColumn: "w"}},
		"a base score": {map[string]string{"f": "label;qid;x;b\n1;a;3;0,5\n"}, ReadOptions{BaseColumn: "b"}},
		"LETOR":        {map[string]string{"f": "1 qid:1 1:3,5\n"}, ReadOptions{}},
		"its label":    {map[string]string{"f": "1,5 qid:1 1:3\n"}, ReadOptions{}},
		".weight":      {map[string]string{"f": "1 qid:1 1:3\n", "f.weight": "0,5\n"}, ReadOptions{}},
		".init":        {map[string]string{"f": "1 qid:1 1:3\n", "f.init": "-0,5e1\n"}, ReadOptions{}},
	} {
		if _, err := ReadFile(writeFiles(t, c.files)+"/f", c.o); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, text := range []string{"a,5", "1,", ",", "1,2,3", "3.5", "x", "1,2x"} {
		if _, err := ReadFile(dataFile(t, "f", "label;qid;x\n1;a;3\n1;a;3\n0;a;"+text+"\n"), ReadOptions{}); err != nil && strings.Contains(err.Error(), hint) {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
