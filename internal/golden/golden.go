// Package golden reads independent test vectors, which do not come with the project: the
// folder shared/golden beside it has them.
package golden

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Read reads a file of test vectors into a value. It skips the test where there is none.
func Read(t testing.TB, name string, into any) {
	t.Helper()
	root, err := filepath.Abs(".")
	for err == nil && root != filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	data, err := os.ReadFile(filepath.Join(root, "..", "shared", "golden", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the independent vectors shared/golden/%s are not beside this project; property tests cover the same ground", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
