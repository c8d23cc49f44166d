package describe

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

var call = commandtest.Command(Run).Call

func TestMain(m *testing.M) { commandtest.Main(m) }

// Nine documents in a set with everything that is counted, by hand.
func TestCountsOfNineDocuments(t *testing.T) {
	text := "0 qid:1 1:1 2:5 4:0.5\n2 qid:1 1:2 2:5 4:NaN\n1 qid:1 1:3 2:5\n" + // 3 documents
		"0 qid:2 1:1 2:5\n-1 qid:2 1:2 2:5\n" + // no label above 0
		"1 qid:3 1:7 2:5 4:NULL\n2.5 qid:3 1:1 2:5\n0 qid:3 1:1 2:5\n0 qid:3 1:1 2:5\n"
	file := filepath.Join(t.TempDir(), "d.txt")
	commandtest.Write(t, file, text)
	folder := t.TempDir()
	lines := strings.SplitAfter(text, "\n")
	commandtest.Write(t, filepath.Join(folder, "train.txt"), strings.Join(lines[:3], ""))
	commandtest.Write(t, filepath.Join(folder, "vali.txt"), strings.Join(lines[3:5], ""))
	commandtest.Write(t, filepath.Join(folder, "test.txt"), strings.Join(lines[5:], ""))
	want := map[string]any{
		"queries": 3., "documents": 9., "features": 3.,
		"labels":    map[string]any{"-1": 1., "0": 4., "1": 2., "2": 1., "2.5": 1.},
		"labelFree": 1., "documentsPerQuery": map[string]any{"min": 2., "mean": 3., "max": 4.},
		"constant": []any{2.}, "constantInQueries": []any{}, "missing": []any{4.},
	}
	for _, data := range []string{file, folder} {
		status, stdout, stderr := call("-json", "-data", data)
		var got map[string]any
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 0 || stderr != "" {
			t.Fatal(status, err, stdout, stderr)
		}
		if list := got["featureList"].([]any); len(list) != 3 || list[0].(map[string]any)["distinct"] != 4. || list[2].(map[string]any)["missing"] != 2. {
			t.Errorf("%s: features %v", data, list)
		}
		delete(got, "featureList")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\nwant %v", data, got, want)
		}
		status, stdout, stderr = call("-data", data)
		for _, word := range []string{`queries +3\n`, `documents +9\n`, `2 to 4, mean 3.0`, `constant features +1: 2\n`, `missing values +1: 4\n`, `label-free queries +1\n`, `label 2.5 +1 `} {
			if !regexp.MustCompile(word).MatchString(stdout) || status != 0 {
				t.Errorf("%s: no %q in\n%s%s", data, word, stdout, stderr)
			}
		}
	}
	data := commandtest.Folds(t, 2)
	if _, stdout, _ := call("-json", "-data", data, "-fold", "2"); !strings.Contains(stdout, `"queries": 36,`) {
		t.Errorf("fold 2: %s", stdout)
	}
	if status, _, stderr := call("-data", data); status != 1 || !strings.Contains(stderr, "fold 1 to 2") || !strings.Contains(stderr, "(such as -fold 1)") {
		t.Errorf("a folder of folds: %d, %s", status, stderr)
	}
}

// A synthetic collection has its share of the queries of the published one.
func TestSyntheticShapeIsDescribed(t *testing.T) {
	_, stdout, _ := call("-json", "-data", "synthetic:yahoo", "-scale", "0.002")
	var d struct{ Queries, Features int }
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	if d.Features != 700 || d.Queries != 40+6+14 { // a 500th of 19,944, 2,994 and 6,983
		t.Errorf("%d queries, %d features", d.Queries, d.Features)
	}
}

