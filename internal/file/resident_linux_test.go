package file

import (
	"os"
	"path/filepath"
	"testing"
)

// However much of a mapped file is read, little of it stays in the memory of the process,
// and what is read is right.
func TestResidentIsBounded(t *testing.T) {
	defer limit.Store(limit.Load())
	base := residentFiles() // of the program
	most := base + 16<<20
	limit.Store(int64(most))
	path := filepath.Join(t.TempDir(), "f")
	size := most + 512<<20
	if err := os.WriteFile(path, []byte("first"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(size)); err != nil {
		t.Fatal(err)
	}
	b, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer Unmap(b)
	sum, seen := 0, 0
	for at := 0; at < size; at += 4096 {
		WillNeed(b[at:min(size, at+8192)])
		sum += int(b[at])
		if at%(1<<20) == 0 {
			seen = max(seen, residentFiles())
			Relieve()
		}
	}
	if sum != 'f' || string(b[:5]) != "first" {
		t.Errorf("other bytes: %d, %q", sum, b[:5])
	}
	if slack := 128 << 20; seen > most+slack {
		t.Errorf("%d MB of files in memory, want %d and what is read within 2 ms", seen>>20, most>>20)
	}
	if seen < base+8<<20 {
		t.Errorf("%d MB of files were in memory, and %d of these are the program: nothing was measured", seen>>20, base>>20)
	}
}
