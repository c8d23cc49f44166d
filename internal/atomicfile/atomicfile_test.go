package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put := func(text string, fail error) error {
		return Write(path, func(w io.Writer) error {
			io.WriteString(w, text)
			return fail
		})
	}
	content := func() string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if err := put("one", nil); err != nil || content() != "one" {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if err := put("two", full); !errors.Is(err, full) || !strings.Contains(err.Error(), path) || content() != "one" {
		t.Errorf("a failed write: %v, left %q", err, content())
	}
	if err := put("three", nil); err != nil || content() != "three" {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files, want 1", len(entries))
	}
	path = filepath.Join(dir, "none", "f")
	if err := put("x", nil); err == nil {
		t.Error("a folder that does not exist: no error")
	}
}
