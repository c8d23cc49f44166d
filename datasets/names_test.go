package datasets

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const shopCSV = "label,qid,price,price_old,title,city\n" +
	"1,a,3,1,red shoe,Oslo\n0,a,,2,blue shoe,Bern\n1,b,4,3,3,7\n0,b,7,4,cap,7.0\n2,b,8,5,hat,NA\n"

// Features are chosen by name, id and pattern; an id is what a column has among all.
func TestFeaturesAreChosenByNameIDAndPattern(t *testing.T) {
	path := dataFile(t, "shop.csv", shopCSV)
	for _, c := range []struct {
		features, ignore, categorical string
		names                         []string
		ids                           []int
	}{
		{"", "title,city", "", []string{"price", "price_old"}, []int{1, 2}},
		{"price", "", "", []string{"price"}, []int{1}},
		{"price*", "", "", []string{"price", "price_old"}, []int{1, 2}},
		{"2", "", "", []string{"price_old"}, []int{2}},
		{"", "price_*,3,city", "", []string{"price"}, []int{1}},
		{"price*", "price", "city", []string{"price_old", "city"}, []int{2, 4}},
	} {
		words := func(list string) []string {
			return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
		}
		o := ReadOptions{Features: words(c.features), Ignore: words(c.ignore), Categorical: words(c.categorical)}
		if c.features == "" {
			o.Features = nil
		}
		for _, size := range []int{1, 1 << 20} {
			d, err := readFile(path, inChunks(o, size))
			if err != nil {
				t.Fatal(c, err)
			}
			if !slices.Equal(d.FeatureNames, c.names) || !slices.Equal(d.FeatureIDs, c.ids) || d.Warnings != nil {
				t.Errorf("%+v: %q, %d, warnings %q", c, d.FeatureNames, d.FeatureIDs, d.Warnings)
			}
		}
	}
	for want, o := range map[string]ReadOptions{
		`header: no feature "prize": want one of price, price_old, title, city (did you mean price?)`: {Features: []string{"prize"}},
		`header: no feature "p?"`:   {Ignore: []string{"p?"}},
		`header: no feature "town"`: {Categorical: []string{"town"}},
		`"[price" is not a pattern`: {Features: []string{"[price"}},
		`header: no feature "label": that column is the label (-label-column NAME takes another)`: {Ignore: []string{"label"}},
		`header: no feature "qid": that column is the query id`:                                   {Features: []string{"qid", "price"}},
		`header: no feature "price": that column is the base score`:                               {BaseColumn: "price", Categorical: []string{"price"}},
		`no column for feature "size"`:                                                            {FeatureIDs: []int{1}, FeatureNames: []string{"size"}},
		`f.csv:3: column "price": "x" is`:                                                         {},
	} {
		path := path
		if strings.HasPrefix(want, "f.csv") {
			path = dataFile(t, "f.csv", "label,qid,price\n1,a,2\n0,a,x\n1,b,3\n")
		}
		if _, err := ReadFile(path, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// What options leave out is left out of all files without a word.
func TestColumnsThatOptionsLeaveOutAreNotTold(t *testing.T) {
	folder := writeFiles(t, map[string]string{"train.1.csv": shopCSV, "vali.csv": shopCSV})
	for _, o := range []ReadOptions{
		{Features: []string{"price", "price_old"}}, {Ignore: []string{"t*", "ci?y"}}, {Ignore: []string{"3", "4"}}, {Features: []string{"1"}, Categorical: []string{"city"}},
	} {
		o.Schema = plainNames
		if s, err := Open(folder, Options{Read: o}); err != nil || s.Warnings() != nil {
			t.Errorf("%+v: %v, %q", o, err, s.Warnings())
		}
	}
}

// Without a header, too, a name means a column, even one that is not a feature; before, it was the feature of that id.
func TestHeaderlessColumnsOfOtherUseAreNoFeatures(t *testing.T) {
	path := dataFile(t, "f.csv", "1,a,30,20,10\n")
	for word, want := range map[string]string{"1": `no feature "1": that column is the label`, "2": `no feature "2": that column is the query id`, "3": "", "4": ""} {
		d, err := ReadFile(path, ReadOptions{Headerless: true, QueryColumn: "2", Ignore: []string{word}})
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && (err != nil || len(d.FeatureNames) != 2 || slices.Contains(d.FeatureNames, word)) {
			t.Errorf("%s: %v, %v", word, d, err)
		}
	}
}

// Texts are numbered in the order of their rows, whatever the chunks. Texts of a model are fixed: others are 0, and named in a
// warning, unless they are numbers of a model whose texts are numbers.
func TestTextsOfCategoriesAreNumbered(t *testing.T) {
	nan := float32(math.NaN())
	for _, size := range []int{1, 40, 1 << 20} {
		d, err := readFile(dataFile(t, "shop.csv", shopCSV), inChunks(ReadOptions{Categorical: []string{"city"}, Ignore: []string{"title"}}, size))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Levels[2], []string{"Oslo", "Bern", "7", "7.0", "NA"}) || d.Levels[0] != nil {
			t.Errorf("levels %q", d.Levels)
		}
		if want := []float32{3, 1, 1, nan, 2, 2, 4, 3, 3, 7, 4, 4, 8, 5, 5}; !numbers(d.Features, want) {
			t.Errorf("features %v, want %v", d.Features, want)
		}
		other := dataFile(t, "other.csv", "qid,city,title,price_old,price\nx,Bern,t,6,5\nx,Rome,t,8,7\nx,+7,t,10,9\nx,,t,12,11\n")
		o := ReadOptions{FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames, Levels: d.Levels}
		scored, err := readFile(other, inChunks(o, size))
		if err != nil {
			t.Fatal(err)
		}
		want := []float32{5, 6, 2, 7, 8, 0, 9, 10, 0, 11, 12, nan}
		if !numbers(scored.Features, want) || !slices.Equal(scored.Levels[2], d.Levels[2]) {
			t.Errorf("features %v, want %v; levels %q", scored.Features, want, scored.Levels)
		}
		const warning = `other.csv: 2 values of the feature city are categories that the model does not know: "+7" (1), "Rome" (1)`
		if !strings.HasSuffix(strings.Join(scored.Warnings, "\n"), warning) {
			t.Errorf("warnings %q, want %s", scored.Warnings, warning)
		}
		o.Levels, o.NumberLevels = [][]string{nil, nil, {"Oslo", "Bern", "7.0"}}, d.FeatureIDs[2:]
		scored, err = readFile(other, inChunks(o, size))
		if err != nil || scored.Features[8] != 3 || !slices.Equal(scored.NumberLevels, d.FeatureIDs[2:]) {
			t.Errorf("%v, error %v, want 3 for +7 by a model whose texts are numbers", scored, err)
		}
		transform, err := FitTransform("none", d)
		if err != nil {
			t.Fatal(err)
		}
		if len(transform.Categories) != 1 || !slices.Equal(transform.Categories[0].Values, []float32{}) { // each is in one document
			t.Errorf("categories %v", transform.Categories)
		}
	}
}

// A column of text is left out with one warning for all splits; one of numbers with a few words is
// an error.
func TestColumnsOfTextAreLeftOutWithOneWarning(t *testing.T) {
	text := strings.ReplaceAll(shopCSV, "7.0", "Lima")
	folder := writeFiles(t, map[string]string{"train.csv": text, "vali.csv": text, "test.csv": text})
	for range 2 { // read, and from the cache
		s, err := Open(folder, Options{Cache: folder, Read: ReadOptions{Schema: plainNames}})
		if err != nil {
			t.Fatal(err)
		}
		if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "train.csv: columns of text were left out: title, city: of text") {
			t.Errorf("warnings %q", w)
		}
		if want := []string{"price", "price_old"}; !slices.Equal(s.Train.FeatureNames, want) || !slices.Equal(s.Test.FeatureNames, want) || !slices.Equal(s.Train.LeftOut, []string{"title", "city"}) {
			t.Errorf("features %q, left out %q", s.Train.FeatureNames, s.Train.LeftOut)
		}
	}
}

// A model file, which is JSON, would not have the same names and texts.
func TestNamesAndTextsOfCategoriesAreInUTF8(t *testing.T) {
	o := ReadOptions{Categorical: []string{"city"}}
	for text, want := range map[string]string{
		"label,qid,city,caf\xe9\n1,a,Oslo,2\n":            `f.csv: header: "caf\xe9" is not in UTF-8: want text in UTF-8`,
		"label,qid,city,x\n1,a,Oslo,2\n0,a,Z\xfcrich,1\n": `f.csv:3: column "city": "Z\xfcrich" is not in UTF-8: want text in UTF-8`,
	} {
		if _, err := ReadFile(dataFile(t, "f.csv", text), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	type row struct {
		Label float32 `parquet:"label"`
		Query string  `parquet:"qid,plain"`
		City  string  `parquet:"city,plain"`
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	writeParquet(t, path, []row{{1, "a", "Oslo"}, {0, "a", "Z\xfcrich"}})
	if _, err := ReadFile(path, o); err == nil || !strings.Contains(err.Error(), `f.parquet:2: column "city": "Z\xfcrich" is not in UTF-8`) {
		t.Errorf("error %v", err)
	}
	if _, err := ReadFile(dataFile(t, "f.csv", "label,qid,x,title\n1,a,2,caf\xe9\n"), ReadOptions{Ignore: []string{"title"}}); err != nil { // nobody keeps it
		t.Error(err)
	}
}

// The index of a table is not a feature: it would tell the order of the rows, and other files have another one, or none.
func TestColumnsWithoutANameAreLeftOut(t *testing.T) {
	warning := "columns without a name of their own, such as the index of a table, were left out: "
	for header, c := range map[string]struct {
		o       ReadOptions
		names   []string
		warning string
	}{
		",label,qid,price,stars":                  {ReadOptions{}, []string{"price", "stars"}, warning + `""`},
		",label,qid,price,stars ":                 {ReadOptions{Features: []string{"1", "*"}}, []string{"price", "stars"}, warning + `""`},
		"Unnamed: 0,label,qid,price,stars":        {ReadOptions{}, []string{"price", "stars"}, warning + "Unnamed: 0"},
		"__index_level_0__,label,qid,price,stars": {ReadOptions{Features: []string{"stars", "__index_level_0__"}}, []string{"stars", "__index_level_0__"}, ""},
		"__index_level_0__,label,qid,price,star":  {ReadOptions{Ignore: []string{"__index*"}}, []string{"price", "star"}, ""},
	} {
		text := header + "\n7,1,a,30,4\n3,0,a,20,5\n9,2,b,10,4\n"
		d, err := ReadFile(dataFile(t, "f.csv", text), c.o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.FeatureNames, c.names) || d.FeatureIDs[0] != 1+slices.Index([]string{"price", "stars"}, c.names[0]) || c.warning == "" && d.Warnings != nil || c.warning != "" && (len(d.Warnings) != 1 || !strings.HasSuffix(d.Warnings[0], c.warning)) {
			t.Errorf("%s: features %q, ids %d, warnings %q", header, d.FeatureNames, d.FeatureIDs, d.Warnings)
		}
		s, err := Open(writeFiles(t, map[string]string{"train.csv": text, "test.csv": text}), Options{Read: c.o})
		if err != nil || !slices.Equal(s.Test.FeatureNames, c.names) || c.warning != "" && s.Test.Warnings != nil {
			t.Errorf("%s: test split %v, error %v", header, s.Test.Warnings, err)
		}
	}
	type row struct {
		Label float32 `parquet:"label"`
		Query string  `parquet:"qid,plain"`
		Price float32 `parquet:"price"`
		Index int64   `parquet:"__index_level_0__"`
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	writeParquet(t, path, []row{{1, "a", 30, 7}, {0, "a", 20, 3}})
	if d, err := ReadFile(path, ReadOptions{}); err != nil || !slices.Equal(d.Features, []float32{30, 20}) || len(d.Warnings) != 1 || !strings.HasSuffix(d.Warnings[0], warning+"__index_level_0__") {
		t.Errorf("%v, error %v", d, err)
	}
}

// Columns that are called 3, 2, 1 are the features of LETOR text with these ids. Other columns are taken by position
// where there are no names to compare, and a warning says so.
func TestColumnsWithNumbersAsNamesHaveTheseIDs(t *testing.T) {
	rows := "\n1,a,30,20,10\n0,a,31,21,11\n"
	byPosition := "features without names were taken from columns by their position: column x is feature 1"
	for header, c := range map[string]struct {
		features []float32 // of 1, 2 and 3 in the first row; nil: an error with the text
		text     string    // of a warning
	}{
		"label,qid,3,2,1":      {[]float32{10, 20, 30}, ""},
		"label,qid,x,y,z":      {[]float32{30, 20, 10}, byPosition},
		"label,qid,x,2,01":     {[]float32{30, 20, 10}, byPosition},
		"label,qid,0,2,1":      {nil, "header: no column for feature 3: columns whose names are whole numbers are features with these ids"},
		"label,2,3,qid,1":      {[]float32{10, 0, 30}, ""},
		"label,qid,junk,1,2,3": {[]float32{20, 10, 5}, "columns that are not wanted were left out: junk"},
	} {
		text, o := header+rows, ReadOptions{FeatureIDs: []int{1, 2, 3}}
		if strings.Contains(header, "junk") {
			text = header + "\n1,a,30,20,10,5\n"
		}
		if header == "label,2,3,qid,1" {
			text = header + "\n1,0,30,a,10\n"
		}
		d, err := ReadFile(dataFile(t, "f.csv", text), o)
		if c.features == nil {
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: error %v", header, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Row(0), c.features) || c.text == "" && d.Warnings != nil || c.text != "" && (len(d.Warnings) != 1 || !strings.HasSuffix(d.Warnings[0], c.text)) {
			t.Errorf("%s: %v, warnings %q", header, d.Row(0), d.Warnings)
		}
	}
	d, err := ReadFile(dataFile(t, "f.csv", "label,qid,3,2,1"+rows), ReadOptions{})
	if err != nil || !slices.Equal(d.FeatureIDs, []int{1, 2, 3}) || !slices.Equal(d.FeatureNames, []string{"1", "2", "3"}) || !slices.Equal(d.Row(0), []float32{10, 20, 30}) {
		t.Errorf("%v, features %q, error %v", d, d.FeatureNames, err)
	}
	s, err := Open(writeFiles(t, map[string]string{"train.txt": "1 qid:1 1:1 2:2 3:3\n0 qid:2 1:1\n", "test.csv": "label,qid,x,y,z" + rows}), Options{})
	if err != nil || len(s.Test.Warnings) != 1 || !strings.HasSuffix(s.Test.Warnings[0], byPosition) {
		t.Errorf("warnings %q, error %v", s.Test.Warnings, err)
	}
	if d, err = ReadFile(dataFile(t, "f.csv", "1,a,30,20,10\n"), ReadOptions{Headerless: true, QueryColumn: "2", FeatureIDs: []int{1, 2, 3}}); err != nil || !slices.Equal(d.Row(0), []float32{30, 20, 10}) || d.Warnings != nil {
		t.Errorf("without a header: %v, error %v", d, err)
	}
}

func TestCategoryOfTooManyTextsIsAnError(t *testing.T) {
	var text strings.Builder
	text.WriteString("label,qid,id\n")
	for i := range 100_001 {
		fmt.Fprintf(&text, "1,q,d%d\n", i)
	}
	_, err := ReadFile(dataFile(t, "f.csv", text.String()), ReadOptions{Categorical: []string{"id"}})
	if err == nil || !strings.Contains(err.Error(), `f.csv: the categorical column "id" has more than 100000 different texts: is it an amount, or an id of documents?`) {
		t.Errorf("error %v", err)
	}
}

// The names of LETOR's features are in a file next to it; by ids they need none.
func TestFileOfNamesNamesFeaturesOfLETOR(t *testing.T) {
	path := dataFile(t, "f.txt", "1 qid:1 1:1 2:2 3:3 9:4\n0 qid:1 1:5 3:6\n")
	read := func(o ReadOptions) *Dataset {
		t.Helper()
		d, err := ReadFile(path, o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := read(ReadOptions{Features: []string{"1", "9"}}); !slices.Equal(d.Features, []float32{1, 4, 5, 0}) || d.FeatureNames != nil || d.Warnings != nil {
		t.Errorf("by id: %v, %q, %q", d.Features, d.FeatureNames, d.Warnings)
	}
	absent := path + ": no document has these of the features that are wanted: "
	for lacking, o := range map[string]ReadOptions{"4": {Features: []string{"1", "4"}}} {
		if d := read(o); !slices.Equal(d.FeatureIDs, []int{1}) || !slices.Equal(d.Warnings, []string{absent + lacking}) {
			t.Errorf("a feature that no document has: %v, %q", d.FeatureIDs, d.Warnings)
		}
	}
	// Documents of another split may have it.
	test := dataFile(t, "test.txt", "1 qid:2 1:1 4:2\n")
	if s, err := Open(path, Options{Vali: path, Test: test, Read: ReadOptions{Features: []string{"1", "4", "5"}}}); err != nil || !slices.Equal(s.Train.FeatureIDs, []int{1, 4}) || !slices.Equal(s.Warnings(), []string{absent + "5"}) {
		t.Errorf("a feature that no document of a split has: %v, %v", s, err)
	}
	if _, err := ReadFile(path, ReadOptions{Ignore: []string{"bm25"}}); err == nil || !strings.Contains(err.Error(), "LETOR text names no features") {
		t.Errorf("error %v", err)
	}
	names := path + ".names"
	for text, want := range map[string]string{
		"1 caf\xe9\n": `f.txt.names:1: "caf\xe9" is not in UTF-8`,
		"1 a\nb\n":    "f.txt.names:2: \"b\": want the id of a feature and its name", "1 a\n2 a\n": `f.txt.names:2: features 1 and 2 are both named "a"`, "1 a\n1 b\n": `feature 1 is named "a" and "b"`,
	} {
		if err := os.WriteFile(names, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path, ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := os.WriteFile(names, []byte("1 bm25 q\n2 bm25_title q\n\n3 pagerank float\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if d := read(ReadOptions{Ignore: []string{"bm25*"}}); !slices.Equal(d.FeatureNames, []string{"pagerank", "9"}) || !slices.Equal(d.Features, []float32{3, 4, 6, 0}) {
		t.Errorf("by pattern: %v, %q", d.Features, d.FeatureNames)
	}
	if d := read(ReadOptions{Features: []string{"pagerank", "9"}}); !slices.Equal(d.FeatureIDs, []int{3, 9}) {
		t.Errorf("by name and id: %v", d.FeatureIDs)
	}
	if _, err := ReadFile(path, ReadOptions{FeatureIDs: []int{3}, FeatureNames: []string{"clicks"}}); err == nil || !strings.Contains(err.Error(), `feature 3 is named "pagerank" in the file of names, but "clicks" is wanted`) {
		t.Errorf("error %v", err)
	}
}

// Whatever the texts, reading gives them back, and the order of columns does not matter.
func TestTextsReadBack(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9"; .?+-]{1,6}`), 1, 30).Draw(t, "texts")
		one, two := "label,qid,city,x\n", "x,city,qid,label\n"
		for i, text := range texts {
			quoted := `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			one += fmt.Sprintf("1,q,%s,%d\n", quoted, i)
			two += fmt.Sprintf("%d,%s,q,1\n", i, quoted)
		}
		var read []*Dataset
		for name, text := range map[string]string{"one.csv": one, "two.csv": two} {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			d, err := readFile(path, inChunks(ReadOptions{Categorical: []string{"city"}, FeatureIDs: []int{1, 2}, FeatureNames: []string{"city", "x"}}, 50))
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, d)
		}
		if !slices.EqualFunc(read[0].Features, read[1].Features, func(a, b float32) bool { return a == b || a != a && b != b }) {
			t.Errorf("another order of columns: %v, %v", read[0].Features, read[1].Features)
		}
		for r, text := range texts {
			if level := read[0].Row(r)[0]; level != level || read[0].Levels[0][int(level)-1] != text {
				t.Errorf("%q reads as %v of %q", text, level, read[0].Levels[0])
			}
		}
	})
}
