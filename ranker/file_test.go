package ranker

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/transforms"
)

func example() *File {
	return &File{
		Kind: "fm", Settings: json.RawMessage(`{"factors":2}`), Dtype: "float32",
		Arrays: []Array{
			{Name: "linear", Shape: []int{3}, Values: []float64{1, 2, 3}},
			{Name: "factors", Shape: []int{3, 2}, Values: []float64{1, 2, 3, 4, 5, 6}},
		},
		Transform:    &transforms.Transform{Spec: "none", Inputs: 3, Columns: []int{0, 1, 2}, Parts: []transforms.Part{{Name: "none"}}},
		FeatureIDs:   []int{1, 5, 9},
		FeatureNames: []string{"bm25", "", "page rank"},
		Gain:         "exp2",
	}
}

func TestFilesRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	f := example()
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Model{opened, read} {
		if m.File().Version == "" {
			t.Error("no version of plrank")
		}
		back := *m.File()
		back.Version = ""
		if !reflect.DeepEqual(&back, f) {
			t.Errorf("got %+v, want %+v", back, f)
		}
		if !reflect.DeepEqual(m.FeatureIDs(), f.FeatureIDs) || !reflect.DeepEqual(m.FeatureNames(), f.FeatureNames) {
			t.Errorf("features %v %v", m.FeatureIDs(), m.FeatureNames())
		}
		var again bytes.Buffer
		if err := m.File().Write(&again); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Errorf("the same content gave other bytes (%v)", err)
		}
	}
}

func TestInconsistentFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		change func(*File)
		want   string
	}{
		{func(f *File) { f.Kind = "" }, "no kind of model"},
		{func(f *File) { f.Settings = nil }, "are not JSON"},
		{func(f *File) { f.Dtype = "int" }, `dtype "int"`},
		{func(f *File) { f.Transform = nil }, "no transform"},
		{func(f *File) { f.Transform.Columns = []int{7} }, "columns"},
		{func(f *File) { f.FeatureIDs = []int{1, 2} }, "3 feature names for 2 feature ids"},
		{func(f *File) { f.FeatureNames[1] = "caf\xe9" }, `the feature name or text "caf\xe9" is not in UTF-8`},
		{func(f *File) { f.Levels = [][]string{nil, {"tea", "caf\xe9"}, nil} }, `the feature name or text "caf\xe9" is not in UTF-8`},
		{func(f *File) { f.FeatureIDs, f.FeatureNames = []int{1, 2}, nil }, "2 feature ids and a transform of 3 features do not fit"},
		{func(f *File) { f.FeatureIDs = []int{2, 2, 3} }, "feature id 2 after 2"},
		{func(f *File) { f.FeatureIDs = []int{-7, 2, 3} }, "feature id -7: want 0 to 2147483647"},
		{func(f *File) { f.Arrays[1].Name = "linear" }, `array "linear": want a name that no other array has`},
		{func(f *File) { f.Arrays[1].Name = "header" }, `array "header": want a name that no other array has`},
		{func(f *File) { f.Arrays[0].Shape = []int{4} }, `array "linear" has shape [4] and 3 values`},
		{func(f *File) { f.Arrays[0].Values[2] = math.NaN() }, `array "linear": entry 2 is NaN`},
	} {
		path := filepath.Join(dir, "m.npz")
		f := example()
		c.change(f)
		if err := f.Save(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with the path and %q", err, c.want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("a file was written")
		}
	}
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	for _, c := range []struct {
		change func(*fileHeader)
		want   string
	}{
		{func(h *fileHeader) { h.Format = "x" }, `not a model file: its format is "x"`},
		{func(h *fileHeader) { h.Version = 9 }, "version 9 of the model format, but this program reads versions 1 to 2"},
		{func(h *fileHeader) { h.Version = 1 }, "are not JSON"}, // and no "mlp"
		{func(h *fileHeader) { h.Dtype = "" }, `dtype ""`},
		{func(h *fileHeader) { h.FeatureIDs = h.FeatureIDs[1:] }, "3 feature names for 2 feature ids"},
	} {
		f := example()
		h := fileHeader{Format: fileFormat, Version: fileVersion, File: *f}
		c.change(&h)
		if err := npzfile.Write[float64](path, h, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with the path and %q", err, c.want)
		}
	}
	if err := os.WriteFile(path, []byte("1 qid:1 1:0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a model.npz, or a model of") {
		t.Errorf("a text file: %v", err)
	}
	if _, err := Open(path + "x"); err == nil {
		t.Error("no file: no error")
	}
	if _, err := Read(strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "the model: the file is empty") {
		t.Errorf("nothing to read: %v", err)
	}
}

// Bytes that are flipped, and files cut short, are refused or change nothing.
func TestDamagedModelsAreRefused(t *testing.T) {
	var good bytes.Buffer
	if err := example().Write(&good); err != nil {
		t.Fatal(err)
	}
	want, err := Read(bytes.NewReader(good.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for range 400 {
		data := bytes.Clone(good.Bytes())
		i := rng.IntN(len(data))
		data[i] ^= byte(1 + rng.IntN(255))
		m, err := Read(bytes.NewReader(data))
		if err == nil && !reflect.DeepEqual(m, want) && !otherNames(m, want) {
			t.Errorf("byte %d: damage was not detected: %+v", i, m.File())
		}
	}
	for range 12 {
		if _, err := Read(bytes.NewReader(good.Bytes()[:rng.IntN(good.Len())])); err == nil {
			t.Error("cut short: no error")
		}
	}
}

// otherNames reports whether two files differ in the names of arrays alone, which have
// no checksum: no model has such arrays.
func otherNames(a, b *Model) bool {
	f := *a.file
	f.Arrays = nil
	same := len(a.file.Arrays) == len(b.file.Arrays)
	for i, array := range a.file.Arrays {
		array.Name = b.file.Arrays[i].Name
		f.Arrays = append(f.Arrays, array)
	}
	return same && reflect.DeepEqual(&f, b.file)
}

// A digest is of the content alone: the same for a file, its bytes and the File written to it, and
// another one for any other content of the same size.
func TestDigestIsOfTheContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	write := func(weight float64) []byte {
		f := example()
		f.Arrays[0].Values[0] = weight
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	digests := map[string]bool{}
	for _, weight := range []float64{1, 2} {
		data := write(weight)
		opened, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		made, err := New(read.File())
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%x", sha256.Sum256(data))[:16]
		for _, m := range []*Model{opened, read, made} {
			if got := m.Digest(); got != want {
				t.Errorf("digest %s, want %s", got, want)
			}
		}
		digests[want] = true
	}
	if len(digests) != 2 {
		t.Errorf("digests %v, want two", digests)
	}
}
