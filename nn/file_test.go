package nn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/ops"
)

func exampleFile(t *testing.T, dt tensor.Dtype) *File {
	return &File{
		Model:      newMLP(t, MLPConfig{Features: 3, Hidden: []int{4, 2}, Activation: ops.GELU, Dropout: 0.25, Seed: 1, Dtype: dt}),
		Transform:  json.RawMessage(`{"kind":"none"}`),
		FeatureIDs: []int{1, 5, 9},
		Gain:       "exp2",

		FeatureNames: []string{"bm25", "", "page rank"},
	}
}

func TestFileRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		f := exampleFile(t, dt)
		path, copyPath := filepath.Join(dir, dt.String()+".npz"), filepath.Join(dir, "copy.npz")
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		back, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back.Model.config, f.Model.config) || string(back.Transform) != string(f.Transform) ||
			!reflect.DeepEqual(back.FeatureIDs, f.FeatureIDs) || back.Gain != f.Gain || !reflect.DeepEqual(back.FeatureNames, f.FeatureNames) {
			t.Errorf("got %+v, want %+v", back, f)
		}
		for i, w := range f.Model.Weights() {
			if fmt.Sprint(getFloats(w.Value)) != fmt.Sprint(getFloats(back.Model.Weights()[i].Value)) {
				t.Errorf("%s differs", w.Name)
			}
		}
		if err := back.Save(copyPath); err != nil {
			t.Fatal(err)
		}
		a, _ := os.ReadFile(path)
		b, _ := os.ReadFile(copyPath)
		if !bytes.Equal(a, b) {
			t.Error("the same content gave other bytes")
		}
		x := random(6, 1)
		want, _ := run(t, f.Model, Evaluate, x, []float64{1, 1})
		got, _ := run(t, back.Model, Evaluate, x, []float64{1, 1})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("scores %v, want %v", got, want)
		}
	}
}

func TestSaveRefusesWeightsThatAreNotFinite(t *testing.T) {
	f := exampleFile(t, tensor.Float32)
	f.Model.Weights()[1].Value.Float32s()[2] = float32(math.NaN())
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := f.Save(path); err == nil || !strings.Contains(err.Error(), "entry 2 of b0 is NaN") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was written")
	}
}

func TestLoadErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	good := fileHeader{Format: fileFormat, Version: fileVersion, Dtype: "float32", MLP: MLPConfig{Features: 2}, FeatureIDs: []int{1, 2}}
	w, b := npzfile.Array{Name: "w0", Shape: []int{2}, Data: []float64{1, 2}}, npzfile.Array{Name: "b0", Shape: []int{1}, Data: []float64{0}}
	for _, c := range []struct {
		change func(*fileHeader)
		arrays []npzfile.Array
		want   string
	}{
		{func(h *fileHeader) { h.Format = "x" }, nil, `not a model file: its format is "x"`},
		{func(h *fileHeader) { h.Version = 9 }, nil, "version 9 of the model format, but this program reads version 1"},
		{func(h *fileHeader) { h.Dtype = "int" }, nil, `dtype "int"`},
		{func(h *fileHeader) { h.FeatureIDs = []int{2, 2} }, nil, "feature id 2 after 2"},
		{func(h *fileHeader) { h.FeatureNames = []string{"a"} }, nil, "1 feature names for 2 feature ids"},
		{func(h *fileHeader) {}, []npzfile.Array{w}, `no array "b0"`},
		{func(h *fileHeader) { h.MLP.Features = 3 }, []npzfile.Array{w, b}, `array "w0" has shape [2], want [3]`},
		{func(h *fileHeader) { h.MLP.Features = 1 << 60 }, []npzfile.Array{w, b}, `array "w0" has shape [2]`},
		{func(h *fileHeader) { h.MLP.Hidden = []int{-3} }, []npzfile.Array{w, b}, `array "w0" has shape [2]`},
		{func(h *fileHeader) {}, []npzfile.Array{{Name: "w0", Shape: []int{2}, Data: []float64{1, math.Inf(1)}}, b}, "entry 1 is +Inf"},
	} {
		h := good
		c.change(&h)
		if err := npzfile.Write(path, h, c.arrays); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with the path and %q", err, c.want)
		}
	}
	if err := npzfile.Write(path, good, []npzfile.Array{w, b}); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Errorf("the good file: %v", err)
	}
	data, _ := os.ReadFile(path)
	os.WriteFile(path, data[:len(data)-30], 0o644)
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "not a complete .npz file") {
		t.Errorf("cut short: %v", err)
	}
	os.WriteFile(path, []byte("1 qid:1 1:0\n"), 0o644)
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "not a complete .npz file") {
		t.Errorf("a text file: %v", err)
	}
	if _, err := Load(path + "x"); err == nil {
		t.Error("no file: no error")
	}
}
