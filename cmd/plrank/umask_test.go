//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

// Every file that a command writes has the permissions that the umask leaves, and the copy
// of data that only their owner can read is for the owner alone.
func TestFilesHaveThePermissionsOfTheUmask(t *testing.T) {
	for _, c := range []struct {
		umask      string
		data, want fs.FileMode // of files of data, and of those that are written
		cache      fs.FileMode
	}{
		{"077", 0o644, 0o600, 0o600},
		{"022", 0o600, 0o644, 0o600},
		{"002", 0o664, 0o664, 0o664},
	} {
		data, dir := commandtest.Fold(t), t.TempDir()
		files, err := filepath.Glob(filepath.Join(data, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.Chmod(file, c.data); err != nil {
				t.Fatal(err)
			}
		}
		run := func(args ...string) {
			t.Helper()
			plain := child(args...)
			shell := exec.Command("sh", append([]string{"-c", `umask ` + c.umask + `; exec "$0" "$@"`, plain.Path}, args...)...)
			shell.Env = plain.Env
			if out, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%q: %v\n%s", args, err, out)
			}
		}
		at := func(name string) string { return filepath.Join(dir, name) }
		model := at("run/model.npz")
		run("train", "-data", data, "-out", at("run"), "-cache", at("cache"), "-epochs", "2", "-hidden", "4", "-members", "1")
		run("score", "-model", model, "-data", filepath.Join(data, "test.txt"), "-out", at("scores"), "-run", at("rankings"), "-qrels", at("qrels"), "-exposure", at("exposure"))
		run("export", "-model", model, "-onnx", at("model.onnx"))
		run("evaluate", "-model", model, "-data", data, "-importance", "-plot", at("importance.svg"), "-cache", "off")
		n := 0
		err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			want := c.want
			if filepath.Dir(path) == at("cache") {
				want = c.cache
			}
			if n++; err == nil && info.Mode().Perm() != want {
				t.Errorf("umask %s, data %03o: %s has %03o, want %03o", c.umask, c.data, path, info.Mode().Perm(), want)
			}
			return err
		})
		if err != nil || n < 13 {
			t.Errorf("%d files, %v", n, err)
		}
	}
}