// Groups, weights and duplicates are read by the flags of training.
func TestReadingFollowsItsFlags(t *testing.T) {
	shop := commandtest.Shop(t)
	status, stdout, _ := call("-data", shop, "-group-column", "seller")
	if status != 0 || !regexp.MustCompile(`group small +600 \(50.0 %\), mean label`).MatchString(stdout) {
		t.Errorf("%d\n%s", status, stdout)
	}
	if _, stdout, _ := call("-json", "-data", shop, "-group-column", "seller"); !strings.Contains(stdout, `"name": "small"`) {
		t.Errorf("in JSON: %s", stdout)
	}
	csv := filepath.Join(t.TempDir(), "plain.csv")
	commandtest.Write(t, csv, "1,a,5,2\n0,a,6,1\n1,b,7,2\n0,b,8,3\n")
	if status, stdout, stderr := call("-data", csv, "-headerless", "-query-column", "2", "-weight-column", "3"); status != 0 || !strings.Contains(stdout, "weights of documents") {
		t.Errorf("%d, %s%s", status, stdout, stderr)
	}
	twice := filepath.Join(t.TempDir(), "twice.txt")
	commandtest.Write(t, twice, "1 qid:99 1:1 2:1 2:7\n0 qid:99 1:2\n")
	if status, _, stderr := call("-data", twice, "-duplicates", "last"); status != 0 {
		t.Error(stderr)
	}
}

func TestBadCommandLinesAreRefused(t *testing.T) {
	data := commandtest.Folds(t, 2)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-data", filepath.Join(data, "Fold1"), "-epochs", "3"}, 2, "there is no flag -epochs"},
		{[]string{"-data", filepath.Join(data, "none")}, 1, "no such file"},
		{nil, 2, "-data or -model is needed"},
		{[]string{"-model", "m.npz", "-data", data}, 2, "-data is for data, and -model is given"},
		{[]string{"-model", "../../../../forest/foreign/testdata/shop/shop.csv"}, 1, "shop.csv"},
		{[]string{"-data", data, "-threads", "-1"}, 2, "-threads -1"},
	} {
		if status, stdout, stderr := call(c.args...); status != c.status || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s, want %q", c.args, status, stderr, c.want)
		}
	}
}

// The table has what is to be known of each column, and is short for wide data.
func TestTableListsEachFeature(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "shop.csv")
	commandtest.Write(t, csv, "label,qid,price,title,city,w\n1,a,3,red shoe,Oslo,1\n0,a,,blue shoe,Bern,1\n1,b,4.5,hat,Oslo,1\n0,b,7,cap,,1\n")
	status, stdout, stderr := call("-data", csv, "-categorical", "c*y")
	for _, line := range []string{`label column +label`, `price +1 +number +1 +3 +3 to 7 +feature`, `city +3 +text +1 +2 +Oslo, Bern +category`, `w +4 +number +0 +1 +1 to 1 +constant: left out`, `title +– +text .*left out`} {
		if status != 0 || !regexp.MustCompile(`(?m)^`+line+`$`).MatchString(stdout) {
			t.Errorf("%d, no %q in\n%s%s", status, line, stdout, stderr)
		}
	}
	if strings.Count(stderr, "title") != 1 {
		t.Errorf("warnings: %s", stderr)
	}
	if _, stdout, _ := call("-data", csv, "-features", "price"); strings.Contains(stdout, "title") || strings.Contains(stdout, "city") {
		t.Errorf("of one feature:\n%s", stdout)
	}
	if _, stdout, _ := call("-data", "synthetic:yahoo", "-scale", "0.002"); !strings.Contains(stdout, "… and 660 more features: -json lists them all") {
		t.Errorf("of 700 features:\n%s", stdout)
	}
}

// An interruption ends the reading.
func TestReadingCanBeInterrupted(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	status := page.DoUntil(done, new(options), []string{"-data", filepath.Join(commandtest.Fold(t), "train.txt")}, nil, &stdout, &stderr)
	if status != 130 || stdout.Len() != 0 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("%d, %s%s", status, &stdout, &stderr)
	}
}

func TestLeaksAreNamed(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "shop.csv")
	commandtest.Write(t, csv, "label,qid,price,clicked\n1,a,3,1\n0,a,2,0\n")
	for args, want := range map[string]int{"": 1, "-ignore clicked": 0} {
		_, _, stderr := call(append([]string{"-data", csv}, strings.Fields(args)...)...)
		if got := strings.Count(stderr, "a possible leak: clicked"); got != want || want == 0 && stderr != "" {
			t.Errorf("%q: %s", args, stderr)
		}
	}
}
