package kernel

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copyEdited copies what it takes to build a module, and applies the edits on the
// way. Files that are there already, and the same, are left alone.
func copyEdited(from, to string, edits []edit) error {
	used := make([]bool, len(edits))
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if strings.HasPrefix(entry.Name(), "_") || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		ext := filepath.Ext(name)
		if ext != ".go" && ext != ".s" && ext != ".mod" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, e := range edits {
			if e.file != filepath.ToSlash(name) {
				continue
			}
			if n := bytes.Count(b, []byte(e.anchor)); n != 1 {
				return fmt.Errorf(
					"%s: the anchor of the edit %q is there %d times, not once; has another version been required? Review notebooks/internal/kernel/edits.go",
					e.file,
					e.why,
					n,
				)
			}
			b = bytes.Replace(b, []byte(e.anchor), []byte(e.with), 1)
			used[i] = true
		}
		target := filepath.Join(to, name)
		if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, b) {
			return nil
		}
		return os.WriteFile(target, b, 0o644)
	})
	if err != nil {
		return err
	}
	for i, e := range edits {
		if !used[i] {
			return fmt.Errorf(
				"%s is not there, for the edit %q; has another version been required? Review notebooks/internal/kernel/edits.go",
				e.file,
				e.why,
			)
		}
	}
	return nil
}
