package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// dataFile writes text to a new file and returns its path.
func dataFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func checkShape(t testing.TB, d *Dataset) {
	t.Helper()
	if len(d.Features) != d.Rows()*d.Width() || d.Offsets[0] != 0 || d.Offsets[d.Queries()] != d.Rows() ||
		!slices.IsSorted(d.Offsets) || len(d.QueryIDs) != d.Queries() || !slices.IsSorted(d.FeatureIDs) ||
		d.DocumentIDs != nil && len(d.DocumentIDs) != d.Rows() {
		t.Fatalf("inconsistent: %s", d)
	}
}

func TestReadFileTakesOddSpellings(t *testing.T) {
	text := "\ufeff# a comment\r\n" +
		"2 qid:a 1:0.5 3:-1e-3  # docid = D1 inc = 1\r\n" +
		"\r\n" +
		"0 qid:a 3:2 2:1.5#docid=D2\n" +
		"1.5\tqid:b/7\t10:160000000 \t\n" +
		"   \n" +
		"+1 qid:b/7\n" +
		"0 qid:c 0:.25 1:7." // no final newline
	for _, size := range []int{1, 30, 1 << 20} { // chunks: a line each, a few lines, all
		d, err := readFile(dataFile(t, "train.txt", text), inChunks(ReadOptions{}, size))
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, d)
		want := []float32{
			0, .5, 0, -1e-3, 0,
			0, 0, 1.5, 2, 0,
			0, 0, 0, 0, 1.6e8,
			0, 0, 0, 0, 0,
			.25, 7, 0, 0, 0,
		}
		if !slices.Equal(d.FeatureIDs, []int{0, 1, 2, 3, 10}) || !slices.Equal(d.Features, want) {
			t.Errorf("features %v of %v", d.Features, d.FeatureIDs)
		}
		if !slices.Equal(d.Labels, []float32{2, 0, 1.5, 1, 0}) || !slices.Equal(d.Offsets, []int{0, 2, 4, 5}) ||
			!slices.Equal(d.QueryIDs, []string{"a", "b/7", "c"}) || !slices.Equal(d.DocumentIDs, []string{"D1", "D2", "", "", ""}) {
			t.Errorf("labels %v, offsets %v, query ids %q, document ids %q", d.Labels, d.Offsets, d.QueryIDs, d.DocumentIDs)
		}
	}
}

func TestQueryThatComesBackJoinsItsDocuments(t *testing.T) {
	for _, size := range []int{1, 1 << 20} {
		d, err := readFile(dataFile(t, "f", "0 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 1:3\n0 qid:1 1:4\n0 qid:3 1:5\n0 qid:2 1:6\n"), inChunks(ReadOptions{}, size))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Features, []float32{1, 3, 4, 2, 6, 5}) || !slices.Equal(d.Offsets, []int{0, 3, 5, 6}) {
			t.Errorf("features %v, offsets %v", d.Features, d.Offsets)
		}
		if !slices.Equal(d.SourceRows, []int{0, 2, 3, 1, 5, 4}) {
			t.Errorf("source rows %v", d.SourceRows)
		}
		// The one feature has the number of the row, from 1.
		var byRow []float64
		for _, v := range d.Features {
			byRow = append(byRow, float64(v))
		}
		if got := d.InSourceOrder(byRow); !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) {
			t.Errorf("in the order of the file: %v", got)
		}
		if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "2 times") {
			t.Errorf("warnings %q", d.Warnings)
		}
	}
}

