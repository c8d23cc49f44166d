package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	if err := put("x", nil); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), path+": ") || strings.Count(err.Error(), dir) != 1 {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

// Whatever operation fails, and whether once or for ever, the file is the old one or the
// new one, the error names it, and nothing else is left.
func TestEveryFault(t *testing.T) {
	defer func() { Fault = nil }()
	refused := errors.New("refused")
	for _, way := range []struct {
		name  string
		write func(path string, write func(io.Writer) error) error
		want  []string // operations
	}{
		{"Write", Write, []string{"create", "write", "write", "sync", "close", "rename", "sync folder"}},
		{"WriteUnsynced", func(path string, write func(io.Writer) error) error { return WriteUnsynced(path, everyone, write) }, []string{"create", "write", "write", "close", "rename"}},
	} {
		for _, lasting := range []bool{false, true} {
			for n := range len(way.want) + 1 {
				dir := t.TempDir()
				path := filepath.Join(dir, "f")
				if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
					t.Fatal(err)
				}
				var done []string
				Fault = func(operation, name string) error {
					if name != path {
						t.Errorf("%s of %s, want of %s", operation, name, path)
					}
					done = append(done, operation)
					if len(done)-1 == n || lasting && len(done) > n {
						return refused
					}
					return nil
				}
				err := way.write(path, func(w io.Writer) error {
					if _, err := io.WriteString(w, "new"); err != nil {
						return err
					}
					_, err := io.WriteString(w, "er")
					return err
				})
				Fault = nil
				if n == len(way.want) {
					if err != nil || !slices.Equal(done, way.want) {
						t.Errorf("%s: %q, %v; want %q", way.name, done, err, way.want)
					}
				} else if !errors.Is(err, refused) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s, %s: error %v", way.name, way.want[n], err)
				}
				want := "old"
				if n >= slices.Index(way.want, "rename")+1 {
					want = "newer"
				}
				if text, err := os.ReadFile(path); err != nil || string(text) != want {
					t.Errorf("%s, operation %d: %q, %v; want %q", way.name, n, text, err, want)
				}
				if left := Leftovers(path); left != nil {
					t.Errorf("%s, operation %d: left %q", way.name, n, left)
				}
			}
		}
	}
}

func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".f.1", ".f.23", "f", "f.1", ".g.1"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if left := Leftovers(filepath.Join(dir, "f")); !slices.Equal(left, []string{filepath.Join(dir, ".f.1"), filepath.Join(dir, ".f.23")}) {
		t.Error(left)
	}
}
