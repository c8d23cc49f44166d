package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// listsOf returns the lists of three splits of a few queries, with n features for each document.
func listsOf(queries, n int) (lists Lists) {
	for i := range lists {
		var features, labels, weights []float32
		var lines []int32
		var offsets, groups, none []int
		var ids, documents []string
		for q := range queries {
			offsets, ids = append(offsets, 3*q), append(ids, strconv.Itoa(q))
			for r := range 3 {
				labels, weights, groups = append(labels, float32(r)), append(weights, .5), append(groups, r-1)
				documents, lines = append(documents, "x"), append(lines, int32(4*q+r))
			}
		}
		features = make([]float32, 3*queries*n)
		for j := range features {
			features[j] = float32(j)
		}
		lists[i] = []any{&features, &labels, &weights, &lines, &offsets, &groups, &none, &ids, &documents}
	}
	return lists
}

// fullDisk takes some bytes, then fails as a full disk does.
type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		return d.room, os.ErrDeadlineExceeded
	}
	d.room -= len(b)
	return len(b), nil
}

func TestFullDiskIsAnErrorOfWriting(t *testing.T) {
	lists := listsOf(100, 2000)
	for _, room := range []int{0, 100, 1 << 20} {
		if err := encode(t.Context(), &fullDisk{room}, "key", lists); err == nil {
			t.Errorf("with room for %d bytes: no error", room)
		}
	}
}

// residentBytes is how many bytes the process has of its own; 0 if the system does not say.
func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, text, _ = bytes.Cut(text, []byte("RssAnon:"))
	kilobytes := 0.0
	fmt.Sscan(string(text), &kilobytes)
	return kilobytes * 1024
}

func TestCacheTakesNoMemory(t *testing.T) {
	anonymous := func() float64 {
		runtime.GC()
		debug.FreeOSMemory()
		return residentBytes()
	}
	if anonymous() == 0 {
		t.Skip("this system does not say how much memory a process has of its own")
	}
	path := filepath.Join(t.TempDir(), "cache")
	lists := listsOf(5000, 200)
	size := float64(3 * 4 * len(*lists[0][0].(*[]float32)))
	if err := Save(t.Context(), path, Key{}, lists); err != nil {
		t.Fatal(err)
	}
	lists = listsOf(0, 0)
	before := anonymous()
	has, _, err := Load(t.Context(), path, Key{}, lists)
	if err != nil || has != [3]bool{true, true, true} {
		t.Fatal(has, err)
	}
	if grown := anonymous() - before; grown > size/4 {
		t.Errorf("%.1f MB more for %.1f MB of features", grown/1e6, size/1e6)
	}
	runtime.KeepAlive(lists)
}

func FuzzDecode(f *testing.F) {
	var whole bytes.Buffer
	if err := encode(f.Context(), &whole, "key", listsOf(2, 3)); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add([]byte(magic))
	for _, crafted := range []struct{ old, new string }{
		{`"Length":24,`, `"Length":88,`},
		{`"Length":24,`, `"Length":23,`}, // does not fit numbers
		{`"Length":24,`, `"Length":-8,`},
		{`,{"Len`, `,{"Lem`}, // another list is empty
	} {
		if !bytes.Contains(whole.Bytes(), []byte(crafted.old)) {
			f.Errorf("no %s in the header", crafted.old)
		}
		f.Add(bytes.Replace(whole.Bytes(), []byte(crafted.old), []byte(crafted.new), 1))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = fixChecksum(b)
		h, err := decodeHeader(b) // must not panic
		if err != nil {
			return
		}
		h.verify(t.Context())
		// Past the checksums, the lists are what the bytes say, or refused all the same.
		lists := listsOf(0, 0)
		has, err := h.decode(lists)
		if err != nil {
			return
		}
		var again bytes.Buffer
		for i := range lists {
			if !has[i] {
				lists[i] = nil
			}
		}
		if err := encode(t.Context(), &again, h.Key, lists); err != nil {
			t.Fatal(err)
		}
		back := listsOf(0, 0)
		if h, err = decodeHeader(again.Bytes()); err != nil {
			t.Fatal(err)
		}
		if hasAgain, err := h.decode(back); err != nil || hasAgain != has {
			t.Fatal(hasAgain, err)
		}
	})
}

// fixChecksum makes the checksum of the header right, so that fuzzing comes
// past it.
func fixChecksum(b []byte) []byte {
	if len(b) < introSize {
		return b
	}
	b = bytes.Clone(b)
	if length := binary.NativeEndian.Uint64(b[16:]); length <= uint64(len(b)-introSize) {
		binary.NativeEndian.PutUint32(b[12:], CRC(b[introSize:introSize+int(length)]))
	}
	return b
}

// An end of the context while a cache is written leaves nothing behind.
func TestEndOfContextLeavesNoCacheBehind(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	folder := t.TempDir()
	if err := Save(done, filepath.Join(folder, "cache"), Key{}, listsOf(3, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
