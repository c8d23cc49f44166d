package datasets

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fileOf is a new file with a text.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A score a line is of the documents in the order of their file, also of judgements where a query
// came back, and of some queries of a dataset.
func TestScoresAreInTheOrderOfTheFile(t *testing.T) {
	judged, err := ReadQrels(fileOf(t, "b 0 x 2\n\na 0 y 1\nb 0 z 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	for scores, d := range map[string]*Dataset{"1\n2\n3\n": judged, "1\n3\n": judged.Select([]int{0})} {
		run, err := ReadRun(fileOf(t, scores), d)
		if err != nil {
			t.Fatal(err)
		}
		if want := []float64{1, 3, 2}[:d.Rows()]; !slices.Equal(run.DocumentIDs, []string{"x", "z", "y"}[:d.Rows()]) || !slices.Equal(run.Scores, want) {
			t.Errorf("%q of the documents %q: %v, want %v", scores, run.DocumentIDs, run.Scores, want)
		}
	}
}

// Of a run, scores count, equal ones stand by descending id, unjudged documents are
// irrelevant, and judged ones that are not there are unranked.
func TestRunIsJoinedWithJudgements(t *testing.T) {
	judged, err := ReadQrels(fileOf(t, "b 0 x 2\na 0 y 1\r\nb 0 z -1\n\nb 0 w 1\nc 0 x 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(judged.QueryIDs, []string{"b", "a", "c"}) || !slices.Equal(judged.Offsets, []int{0, 3, 4, 5}) ||
		!slices.Equal(judged.Labels, []float32{2, 0, 1, 1, 1}) || !slices.Equal(judged.DocumentIDs, []string{"x", "z", "w", "y", "x"}) {
		t.Errorf("%+v", judged)
	}
	if where := judged.Where(2); !strings.HasSuffix(where, "file:5") || judged.Validate() != nil {
		t.Errorf("%s, %v", where, judged.Validate())
	}
	path := fileOf(t, "b Q0 new 7 0.1 t\nb Q0 z 1 0.1 t\nd Q0 x 1 1 t\na\tQ0\ty\t1\t-3e2\tt\nb Q0 w 9 4 t\n")
	run, err := ReadRun(path, judged)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(run.DocumentIDs, []string{"w", "z", "new", "x", "y"}) || !slices.Equal(run.Scores, []float64{4, 0.1, 0.1, 0, -300}) ||
		!slices.Equal(run.Labels, []float32{1, 0, 0, 2, 1}) || !slices.Equal(run.Unranked, []bool{false, false, false, true, false}) ||
		!slices.Equal(run.QueryIDs, []string{"b", "a"}) || !slices.Equal(run.Offsets, []int{0, 4, 5}) {
		t.Errorf("%+v of %+v", run, run.Dataset)
	}
	if labelled, unjudged := run.Where(3), run.Where(2); !strings.HasSuffix(labelled, "file:1") || unjudged != path+": row 2" {
		t.Errorf("labels come from %s, %s", labelled, unjudged)
	}
	warnings := strings.Join(run.Warnings, "\n")
	if want := "1 of the 3 judged queries are not in the run"; !strings.Contains(warnings, want) {
		t.Errorf("%s: want %q", warnings, want)
	}
	if want := "1 of the 3 queries have no judgements"; !strings.Contains(warnings, want) {
		t.Errorf("%s: want %q", warnings, want)
	}
}

// Scores are doubles, of a run and one a line: none ties with another of the same float32, and none is too large for it.
func TestScoresOfRunsAreDoubles(t *testing.T) {
	judged, err := ReadQrels(fileOf(t, "1 0 a 1\n1 0 b 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ high, low string }{
		{"99999999", "99999998"}, {"1e-50", "1e-60"}, {"1e300", "1e299"}, {"-1e299", "-1e300"}, {"1.00000001", "1"}, {"5e-324", "0"},
	} {
		high, _ := strconv.ParseFloat(c.high, 64)
		low, _ := strconv.ParseFloat(c.low, 64)
		for text, want := range map[string]string{
			"1 Q0 a 1 " + c.high + " t\n1 Q0 b 2 " + c.low + " t\n": "a b", // by id, b would come first
			c.high + "\n" + c.low + "\n":                            "a b",
		} {
			run, err := ReadRun(fileOf(t, text), judged)
			if err != nil || strings.Join(run.DocumentIDs, " ") != want || !slices.Equal(run.Scores, []float64{high, low}) {
				t.Errorf("%q: %+v, %v", text, run, err)
			}
		}
	}
}

// As in trec_eval 10, lines that begin with # are no documents, in the middle of a query and at the end without a newline.
func TestCommentsOfTRECFilesAreLeftOut(t *testing.T) {
	judged, err := ReadQrels(fileOf(t, "# qid 0 docid label\n#\n1 0 a 1\n \t# more to come\n1 0 b#1 0\n#1 0 c 1\n#2 0 a 1"))
	if err != nil || !slices.Equal(judged.DocumentIDs, []string{"a", "b#1"}) || judged.Where(1)[len(judged.Where(1))-2:] != ":5" {
		t.Fatalf("%+v, %v", judged, err)
	}
	if want := ":6: 2 lines that begin with # are left out as comments"; len(judged.Warnings) != 1 || !strings.Contains(judged.Warnings[0], want) {
		t.Errorf("%q: want %s", judged.Warnings, want)
	}
	for text, warning := range map[string]string{
		"#qid Q0 docid rank score tag\n1 Q0 a 1 2 t\n# half\n1 Q0 b#1 2 1 t\n#": "",
		"1 Q0 a 1 2 t\n# 1 Q0 c 3 0 t\n#1 Q0 c 3 0 t\n1 Q0 b#1 2 1 t\n":         ":3: 1 lines that begin with # are left out as comments",
		"# scores\n2\n#1\n1\n": "",
	} {
		run, err := ReadRun(fileOf(t, text), judged)
		if err != nil || !slices.Equal(run.Scores, []float64{2, 1}) || !slices.Equal(run.Labels, []float32{1, 0}) {
			t.Errorf("%q: %+v, %v", text, run, err)
			continue
		}
		if got := strings.Join(run.Warnings, "\n"); (warning == "") != (got == "") || !strings.Contains(got, warning) {
			t.Errorf("%q: %q, want %q", text, got, warning)
		}
	}
}

// A run and judgements that were written are read back, and the scores line by line, too, in
// the order of a file in which a query comes back.
func TestScoresAreReadBack(t *testing.T) {
	data, err := ReadFile(fileOf(t, "2 qid:1 1:1\n0 qid:2 1:5 # docid = B\n1 qid:1 1:3\n-1 qid:2 1:4\n0 qid:3 1:1\n-1 qid:4 1:1\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data.Groups, data.QueryWeights = []int{0, 1, -1, 0, 1, 0}, []float32{1, 2, 3, 4}
	scores := []float64{0.5, 7, 7, 1, -2, 3} // in the order of data: 1, 1, 2, 2, 3, 4
	var text, qrels bytes.Buffer
	if err := WriteRun(&text, data, scores, "t"); err != nil {
		t.Fatal(err)
	}
	if err := WriteQrels(&qrels, data); err != nil {
		t.Fatal(err)
	}
	lines := fileOf(t, "0.5\n7\n 7\n1\n-2\n3") // in the order of the file: 1, 2, 1, 2, 3, 4
	byLine, err := ReadRun(lines, data)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(byLine.Scores, []float64{0.5, 7, 7, -2}) || !slices.Equal(byLine.Labels, []float32{2, 1, 0, 0}) || byLine.Unranked != nil ||
		!slices.Equal(byLine.QueryIDs, []string{"1", "2", "3"}) || !slices.Equal(byLine.Groups, []int{0, 1, -1, 1}) || !slices.Equal(byLine.QueryWeights, []float32{1, 2, 3}) {
		t.Errorf("%+v of %+v", byLine, byLine.Dataset)
	}
	if len(byLine.Warnings) != 1 || !strings.Contains(byLine.Warnings[0], "2 documents without a label") {
		t.Error(byLine.Warnings)
	}
	byID, err := ReadRun(fileOf(t, text.String()), data)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(byID.DocumentIDs, []string{"1.2", "1.1", "B", "3.1"}) || !slices.Equal(byID.Scores, []float64{7, 0.5, 7, -2}) || byID.Unranked != nil {
		t.Errorf("%+v of %+v", byID, byID.Dataset)
	}
	judged, err := ReadQrels(fileOf(t, qrels.String()))
	if err != nil {
		t.Fatal(err)
	}
	fromQrels, err := ReadRun(fileOf(t, text.String()), judged)
	if err != nil || !slices.Equal(fromQrels.Labels[:3], byID.Labels[:3]) || !reflect.DeepEqual(fromQrels.QueryIDs, byID.QueryIDs) {
		t.Errorf("%+v, %v", fromQrels, err)
	}
	if err := byID.Validate(); err != nil {
		t.Error(err)
	}
}

func TestRunErrorsSayWhereAndWhat(t *testing.T) {
	judged, err := ReadQrels(fileOf(t, "1 0 a 1\n1 0 b 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	twice := *judged
	twice.DocumentIDs = []string{"a", "a"}
	for want, c := range map[string]struct {
		text   string
		judged *Dataset
	}{
		"file:2: 3 words: want a score on every line": {"1\n1 2 3\n", judged},
		"file:2: 6 words: want a score on every line": {"1\n1 Q0 a 1 2 t\n", judged},
		"file:2: a line of more than 65535 bytes":     {"1\n" + strings.Repeat("1", 1<<16) + "\n", judged},
		"file:2: 1 words": {"1 Q0 a 1 2 t\n5\n", judged},
		`file:1: "NaN" is not a score: want a finite`:    {"NaN\n", judged},
		`file:1: "1e309" is not a score`:                 {"1 Q0 a 1 1e309 t\n", judged},
		`file:2: query 1: duplicate document "a", first`: {"1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", judged},
		"1 scores, but": {"5\n", judged},
		"file has no labelled document of a query of": {"2 Q0 a 1 2 t\n", judged},
		"is empty":                         {"\n \n# 1\n", judged},
		`duplicate document "a", first at`: {"1 Q0 a 1 2 t\n", &twice},
	} {
		if run, err := ReadRun(fileOf(t, c.text), c.judged); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", c.text, run, err, want)
		}
	}
	if _, err := ReadRun(filepath.Join(t.TempDir(), "none"), judged); err == nil || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
	for want, text := range map[string]string{
		`file:1: 3 words: want "qid 0 docid label"`:  "1 0 a\n",
		`file:1: "1.5" is not a label: want a whole`: "1 0 a 1.5\n",
		`file:2: query 1: duplicate document "a"`:    "1 0 a 1\n1 0 a 0\n",
		"is empty": "",
	} {
		if d, err := ReadQrels(fileOf(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, d, err, want)
		}
	}
}

// Whatever a run lacks or adds, each of its judged queries has all documents of both, the documents of the
// run by descending scores.
func TestRunsHaveTheDocumentsOfBoth(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.SampledFrom(strings.Split("abcdefgh", "")), 1, 8, rapid.ID[string])
		judgedIDs, foundIDs := ids.Draw(t, "judged"), ids.Draw(t, "found")
		var qrels, text strings.Builder
		for i, id := range judgedIDs {
			qrels.WriteString("q 0 " + id + " " + string(rune('0'+i%3)) + "\n")
		}
		for _, id := range foundIDs {
			text.WriteString("q Q0 " + id + " 1 " + rapid.SampledFrom([]string{"1", "2.5", "-1"}).Draw(t, "score") + " t\n")
		}
		paths := []string{filepath.Join(folder, "qrels"), filepath.Join(folder, "run")}
		os.WriteFile(paths[0], []byte(qrels.String()), 0o600)
		os.WriteFile(paths[1], []byte(text.String()), 0o600)
		judged, err1 := ReadQrels(paths[0])
		if err1 != nil {
			t.Fatal(err1)
		}
		run, err := ReadRun(paths[1], judged)
		if err != nil {
			t.Fatal(err)
		}
		n := len(foundIDs)
		if got, want := slices.Sorted(slices.Values(run.DocumentIDs[:n])), slices.Sorted(slices.Values(foundIDs)); !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
		for i := range n - 1 {
			if a, b := run.Scores[i], run.Scores[i+1]; a < b || a == b && run.DocumentIDs[i] < run.DocumentIDs[i+1] {
				t.Fatalf("%v of %v", run.Scores, run.DocumentIDs)
			}
		}
		for i, id := range run.DocumentIDs {
			at, label := slices.Index(judgedIDs, id), 0
			if at >= 0 {
				label = at % 3
			}
			if int(run.Labels[i]) != label || (run.Unranked != nil && run.Unranked[i]) != (i >= n) || i >= n && at < 0 {
				t.Fatalf("%+v of %+v", run, run.Dataset)
			}
		}
	})
}

// Whatever stands in the files, the result is a valid run, or an error that names one of them.
func TestCraftedRunsAreErrorsOrValid(t *testing.T) {
	folder := t.TempDir()
	paths := []string{filepath.Join(folder, "qrels"), filepath.Join(folder, "run")}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"q", "r", "0", "d", "e", "1", "-1", "2.5", "1e400", "nan", "\x00", "é", "9999999999"})
		for i, path := range paths {
			var text strings.Builder
			for range rapid.IntRange(0, 5).Draw(t, "lines") {
				words := rapid.SliceOfN(word, 4+2*i, 4+2*i).Draw(t, "words")
				if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
					words = words[:1]
				}
				text.WriteString(strings.Join(words, " ") + "\n")
			}
			os.WriteFile(path, []byte(text.String()), 0o600)
		}
		judged, err := ReadQrels(paths[0])
		if err == nil {
			var run *Run
			if run, err = ReadRun(paths[1], judged); err == nil {
				err := cmp.Or(judged.Validate(), run.Validate())
				if err != nil || len(run.Scores) != run.Rows() || run.Unranked != nil && len(run.Unranked) != run.Rows() {
					t.Errorf("%+v of %+v, %v", run, run.Dataset, err)
				}
				return
			}
		}
		if !strings.Contains(err.Error(), folder) {
			t.Error(err)
		}
	})
}

