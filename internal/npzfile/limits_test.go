package npzfile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"
)

// npyOf is a .npy array of that shape, all 0.
func npyOf(shape ...int) []byte {
	numbers, lengths := 1, ""
	for _, n := range shape {
		numbers *= n
		lengths += fmt.Sprintf("%d,", n)
	}
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }\n", lengths)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), 0)
	return append(append(b, text...), make([]byte, 8*numbers)...)
}

func deflated(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	w.Close()
	return b.Bytes()
}

// An entry is one of a zip file that is put together by hand. Those of one place share their
// data.
type entry struct {
	name    string
	content []byte
	packed  []byte // nil: stored
	place   int    // of an entry before it, from 1; 0: its own
}

// zipped is a zip file of these entries.
func zipped(entries ...entry) []byte {
	var b, directory []byte
	starts := make([]int, len(entries))
	header := func(e entry, starts int, central bool) (h []byte) {
		data, method := e.content, uint16(zip.Store)
		if e.packed != nil {
			data, method = e.packed, zip.Deflate
		}
		u16 := func(v ...uint16) {
			for _, v := range v {
				h = binary.LittleEndian.AppendUint16(h, v)
			}
		}
		u32 := func(v ...int) {
			for _, v := range v {
				h = binary.LittleEndian.AppendUint32(h, uint32(v))
			}
		}
		if central {
			h = append(h, "PK\x01\x02"...)
			u16(20)
		} else {
			h = append(h, "PK\x03\x04"...)
		}
		u16(20, 0, method, 0, 0)
		u32(int(crc32.ChecksumIEEE(e.content)), len(data), len(e.content))
		u16(uint16(len(e.name)), 0)
		if central {
			u16(0, 0, 0)
			u32(0, starts)
		}
		return append(h, e.name...)
	}
	for i, e := range entries {
		if e.place > 0 {
			starts[i] = starts[e.place-1]
		} else {
			starts[i] = len(b)
			b = append(b, header(e, 0, false)...)
			if e.packed != nil {
				b = append(b, e.packed...)
			} else {
				b = append(b, e.content...)
			}
		}
		directory = append(directory, header(e, starts[i], true)...)
	}
	end := binary.LittleEndian.AppendUint32([]byte("PK\x05\x06"), 0)
	end = binary.LittleEndian.AppendUint16(end, uint16(len(entries)))
	end = binary.LittleEndian.AppendUint16(end, uint16(len(entries)))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(directory)))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(b)))
	end = binary.LittleEndian.AppendUint16(end, 0)
	return append(append(b, directory...), end...)
}

// A craftedFile asks for more memory than is in proportion to its length, or is none.
type craftedFile struct {
	what, want string // how, and the error
	data       []byte
}

func crafted(t testing.TB) []craftedFile {
	big := npyOf(1 << 13)
	packed := deflated(t, big)
	var overlapping, overlappingPacked, apart []entry
	for i := range 1000 {
		name, place := fmt.Sprintf("a%d.npy", i), min(i, 1)
		overlapping = append(overlapping, entry{name: name, content: big, place: place})
		overlappingPacked = append(overlappingPacked, entry{name: name, content: big, packed: packed, place: place})
		apart = append(apart, entry{name: name, content: big, packed: packed})
	}
	wide := npyOf(1 << 22)
	const tooMuch, twice = "its arrays take more than", "occurs twice"
	return []craftedFile{
		{"a few overlap", "two of its arrays overlap", zipped(overlapping[:8]...)},
		{"many overlap", tooMuch, zipped(overlapping...)},
		{"many overlap, deflated", tooMuch, zipped(overlappingPacked...)},
		{"many deflate well", tooMuch, zipped(apart...)},
		{"one deflates well", tooMuch, zipped(entry{name: "a.npy", content: wide, packed: deflated(t, wide)})},
		{"a name twice", twice, zipped(entry{name: "a.npy", content: npyOf(1)}, entry{name: "a.npy", content: npyOf(1)})},
		{"two headers", twice, zipped(entry{name: "header.npy", content: npyOf(1)}, entry{name: "header.npy", content: npyOf(1)})},
		{"another entry", "is not a .npy array", zipped(entry{name: "a", content: npyOf(1)})},
		{"three dimensions", "3 dimensions", zipped(entry{name: "a.npy", content: npyOf(1, 1, 1)})},
		{"a long .npy header", "malformed .npy header", zipped(entry{name: "a.npy", content: []byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f{")})},
		{"empty objects", "objects in", objects(t, 200_000)},
	}
}

// objects is a file whose header is a list of n empty objects.
func objects(t testing.TB, n int) []byte {
	var b bytes.Buffer
	if err := Encode[float64](&b, make([]struct{}, n), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// allocated is how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// mostAllocated is what decoding a number of bytes may allocate, garbage included: numbers are
// there as bytes and as floats.
func mostAllocated(size int) int { return 4*(freeBytes+maxExpansion*size) + 50*size }

func TestCraftedFilesAllocateLittle(t *testing.T) {
	for _, c := range crafted(t) {
		var err error
		n := allocated(func() { _, err = Decode("file", c.data, &[]struct{ Wide [100]int }{}) })
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 200 {
			t.Errorf("%s: error %.300v, want %q", c.what, err, c.want)
		}
		if most := mostAllocated(len(c.data)); n > most {
			t.Errorf("%s: %d bytes were allocated for a file of %d, want %d at most", c.what, n, len(c.data), most)
		}
	}
}

// A file is read whose arrays are deflated, as older versions and NumPy write them.
func TestDeflatedArraysAreRead(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, head{"x"}, []Array{{"w", []int{50_000}, make([]float64, 50_000)}}); err != nil {
		t.Fatal(err)
	}
	stored, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	for _, e := range stored.File {
		r, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{name: e.Name, content: content, packed: deflated(t, content)})
	}
	var h head
	f, err := Decode("file", zipped(entries...), &h)
	if err != nil || h.Name != "x" {
		t.Fatal(h, err)
	}
	if w, err := f.Take("w", 50_000); err != nil || len(w) != 50_000 {
		t.Error(len(w), err)
	}
}
