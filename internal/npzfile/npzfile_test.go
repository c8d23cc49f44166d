package npzfile

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"codeberg.org/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"
)

type head struct{ Name string }

func example() []Array {
	return []Array{
		{"w", []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		{"b", []int{3}, []float64{-1, 0, math.Pi}},
	}
}

func write(t *testing.T, arrays []Array) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.npz")
	if err := Write(path, head{"héllo"}, arrays); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFilesRoundTrip(t *testing.T) {
	path := write(t, example())
	var h head
	f, err := Read[float64](path, &h)
	if err != nil || h.Name != "héllo" {
		t.Fatal(h, err)
	}
	for _, a := range example() {
		data, err := f.Take(a.Name, a.Shape...)
		if err != nil || !reflect.DeepEqual(data, a.Data) {
			t.Errorf("%s: %v, %v", a.Name, data, err)
		}
	}
	first, _ := os.ReadFile(path)
	second, _ := os.ReadFile(write(t, example()))
	if !bytes.Equal(first, second) {
		t.Error("the same content gave other bytes")
	}
	// Replacing leaves nothing else in the folder.
	if err := Write[float64](path, head{}, nil); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if len(entries) != 1 {
		t.Errorf("%d files, want 1", len(entries))
	}
}

// Files keep the bytes that npyio wrote them with.
func TestArraysHaveTheBytesOfNpyio(t *testing.T) {
	for _, shape := range [][]int{{1}, {9}, {10}, {8193}, {3, 4}, {100, 200}, {1, 1}, {12345, 1}} {
		size := shape[0]
		if len(shape) == 2 {
			size *= shape[1]
		}
		data := make([]float64, size)
		for i := range data {
			data[i] = math.Sqrt(float64(i))
		}
		var file, want bytes.Buffer
		if err := Encode(&file, head{"a"}, []Array{{"x", shape, data}}); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for i, value := range []any{[]byte(`{"Name":"a"}`), data} {
			want.Reset()
			if i == 1 && len(shape) == 2 {
				value = mat.NewDense(shape[0], shape[1], data)
			}
			if err := npy.Write(&want, value); err != nil {
				t.Fatal(err)
			}
			if got, err := unpack(z.File[i]); err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Errorf("%v: other bytes, %v", shape, err)
			}
		}
	}
}

func TestReadRefusesNumbersThatAreNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		_, err := Read[float64](write(t, append(example(), Array{"x", []int{2}, []float64{0, bad}})), &head{})
		if want := fmt.Sprintf(`array "x": entry 1 is %v`, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestTakeRefusesOtherShapes(t *testing.T) {
	f, err := Read[float64](write(t, example()), &head{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		shape []int
		want  string
	}{
		{"w", []int{3, 2}, "has shape [2 3], want [3 2]"},
		{"b", []int{4}, "has shape [3], want [4]"},
		{"v", []int{1}, `no array "v"`},
	} {
		if _, err := f.Take(c.name, c.shape...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestWriteToNowhereIsAnError(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "none", "a.npz"), head{}, []Array(nil)); err == nil {
		t.Error("no error")
	}
}

// Every file cut short is refused, and every changed byte is refused or changes nothing, as some bytes of
// a zip file do; nothing panics.
func TestDamagedFilesAreRefused(t *testing.T) {
	path := write(t, example())
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) (*File[float64], head, error) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		var h head
		f, err := Read[float64](path, &h)
		return f, h, err
	}
	for n := range good {
		if _, _, err := read(good[:n]); err == nil {
			t.Errorf("cut to %d of %d bytes: no error", n, len(good))
		}
	}
	undetected := 0
	for i := range good {
		damaged := bytes.Clone(good)
		damaged[i] ^= 0x40
		f, h, err := read(damaged)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("byte %d: more than a line: %q", i, err)
			}
			continue
		}
		undetected++
		for _, a := range example() {
			if data, err := f.Take(a.Name, a.Shape...); err == nil && !reflect.DeepEqual(data, a.Data) || h.Name != "héllo" {
				t.Errorf("byte %d: damage was not detected", i)
			}
		}
	}
	t.Logf("%d of %d changed bytes meant nothing", undetected, len(good))
}

// FuzzDecode: no bytes make decoding panic, or allocate more than is in proportion to their
// number.
func FuzzDecode(f *testing.F) {
	var good bytes.Buffer
	if err := Encode(&good, head{"x"}, example()); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add(good.Bytes()[:good.Len()/2])
	for _, c := range crafted(f) {
		if len(c.data) < 1<<20 {
			f.Add(c.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var file *File[float64]
		var err error
		n := allocated(func() { file, err = Decode("fuzz", data, &head{}) })
		if most := mostAllocated(len(data)); n > most {
			t.Errorf("%d bytes were allocated for a file of %d, want %d at most", n, len(data), most)
		}
		if err != nil {
			return
		}
		for _, a := range file.Arrays {
			if d, err := file.Take(a.Name, a.Shape...); err == nil && len(a.Shape) == 1 && len(d) != a.Shape[0] {
				t.Errorf("%s: %d numbers for shape %v", a.Name, len(d), a.Shape)
			}
		}
	})
}