// The pair of files says what the same rows with qids say.
func TestSizeFileTellsQueries(t *testing.T) {
	path := dataFile(t, "rank.train", "0 1:1\n1 2:2\n# between\n0 1:3\n")
	write := func(name, text string) {
		if err := os.WriteFile(path+name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(".group", "1\n2\r\n")
	d, err := ReadFile(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := ReadFile(dataFile(t, "f", "0 qid:1 1:1\n1 qid:2 2:2\n0 qid:2 1:3\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Name, d.origin.Path, d.origin.Lines = same.Name, same.origin.Path, same.origin.Lines; fmt.Sprintf("%#v", d) != fmt.Sprintf("%#v", same) {
		t.Errorf("by sizes: %#v\nby qid: %#v", d, same)
	}
	write(".group", "1\n1\n")
	if _, err = ReadFile(path, ReadOptions{}); err == nil || !strings.Contains(err.Error(), "sum to 2") {
		t.Errorf("sizes that do not sum to the rows: %v", err)
	}
	write(".group", "1\ntwo\n")
	if _, err = ReadFile(path, ReadOptions{}); err == nil || !strings.Contains(err.Error(), `rank.train.group:2: "two"`) {
		t.Errorf("malformed size: %v", err)
	}
}

// A malformed line says nothing of those after it; one line tells that a file has
// features that are not among those wanted.
func TestMalformedLineAddsNoRow(t *testing.T) {
	for _, size := range []int{1, 1 << 20} {
		path := dataFile(t, "f.txt", "0 qid:1 1:1 2:x\n0 qid:1 1:1 2:2\n0 qid:1 1:1 3:x\n")
		_, err := readFile(path, inChunks(ReadOptions{}, size))
		want := "datasets: " + path + `:1: column 13: feature "2:x": not a number` + "\n" +
			"datasets: " + path + `:3: column 13: feature "3:x": not a number`
		if err == nil || err.Error() != want {
			t.Errorf("error %v\nwant %s", err, want)
		}
		path = dataFile(t, "f.txt", "0 qid:1 1:1\n0 qid:1 1:1 9:1\n0 qid:1 1:1\n0 qid:1 1:1 8:1\n")
		want = "datasets: " + path + " has ids 1 to 9, and none of the features that are wanted"
		if _, err := readFile(path, inChunks(ReadOptions{FeatureIDs: []int{2, 3}}, size)); err == nil || err.Error() != want {
			t.Errorf("error %v\nwant %s", err, want)
		}
		if d, err := readFile(path, inChunks(ReadOptions{FeatureIDs: []int{1, 2}}, size)); err != nil || len(d.Warnings) != 1 ||
			d.Warnings[0] != path+": 2 values of features that are not wanted were left out (ids 8 to 9)" {
			t.Errorf("%v, %v", d, err)
		}
	}
}

func TestReadFileErrorsSayWhere(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "no documents"},
		{"# only a comment\n", "no documents"},
		{"x qid:1 1:1\n", `f.txt:1: column 1: label "x": not a number`},
		{"nan qid:1 1:1\n", `f.txt:1: column 1: label "nan": not a number`},
		{"0 qid:1 1:1\n0 qid: 1:1\n", "f.txt:2: column 7: qid: without an id"},
		{"0 qid:1 1:1\n\n0 qid:1 1:abc\n", `f.txt:3: column 9: feature "1:abc": not a number`},
		{"0 qid:1 1:0.5x\n", `column 9: feature "1:0.5x": not a number`},
		{"0 qid:1 1:\n", `feature "1:": not a number`},
		{"0 qid:1 1\n", `feature "1": want id:value`},
		{"0 qid:1 :5\n", `feature ":5": want id:value`},
		{"0 qid:1 -1:5\n", `feature "-1:5": want id:value`},
		{"0 qid:1 99999999999:5\n", "the id is beyond"},
		{"0 qid:1 1:1e39\n", `feature "1:1e39": beyond the range of float32`},
		{"0 qid:1 1:Inf\n", `feature "1:Inf": not a number`},
		{"0 qid:1 1:1 2:2 1:1\n", `column 17: feature "1:1": a second value for id 1`},
		{"0 1:1\n", "f.txt:1: no qid, and no file"},
		{"0 qid:1 1:1\n0 1:1\n", "f.txt:2: a line without qid after lines with"},
		{strings.Repeat("y\n", 12), "f.txt: 12 malformed lines in all"},
	} {
		_, err := ReadFile(dataFile(t, "f.txt", test.text), ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want one with %q", test.text, err, test.want)
			continue
		}
		if n := strings.Count(err.Error(), "\n"); n > 10 {
			t.Errorf("%q: %d lines of errors", test.text, n+1)
		}
	}
	_, err := ReadFile("no such file", ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
}

func TestReadFileGivesTheColumnsAskedFor(t *testing.T) {
	o := ReadOptions{FeatureIDs: []int{2, 3, 5, 9}}
	d, err := ReadFile(dataFile(t, "f", "0 qid:1 3:1 4:8\n0 qid:1 9:2\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Features, []float32{0, 1, 0, 0, 0, 0, 0, 2}) || len(d.Warnings) != 1 {
		t.Errorf("features %v, warnings %q", d.Features, d.Warnings)
	}
	for _, id := range []string{"1", "10"} { // below and above those wanted
		d, err := ReadFile(dataFile(t, "f", "0 qid:1 3:1\n0 qid:1 "+id+":2\n"), o)
		if err != nil || !slices.Equal(d.Features, []float32{0, 1, 0, 0, 0, 0, 0, 0}) || len(d.Warnings) != 1 ||
			!strings.HasSuffix(d.Warnings[0], "1 values of features that are not wanted were left out (ids "+id+" to "+id+")") {
			t.Errorf("id %s: %v, %v", id, d, err)
		}
	}
}

// A label below 0 is −1, or a fault of the line. In a file that is only scored, labels are of no account.
func TestNegativeLabelsAreRefused(t *testing.T) {
	for _, label := range []string{"-2", "-0.5", "-9e18", "-9223372036854775808"} {
		for name, text := range map[string]string{
			"f.txt": "1 qid:1 1:5\n-1 qid:1 1:6\n" + label + " qid:1 1:7\n",
			"f.csv": "label,qid,x\n1,a,5\n" + label + ",a,6\n-1,a,7\n",
		} {
			path := dataFile(t, name, text)
			_, err := ReadFile(path, ReadOptions{})
			if err == nil || !strings.Contains(err.Error(), path+":3: ") || !strings.Contains(err.Error(), "want 0 or more, or −1") {
				t.Errorf("%s of label %s: %v", name, label, err)
			}
			d, err := ReadFile(path, ReadOptions{FeatureIDs: []int{1}, Labels: "unused"})
			if err != nil || d.Rows() != 3 || d.Validate() != nil {
				t.Errorf("%s of label %s without labels: %v, %v", name, label, d, err)
			}
		}
	}
	d := &Dataset{Labels: []float32{0, -2}, Offsets: []int{0, 2}, QueryIDs: []string{"q"}}
	if err := d.Validate(); err == nil || !strings.Contains(err.Error(), "row 1: the label is -2: want 0 or more") {
		t.Errorf("error %v", err)
	}
}

// A few bytes must not ask for a matrix of terabytes.
func TestSparseMatrixTakesNoMoreThanItsText(t *testing.T) {
	var b strings.Builder
	withLevels := ReadOptions{Levels: make([][]string, 8000)}
	for i := range 8000 {
		fmt.Fprintf(&b, "0 qid:1 %d:1\n", i*1000)
		withLevels.FeatureIDs = append(withLevels.FeatureIDs, i*1000)
	}
	withLevels.Levels[7] = []string{"1", "2"}
	for _, size := range []int{4096, 1 << 20} {
		d, err := readFile(dataFile(t, "f", b.String()), inChunks(ReadOptions{}, size))
		if err != nil || !d.IsSparse() || len(d.Sparse.Values) != 8000 || d.Value(7999, 7999) != 1 {
			t.Errorf("error %v", err)
		}
		_, err = readFile(dataFile(t, "f", b.String()), inChunks(withLevels, size))
		if err == nil || !strings.Contains(err.Error(), "too sparse") {
			t.Errorf("error %v", err)
		}
	}
}

func TestOpenErrorsSayWhatIsMissing(t *testing.T) {
	folder := t.TempDir()
	_, err := Open(folder, Options{})
	if err == nil || !strings.Contains(err.Error(), "looked for train") || !strings.Contains(err.Error(), "found none") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.md"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err = Open(folder, Options{}); err == nil || !strings.Contains(err.Error(), "found notes.md") {
		t.Errorf("a folder without splits: %v", err)
	}
	if _, err = Open(filepath.Join(folder, "absent"), Options{}); err == nil {
		t.Error("no such folder: no error")
	}
	if _, err = Open(dataFile(t, "one.txt", "0 qid:1 1:1\n"), Options{}); err == nil || !strings.Contains(err.Error(), "one query") {
		t.Errorf("one query: %v", err)
	}
}

// Held-out queries are a fifth, depend on the seed alone, and leave the rest.
func TestHeldOutQueriesAreAFifth(t *testing.T) {
	var b strings.Builder
	for q := range 50 {
		for r := range 1 + q%3 {
			fmt.Fprintf(&b, "%d qid:%d 1:%d.%d\n", r, q, q, r)
		}
	}
	path := dataFile(t, "all.txt", b.String())
	all, err := ReadFile(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var first *Splits
	for _, seed := range []uint64{1, 1, 2} {
		s, err := Open(path, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, s.Train)
		checkShape(t, s.Vali)
		if s.Vali.Queries() != 10 || s.Train.Queries() != 40 || s.Test != nil {
			t.Fatalf("seed %d: %s, %s, %v", seed, s.Train, s.Vali, s.Test)
		}
		for _, d := range []*Dataset{s.Train, s.Vali} {
			for q, id := range d.QueryIDs {
				i, _ := strconv.Atoi(id)
				if got, want := d.Select([]int{q}), all.Select([]int{i}); !slices.Equal(got.Features, want.Features) || !slices.Equal(got.Labels, want.Labels) {
					t.Fatalf("query %s has changed", id)
				}
			}
		}
		ids := slices.Concat(s.Train.QueryIDs, s.Vali.QueryIDs)
		slices.Sort(ids)
		if len(slices.Compact(ids)) != 50 {
			t.Fatal("a query is in both splits")
		}
		if first == nil {
			first = s
		} else if same := slices.Equal(first.Vali.QueryIDs, s.Vali.QueryIDs); same != (seed == 1) {
			t.Errorf("seed %d: held out the same queries as seed 1: %v", seed, same)
		}
	}
}

// Splits have one set of columns, even where their highest ids differ.
func TestSplitsHaveTheUnionOfColumns(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"train.txt": "1 qid:1 1:1 2:2\n", "vali.txt": "1 qid:2 2:3\n", "Test.TXT": "1 qid:3 7:4\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[*Dataset][]float32{s.Train: {1, 2, 0}, s.Vali: {0, 3, 0}, s.Test: {0, 0, 4}} {
		if !slices.Equal(d.FeatureIDs, []int{1, 2, 7}) || !slices.Equal(d.Features, want) {
			t.Errorf("%s: %v of %v", d, d.Features, d.FeatureIDs)
		}
	}
}
