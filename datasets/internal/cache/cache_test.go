package cache

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

	"github.com/plrank/plrank/datasets/internal/digest"
	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/table"
)

// splits are three of a few queries, with n features for each document.
func splits(queries, n int) (s Splits) {
	for i := range s {
		d := &table.Data{Name: "s", Offsets: []int{0}, Warnings: []string{"odd"}, FeatureNames: make([]string, n)}
		for f := range n {
			d.FeatureIDs = append(d.FeatureIDs, f+1)
		}
		for q := range queries {
			for r := range 3 {
				d.Labels, d.Weights, d.Groups = append(d.Labels, float32(r)), append(d.Weights, .5), append(d.Groups, r-1)
				d.DocumentIDs, d.Lines = append(d.DocumentIDs, "x"), append(d.Lines, int32(4*q+r))
			}
			d.QueryIDs, d.QueryWeights, d.Offsets = append(d.QueryIDs, strconv.Itoa(q)), append(d.QueryWeights, 2), append(d.Offsets, d.Rows())
		}
		d.GroupNames = []string{"a", "b"}
		d.Parts = []table.Part{{Path: "a"}, {Path: "b", Line: 4}}
		d.Features = make([]float32, d.Rows()*n)
		for j := range d.Features {
			d.Features[j] = float32(j)
		}
		s[i] = d
	}
	return s
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
	s := splits(100, 2000)
	for _, room := range []int{0, 100, 1 << 20} {
		if err := Encode(t.Context(), &fullDisk{room}, "key", s, files.Splits{}); err == nil {
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
	s := splits(5000, 200)
	size := float64(3 * 4 * len(s[0].Features))
	if err := save(t.Context(), path, "key", 0o666, s, files.Splits{}); err != nil {
		t.Fatal(err)
	}
	s = Splits{}
	before := anonymous()
	s, err := load(t.Context(), path, "key", files.Splits{})
	if err != nil {
		t.Fatal(err)
	}
	if grown := anonymous() - before; grown > size/4 {
		t.Errorf("%.1f MB more for %.1f MB of features", grown/1e6, size/1e6)
	}
	runtime.KeepAlive(s)
}

func FuzzDecode(f *testing.F) {
	var whole bytes.Buffer
	if err := Encode(f.Context(), &whole, "key", splits(2, 3), files.Splits{}); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add([]byte(magic))
	for _, crafted := range []struct{ old, new string }{
		{`"Count":6,`, `"Count":9,`}, // does not fit the length
		{`"Length":24,`, `"Length":88,`},
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
		Decode(t.Context(), b, "key") // must not panic
		h, err := decodeHeader(b)
		if err != nil {
			return
		}
		// Past the checksums, the rest is consistent or refused all the same.
		s, err := h.splits()
		if err != nil {
			return
		}
		for _, d := range s {
			if d != nil {
				if err := d.Validate(); err != nil {
					t.Fatal(err)
				}
			}
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
		binary.NativeEndian.PutUint32(b[12:], digest.CRC(b[introSize:introSize+int(length)]))
	}
	return b
}

// An end of the context while a cache is written leaves nothing behind.
func TestEndOfContextLeavesNoCacheBehind(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	folder := t.TempDir()
	if err := save(done, filepath.Join(folder, "cache"), "key", 0o666, splits(3, 2), files.Splits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
