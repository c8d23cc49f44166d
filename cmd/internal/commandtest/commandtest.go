// Package commandtest holds what the tests of sub-commands share: small data, short trainings, and calls that must
// succeed.
package commandtest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Command is a sub-command.
type Command func(args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Call runs the command without standard input.
func (c Command) Call(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = c(args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// Must runs the command, which must succeed.
func (c Command) Must(t testing.TB, args ...string) (stdout, stderr string) {
	t.Helper()
	status, stdout, stderr := c.Call(args...)
	if status != 0 {
		t.Fatalf("%v: status %d, %s", args, status, stderr)
	}
	return stdout, stderr
}

// QuickFlags returns the settings of the shortest training.
func QuickFlags() []string {
	return []string{"-scorer", "mlp", "-epochs", "1", "-samples", "5", "-hidden", "4", "-members", "1"}
}

// Quick trains a little by the sub-command train, which must succeed.
func (c Command) Quick(t testing.TB, args ...string) (stdout, stderr string) {
	t.Helper()
	return c.Must(t, append(QuickFlags(), args...)...)
}

// Trained trains a little on data, and returns the folder of the run and its model file.
func (c Command) Trained(t testing.TB, data string, more ...string) (out, model string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "run")
	c.Quick(t, append([]string{"-data", data, "-out", out}, more...)...)
	return out, filepath.Join(out, "model.npz")
}

// folder is removed when the tests of a package have ended.
var folder string

// shared is the run of [Command.Shared].
var shared struct {
	sync.Once
	data, out string
}

// Shared returns the folders of [Fold] and of one short run on it, and its model file. All tests of a package read
// them, and none changes them.
func (c Command) Shared(t testing.TB) (data, out, model string) {
	t.Helper()
	shared.Do(func() {
		shared.data, shared.out = filepath.Join(folder, "data"), filepath.Join(folder, "run")
		writeFold(t, shared.data)
		c.Quick(t, "-data", shared.data, "-out", shared.out)
	})
	return shared.data, shared.out, filepath.Join(shared.out, "model.npz")
}

// Main runs the tests of a package, which leave the user's cache folder alone.
func Main(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "plrank"); err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", folder) // for os.UserCacheDir on Linux,
	os.Setenv("HOME", folder)           // on a Mac,
	os.Setenv("LocalAppData", folder)   // and on Windows
	os.Unsetenv("COLUMNS")              // so that tables have their usual width
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

// Letor writes a file of queries whose label is the sum of two of three features.
func Letor(t testing.TB, path string, queries int, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	var text strings.Builder
	for q := range queries {
		for range 5 + rng.IntN(5) {
			a, b := rng.IntN(2), rng.IntN(2)
			fmt.Fprintf(&text, "%d qid:%d 1:%d 2:%.3f 4:%d\n", a+b, q+1, a, rng.Float64(), b)
		}
	}
	Write(t, path, text.String())
}

// Write writes a file, and makes its folder.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read returns the text of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Fold makes a folder of small train, vali and test files.
func Fold(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	writeFold(t, dir)
	return dir
}

func writeFold(t testing.TB, dir string) {
	t.Helper()
	Letor(t, filepath.Join(dir, "train.txt"), 30, 1)
	Letor(t, filepath.Join(dir, "vali.txt"), 10, 2)
	Letor(t, filepath.Join(dir, "test.txt"), 10, 3)
}

// Folds makes a folder of n folds.
func Folds(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		for j, split := range []string{"train", "vali", "test"} {
			Letor(t, filepath.Join(dir, fmt.Sprintf("Fold%d", i+1), split+".txt"), 12, uint64(3*i+j))
		}
	}
	return dir
}

// Shop makes a folder of separated values in which one seller has most relevant documents, and a feature tells
// which one.
func Shop(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(7, 0))
	for _, split := range []string{"train", "vali", "test"} {
		var text strings.Builder
		text.WriteString("query,label,seller,price,size\n")
		for q := range 40 {
			for d := range 10 {
				seller, label := []string{"big", "small"}[d%2], 0
				if d == 1 || d%2 == 0 && rng.IntN(3) > 0 {
					label = 1 + rng.IntN(2)
				}
				fmt.Fprintf(&text, "%d,%d,%s,%d,%.3f\n", q, label, seller, d%2, float64(label)+rng.NormFloat64())
			}
		}
		Write(t, filepath.Join(dir, split+".csv"), text.String())
	}
	return dir
}
