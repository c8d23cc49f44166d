package datasets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets/schema"
)

// conformanceRow is a document of the same file in every format. The features x, y, b, g and w have the ids 1 to 5.
type conformanceRow struct {
	Label int32   `parquet:"label"`
	Query string  `parquet:"qid,dict"`
	Doc   string  `parquet:"docid,dict"`
	X     float32 `parquet:"x"`
	Y     float32 `parquet:"y"`
	B     float32 `parquet:"b"`
	G     int32   `parquet:"g"`
	W     float32 `parquet:"w"`
}

var conformanceRows = []conformanceRow{{2, "a", "d1", 5, 7, .5, 1, 3}, {0, "a", "d2", 6, 8, .25, 2, 4}, {-1, "b", "d3", 1, 2, -1, 1, 1}}

// conformanceFormat is a format, and how an option names a column in it.
type conformanceFormat struct {
	name    string
	options ReadOptions // without which the file cannot be read
	column  func(name string) string
	write   func(t *testing.T, path string)
}

func conformanceFormats() []conformanceFormat {
	lines := func(first, format string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			text := first
			for _, r := range conformanceRows {
				text += fmt.Sprintf(format, r.Label, r.Query, r.Doc, r.X, r.Y, r.B, r.G, r.W)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := []string{"label", "qid", "docid", "x", "y", "b", "g", "w"}
	itself := func(name string) string { return name }
	number := func(from int) func(string) string {
		return func(name string) string { return fmt.Sprint(slices.Index(names, name) + from) }
	}
	const csv = "%d,%s,%s,%g,%g,%g,%d,%g\n"
	tab := func(text string) string { return strings.ReplaceAll(text, ",", "\t") }
	return []conformanceFormat{
		{"LETOR", ReadOptions{}, number(-2), lines("", "%d qid:%s 1:%[4]g 2:%[5]g 3:%[6]g 4:%[7]d 5:%[8]g # docid = %[3]s\n")},
		{"CSV", ReadOptions{}, itself, lines(strings.Join(names, ",")+"\n", csv)},
		{"TSV", ReadOptions{}, itself, lines(strings.Join(names, "\t")+"\n", tab(csv))},
		{"headerless", ReadOptions{Headerless: true, QueryColumn: "2", DocumentColumn: "3"}, number(1), lines("", csv)},
		{"Parquet", ReadOptions{}, itself, func(t *testing.T, path string) { writeParquet(t, path, conformanceRows) }},
	}
}

// Each option works in each format, or is refused by it with an error that says why.
func TestEveryOptionWorksInEveryFormatOrIsRefused(t *testing.T) {
	stopped, stop := context.WithCancel(context.Background())
	stop()
	subtopics := dataFile(t, "subtopics", "a 1 d1 1\na 2 d1 0\nb 1 d3 0\nb 2 d3 1\n")
	type option struct {
		name    string
		set     func(o *ReadOptions, column func(string) string)
		is      func(d *Dataset) any // what the option changes
		want    any
		refused map[string]string // by format: a part of the error
		other   map[string]any    // by format: what else is wanted
	}
	letorHasNone := func(what string) map[string]string {
		return map[string]string{"LETOR": "no " + what + " column"}
	}
	features := func(d *Dataset) any { return d.Features }
	options := []option{
		{name: "FeatureIDs", set: func(o *ReadOptions, _ func(string) string) { o.FeatureIDs = []int{1, 3} },
			is: features, want: []float32{5, .5, 6, .25, 1, -1}},
		{name: "FeatureNames", set: func(o *ReadOptions, column func(string) string) {
			o.FeatureIDs, o.FeatureNames = []int{1, 2}, []string{column("y"), column("x")}
		}, is: features, want: []float32{7, 5, 8, 6, 2, 1}, other: map[string]any{"LETOR": []float32{5, 7, 6, 8, 1, 2}}}, // which goes by ids
		{name: "Levels", set: func(o *ReadOptions, _ func(string) string) {
			o.FeatureIDs, o.Levels = []int{1}, [][]string{{"6", "5", "1"}}
		}, is: features, want: []float32{2, 1, 3}},
		{name: "NumberLevels", set: func(o *ReadOptions, _ func(string) string) {
			o.FeatureIDs, o.Levels, o.NumberLevels = []int{1}, [][]string{{"6.0", "5", "+1"}}, []int{1}
		}, is: features, want: []float32{2, 1, 3}},
		{name: "Features", set: func(o *ReadOptions, column func(string) string) { o.Features = []string{column("y")} },
			is: features, want: []float32{7, 8, 2}},
		{name: "Ignore", set: func(o *ReadOptions, column func(string) string) {
			o.Ignore = []string{column("x"), column("y"), column("b"), column("g")}
		}, is: features, want: []float32{3, 4, 1}},
		{name: "OfModel", set: func(o *ReadOptions, column func(string) string) { // all columns but x are features 1 to 4 of the model
			o.FeatureIDs, o.OfModel, o.Ignore = []int{1, 2, 4}, true, []string{column("x")}
		}, is: features, want: []float32{7, .5, 3, 8, .25, 4, 2, -1, 1}, refused: map[string]string{"LETOR": "-ignore 1: the model has the feature 1"}},
		{name: "Unasked", set: func(o *ReadOptions, column func(string) string) { o.Unasked = []string{column("x"), column("y")} },
			is: features, want: []float32{.5, 1, 3, .25, 2, 4, -1, 1, 1},
			other: map[string]any{"LETOR": []float32{5, 7, .5, 1, 3, 6, 8, .25, 2, 4, 1, 2, -1, 1, 1}}}, // which names no columns
		{name: "Categorical", set: func(o *ReadOptions, column func(string) string) {
			o.Features, o.Categorical = []string{column("x")}, []string{column("x")}
		}, is: features, want: []float32{1, 2, 3}, other: map[string]any{"LETOR": []float32{5, 6, 1}}},
		{name: "Duplicates", set: func(o *ReadOptions, _ func(string) string) { o.Duplicates = "last" },
			is: func(d *Dataset) any { return d.Rows() }, want: 3},
		{name: "MinusOne", set: func(o *ReadOptions, _ func(string) string) { o.MinusOne = "irrelevant" },
			is: func(d *Dataset) any { return d.Labels }, want: []float32{2, 0, 0}},
		{name: "LabelColumn", set: func(o *ReadOptions, column func(string) string) { o.LabelColumn = column("y") },
			is: func(d *Dataset) any { return d.Labels }, want: []float32{7, 8, 2}, refused: letorHasNone("label")},
		{name: "QueryColumn", set: func(o *ReadOptions, column func(string) string) { o.QueryColumn, o.Schema = column("g"), plainNames },
			is: func(d *Dataset) any { return d.Offsets }, want: []int{0, 2, 3}, refused: letorHasNone("query id")},
		{name: "DocumentColumn", set: func(o *ReadOptions, column func(string) string) { o.DocumentColumn, o.Schema = column("g"), plainNames },
			is: func(d *Dataset) any { return d.DocumentIDs }, want: []string{"1", "2", "1"}, refused: letorHasNone("document id")},
		{name: "WeightColumn", set: func(o *ReadOptions, column func(string) string) { o.WeightColumn = column("w") },
			is: func(d *Dataset) any { return d.Weights }, want: []float32{3, 4, 1}, refused: letorHasNone("weight")},
		{name: "BaseColumn", set: func(o *ReadOptions, column func(string) string) { o.BaseColumn = column("b") },
			is: func(d *Dataset) any { return d.BaseScores }, want: []float32{.5, .25, -1}, refused: letorHasNone("base score")},
		{name: "GroupColumn", set: func(o *ReadOptions, column func(string) string) { o.GroupColumn = column("g") },
			is: func(d *Dataset) any { return d.Groups }, want: []int{0, 1, 0}, refused: letorHasNone("group")},
		{name: "Headerless", set: func(o *ReadOptions, _ func(string) string) {
			o.Headerless, o.QueryColumn, o.DocumentColumn = true, "2", "3"
		}, is: func(d *Dataset) any { return d.FeatureNames }, want: []string{"4", "5", "6", "7", "8"},
			refused: map[string]string{"LETOR": "Headerless (-headerless) needs separated values", "CSV": `column "1": the label "label"`, "TSV": `column "1": the label "label"`}},
		{name: "Missing", set: func(o *ReadOptions, _ func(string) string) { o.Missing = []string{"7", "none"} },
			is: func(d *Dataset) any { return d.Features[1] != d.Features[1] }, want: true,
			other: map[string]any{"LETOR": false, "Parquet": false}}, // where numbers are no words
		{name: "Labels", set: func(o *ReadOptions, _ func(string) string) { o.Labels = "unused" },
			is: func(d *Dataset) any { return d.Rows() }, want: 3},
		{name: "Schema", set: func(o *ReadOptions, column func(string) string) {
			o.Schema = func(schema.Header) (schema.Columns, error) {
				return schema.Columns{Roles: map[string]string{"label": "y", "query": "qid", "document": "docid"}}, nil
			}
		}, is: func(d *Dataset) any { return d.Labels }, want: []float32{7, 8, 2},
			other: map[string]any{"LETOR": []float32{2, 0, -1}, "headerless": []float32{2, 0, -1}}}, // which have no header
		{name: "Roles", set: func(o *ReadOptions, column func(string) string) { o.Roles = map[string]string{"base": column("b")} },
			is: func(d *Dataset) any { return d.BaseScores }, want: []float32{.5, .25, -1}, other: map[string]any{"LETOR": []float32(nil)}},
		{name: "Intents", set: func(o *ReadOptions, column func(string) string) { o.Intents = []string{column("b"), column("w")} },
			is: func(d *Dataset) any { return d.Intents }, want: []int{3, 3, 2}, refused: letorHasNone("relevance to an intent")},
		{name: "Subtopics", set: func(o *ReadOptions, _ func(string) string) { o.Subtopics = subtopics },
			is: func(d *Dataset) any { return d.Intents }, want: []int{1, 0, 2}},
		{name: "Vectors", set: func(o *ReadOptions, column func(string) string) { o.Vectors = vectorsOf(column("x")) },
			is: func(d *Dataset) any { return d.Vectors.Values }, want: []float32{5, 6, 1}, refused: map[string]string{"LETOR": "names no columns"}},
		{name: "Products", set: func(o *ReadOptions, column func(string) string) {
			o.Vectors, o.Ignore = vectorsOf(column("x"), column("y")), []string{column("b"), column("g"), column("w")}
			o.Products = productsOf("dot(" + column("x") + "," + column("y") + ")")
		}, is: features, want: []float32{35, 48, 2}, refused: map[string]string{"LETOR": "names no columns"}},
		{name: "Context", set: func(o *ReadOptions, _ func(string) string) { o.Context = stopped },
			refused: map[string]string{"LETOR": "was stopped", "CSV": "was stopped", "TSV": "was stopped", "headerless": "was stopped", "Parquet": "was stopped"}},
	}
	for i := range reflect.TypeFor[ReadOptions]().NumField() {
		name := reflect.TypeFor[ReadOptions]().Field(i).Name
		if !slices.ContainsFunc(options, func(o option) bool { return o.name == name }) {
			t.Errorf("ReadOptions.%s is not tested", name)
		}
	}
	for _, f := range conformanceFormats() {
		path := filepath.Join(t.TempDir(), "f")
		f.write(t, path)
		for _, o := range options {
			read := f.options
			o.set(&read, f.column)
			d, err := ReadFile(path, read)
			if part, refused := o.refused[f.name]; refused {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%s of %s: error %v, want one with %q", o.name, f.name, err, part)
				}
				continue
			}
			want := o.want
			if other, has := o.other[f.name]; has {
				want = other
			}
			if err != nil {
				t.Errorf("%s of %s: %v", o.name, f.name, err)
			} else if got := o.is(d); !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %s: %v, want %v", o.name, f.name, got, want)
			}
		}
	}
}
