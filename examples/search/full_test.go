//go:build linux || darwin

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Lines of a batch that a full disk took in part are not in the log, as users did not see what they say, and errors leave no files.
func TestFullDiskTakesNoPartOfLines(t *testing.T) {
	folder := t.TempDir()
	j, err := newJournal(folder, func() string { return "0001" })
	if err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := func(bytes uint64) {
		limited := before
		limited.Cur = min(bytes, before.Max)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { limit(before.Cur) })
	line := strings.Repeat("x", 3<<20) + "\n"
	if err := j.Add([]byte(line)); err != nil {
		t.Fatal(err)
	}
	limit(10 << 20)                                         // the files of the test's own log are smaller
	errs := []error{j.Add([]byte(strings.Repeat(line, 4)))} // two of which have room
	limit(2 << 20)
	errs = append(errs, j.Add([]byte(line)), j.Add([]byte(line)))
	limit(before.Cur)
	for _, err := range errs {
		if !errors.Is(err, syscall.EFBIG) {
			t.Errorf("error %v, want no room", err)
		}
	}
	if err := j.Add([]byte(line)); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if text, err := os.ReadFile(files[0]); err != nil || string(text) != line+line {
		t.Errorf("%d bytes, want two lines of %d: %v", len(text), len(line), err)
	}
}
