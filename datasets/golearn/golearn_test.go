package golearn

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
)

func sample() *datasets.Dataset {
	return &datasets.Dataset{
		Name:       "sample",
		Features:   []float32{1.6e8, 1e-9, -3, 0.1, 16777217, 2, 7, -1e-9, 0, float32(math.NaN()), 5, 1},
		Labels:     []float32{2, 0, 1.5, 1},
		Offsets:    []int{0, 2, 3, 4},
		QueryIDs:   []string{"30", "4", "7"},
		FeatureIDs: []int{1, 5, 9}, FeatureNames: []string{"size", "tiny, signed", "rank"},
	}
}

func TestGridHoldsTheDataset(t *testing.T) {
	d := sample()
	g, err := Grid(d, GridOptions{QueryColumn: "qid"})
	if err != nil {
		t.Fatal(err)
	}
	if columns, rows := g.Size(); columns != 5 || rows != 4 {
		t.Fatalf("%d columns, %d rows", columns, rows)
	}
	specs := base.ResolveAttributes(g, g.AllAttributes())
	seen := 0
	err = g.MapOverRows(specs, func(row [][]byte, r int) (bool, error) {
		for c, v := range row[:3] {
			got, want := float32(base.UnpackBytesToFloat(v)), d.Row(r)[c]
			if math.Float32bits(got) != math.Float32bits(want) || !bytes.Equal(g.Get(specs[c], r), v) {
				t.Errorf("row %d, column %d: %v, want %v", r, c, got, want)
			}
		}
		if got := float32(base.UnpackBytesToFloat(row[3])); got != d.Labels[r] {
			t.Errorf("row %d: label %v", r, got)
		}
		seen++
		return r < 2, nil
	})
	if err != nil || seen != 3 {
		t.Errorf("%d rows seen, error %v", seen, err)
	}
	// Least absolute values .1, 1e-9, whole numbers, 1 and whole numbers.
	if got, want := g.RowString(2), "7.000000000 -0.000000000999999972 0 1.50000000 4"; got != want {
		t.Errorf("row %q, want %q", got, want)
	}
	if _, err := Grid(d, GridOptions{LabelColumn: "rank"}); err == nil || !strings.Contains(err.Error(), "two columns") {
		t.Errorf("a name twice: %v", err)
	}
}

// Written by golearn's CSV writer and read by its CSV reader, a dataset is the
// same; read by our own reader, too.
func TestGridThroughCSVIsTheDataset(t *testing.T) {
	d := sample()
	for _, ids := range [][]string{{"30", "4", "7"}, {"a", "b c", "7"}} {
		d.QueryIDs = ids
		g, err := Grid(d, GridOptions{QueryColumn: "qid"})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := base.SerializeInstancesToCSVStream(g, &text); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "d.csv")
		if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		own, err := datasets.ReadFile(path, datasets.ReadOptions{FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, own, d)

		grid, err := base.ParseCSVToInstancesFromReader(bytes.NewReader(text.Bytes()), true)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Dataset(grid, GridOptions{LabelColumn: "label"})
		if err != nil {
			t.Fatal(err)
		}
		// golearn writes columns in any order.
		sorted := *back
		sorted.Features = nil
		for r := range back.Rows() {
			for _, name := range d.FeatureNames {
				sorted.Features = append(sorted.Features, back.Row(r)[slices.Index(back.FeatureNames, name)])
			}
		}
		equal(t, &sorted, d)
	}
}

func equal(t *testing.T, got, want *datasets.Dataset) {
	t.Helper()
	if !slices.EqualFunc(got.Features, want.Features, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }) ||
		!slices.Equal(got.Labels, want.Labels) || !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.QueryIDs, want.QueryIDs) {
		t.Errorf("%v %v %v %q\nwant %v %v %v %q", got.Features, got.Labels, got.Offsets, got.QueryIDs, want.Features, want.Labels, want.Offsets, want.QueryIDs)
	}
}

func TestGridsThatAreNotDataAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"qid,label,x\n1,2,red\n":       "is categorical",
		"qid,label,x\n,2,3\n":          `row 1: attribute "qid": no query id`,
		"q,label,x\n1,2,3\n":           `no attribute "qid" among q, label, x`,
		"qid,label,x\n1,2,1e99\n":      "row 1: attribute \"x\": 1e+99 is infinite or beyond",
		"qid,label,x\n1,a,1\n":         `row 1: attribute "label": it is categorical`,
		"qid,label,x\n1,0,1\n1,-2,1\n": "row 2: attribute \"label\": label -2: want 0 or more, or −1",
	} {
		grid, err := base.ParseCSVToInstancesFromReader(strings.NewReader(text), true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Dataset(grid, GridOptions{LabelColumn: "label"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// A query that comes back joins its rows.
func TestDatasetJoinsDocumentsOfAQuery(t *testing.T) {
	grid, err := base.ParseCSVToInstancesFromReader(strings.NewReader("label,qid,x\n1,5,10\n2,6,11\n3,5,12\n4,7,13\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Dataset(grid, GridOptions{LabelColumn: "label"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Features, []float32{10, 12, 11, 13}) || !slices.Equal(d.Offsets, []int{0, 2, 3, 4}) || !slices.Equal(d.QueryIDs, []string{"5", "6", "7"}) || len(d.Warnings) != 1 {
		t.Errorf("%v %v %q %q", d.Features, d.Offsets, d.QueryIDs, d.Warnings)
	}
}

func TestDatasetReadsARFF(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.arff")
	text := "@relation d\n@attribute x real\n@attribute qid {a,b}\n@attribute label real\n@data\n0.5,a,1\n2,a,0\n1,b,2\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	grid, err := base.ParseDenseARFFToInstances(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Dataset(grid, GridOptions{LabelColumn: "label"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Features, []float32{.5, 2, 1}) || !slices.Equal(d.QueryIDs, []string{"a", "b"}) || !slices.Equal(d.Labels, []float32{1, 0, 2}) {
		t.Errorf("%v %q %v", d.Features, d.QueryIDs, d.Labels)
	}
}

func ExampleGrid() {
	d := datasets.Synthetic(datasets.SyntheticOptions{Train: 3, Vali: 1, Test: 1}).Train
	grid, err := Grid(d, GridOptions{QueryColumn: "qid"})
	if err != nil {
		fmt.Println(err)
		return
	}
	columns, rows := grid.Size()
	fmt.Println(columns, "columns,", rows == d.Rows())
	// Output: 138 columns, true
}

// The readers of separated values, ours and golearn's, on an MSLR-shaped file.
func BenchmarkCSV(b *testing.B) {
	d := datasets.Synthetic(datasets.SyntheticOptions{Train: 150, Vali: 1, Test: 1}).Train
	var text bytes.Buffer
	text.WriteString("label,qid")
	for _, id := range d.FeatureIDs {
		fmt.Fprintf(&text, ",f%d", id)
	}
	for q := range d.Queries() {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			fmt.Fprintf(&text, "\n%g,%d", d.Labels[r], q)
			for _, v := range d.Row(r) {
				fmt.Fprintf(&text, ",%.6g", v)
			}
		}
	}
	path := filepath.Join(b.TempDir(), "d.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	b.Run("plrank", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			if _, err := datasets.ReadFile(path, datasets.ReadOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("golearn", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			if _, err := base.ParseCSVToInstances(path, true); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// An empty cell of CSV is 0 to golearn's reader, or the first category, and NaN is missing; NaN among texts is one of them.
func TestEmptyCellsOfCSVAreWhatGolearnMakesOfThem(t *testing.T) {
	const text = "x,seller,qid,label\n1,NaN,a,1\n,b,a,0\nNaN,,NaN,2\n"
	grid, err := base.ParseCSVToInstancesFromReader(strings.NewReader(text), true)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Dataset(grid, GridOptions{LabelColumn: "label", GroupColumn: "seller"})
	if err != nil {
		t.Fatal(err)
	}
	if x := d.Features; x[0] != 1 || x[1] != 0 || x[2] == x[2] || !slices.Equal(d.QueryIDs, []string{"a", "NaN"}) {
		t.Errorf("features %v of queries %q", x, d.QueryIDs)
	}
	if !slices.Equal(d.GroupNames, []string{"NaN", "b"}) || !slices.Equal(d.Groups, []int{0, 1, 0}) {
		t.Errorf("groups %v of %q", d.Groups, d.GroupNames)
	}
}
