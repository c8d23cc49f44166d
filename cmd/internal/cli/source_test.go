package cli

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// parsed is a source by command line.
func parsed(t *testing.T, args ...string) *Source {
	t.Helper()
	var s Source
	f := s.Flags("").Set()
	f.SetOutput(io.Discard)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &s
}

// Every flag of reading sets the option of its name, and no other.
func TestReadOptionsFollowTheFlags(t *testing.T) {
	options := func(args ...string) datasets.ReadOptions {
		return parsed(t, args...).Options(t.Context(), datasets.ReadOptions{})
	}
	for _, name := range new(Source).Flags("").Without("data", "scale", "vali", "test", "fold").Names() {
		value := map[string]string{"duplicates": "last", "headerless": "true"}[name]
		before, after := reflect.ValueOf(options()), reflect.ValueOf(options("-"+name+"="+cmp.Or(value, "x")))
		for i := range before.NumField() {
			option := before.Type().Field(i).Name
			if option == "Schema" { // the same function, which cannot be compared
				continue
			}
			same := reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface())
			if want := !strings.EqualFold(option, map[bool]string{true: "vectors", false: strings.ReplaceAll(name, "-", "")}[name == "vector"]); same != want {
				t.Errorf("-%s: option %s stays the same: %t", name, option, same)
			}
		}
	}
}

func TestContradictingFlagsAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"":                                     "",
		"-data x -vali y -test z -fold 2":      "",
		"-data synthetic:mslr -scale 0.1":      "",
		"-data x -group-column g":              "",
		"-data x -duplicates first":            "want error or last",
		"-data x -minus-one 0":                 "want unlabelled or irrelevant",
		"-vali y":                              "-vali, -test and -fold need -data",
		"-group-column y":                      "-group-column, -intents and -subtopics need -data",
		"-data x -intents a,b -subtopics z":    "exclude each other",
		"-data synthetic:mslr -intents a":      "-intents",
		"-data synthetic:mslr -fold 1":         "-fold",
		"-data synthetic:mslr -group-column g": "-group-column",
		"-data synthetic:mslr -scale 1.5":      "want a fraction in (0, 1]",
		"-data synthetic:mslr -scale NaN":      "want a fraction in (0, 1]",
		"-data synthetic:":                     "mslr, yahoo, istella",
		"-data synthetic:web":                  "mslr, yahoo, istella",
		"-data synthetic:mslr/trees":           "",
		"-data synthetic:mslr/tree":            "want one of smooth, trees, additive, mixture (did you mean trees?) after synthetic:mslr/",
		"-data synthetic:mslr/":                "smooth, trees, additive, mixture",
		"-data x -scale 0.5":                   "-scale is for -data synthetic:SHAPE",
		"-data x -fold -1":                     "folds count from 1",
	} {
		err := parsed(t, strings.Fields(args)...).Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", args, err, want)
		}
	}
}

func TestOpenReadsOrMakesTheCollection(t *testing.T) {
	made, err := parsed(t, "-data", "synthetic:yahoo", "-scale", "0.0005").Open(t.Context(), datasets.Options{Seed: 1}, io.Discard)
	if err != nil || made.Train.Queries() != 10 || made.Train.Width() != 700 {
		t.Errorf("a 2000th of 19,944 queries of 700 features: %v, %v", made, err)
	}
	trees, err := parsed(t, "-data", "synthetic:yahoo/trees", "-scale", "0.0005").Open(t.Context(), datasets.Options{Seed: 1}, io.Discard)
	if err != nil || !slices.Equal(trees.Test.Features, made.Test.Features) || slices.Equal(trees.Test.Labels, made.Test.Labels) {
		t.Errorf("another truth: %v, %v, want other labels of the same documents", trees, err)
	}
	path := filepath.Join(t.TempDir(), "lists.csv")
	if err := os.WriteFile(path, []byte("grade,session,f\n1,a,2\n0,a,1\n1,b,0\n0,b,3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	read := parsed(t, "-data", path, "-label-column", "grade", "-query-column", "session")
	splits, err := read.Open(t.Context(), datasets.Options{Seed: 1}, io.Discard)
	if err != nil || splits.Train.Queries()+splits.Vali.Queries() != 2 {
		t.Errorf("%v, %v", splits, err)
	}
	if _, err := parsed(t, "-data", "synthetic:web").Open(t.Context(), datasets.Options{Seed: 1}, io.Discard); err == nil || !strings.Contains(err.Error(), "istella") {
		t.Errorf("an unknown shape: %v", err)
	}
}

// Each of the two ways out that the error names is one.
func TestMinusOneSaysWhatTheLabelMeans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "svm.txt")
	if err := os.WriteFile(path, []byte("1 qid:1 1:1\n-1 qid:1 1:2\n1 qid:2 1:1\n-1 qid:2 1:2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := parsed(t, "-data", path).Open(t.Context(), datasets.Options{}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "(-minus-one irrelevant, or -minus-one unlabelled)") {
		t.Fatalf("error %v", err)
	}
	for meaning, rows := range map[string]int{"irrelevant": 4, "unlabelled": 2} {
		s, err := parsed(t, "-data", path, "-minus-one", meaning).Open(t.Context(), datasets.Options{}, io.Discard)
		if err != nil || s.Train.Rows()+s.Vali.Rows() != rows {
			t.Errorf("%s: %v, %v", meaning, s, err)
		}
	}
}

// Every flag that errors about columns name is a row.
func TestEveryColumnHasItsFlag(t *testing.T) {
	text, err := os.ReadFile("../../../datasets/columns.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`Flag: +"([^"]*)"`).FindAllSubmatch(text, -1)
	if len(named) < 3 {
		t.Fatalf("%d columns name their flags", len(named))
	}
	for _, m := range named {
		if new(Source).Flags("").Row(string(m[1])) == nil {
			t.Errorf("datasets/columns.go names the flag -%s, which is no row in source.go", m[1])
		}
	}
}
