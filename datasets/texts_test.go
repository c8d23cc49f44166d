package datasets

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/text"
)

// Ids, groups and categories are the texts of the file, byte for byte, in every format.
func TestColumnsOfTextHaveTheTextsOfTheFile(t *testing.T) {
	texts := []string{
		"1.1", "1.10", "7", "007", "7.0", "+7", "1E2", "100", "true", "True", "0", "-0", "NA", "NULL", "nan", "?", "a", " a", "a ", " ", "\t",
		"é", `"`, "x,y", "#1",
	}
	type row struct {
		Label int32   `parquet:"label"`
		Query string  `parquet:"qid,dict"`
		Doc   *string `parquet:"docid,optional,dict"`
		Group *string `parquet:"seller,optional,dict"`
		City  *string `parquet:"city,optional,dict"`
	}
	quote := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	var rows []row
	plain, quoted := "label,qid,docid,seller,city\n", "label,qid,docid,seller,city\n"
	for i, text := range texts {
		rows = append(rows, row{int32(i % 2), text, &texts[i], &texts[i], &texts[i]})
		quoted += fmt.Sprintf("%d,%[2]s,%[2]s,%[2]s,%[2]s\n", i%2, quote(text))
		if strings.ContainsAny(text, `,"`) {
			text = quote(text)
		}
		plain += fmt.Sprintf("%d,%[2]s,%[2]s,%[2]s,%[2]s\n", i%2, text)
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	writeParquet(t, path, append(rows, row{Query: "last"}))
	for name, path := range map[string]string{
		"plain": dataFile(t, "f.csv", plain+"0,last,,,\n"), "quoted": dataFile(t, "f.csv", quoted+"0,last,\"\",,\"\"\n"), "Parquet": path,
	} {
		for _, size := range []int{1, 1 << 20} {
			d, err := readFile(path, inChunks(ReadOptions{GroupColumn: "seller", Categorical: []string{"city"}}, size))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !slices.Equal(d.QueryIDs, append(slices.Clone(texts), "last")) || !slices.Equal(d.DocumentIDs, append(slices.Clone(texts), "")) {
				t.Errorf("%s: queries %q, documents %q", name, d.QueryIDs, d.DocumentIDs)
			}
			last, none := d.Features[len(texts)], d.Groups[len(texts)]
			if !slices.Equal(d.GroupNames, texts) || none != -1 || !slices.Equal(d.Levels[0], texts) || last == last || d.NumberLevels != nil {
				t.Errorf("%s: groups %q, levels %q, of which are numbers %v; the last %v", name, d.GroupNames, d.Levels, d.NumberLevels, last)
			}
		}
	}
}

// A value of LETOR text is the level that is the same number, also one that a line leaves out. If no level is a number, it is
// the position of one.
func TestNumbersOfLETORTextFindTheirLevels(t *testing.T) {
	missing := float32(math.NaN())
	const text = "1 qid:1 1:7 2:2\n0 qid:1 1:7.50 2:3\n0 qid:1 2:2.5\n1 qid:1 1:NULL 2:0\n0 qid:1 1:8 2:-1\n"
	for _, c := range []struct {
		levels []string
		want   []float32 // of feature 1
	}{
		{[]string{"7", "0", "7.5"}, []float32{1, 3, 2, missing, 0}},
		{[]string{"007", "7.5", "word"}, []float32{1, 2, 0, missing, 0}},
		{[]string{"7", "7.0"}, []float32{0, 0, 0, missing, 0}}, // it could be either
	} {
		o := ReadOptions{FeatureIDs: []int{1, 2}, Levels: [][]string{c.levels, {"red", "green"}}}
		for _, size := range []int{1, 1 << 20} {
			d, err := readFile(dataFile(t, "f", text), inChunks(o, size))
			if err != nil {
				t.Fatal(err)
			}
			var one, two []float32
			for r := range d.Rows() {
				one, two = append(one, d.Row(r)[0]), append(two, d.Row(r)[1])
			}
			if !numbers(one, c.want) || !slices.Equal(two, []float32{2, 0, 0, 0, 0}) {
				t.Errorf("%q: %v and %v, want %v", c.levels, one, two, c.want)
			}
			if warnings := strings.Join(d.Warnings, "\n"); !strings.Contains(warnings, `"8" (1)`) || !strings.Contains(warnings, `"-1" (1)`) {
				t.Errorf("%q: warnings %s", c.levels, warnings)
			}
		}
	}
	// A file that has none of the feature has the level 0 everywhere.
	o := ReadOptions{FeatureIDs: []int{1, 2}, Levels: [][]string{{"5", "0"}, nil}}
	d, err := ReadFile(dataFile(t, "f", "1 qid:1 2:2\n0 qid:1 2:1\n"), o)
	if err != nil || !slices.Equal(d.Features, []float32{2, 2, 2, 1}) {
		t.Errorf("%v, error %v", d, err)
	}
}

// Of many texts that a model does not know, a warning has the most frequent, and their number. A model may know any number.
func TestUnknownTextsAreNamedUpToABound(t *testing.T) {
	table := "label,qid,city\n"
	for i := range 3000 {
		table += fmt.Sprintf("%d,q,c%d\n0,q,c7\n", i%2, i)
	}
	o := ReadOptions{FeatureIDs: []int{1}, FeatureNames: []string{"city"}, Levels: [][]string{{"c0"}}}
	for i := range text.MostLevels {
		o.Levels[0] = append(o.Levels[0], fmt.Sprint("another ", i))
	}
	d, err := ReadFile(dataFile(t, "f.csv", table), o)
	if err != nil {
		t.Fatal(err)
	}
	const want = `5999 values of the feature city are categories that the model does not know: "c7" (3001), "c1" (1), "c10" (1), `
	w := strings.Join(d.Warnings, "\n")
	if !strings.Contains(w, want) || !strings.HasSuffix(w, ", … (more than 1000 in all)") || len(w) > 400 {
		t.Errorf("warnings %q", d.Warnings)
	}
}
