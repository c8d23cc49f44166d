package datasets

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Words of pandas for missing values are known in a column of numbers, and said; others must be declared, also numbers. Texts of
// categories are themselves.
func TestMarkersOfMissingValues(t *testing.T) {
	file := "label,qid,price,brand\n1,a,3,n/a\n0,a,n/a,None\n0,a,None,b\n1,b,-,b\n0,b,-999,b\n0,b,<NA>,b\n1,c,4,b\n1,c,5,b\n0,c,6,b\n"
	d, err := ReadFile(dataFile(t, "f.csv", file), ReadOptions{Categorical: []string{"brand"}, Missing: []string{"-", "-999"}})
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range []string{"3 1", "NaN 2", "NaN 3", "NaN 3", "NaN 3", "NaN 3", "4 3", "5 3", "6 3"} {
		if got := fmt.Sprint(d.Row(row)); got != "["+want+"]" {
			t.Errorf("row %d: %s, want %s", row, got, want)
		}
	}
	if want := []string{"n/a", "None", "b"}; !slices.Equal(d.Levels[1], want) {
		t.Errorf("texts %q, want %q", d.Levels[1], want)
	}
	if w := strings.Join(d.Warnings, "\n"); !strings.Contains(w, `3 values of the column price were read as missing: "<NA>" (1), "None" (1), "n/a" (1)`) ||
		strings.Contains(w, "-999") {
		t.Errorf("warnings: %s", w)
	}
	_, err = ReadFile(dataFile(t, "f.csv", file), ReadOptions{Ignore: []string{"brand"}})
	if err == nil || !strings.Contains(err.Error(), `1 values of the column price are not numbers: "-" (1); -categorical price reads`) ||
		!strings.Contains(err.Error(), "-missing WORD reads") {
		t.Errorf("error %v", err)
	}
	_, err = ReadFile(dataFile(t, "f.csv", file), ReadOptions{FeatureIDs: []int{1}, FeatureNames: []string{"price"}, OfModel: true})
	if err == nil || !strings.Contains(err.Error(), "are not numbers: \"-\" (1); the model wants numbers; -missing") {
		t.Errorf("with the features of a model, which other flags cannot change: %v", err)
	}
}

// Whole numbers beyond 2^24 that float32 merges are named, in tables and in LETOR text; those that stay different are not.
func TestNumbersThatBecomeEqualAreNamed(t *testing.T) {
	table, letor := "label,qid,time,far\n", ""
	for i := range 12 {
		table += fmt.Sprintf("%d,a,%d,%d.0\n", i%2, 1764000000+i, 33554432+4*i)
		letor += fmt.Sprintf("%d qid:a 3:%d 4:%d\n", i%2, 1764000000+i, 33554432+4*i)
	}
	for text, name := range map[string]string{table: "time", letor: "3"} {
		d, err := ReadFile(dataFile(t, "f", text), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := "whole numbers from 16777216 on are rounded to 24 bits: " + name + " (12 different ones became 1): "
		if w := strings.Join(d.Warnings, "\n"); !strings.Contains(w, want) {
			t.Errorf("warnings %s, want %s", w, want)
		}
	}
}

// The weights of the training documents are a column; a validation file needs none, and has its own if it has the column.
func TestValidationNeedsNoWeightColumn(t *testing.T) {
	train := dataFile(t, "train.csv", "label,qid,x,w\n1,a,3,2\n0,a,4,5\n")
	for file, want := range map[string][]float32{"label,qid,x\n1,b,3\n": nil, "label,qid,x,w\n1,b,3,7\n": {7}} {
		vali := dataFile(t, "vali.csv", file)
		s, err := Open(train, Options{Vali: vali, Read: ReadOptions{WeightColumn: "w"}})
		if err != nil || !slices.Equal(s.Train.Weights, []float32{2, 5}) || !slices.Equal(s.Vali.Weights, want) || s.Vali.Width() != 1 {
			t.Errorf("%q: %v", file, err)
		}
	}
	if _, err := Open(dataFile(t, "train.csv", "label,qid,x\n1,b,3\n"), Options{Vali: train, Read: ReadOptions{WeightColumn: "w"}}); err == nil {
		t.Error("training without the column passes")
	}
}

// A model names the columns that it wants: the others were there, and told, when it was trained.
func TestColumnsThatAModelDoesNotWantAreNotToldAgain(t *testing.T) {
	path := dataFile(t, "f.csv", "label,qid,x,clicked,\n1,a,3,1,0\n0,a,4,0,1\n")
	for ofModel, want := range map[bool]int{true: 0, false: 2} {
		d, err := ReadFile(path, ReadOptions{FeatureIDs: []int{1}, FeatureNames: []string{"x"}, OfModel: ofModel})
		if err != nil || len(d.Warnings) != want {
			t.Errorf("of a model: %t: %v, %q", ofModel, err, d.Warnings)
		}
	}
}

// Columns of text and of whole numbers in Parquet have the words and warnings that separated values have.
func TestParquetHasMarkersAndNamesNumbersThatBecomeEqual(t *testing.T) {
	type row struct {
		Label float32 `parquet:"label"`
		Query string  `parquet:"qid"`
		Price string  `parquet:"price"`
		Plain int64   `parquet:"plain"`
		Dict  int64   `parquet:"dict,dict"`
		Float float64 `parquet:"float"`
		Exact int64   `parquet:"exact"`
	}
	var rows []row
	for i := range 12 {
		far := int64(1764000000 + i)
		rows = append(rows, row{float32(i % 2), "a", []string{"7", "n/a", "-"}[i%3], far, far, float64(far), 1 << (20 + i)})
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	writeParquet(t, path, rows)
	d, err := ReadFile(path, ReadOptions{Missing: []string{"-"}, Schema: plainNames})
	if err != nil {
		t.Fatal(err)
	}
	w := strings.Join(d.Warnings, "\n")
	for _, want := range []string{"4 values of the column price were read as missing: \"n/a\" (4)",
		"rounded to 24 bits: plain (12 different ones became 1), dict (12 different ones became 1), float (12 different ones became 1): "} {
		if !strings.Contains(w, want) {
			t.Errorf("warnings %s, want %s", w, want)
		}
	}
	for r := range 6 {
		if price := d.Row(r)[0]; r%3 == 0 && price != 7 || r%3 > 0 && !math.IsNaN(float64(price)) {
			t.Errorf("row %d: price %v", r, price)
		}
	}
	if _, err := ReadFile(path, ReadOptions{Schema: plainNames}); err == nil || !strings.Contains(err.Error(), "-missing WORD reads one as missing") {
		t.Errorf("without the word: %v", err)
	}
}
