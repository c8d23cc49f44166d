package datasets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A path that does not exist is what is wrong, whatever else lies in its folder.
func TestMissingPathAmongOtherFiles(t *testing.T) {
	for name, files := range map[string][]string{
		"a folder in train":  {"train/testdata/x", "train/loop.go"},
		"train in two forms": {"train.txt", "train.csv"},
		"a part is missing":  {"train-00001-of-00003.txt"},
		"an empty train":     {"train/_SUCCESS"},
		"folds":              {"Fold1/train.txt"},
	} {
		dir := t.TempDir()
		for _, path := range files {
			path = filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("1 qid:1 1:1\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, fold := range []int{0, 1} {
			path := filepath.Join(dir, "missing.txt")
			if _, err := Open(path, Options{Fold: fold}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error %v, want one that says that %s does not exist", name, err, path)
			}
		}
	}
	// A prefix still stands for its set alone.
	dir := writeFiles(t, map[string]string{"set1.train.txt": "1 qid:1 1:1\n", "set1.vali.txt": "1 qid:2 1:1\n", "train.txt": "?", "train.csv": "?"})
	if s, err := Open(filepath.Join(dir, "set1"), Options{}); err != nil || s.Train.Rows() != 1 {
		t.Errorf("%v, error %v", s, err)
	}
}
