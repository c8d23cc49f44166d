//go:build unix

package file

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/parallel"
)

// readMapped reads the last byte, and recovers.
func readMapped(b []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { err = CutShort(recover()) }()
	b = b[len(b)-1:]
	if b[0] != 'x' {
		return errors.New("another byte")
	}
	return nil
}

func TestCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	b, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := readMapped(b); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if err := readMapped(b); err == nil || !strings.HasPrefix(err.Error(), path+" was cut short while it was in use") {
		t.Errorf("error %v", err)
	}
	// The same by workers.
	func() {
		defer func() {
			if err := CutShort(recover()); err == nil || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("error %v", err)
			}
		}()
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		sums := make([]int, 100)
		parallel.For(len(sums), 4, func(_, i int) { sums[i] = int(b[len(b)-1-i]) })
	}()
	for _, other := range []any{nil, "text", errors.New("an error")} {
		if err := CutShort(other); err != nil {
			t.Errorf("%v: %v", other, err)
		}
	}
	Unmap(b)
	if len(mappings) != 0 {
		t.Errorf("%d files are still mapped", len(mappings))
	}
}

func TestOpenNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, err := Map(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Map(path); err == nil || !strings.Contains(err.Error(), "0 bytes") {
		t.Errorf("error %v", err)
	}
}