// A run without a judged document measures 0 whatever it ranks: a warning says so, and shows how the ids differ.
func TestRunWithoutJudgedDocumentIsAWarning(t *testing.T) {
	judged, err := ReadQrels(fileOf(t, "1 0 100001 2\n1 0 7 0\n2 0 8 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := ReadFile(fileOf(t, "2 qid:1 1:1 # docid = 100001\n-1 qid:1 1:5 # docid = 3\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		judged    *Dataset
		run, want string
	}{
		{judged, "1 Q0 1.00001e+06 1 2 t\n1 Q0 7.0 2 1 t\n", `no document of the run is judged by ` + judged.Name + `, so that no measure says anything of it: ids must be spelt alike: query 1 has the document "100001" there, and "1.00001e+06" here`},
		{data, "1 Q0 3 1 2 t\n", "no document of the run is judged by " + data.Name + ", so that no measure says anything of it"},
		{judged, "1 Q0 1.00001e+06 1 2 t\n2 Q0 8 1 2 t\n", ""},
	} {
		run, err := ReadRun(fileOf(t, c.run), c.judged)
		if err != nil {
			t.Fatal(err)
		}
		if has := slices.ContainsFunc(run.Warnings, func(w string) bool { return c.want != "" && strings.HasSuffix(w, c.want) }); has != (c.want != "") || c.want == "" && len(run.Warnings) > 0 {
			t.Errorf("%q: warnings %q, want %q", c.run, run.Warnings, c.want)
		}
	}
	if _, err := ReadRun(fileOf(t, "1.0 Q0 7 1 2 t\n"), judged); err == nil || !strings.HasSuffix(err.Error(), `ids must be spelt alike: a query is called "1" there, and "1.0" here`) {
		t.Errorf("error %v", err)
	}
}

// CSV holds what a TREC run does: by a header, in any order and among other columns, or without one.
func TestCSVIsARun(t *testing.T) {
	judged, err := ReadQrels(fileOf(t, "1 0 a 1\n1 0 b 0\n2 0 c 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := ReadRun(fileOf(t, "1 Q0 x,y 1 3 t\n1 Q0 a 2 2.5 t\n2 Q0 c 1 -1 t\n"), judged)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"1,\"x,y\",3\n1,a,2.5\n2,c,-1\n", "# of a, b\n1,\"x,y\",3\n# of c\n1,a,2.5\n2,c,-1\n", "Score,rank,docid,qid\n3,1,\"x,y\",1\n2.5,2,a,1\n-1,1,c,2\n", "\ufeffquery,document,score\r\n1,a, 2.5\r\n1,\"x,y\",3\r\n2,c,-1\r\n"} {
		run, err := ReadRun(fileOf(t, text), judged)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(run.Scores, want.Scores) || !slices.Equal(run.DocumentIDs, want.DocumentIDs) || !slices.Equal(run.Labels, want.Labels) || !slices.Equal(run.Unranked, want.Unranked) {
			t.Errorf("%q: %v of %q, want %v of %q", text, run.Scores, run.DocumentIDs, want.Scores, want.DocumentIDs)
		}
	}
	for text, want := range map[string]string{
		"1,a,x\n":                         ":1: \"x\" is not a score: want a finite number",
		"1,a,1\n1,b\n":                    ":2: wrong number of fields",
		"1,a,1\n1,a,2\n":                  ":2: query 1: duplicate document \"a\", first in line 1",
		"query,document,score\n1,\"a,1\n": ":2: ",
		"query,document,points\n1,a,1\n":  ":1: \"points\" is not a score",
		"1,a\n":                           ":1: 2 columns: want query, document and score",
		"9,a,1\n":                         "ids must be spelt alike: a query is called \"1\" there, and \"9\" here",
		"query,document,score\n":          "has no labelled document",
	} {
		if _, err := ReadRun(fileOf(t, text), judged); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
