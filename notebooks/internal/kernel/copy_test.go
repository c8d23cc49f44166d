package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCopyAppliesEdits(t *testing.T) {
	from := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n", "a.go": "package m // one two\n", "a_test.go": "package m\n", "README.md": "x",
		"sub/b.go": "package sub\n", "_old/c.go": "package old\n", "testdata/d.go": "package d\n",
	} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	to := t.TempDir()
	edits := []edit{{"a.go", "why", "one", "1"}, {"a.go", "why", "two", "2"}}
	for range 2 { // the second time nothing is left to do
		if err := copyEdited(from, to, edits); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := filepath.WalkDir(to, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(to, path)
			got = append(got, filepath.ToSlash(name)+": "+string(b))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "a.go: package m // 1 2\n|go.mod: module m\n|sub/b.go: package sub\n"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}

	for _, c := range []struct {
		e    edit
		want string
	}{
		{edit{"a.go", "the reason", "three", ""}, `a.go: the anchor of the edit "the reason" is there 0 times`},
		{edit{"a.go", "the reason", "o", ""}, `a.go: the anchor of the edit "the reason" is there 2 times`},
		{edit{"x.go", "the reason", "o", ""}, `x.go is not there, for the edit "the reason"`},
	} {
		err := copyEdited(from, t.TempDir(), []edit{c.e})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "edits.go") {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// Anchors are short, so that nobody's source is in this repository.
func TestAnchorsAreShort(t *testing.T) {
	for path, list := range edits {
		for _, e := range list {
			if strings.Count(e.anchor, "\n") > 2 || len(e.anchor) > 100 || e.why == "" {
				t.Errorf("%s: %s: anchor %q, reason %q", path, e.file, e.anchor, e.why)
			}
		}
	}
}
