package ranker

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/internal/testkit"
)

// A model of a table with texts scores tables by the names of their columns, in any order, and rows
// that are made by name.
func TestTablesAreScoredByName(t *testing.T) {
	folder := t.TempDir()
	read := func(name, text string, o datasets.ReadOptions) (*datasets.Dataset, error) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return datasets.ReadFile(path, o)
	}
	d, err := read("train.csv", "label,qid,price,city,size\n1,a,3,Oslo,5\n0,a,4,Bern,6\n1,a,5,Oslo,8\n0,a,,Bern,7\n", datasets.ReadOptions{Categorical: []string{"city"}})
	if err != nil {
		t.Fatal(err)
	}
	f := categorical(t, "standard", "float32", d, nil, 1, 4)
	f.FeatureNames, f.Levels = d.FeatureNames, d.Levels
	path := filepath.Join(folder, "model.npz")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := datasets.Score(m, d)
	if err != nil {
		t.Fatal(err)
	}
	other, err := read("other.csv", "city,notes,size,qid,price\nOslo,x,5,q,3\nBern,y,6,q,4\nOslo,z,8,q,5\nBern,,7,q,\n", datasets.OptionsFor(m))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := datasets.Score(m, other); err != nil || !slices.Equal(got, want) {
		t.Errorf("in another order: %v, %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"label,qid,price,size,city\n1,a,3,5,Oslo\n0,a,4,6,Bern\n": `feature 2 is "size", and "city" of the model`,
		"label,qid,price,city,size\n1,a,3,Bern,5\n0,a,4,Oslo,6\n": "numbered otherwise than in the model",
	} {
		d, err := read("unlike.csv", text, datasets.ReadOptions{Categorical: []string{"city"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := datasets.Score(m, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("read without the model: %v, want %s", err, want)
		}
	}
	row := make([]float32, len(m.FeatureIDs()))
	for name, value := range map[string]float32{"price": 3, "size": 5} {
		column, ok := m.Column(name)
		if _, text := m.Level(column, "3"); !ok || text {
			t.Errorf("%s: column %d, %t, a text %t", name, column, ok, text)
		}
		row[column] = value
	}
	city, _ := m.Column("city")
	row[city], _ = m.Level(city, "Oslo")
	if got, err := m.Score(nil, row); err != nil || got[0] != want[0] {
		t.Errorf("a row by name: %v, %v, want %v", got, err, want[0])
	}
	for _, unseen := range []string{"Rome", " Oslo", "oslo"} {
		if v, ok := m.Level(city, unseen); v != 0 || !ok {
			t.Errorf("the unseen text %q is %v", unseen, v)
		}
	}
	if v, ok := m.Level(city, ""); v == v || !ok {
		t.Errorf("no text is %v", v)
	}
	if _, ok := m.Column("colour"); ok {
		t.Error("a column that is not there")
	}
	if _, err := read("less.csv", "qid,price,city\nq,1,Oslo\n", datasets.OptionsFor(m)); err == nil || !strings.Contains(err.Error(), `no column for feature "size"`) {
		t.Errorf("error %v", err)
	}
	row[0] = float32(math.Inf(1))
	if _, err := m.Score(nil, row); err == nil || !strings.Contains(err.Error(), "feature price: the value is +Inf") {
		t.Errorf("error %v", err)
	}
	f.Levels = f.Levels[1:]
	if _, err := New(f); err == nil || !strings.Contains(err.Error(), "levels of 2 features for 3 feature ids") {
		t.Errorf("error %v", err)
	}
}

// The texts of a model are themselves. In files of older versions, and for numbers, they are the same in any spelling.
func TestTextsOfOlderFilesMayBeSpeltOtherwise(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "new.npz")
	testkit.LinearModel(t, path, 1, 1, 1)
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	f.Levels = [][]string{nil, {"7", "Oslo", "1"}, nil}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	header := fileHeader{Format: fileFormat, Version: fileVersion, File: f} // without NumberLevels
	var arrays []npzfile.Array
	for _, a := range f.Arrays {
		arrays = append(arrays, npzfile.Array{Name: a.Name, Shape: a.Shape, Data: a.Values})
	}
	var old bytes.Buffer
	if err := npzfile.Encode(&old, header, arrays); err != nil {
		t.Fatal(err)
	}
	before, err := Read(&old)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = Open(path); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(folder, "again.npz")
	if err := before.Save(again); err != nil {
		t.Fatal(err)
	}
	kept, err := Open(again)
	if err != nil {
		t.Fatal(err)
	}
	missing := float32(math.NaN())
	for word, want := range map[string][3]float32{ // in a new file, as a number, in an old file
		"7": {1, 1, 1}, "7.0": {0, 1, 1}, " 7": {0, 0, 1}, "007": {0, 1, 1}, "true": {0, 3, 3}, "1": {3, 3, 3},
		"Oslo": {2, 2, 2}, " Oslo ": {0, 0, 2}, "Rome": {0, 0, 0},
		"": {missing, 0, missing}, "NA": {missing, missing, missing}, " NA": {0, 0, missing},
	} {
		text, _ := m.Level(1, word)
		number, _ := m.NumberLevel(1, word)
		value, _ := before.Level(1, word)
		same, _ := kept.Level(1, word)
		for i, got := range []float32{text, number, value, same} {
			if want := want[min(i, 2)]; got != want && !(got != got && want != want) {
				t.Errorf("%q: %v at %d, want %v", word, got, i, want)
			}
		}
	}
}
